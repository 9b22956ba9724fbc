package guide

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/cmd/geosql/internal/load"
	"github.com/geosql/geosql/cmd/geosql/internal/output"
	"github.com/geosql/geosql/cmd/geosql/internal/session"
	"github.com/geosql/geosql/cmd/geosql/internal/store"
	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/declaration"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/internal/sqltext"
	"github.com/geosql/geosql/ledger/engines"
	"github.com/geosql/geosql/sqlitefn"
)

// declarations are those of a database and of earlier files of the command line.
type declarations struct {
	exists    bool            // the database is there
	tables    map[string]bool // and views, in lower case
	domains   []declaredBox
	universes []declaredUniverse
	limits    map[budget.Unit]limit // of every account
}

// readDeclarations reads the declarations of a database, none if it does not exist.
func readDeclarations(path string, ledger store.LedgerFlags) (*declarations, error) {
	d := &declarations{tables: map[string]bool{}, limits: map[budget.Unit]limit{}}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return d, nil
	}
	d.exists = true
	s, err := session.Open(path, sqlite.ReadWrite, ledger, output.Table)
	if err != nil {
		return nil, err
	}
	return d, s.Close(d.read(s.Conn))
}

func (d *declarations) read(conn *sqlite.Conn) error {
	declares := map[string]bool{}
	err := store.Each(conn, func(v []sqlite.Value) {
		name := strings.ToLower(v[0].Text())
		d.tables[name] = true
		declares[name] = strings.HasPrefix(name, "geosql_")
	}, "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')")
	if err == nil && declares["geosql_domain"] {
		err = declaration.Each(conn, "SELECT name, south, west, north, east, step_m FROM main.geosql_domain ORDER BY name", func(v []sqlite.Value) error {
			d.domains = append(d.domains, declaredBox{v[0].Text(), v[1].Float(), v[2].Float(), v[3].Float(), v[4].Float(), v[5].Float()})
			return nil
		})
	}
	if err == nil && declares["geosql_universe"] {
		err = declaration.Each(conn, "SELECT name, lo, hi, step, unit FROM main.geosql_universe ORDER BY name", func(v []sqlite.Value) error {
			d.universes = append(d.universes, declaredUniverse{v[0].Text(), v[1].Float(), v[2].Float(), v[3].Float(), v[4].Text()})
			return nil
		})
	}
	if err != nil {
		return err
	}
	return store.Each(conn, func(v []sqlite.Value) {
		unit := budget.Unit(v[0].Text())
		d.limits[unit] = limit{unit: unit, amount: budget.Decimal(v[1].Float()), window: v[2].Int()}
	}, "SELECT unit, epsilon_limit, window_seconds FROM ledger_limits WHERE account = '*' ORDER BY id")
}

// add adds the decisions about a file.
func (d *declarations) add(p *plan) {
	d.tables[strings.ToLower(p.Table)] = true
	if p.place != nil && !slices.Contains(d.domains, p.place.box) {
		d.domains = append(d.domains, p.place.box)
	}
	if p.reading != nil && !slices.Contains(d.universes, p.reading.declared) {
		d.universes = append(d.universes, p.reading.declared)
	}
	for _, l := range p.limits {
		l.kept = false
		d.limits[l.unit] = l
	}
}

// declareSQL returns the statements that declare the public facts about a file.
func (p *plan) declareSQL() string {
	var b strings.Builder
	fmt.Fprintf(&b, "-- %s, imported into table %s by geosql init.\n", oneLine(filepath.Base(p.File)), oneLine(p.Table))
	if pl := p.place; pl != nil {
		d := pl.box
		fmt.Fprintf(&b, "-- Locations, released at epsilon %s per metre.\n", cli.FormatRational(pl.epsilon))
		fmt.Fprintf(&b, "SELECT geo_domain(%s, %s);\n", sqltext.Quote(d.name), joined(", ", d.south, d.west, d.north, d.east, d.stepM))
	}
	if r := p.reading; r != nil {
		u := r.declared
		fmt.Fprintf(&b, "-- Readings, asked about at epsilon %s per %s.\n", cli.FormatRational(r.epsilon), oneLine(u.unit))
		fmt.Fprintf(&b, "SELECT dx_universe(%s, %s, %s);\n", sqltext.Quote(u.name), joined(", ", u.lo, u.hi, u.step), sqltext.Quote(u.unit))
	}
	return b.String()
}

// oneLine returns text that stays in a comment.
func oneLine(text string) string { return strings.Map(withoutBreaks, text) }

func withoutBreaks(r rune) rune {
	if r < ' ' {
		return ' '
	}
	return r
}

// limitSQL returns the statements that set the new limits.
func (p *plan) limitSQL() string {
	var b strings.Builder
	for _, l := range p.limits {
		if l.kept {
			fmt.Fprintf(&b, "-- The limit per %s stays %s.\n", oneLine(string(l.unit)), cli.FormatRational(l.amount))
			continue
		}
		window := ""
		if l.window > 0 {
			window = ", " + strconv.FormatInt(l.window, 10)
		}
		fmt.Fprintf(&b, "SELECT budget_limit('*', %s, %s%s);\n", sqltext.Quote(string(l.unit)), cli.FormatRational(l.amount), window)
	}
	return b.String()
}

// write shows the declarations, asks whether to go on, and then writes everything.
func (t *Task) write(ctx context.Context, plans []*plan) error {
	var script strings.Builder
	for _, p := range plans {
		script.WriteString(p.declareSQL() + p.limitSQL())
	}
	sayLines("\n" + script.String())
	if err := t.confirm(ctx); err != nil {
		return err
	}
	if err := t.create(ctx, plans); err != nil {
		return err
	}
	for _, p := range plans {
		cli.Say("imported %s into table %s of %s", cli.Count(p.Rows, "row"), p.Table, t.Database)
	}
	if err := appendFile(t.Database+".sql", script.String()); err != nil {
		return fmt.Errorf("init: the database is complete, but its declarations could not be kept: %w", err)
	}
	cli.Say("nothing was charged; the declarations are kept in %s.sql", t.Database)
	for _, p := range plans {
		t.showQuestions(p)
	}
	return nil
}

// confirm asks whether to go on.
func (t *Task) confirm(ctx context.Context) error {
	if t.Yes || !t.talk.asks {
		return nil
	}
	return t.talk.ask(ctx, question{text: "Import the data and declare this? Yes or no", preset: "yes",
		help: "yes writes the tables, the declarations and the limits. They can be changed later, but no release can be taken back. no leaves everything as it was.",
		accept: func(answer string) error {
			if ok, err := yes(answer); err != nil || ok {
				return err
			}
			return errUnchanged
		}})
}

// appendFile adds text to a file, which is its owner's alone if it is new.
func appendFile(name, text string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return cmp.Or(err, f.Close())
}

// create writes the database: into an existing one in one transaction, and a new one as a file
// that gets its name once it is complete. Limits are set last, since the ledger commits them at
// once: without them nothing is released.
func (t *Task) create(ctx context.Context, plans []*plan) error {
	if t.known.exists {
		return t.fill(ctx, t.Database, t.Ledger, plans)
	}
	ledger := t.Ledger
	ledger.File = cmp.Or(ledger.File, sqlitefn.LedgerPath(t.Database))
	files, err := t.beginFiles(ledger.File)
	if err != nil {
		return err
	}
	defer files.Remove()
	if files.Ledger != nil {
		ledger.File = files.Ledger.Path()
	}
	if err := t.fill(ctx, files.Database.Path(), ledger, plans); err != nil {
		return err
	}
	return files.Publish()
}

// beginFiles begins a new database, and a ledger unless there is one.
func (t *Task) beginFiles(ledger string) (*store.Draft, error) {
	there, err := isThere(ledger)
	switch {
	case err != nil:
		return nil, err
	case there:
		cli.Say("ledger %s was there before, and keeps its charges", engines.Label(ledger))
	case !engines.IsURL(ledger):
		return store.Begin(t.Database, ledger)
	}
	database, err := store.BeginFile(t.Database)
	return &store.Draft{Database: database}, err
}

// isThere reports whether there is a file at the place of a ledger, or a ledger on the server.
func isThere(ledger string) (bool, error) {
	if !engines.IsURL(ledger) {
		_, err := os.Stat(ledger)
		return err == nil, nil
	}
	l, err := engines.Open(ledger, false, 0)
	if err == nil {
		return true, l.Close()
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return false, err
}

// fill imports the files into a database and declares the decisions, in one transaction, and
// then sets the limits.
func (t *Task) fill(ctx context.Context, path string, ledger store.LedgerFlags, plans []*plan) error {
	s, err := session.Open(path, sqlite.ReadWrite|sqlite.Create, ledger, output.Table)
	if err != nil {
		return err
	}
	stop := store.InterruptOn(ctx, s.Conn)
	err = fillAll(s.Conn, plans)
	stop()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		for _, p := range plans {
			err = cmp.Or(err, s.Conn.Exec(p.limitSQL()))
		}
	}
	return s.Close(err) // closing rolls back
}

func fillAll(conn *sqlite.Conn, plans []*plan) error {
	if err := conn.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	for _, p := range plans {
		nothing := func(*dataset.Rows, int) error { return nil }
		if err := load.Fill(conn, p.Table, p.Columns, p.data, nothing); err != nil {
			return err
		}
		if err := conn.Exec(p.declareSQL()); err != nil {
			return err
		}
	}
	return conn.Exec("COMMIT")
}
