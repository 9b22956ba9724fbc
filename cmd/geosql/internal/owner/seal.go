// Package owner does the work of the owner of sealed databases: it seals, seals anew, erases accounts and manages roles. It
// imports vault, store and session, and of the server its roles. Start at the method Run of each command.
package owner

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/geosql/geosql/cmd/geosql/internal/store"
	"github.com/geosql/geosql/cmd/geosql/internal/vault"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/declaration"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger/engines"
	"github.com/geosql/geosql/ledger/file"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sealed/catalog"
	"github.com/geosql/geosql/sealed/sealing"
)

// Seal holds the command line of the command seal.
type Seal struct {
	in, out    string
	key        string
	ledger     store.LedgerFlags // of IN
	tables     []sealing.Table
	yes, again bool

	earlier int // how often IN was sealed before
}

// Register defines the flags of the command.
func (t *Seal) Register(flags *flag.FlagSet) {
	flags.StringVar(&t.key, "key", "", "seal for the owner of the public key in `KEY.pub`")
	cli.ListVar(flags, &t.tables, parseTable, "table", "seal `TABLE`; the flags that follow are about it; may be given again")
	t.aboutTable(flags, "account", "charge the account that `COLUMN` names for answers about the row", func(table *sealing.Table, v string) error {
		if table.Account != "" {
			return errors.New("the table has one account column, " + table.Account)
		}
		table.Account = v
		return nil
	})
	t.aboutTable(flags, "seal", "seal `COLUMN:UNIVERSE` or LAT,LON:DOMAIN; may be given again", func(table *sealing.Table, v string) error {
		s, err := sealing.ParseSecret(v)
		table.Secrets = append(table.Secrets, s)
		return err
	})
	t.aboutTable(flags, "public", "write `COLUMN,..` as it is; may be given again", func(table *sealing.Table, v string) error {
		table.Public = append(table.Public, v)
		return nil
	})
	t.aboutTable(flags, "index", "index the public columns `COLUMN,..` together; may be given again", func(table *sealing.Table, v string) error {
		table.Indexes = append(table.Indexes, v)
		return nil
	})
	t.ledger.RegisterFile(flags, "IN is charged to the ledger `FILE` (default IN-ledger, beside IN)")
	cli.Switch(flags, "yes", "do not ask whether public columns that tell something of a sealed one may", func() { t.yes = true })
	cli.Switch(flags, "again", "seal IN although it was sealed before: the rest of the budgets can be spent in each sealed database", func() { t.again = true })
}

func parseTable(name string) (sealing.Table, error) {
	if name == "" {
		return sealing.Table{}, errors.New("the table has an empty name")
	}
	return sealing.Table{Name: name}, nil
}

// aboutTable defines a flag about the table that was given last.
func (t *Seal) aboutTable(flags *flag.FlagSet, name, usage string, set func(table *sealing.Table, v string) error) {
	parse := func(v string) (struct{}, error) {
		switch {
		case len(t.tables) == 0:
			return struct{}{}, errors.New("it is about a table: give --table first")
		case v == "":
			return struct{}{}, errors.New("it names nothing")
		}
		return struct{}{}, set(&t.tables[len(t.tables)-1], v)
	}
	cli.ListVar(flags, new([]struct{}), parse, name, usage)
}

// Run seals a database.
func (t *Seal) Run(ctx context.Context, operands []string) error {
	begun := time.Now()
	t.in, t.out = operands[0], operands[1]
	key, err := t.check()
	if err != nil {
		return err
	}
	from, err := store.Find(t.in, t.ledger)
	switch {
	case err != nil:
		return err
	case from.Database == "":
		return fmt.Errorf("seal: %s is a ledger: give the database that is charged to it", engines.Label(t.in))
	case from.OnServer():
		return fmt.Errorf("seal: the ledger of %s is on a server, and that of %s begins as a copy of it, in a file: "+
			"move it to a file first ('geosql ledger move -h'), and both to servers afterwards", t.in, t.out)
	}
	files, err := store.Begin(t.out, t.out+"-ledger")
	if err != nil {
		return err
	}
	defer files.Remove()
	done, err := t.seal(ctx, key, from, files)
	if err != nil {
		return err
	}
	cli.Say("sealed %s of %s into %s, with %s of %s: %s in %s", cli.Count(done.Values, "value"), cli.Count(done.Rows, "row"), t.out,
		cli.Count(int64(done.Accounts), "account"), t.in, cli.Size(t.out), cli.Pace(done.Rows, "rows", time.Since(begun)))
	if len(done.Indexes) > 0 {
		cli.Say("indexes are not copied (%s); --index makes indexes of public columns", strings.Join(done.Indexes, ", "))
	}
	cli.Say("%s has its own ledger, %s-ledger, and %s keeps the old one: put %s away, since questions to both would spend the budgets twice", t.out, t.out, t.in, t.in)
	return nil
}

// check refuses wrong arguments, and returns the key.
func (t *Seal) check() (key sealed.PublicKey, err error) {
	switch {
	case cmp.Or(store.CheckName(t.in), store.CheckName(t.out)) != nil:
		return key, store.CheckName("")
	case t.key == "":
		return key, cli.UsageError("seal: give the key that opens the values: --key KEY.pub, of 'geosql keygen KEY'")
	case len(t.tables) == 0:
		return key, cli.UsageError("seal: give the columns to seal: --table TABLE --account COLUMN --seal COLUMN:UNIVERSE")
	}
	if store.SameFile(t.in, t.out) {
		return key, fmt.Errorf("seal: %s and %s are the same file: nothing is sealed in place, since remnants of the secrets would stay", t.in, t.out)
	}
	return vault.ReadPublicKey(t.key)
}

// seal writes the files, notes in IN's ledger that it was sealed, and publishes them.
func (t *Seal) seal(ctx context.Context, key sealed.PublicKey, from store.Store, files *store.Draft) (*sealing.Sealed, error) {
	if err := t.checkFirst(from); err != nil {
		return nil, err
	}
	contents, err := t.read(ctx)
	if err != nil {
		return nil, err
	}
	if err := t.confirm(ctx, contents); err != nil {
		return nil, err
	}
	old, err := openRecorded(from)
	if err != nil {
		return nil, err
	}
	defer old.Close()
	ledger, err := file.Open(files.Ledger.Path(), true)
	if err != nil {
		return nil, err
	}
	done, err := t.write(ctx, contents, key, ledger, files.Database.Path())
	if err == nil {
		err = t.account(done, ledger, old)
	}
	if err = cmp.Or(err, ledger.Close()); err != nil {
		return nil, err
	}
	return done, files.Publish()
}

// checkFirst refuses to seal a database a second time, unless that is wanted.
func (t *Seal) checkFirst(from store.Store) error {
	ledger, err := from.OpenFile()
	if err != nil || ledger == nil {
		return err
	}
	defer ledger.Close()
	record, err := catalog.ReadRecord(context.Background(), ledger)
	if err != nil {
		return err
	}
	if t.earlier = record.SealedAs; t.earlier > 0 && !t.again {
		return t.sealedBefore(ledger)
	}
	return nil
}

// read reads the contents of IN.
func (t *Seal) read(ctx context.Context) (*sealing.Contents, error) {
	conn, err := store.Open(t.in, sqlite.ReadWrite)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	stop := store.InterruptOn(ctx, conn)
	defer stop()
	line := cli.NewTerminalLine()
	defer line.Clear()
	contents, err := sealing.Read(ctx, conn, t.tables, func(rows int64) { line.Show("reading %s: %s", t.in, cli.Count(rows, "row")) })
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, fmt.Errorf("seal: %s: %w", t.in, err)
	}
	return contents, nil
}

// openRecorded opens the ledger of a database, and makes it if there is none. The database holds
// its id then.
func openRecorded(b store.Store) (*file.Ledger, error) {
	conn, err := store.Open(b.Database, sqlite.ReadWrite)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	id, err := declaration.Ledger(conn)
	if err != nil {
		return nil, err
	}
	if id == "" && !conn.Writable() {
		return nil, fmt.Errorf("seal: %s may not be written: it has to hold the id of its ledger, which notes that it was sealed", b.Database)
	}
	ledger, err := b.OpenFileAs(id)
	if err == nil && ledger == nil {
		ledger, err = file.Open(b.Ledger, true)
	}
	if err != nil || id != "" {
		return ledger, err
	}
	if err = declaration.Check(conn, "geosql_ledger"); err == nil {
		err = conn.Exec(declaration.Schema + "; INSERT OR IGNORE INTO main.geosql_ledger(id) VALUES ('" + ledger.ID() + "')")
	}
	if err != nil {
		ledger.Close()
		return nil, fmt.Errorf("seal: %s has to hold the id of its ledger, which notes that it was sealed: %w", b.Database, err)
	}
	return ledger, nil
}

func (t *Seal) sealedBefore(ledger *file.Ledger) error {
	return fmt.Errorf("seal: %s was sealed before, as %s notes: from each sealed copy accounts may spend the rest of their budgets, so querying two spends it twice; if the other one is gone, or you mean that, give --again", t.in, ledger.Path())
}

// write writes the sealed database.
func (t *Seal) write(ctx context.Context, contents *sealing.Contents, key sealed.PublicKey, ledger *file.Ledger, path string) (*sealing.Sealed, error) {
	conn, err := sqlite.Open(path, sqlite.ReadWrite|sqlite.Create)
	if err != nil {
		return nil, err
	}
	line := cli.NewTerminalLine()
	defer line.Clear()
	steps, total := line.Steps(), float64(max(contents.Rows(), 1))
	steps("sealing", 0)
	done, err := contents.Seal(ctx, conn, key, ledger.ID(), func(rows int64) { steps("sealing", min(float64(rows)/total, 1)) })
	if err = cmp.Or(err, conn.Close()); err != nil {
		return nil, err
	}
	return done, syncFile(path)
}

// syncFile waits until the disk has all of a file.
func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return cmp.Or(f.Sync(), f.Close())
}

// account notes in IN's ledger that IN was sealed, and prepares OUT's ledger. The note
// comes first: a crash may leave a note of a database that does not exist, never a database
// without its note.
func (t *Seal) account(done *sealing.Sealed, ledger, old *file.Ledger) error {
	note := catalog.SealedAs(done.ID)
	if err := old.Record(note); err != nil {
		return fmt.Errorf("seal: the ledger of %s has to note that it was sealed: %w", t.in, err)
	}
	record, err := catalog.ReadRecord(context.Background(), old)
	if err != nil {
		return err
	}
	if record.SealedAs > t.earlier+1 && !t.again { // somebody else seals it at the same time
		return t.sealedBefore(old)
	}
	return cmp.Or(ledger.StartFrom(old), ledger.Record(done.Facts...))
}

// confirm shows which public columns tell something of sealed ones, and asks.
func (t *Seal) confirm(ctx context.Context, contents *sealing.Contents) error {
	var all, warnings []string
	for _, d := range contents.Dependences() {
		all = append(all, d.Text)
		if !d.Note {
			warnings = append(warnings, d.Text)
		}
	}
	asks := len(warnings) > 0 && !t.yes
	if asks && !cli.Interactive() {
		return fmt.Errorf("seal: nothing was written, since public columns tell something of sealed ones (%s): leave them out of --public, or give --yes", strings.Join(warnings, "; "))
	}
	for _, text := range all {
		cli.Say("%s", text)
	}
	if !asks {
		return nil
	}
	return cli.AskYes(ctx, "Seal like this? Type yes: ", "seal: nothing was written")
}
