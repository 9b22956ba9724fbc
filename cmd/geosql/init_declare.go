package main

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
	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/declaration"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger/engines"
	"github.com/geosql/geosql/sqlitefn"
)

// declarations are what a database has, and what earlier files of the command line add.
type declarations struct {
	exists    bool            // the database is there
	tables    map[string]bool // and views, in lower case
	domains   []declaredBox
	universes []declaredUniverse
	limits    map[budget.Unit]limit // of every account
}

// readDeclarations reads the declarations of a database, none if it does not exist.
func readDeclarations(path string, ledger ledgerFlags) (*declarations, error) {
	d := &declarations{tables: map[string]bool{}, limits: map[budget.Unit]limit{}}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return d, nil
	}
	d.exists = true
	s, err := openSession(path, sqlite.ReadWrite, ledger, tableMode)
	if err != nil {
		return nil, err
	}
	return d, s.close(d.read(s.conn))
}

func (d *declarations) read(conn *sqlite.Conn) error {
	declares := map[string]bool{}
	err := eachOf(conn, func(v []sqlite.Value) {
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
	return eachOf(conn, func(v []sqlite.Value) {
		unit := budget.Unit(v[0].Text())
		d.limits[unit] = limit{unit: unit, amount: budget.Decimal(v[1].Float()), window: v[2].Int()}
	}, "SELECT unit, epsilon_limit, window_seconds FROM ledger_limits WHERE account = '*' ORDER BY id")
}

// add adds what was decided about a file.
func (d *declarations) add(p *plan) {
	d.tables[strings.ToLower(p.table)] = true
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

// declareSQL returns the statements that declare what is public about a file.
func (p *plan) declareSQL() string {
	var b strings.Builder
	fmt.Fprintf(&b, "-- %s, imported into table %s by geosql init.\n", oneLine(filepath.Base(p.file)), oneLine(p.table))
	if pl := p.place; pl != nil {
		d := pl.box
		fmt.Fprintf(&b, "-- Locations, released at epsilon %s per metre.\n", ratText(pl.epsilon))
		fmt.Fprintf(&b, "SELECT geo_domain(%s, %s, %s, %s, %s, %s);\n", sqlite.QuoteText(d.name), plain(d.south), plain(d.west), plain(d.north), plain(d.east), plain(d.stepM))
	}
	if r := p.reading; r != nil {
		u := r.declared
		fmt.Fprintf(&b, "-- Readings, asked about at epsilon %s per %s.\n", ratText(r.epsilon), oneLine(u.unit))
		fmt.Fprintf(&b, "SELECT dx_universe(%s, %s, %s, %s, %s);\n", sqlite.QuoteText(u.name), plain(u.lo), plain(u.hi), plain(u.step), sqlite.QuoteText(u.unit))
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
			fmt.Fprintf(&b, "-- The limit per %s stays %s.\n", oneLine(string(l.unit)), ratText(l.amount))
			continue
		}
		window := ""
		if l.window > 0 {
			window = ", " + strconv.FormatInt(l.window, 10)
		}
		fmt.Fprintf(&b, "SELECT budget_limit('*', %s, %s%s);\n", sqlite.QuoteText(string(l.unit)), ratText(l.amount), window)
	}
	return b.String()
}

// write shows the declarations, asks whether to go on, and then writes everything.
func (t *initTask) write(ctx context.Context, plans []*plan) error {
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
		cli.Say("imported %s into table %s of %s", count(p.Rows, "row"), p.table, t.database)
	}
	if err := appendFile(t.database+".sql", script.String()); err != nil {
		return fmt.Errorf("init: the database is complete, but its declarations could not be kept: %w", err)
	}
	cli.Say("nothing was charged; the declarations are kept in %s.sql", t.database)
	for _, p := range plans {
		t.showQuestions(p)
	}
	return nil
}

// confirm asks whether to go on.
func (t *initTask) confirm(ctx context.Context) error {
	if t.yes || !t.talk.asks {
		return nil
	}
	return t.talk.ask(ctx, question{text: "Import the data and declare this? Yes or no", preset: "yes", accept: func(answer string) error {
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
func (t *initTask) create(ctx context.Context, plans []*plan) error {
	if t.known.exists {
		return t.fill(ctx, t.database, t.ledger, plans)
	}
	ledger := t.ledger
	ledger.file = cmp.Or(ledger.file, sqlitefn.LedgerPath(t.database))
	files, err := t.beginFiles(ledger.file)
	if err != nil {
		return err
	}
	defer files.remove()
	if files.ledger != nil {
		ledger.file = files.ledger.path()
	}
	if err := t.fill(ctx, files.database.path(), ledger, plans); err != nil {
		return err
	}
	return files.publish()
}

// beginFiles begins a new database, and a ledger unless there is one.
func (t *initTask) beginFiles(ledger string) (*newBooks, error) {
	there, err := isThere(ledger)
	switch {
	case err != nil:
		return nil, err
	case there:
		cli.Say("ledger %s was there before, and keeps its charges", engines.Label(ledger))
	case !engines.IsURL(ledger):
		return beginBooks(t.database, ledger)
	}
	database, err := beginFile(t.database)
	return &newBooks{database: database}, err
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

// fill imports the files into a database and declares what was decided, in one transaction, and
// then sets the limits.
func (t *initTask) fill(ctx context.Context, path string, ledger ledgerFlags, plans []*plan) error {
	s, err := openSession(path, sqlite.ReadWrite|sqlite.Create, ledger, tableMode)
	if err != nil {
		return err
	}
	stop := interruptOn(ctx, s.conn)
	err = fillAll(s.conn, plans)
	stop()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		for _, p := range plans {
			err = cmp.Or(err, s.conn.Exec(p.limitSQL()))
		}
	}
	return s.close(err) // closing rolls back
}

func fillAll(conn *sqlite.Conn, plans []*plan) error {
	if err := conn.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	for _, p := range plans {
		nothing := func(*dataset.Rows, int) error { return nil }
		if err := fill(conn, p.table, p.Columns, p.data, nothing); err != nil {
			return err
		}
		if err := conn.Exec(p.declareSQL()); err != nil {
			return err
		}
	}
	return conn.Exec("COMMIT")
}
