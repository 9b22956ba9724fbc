// Package collect adds rows to sealed databases, and says who may: it enrols and revokes collectors. It imports vault,
// load and session. Start at [Append.Run] and [Collectors.Run].
package collect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/geosql/geosql/cmd/geosql/internal/store"
	"github.com/geosql/geosql/cmd/geosql/internal/vault"
	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sealed/catalog"
)

// An Append holds the command line of the command append.
type Append struct {
	Path, Table, File string
	Ledger            store.LedgerFlags
	Keys              vault.KeyFlags
	Sign, Accounts    *string
	NewKey            bool
	Lat, Lon          []string

	conn     *sqlite.Conn
	owner    *vault.Vault       // without --sign, and else nil
	private  *sealed.PrivateKey // of the owner, if --key is that
	public   sealed.PublicKey   // of the owner
	signer   *sealed.PrivateKey
	given    map[string]sealed.Account // by --accounts
	database sealed.DatabaseID
	target   *target
}

// Run reads the file, and then adds its rows.
func (t *Append) Run(ctx context.Context) error {
	lines := isSealedLines(t.File)
	switch {
	case lines && (len(t.Keys.Names) > 0 || t.Sign != nil || t.Accounts != nil || t.NewKey || len(t.Lat)+len(t.Lon) > 0):
		return cli.UsageError("append: FILE.jsonl is sealed and signed: it takes no flag but --ledger")
	case lines:
	case len(t.Keys.Names) != 1:
		return cli.UsageError("append: give the owner's public key, once, with --key KEY.pub")
	case len(t.Lat) != len(t.Lon):
		return cli.UsageError("append: give --lat and --lon together")
	}
	add := t.append
	if lines {
		add = t.appendBatches
	} else if err := t.readKeys(ctx); err != nil {
		return err
	}
	if err := t.open(lines); err != nil {
		return err
	}
	err := add(ctx)
	if t.owner != nil {
		return t.owner.Close(err)
	}
	return cmp.Or(err, t.conn.Close())
}

// readKeys reads the files of keys and accounts.
func (t *Append) readKeys(ctx context.Context) error {
	name := t.Keys.Names[0]
	public, err := vault.ReadPublicKey(name)
	if err == nil {
		t.public = public
	} else if !errors.Is(err, fs.ErrNotExist) {
		keys, failed := vault.ReadPrivateKeys([]string{name}, t.Keys.Passphrase)
		if failed != nil {
			return failed
		}
		t.private, t.public = keys[0], keys[0].Public()
	} else {
		return err
	}
	if t.Sign != nil {
		keys, err := vault.ReadPrivateKeys([]string{*t.Sign}, t.Keys.Passphrase)
		if err != nil {
			return err
		}
		t.signer = keys[0]
	}
	if t.Accounts != nil {
		if t.given, err = readAccounts(ctx, *t.Accounts); err != nil {
			return err
		}
	}
	return nil
}

// open opens the database, and the ledger if nobody signs. Signed lines need no ledger: anybody may carry and add them.
func (t *Append) open(signed bool) (err error) {
	if t.Sign == nil {
		t.owner, err = vault.Open(t.Path, t.Ledger)
		if signed && errors.Is(err, fs.ErrNotExist) && t.Ledger == (store.LedgerFlags{}) {
			t.conn, err = vault.OpenDatabase(t.Path)
			return err
		}
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("append: %w; a collector, who has no ledger, signs with --sign KEY", err)
		}
		if err == nil {
			t.conn = t.owner.Conn
		}
		return err
	}
	if t.conn, err = vault.OpenDatabase(t.Path); err != nil {
		return err
	}
	if err := t.checkEnrolled(); err != nil {
		t.conn.Close()
		return err
	}
	return nil
}

// checkEnrolled returns an error if the ledger is here, and says that the collector may not add
// anything. A collector that has no ledger finds out from the owner.
func (t *Append) checkEnrolled() error {
	v, err := vault.Open(t.Path, t.Ledger)
	if err != nil {
		return nil
	}
	verify := t.signer.Public().Verifier()
	switch {
	case v.Record.Revoked[string(verify)]:
		err = fmt.Errorf("append: the key %s is revoked in %s", *t.Sign, v.Path)
	case !v.Record.Enrolled(verify):
		err = fmt.Errorf("append: the key %s is not enrolled: geosql collector %s add NAME --verify %s.pub", *t.Sign, v.Path, *t.Sign)
	}
	return v.Close(err)
}

// append adds the rows of the file.
func (t *Append) append(ctx context.Context) error {
	known, err := catalog.HasKey(t.conn, t.public.ID())
	if err != nil {
		return err
	}
	if !known && !t.NewKey {
		return fmt.Errorf("append: %s is not sealed for the key %s: give the owner's key, or --new-key if the owner has changed it", t.Path, t.Keys.Names[0])
	}
	if store.SameFile(t.Path, dataset.FileName(t.File)) {
		return fmt.Errorf("append: %s is in the database itself: write it to a file first", t.File)
	}
	d, err := cli.OpenDataSet(ctx, t.File)
	if err != nil {
		return err
	}
	defer d.Close()
	if t.target, err = t.newTarget(d); err != nil {
		return err
	}
	if len(t.target.ignored) > 0 {
		cli.Say("%s has columns that are ignored: %s", t.File, strings.Join(t.target.ignored, ", "))
	}
	rows, err := t.target.read(d)
	if err != nil {
		return err
	}
	left := t.leaveOutErased(rows)
	rows.shuffle()
	stop := store.InterruptOn(ctx, t.conn)
	defer stop()
	err = vault.InTransaction(ctx, t.conn, func() error { return t.write(ctx, rows) })
	if ctx.Err() != nil && err != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return err
	}
	cli.Say("added %s of %s to %s of %s", cli.Count(int64(len(rows.order)), "row"), cli.Count(int64(len(rows.paying())), "account"), t.target.table, t.Path)
	if left > 0 {
		cli.Say("left out %s of erased accounts", cli.Count(int64(left), "row"))
	}
	return nil
}
