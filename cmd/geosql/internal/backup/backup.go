// Package backup copies a database with its ledger while both are used, and puts such a copy into use. It imports store,
// session and vault. Start at [Make] and [Restore.Run], where the order of the copies is explained.
package backup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/geosql/geosql/cmd/geosql/internal/store"
	"github.com/geosql/geosql/cmd/geosql/internal/vault"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/declaration"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger/engines"
	"github.com/geosql/geosql/ledger/file"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sealed/catalog"
)

// Make copies a database and its ledger.
//
// The database is copied first and the ledger then. An answer that the copied database holds was
// charged before it was written, so that the copied ledger, which is read later, has its charge.
// The same holds for every answer that anybody had seen when the copy of the ledger began. In the
// other order an answer could be charged and stored in between, and be in the copy without its
// charge. Charges without their answers do no harm: the copy then shows more spent than it holds.
func Make(ctx context.Context, f store.LedgerFlags, keys []string, path, to string) error {
	begun := time.Now()
	from, err := store.Find(path, f)
	switch {
	case err != nil:
		return err
	case from.Database == "" && from.OnServer():
		return fmt.Errorf("backup: %s is a ledger on a server: back it up with PostgreSQL's own means, such as pg_dump --schema=geosql", engines.Label(path))
	}
	isSealed, err := checkKeys(from, keys)
	if err != nil {
		return err
	}
	if from.Database != "" { // now, and not after a long time of copying
		if l, err := from.Open(); err != nil {
			return err
		} else if l != nil {
			defer l.Close()
		}
	}
	files, err := from.BeginCopy(to)
	if err != nil {
		return err
	}
	defer files.Remove()
	copies, err := copyKeys(keys, to)
	defer func() {
		for _, c := range copies {
			c.Remove()
		}
	}()
	if err != nil {
		return err
	}
	hasLedger, err := copyStore(ctx, from, files)
	for i := 0; err == nil && i < len(copies); i++ {
		err = copies[i].Publish()
	}
	if err == nil {
		err = files.Publish()
	}
	if err == nil && from.OnServer() {
		cli.Say("copied %s to %s; its ledger is on a server, %s: back that up now, with PostgreSQL's own means", path, to, engines.Label(from.Ledger))
	}
	if err == nil && isSealed && len(keys) == 0 {
		cli.Say("the key of %s is not in the backup: keep a copy of it too, or give --key KEY", path)
	}
	if err != nil || !term.IsTerminal(int(os.Stderr.Fd())) {
		return err
	}
	pace := fmt.Sprintf("%s in %.1f s", cli.Size(to, to+"-ledger"), time.Since(begun).Seconds())
	switch {
	case from.OnServer(): // it has said so
	case from.Database == "":
		cli.Say("copied %s to %s: %s", path, to, pace)
	case hasLedger:
		cli.Say("copied %s to %s, and its ledger to %s-ledger: %s", path, to, to, pace)
	default:
		cli.Say("copied %s to %s: %s; there is no ledger, since nobody has set a limit", path, to, pace)
	}
	return nil
}

// checkKeys reports whether the database is a sealed one, and returns an error if one of the files
// is not of a key that it is sealed for. An encrypted key is not looked into.
func checkKeys(b store.Store, names []string) (isSealed bool, err error) {
	if b.Database == "" {
		if len(names) > 0 {
			err = cli.UsageError("backup: --key is for sealed databases, and this is a ledger")
		}
		return false, err
	}
	conn, err := store.Open(b.Database, sqlite.ReadWrite)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	switch _, err = catalog.ReadID(conn); {
	case errors.Is(err, catalog.ErrNotSealed) && len(names) > 0:
		return false, cli.UsageError(fmt.Sprintf("backup: --key is for sealed databases, and %s is not sealed", b.Database))
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
		if err := vault.CheckSealedFor(conn, b.Database, key.Public(), name); err != nil {
			return true, err
		}
	}
	return true, nil
}

// copyKeys begins copies of keys.
func copyKeys(names []string, to string) (copies []*store.NewFile, err error) {
	for i, name := range names {
		place := to + "-key"
		if i > 0 {
			place = fmt.Sprintf("%s-%d", place, i+1)
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return copies, err
		}
		f, err := store.BeginFile(place)
		if err != nil {
			return copies, err
		}
		copies = append(copies, f)
		if err := store.WriteDurably(f.Path(), text); err != nil {
			return copies, err
		}
	}
	return copies, nil
}

// copyStore copies the database first, then the ledger, as Make explains. It reports whether there
// is a ledger.
func copyStore(ctx context.Context, b store.Store, to *store.Draft) (hasLedger bool, err error) {
	id := ""
	if b.Database != "" {
		if id, err = copyDatabase(ctx, b.Database, to.Database.Path()); err != nil {
			return false, err
		}
	}
	l, err := b.OpenAs(id)
	if err != nil {
		return false, err
	}
	if l == nil {
		to.Ledger.Remove()
		to.Ledger = nil
		return false, nil
	}
	if inFile, ok := l.(*file.Ledger); ok {
		err = showCopying(ctx, b.Ledger, func(each func(float64) error) error { return inFile.Copy(to.Ledger.Path(), each) })
	}
	return true, cmp.Or(err, l.Close())
}

// copyDatabase copies a database to a new file, and returns the id of the ledger that the copy is
// charged to.
func copyDatabase(ctx context.Context, from, to string) (id string, err error) {
	source, err := store.Open(from, sqlite.ReadWrite)
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
	line := cli.NewTerminalLine()
	defer line.Clear()
	steps := line.Steps()
	steps("copying "+path, 0)
	err := work(func(share float64) error {
		steps("copying "+path, share)
		return context.Cause(ctx)
	})
	if _, ok := errors.AsType[*sqlite.Error](err); ok {
		err = fmt.Errorf("copying %s: %w", path, err)
	}
	return err
}
