package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/declaration"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/engines"
	"github.com/geosql/geosql/ledger/file"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sealed/catalog"
	"github.com/geosql/geosql/sqlitefn"
)

var backupCommand = &cli.Command{
	Name: "backup", Operands: "DB|LEDGERFILE TO", Min: 2, Max: 2,
	Summary: "copy a database and its ledger while they are used",
	Details: `Writes TO and TO-ledger, which must not exist, or TO for a ledger by itself. They are for their
owner alone, and appear complete or not at all. A backup does not know what is charged later.
So its ledger can be read and not charged until 'geosql restore' has said what that means.

A ledger on a server is backed up with PostgreSQL's own means, such as pg_dump: with --ledger URL
only the database is copied. Back the server up after that, not before.

The ledger of a sealed database also holds who was erased and who was revoked. Its key is copied to
TO-key with --key KEY; without KEY the backup can be opened by nobody.`,
	Setup: func(fs *flag.FlagSet) cli.Run {
		var f ledgerFlags
		var keys []string
		f.registerFile(fs, "copy the ledger `FILE` (default DB-ledger, beside DB); one at a postgres:// URL is not copied")
		cli.ListVar(fs, &keys, fileName, "key", "copy the private `KEY` of a sealed database to TO-key; a second one, of older values, to TO-key-2, and so on")
		return func(ctx context.Context, operands []string) error {
			return backUp(ctx, f, keys, operands[0], operands[1])
		}
	},
}

// backUp copies a database and its ledger.
//
// The database is copied first and the ledger then. An answer that the copied database holds was
// charged before it was written, so that the copied ledger, which is read later, has its charge.
// The same holds for every answer that anybody had seen when the copy of the ledger began. In the
// other order an answer could be charged and stored in between, and be in the copy without its
// charge. Charges without their answers do no harm: the copy then shows more spent than it holds.
func backUp(ctx context.Context, f ledgerFlags, keys []string, path, to string) error {
	from, err := findBooks(path, f)
	switch {
	case err != nil:
		return err
	case from.database == "" && from.onServer():
		return fmt.Errorf("backup: %s is a ledger on a server: back it up with PostgreSQL's own means, such as pg_dump --schema=geosql", engines.Label(path))
	}
	isSealed, err := checkKeys(from, keys)
	if err != nil {
		return err
	}
	if from.database != "" { // now, and not after a long time of copying
		if l, err := from.open(); err != nil {
			return err
		} else if l != nil {
			defer l.Close()
		}
	}
	files, err := from.begin(to)
	if err != nil {
		return err
	}
	defer files.remove()
	copies, err := copyKeys(keys, to)
	defer func() {
		for _, c := range copies {
			c.remove()
		}
	}()
	if err != nil {
		return err
	}
	hasLedger, err := copyBooks(ctx, from, files)
	for i := 0; err == nil && i < len(copies); i++ {
		err = copies[i].publish()
	}
	if err == nil {
		err = files.publish()
	}
	if err == nil && from.onServer() {
		cli.Say("copied %s to %s; its ledger is on a server, %s: back that up now, with PostgreSQL's own means", path, to, engines.Label(from.ledger))
	}
	if err == nil && isSealed && len(keys) == 0 {
		cli.Say("the key of %s is not in the backup: keep a copy of it too, or give --key KEY", path)
	}
	if err != nil || !term.IsTerminal(int(os.Stderr.Fd())) {
		return err
	}
	switch {
	case from.onServer(): // it has said so
	case from.database == "":
		cli.Say("copied %s to %s", path, to)
	case hasLedger:
		cli.Say("copied %s to %s, and its ledger to %s-ledger", path, to, to)
	default:
		cli.Say("copied %s to %s; there is no ledger, since nobody has set a limit", path, to)
	}
	return nil
}

// checkKeys reports whether the database is a sealed one, and returns an error if one of the files
// is not of a key that it is sealed for. An encrypted key is not looked into.
func checkKeys(b books, names []string) (isSealed bool, err error) {
	if b.database == "" {
		if len(names) > 0 {
			err = cli.UsageError("backup: --key is for sealed databases, and this is a ledger")
		}
		return false, err
	}
	conn, err := openDatabase(b.database, sqlite.ReadWrite)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	switch _, err = catalog.ReadID(conn); {
	case errors.Is(err, catalog.ErrNotSealed) && len(names) > 0:
		return false, cli.UsageError(fmt.Sprintf("backup: --key is for sealed databases, and %s is not sealed", b.database))
	case errors.Is(err, catalog.ErrNotSealed):
		return false, nil
	case err != nil:
		return false, err
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return true, err
		}
		key, err := sealed.ParsePrivateKey(text, nil)
		if errors.Is(err, sealed.ErrPassphrase) {
			continue
		}
		if err != nil {
			return true, fmt.Errorf("%s %w", name, err)
		}
		if err := checkSealedFor(conn, b.database, key.Public(), name); err != nil {
			return true, err
		}
	}
	return true, nil
}

// copyKeys begins copies of keys.
func copyKeys(names []string, to string) (copies []*newFile, err error) {
	for i, name := range names {
		place := to + "-key"
		if i > 0 {
			place = fmt.Sprintf("%s-%d", place, i+1)
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return copies, err
		}
		f, err := beginFile(place)
		if err != nil {
			return copies, err
		}
		copies = append(copies, f)
		if err := writeDurably(f.path(), text); err != nil {
			return copies, err
		}
	}
	return copies, nil
}

// books are a database and its ledger, or a ledger by itself.
type books struct {
	database string      // "" for a ledger by itself
	ledger   string      // where it is, as package engines has it
	mode     fs.FileMode // of the ledger; 0 keeps what it has
}

// onServer reports whether the ledger is on a server.
func (b books) onServer() bool { return engines.IsURL(b.ledger) }

// findBooks returns the books of a path, or of the URL of a ledger. The flags say where a database's
// ledger is.
func findBooks(path string, f ledgerFlags) (books, error) {
	if err := f.check(); err != nil {
		return books{}, err
	}
	if engines.IsURL(path) {
		return findServer(path, f)
	}
	if err := checkDatabase(path); err != nil {
		return books{}, err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return books{}, noDatabase(path)
	}
	conn, err := openDatabase(path, sqlite.ReadWrite)
	if err != nil {
		return books{}, err
	}
	isLedger, err := isLedger(conn)
	err = cmp.Or(err, conn.Close())
	switch {
	case err != nil:
		return books{}, err
	case !isLedger:
		return books{path, cmp.Or(f.file, sqlitefn.LedgerPath(path)), f.mode}, nil
	case f.file != "":
		return books{}, errLedgerItself(path)
	}
	return books{"", path, f.mode}, nil
}

// findServer returns the books of a ledger on a server by itself.
func findServer(url string, f ledgerFlags) (books, error) {
	if f.file != "" {
		return books{}, errLedgerItself(url)
	}
	f.file = url
	return books{"", url, 0}, f.check()
}

// begin begins the files of a copy.
func (b books) begin(to string) (*newBooks, error) {
	if err := checkDatabase(to); err != nil {
		return nil, err
	}
	switch {
	case b.database == "":
		return beginBooks("", to)
	case b.onServer():
		database, err := beginFile(to)
		return &newBooks{database: database}, err
	}
	return beginBooks(to, to+"-ledger")
}

// open opens the ledger. It returns nil if nobody has made one yet.
func (b books) open() (ledger.Ledger, error) {
	id, err := b.recorded()
	if err != nil {
		return nil, err
	}
	return b.openAs(id)
}

// openFile is open for a ledger in a file, which alone can be copied.
func (b books) openFile() (*file.Ledger, error) {
	id, err := b.recorded()
	if err != nil {
		return nil, err
	}
	return b.openFileAs(id)
}

// openFileAs is openAs for a ledger in a file.
func (b books) openFileAs(id string) (*file.Ledger, error) {
	l, err := b.openAs(id)
	if l == nil || err != nil {
		return nil, err
	}
	return l.(*file.Ledger), nil
}

// recorded returns the id of the ledger that the database is charged to, "" for none.
func (b books) recorded() (id string, err error) {
	if b.database == "" {
		return "", nil
	}
	conn, err := openDatabase(b.database, sqlite.ReadWrite)
	if err != nil {
		return "", err
	}
	id, err = declaration.Ledger(conn)
	return id, cmp.Or(err, conn.Close())
}

// openAs opens the ledger that a database is charged to, whose id it holds.
func (b books) openAs(id string) (ledger.Ledger, error) {
	l, err := engines.Open(b.ledger, false, b.mode)
	switch {
	case errors.Is(err, fs.ErrNotExist) && id == "" && b.database != "":
		return nil, nil
	case errors.Is(err, fs.ErrNotExist) && id == "" && b.onServer():
		return nil, missingLedger(fmt.Sprintf("there is no ledger at %s yet: the first limit or release makes it", engines.Label(b.ledger)))
	case errors.Is(err, fs.ErrNotExist) && b.onServer():
		return nil, missingLedger(fmt.Sprintf("there is no ledger at %s: %s was charged to ledger %s, name the server that has it with --ledger", engines.Label(b.ledger), b.database, id))
	case errors.Is(err, fs.ErrNotExist):
		return nil, missingLedger(fmt.Sprintf("ledger %s is missing: %s was charged to ledger %s, put that file back or name it with --ledger", b.ledger, b.database, id))
	case err != nil:
		return nil, err
	case id != "" && l.ID() != id:
		err = fmt.Errorf("ledger %s has id %s, but %s was charged to ledger %s", engines.Label(b.ledger), l.ID(), b.database, id)
		return nil, cmp.Or(err, l.Close())
	}
	return l, nil
}

// A missingLedger is the error of a ledger that is not there.
type missingLedger string

func (e missingLedger) Error() string      { return string(e) }
func (missingLedger) Is(target error) bool { return target == fs.ErrNotExist }

// copyBooks copies the database first, then the ledger, as backUp explains. It reports whether there
// is a ledger.
func copyBooks(ctx context.Context, b books, to *newBooks) (hasLedger bool, err error) {
	id := ""
	if b.database != "" {
		if id, err = copyDatabase(ctx, b.database, to.database.path()); err != nil {
			return false, err
		}
	}
	l, err := b.openAs(id)
	if err != nil {
		return false, err
	}
	if l == nil {
		to.ledger.remove()
		to.ledger = nil
		return false, nil
	}
	if inFile, ok := l.(*file.Ledger); ok {
		err = showCopying(ctx, b.ledger, func(each func(float64) error) error { return inFile.Copy(to.ledger.path(), each) })
	}
	return true, cmp.Or(err, l.Close())
}

// copyDatabase copies a database to a new file, and returns the id of the ledger that the copy is
// charged to.
func copyDatabase(ctx context.Context, from, to string) (id string, err error) {
	source, err := openDatabase(from, sqlite.ReadWrite)
	if err != nil {
		return "", err
	}
	defer source.Close()
	dest, err := sqlite.Open(to, sqlite.ReadWrite|sqlite.Create)
	if err != nil {
		return "", err
	}
	err = dest.Exec("PRAGMA synchronous = FULL; PRAGMA fullfsync = ON")
	if err == nil {
		err = showCopying(ctx, from, func(each func(float64) error) error { return dest.CopyFrom(source, each) })
	}
	if err == nil {
		id, err = declaration.Ledger(dest)
	}
	return id, cmp.Or(err, dest.Close())
}

// showCopying calls work with a function that shows on the terminal how much of a file is copied,
// and returns the cause once ctx has ended. It adds the name of the file to the errors of SQLite.
func showCopying(ctx context.Context, path string, work func(each func(share float64) error) error) error {
	line, begun := cli.NewTerminalLine(), time.Now()
	defer line.Clear()
	err := work(func(share float64) error {
		line.Show("copying %s: %s", path, cli.ShareAndRest(share, cli.TimeLeft(begun, share)))
		return context.Cause(ctx)
	})
	if _, ok := errors.AsType[*sqlite.Error](err); ok {
		err = fmt.Errorf("copying %s: %w", path, err)
	}
	return err
}
