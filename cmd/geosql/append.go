package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"strings"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sealed/catalog"
)

var appendCommand = &cli.Command{
	Name: "append", Operands: "OUT TABLE FILE", Min: 3, Max: 3,
	Summary: "seal the rows of FILE and add them to a sealed table",
	Details: `FILE has a header and is what import reads; it may be .gz. It has the columns of TABLE: that of the
account with people's names in place of pseudonyms, those of readings, the public ones, and lat
and lon for a location. Others are ignored, and that is said. Readings and locations are moved into
their universe or domain. Rows are added in random order and in one transaction: all or none.

A collector needs KEY.pub of the owner, a key of its own that the owner has enrolled with
'geosql collector', and OUT, which it may write:
  geosql append OUT TABLE FILE --key KEY.pub --sign MYKEY
The owner, beside OUT-ledger, leaves out --sign.

The pseudonym of a name comes from --accounts; if it is not there, from OUT if --key is the owner's
private key; else it is made of the name with the key that signs. So a collector always gives a
name the same pseudonym; without --sign, other runs give it others.
All rows are in memory: about 100 bytes each, and the text of their public columns.`,
	Setup: func(fs *flag.FlagSet) cli.Run {
		var t appendTask
		t.ledger.registerFile(fs, "without --sign: enrol in the ledger `FILE`, or at a postgres:// URL (default OUT-ledger, beside OUT)")
		t.keys.register(fs, "seal for the public key in `KEY.pub`, or KEY")
		optionalVar(fs, &t.sign, "sign", "sign as the collector that has the private `KEY`")
		optionalVar(fs, &t.accounts, "accounts", "numbers and pseudonyms are in `FILE`, which 'geosql collector OUT accounts' has printed")
		cli.Switch(fs, "new-key", "OUT may have been sealed for other keys only", func() { t.newKey = true })
		cli.ListVar(fs, &t.lat, fileName, "lat", "latitudes are in `COLUMN`; again for a second location")
		cli.ListVar(fs, &t.lon, fileName, "lon", "longitudes are in `COLUMN`; again for a second location")
		return func(ctx context.Context, operands []string) error {
			t.path, t.table, t.file = operands[0], operands[1], operands[2]
			return t.run(ctx)
		}
	},
}

// An appendTask holds what the command line of the command append says.
type appendTask struct {
	path, table, file string
	ledger            ledgerFlags
	keys              keyFlags
	sign, accounts    *string
	newKey            bool
	lat, lon          []string

	conn     *sqlite.Conn
	owner    *vault             // without --sign, and else nil
	private  *sealed.PrivateKey // of the owner, if --key is that
	public   sealed.PublicKey   // of the owner
	signer   *sealed.PrivateKey
	given    map[string]sealed.Account // by --accounts
	database sealed.DatabaseID
	target   *target
}

// run reads the file, and then adds its rows.
func (t *appendTask) run(ctx context.Context) error {
	switch {
	case len(t.keys.names) != 1:
		return cli.UsageError("append: give the owner's public key, once, with --key KEY.pub")
	case len(t.lat) != len(t.lon):
		return cli.UsageError("append: give --lat and --lon together")
	}
	if err := t.readKeys(ctx); err != nil {
		return err
	}
	if err := t.open(); err != nil {
		return err
	}
	err := t.append(ctx)
	if t.owner != nil {
		return t.owner.close(err)
	}
	return cmp.Or(err, t.conn.Close())
}

// readKeys reads the files of keys and accounts.
func (t *appendTask) readKeys(ctx context.Context) error {
	name := t.keys.names[0]
	public, err := readPublicKey(name)
	if err == nil {
		t.public = public
	} else if !errors.Is(err, fs.ErrNotExist) {
		keys, failed := readPrivateKeys([]string{name}, t.keys.passphrase)
		if failed != nil {
			return failed
		}
		t.private, t.public = keys[0], keys[0].Public()
	} else {
		return err
	}
	if t.sign != nil {
		keys, err := readPrivateKeys([]string{*t.sign}, t.keys.passphrase)
		if err != nil {
			return err
		}
		t.signer = keys[0]
	}
	if t.accounts != nil {
		if t.given, err = readAccounts(ctx, *t.accounts); err != nil {
			return err
		}
	}
	return nil
}

// open opens the database, and the ledger if nobody signs.
func (t *appendTask) open() (err error) {
	if t.sign == nil {
		t.owner, err = openVault(t.path, t.ledger)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("append: %w; a collector, who has no ledger, signs with --sign KEY", err)
		}
		if err == nil {
			t.conn = t.owner.conn
		}
		return err
	}
	if t.conn, err = openSealedFile(t.path); err != nil {
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
func (t *appendTask) checkEnrolled() error {
	v, err := openVault(t.path, t.ledger)
	if err != nil {
		return nil
	}
	verify := t.signer.Public().Verifier()
	switch {
	case v.record.Revoked[string(verify)]:
		err = fmt.Errorf("append: the key %s is revoked in %s", *t.sign, v.path)
	case !v.record.Enrolled(verify):
		err = fmt.Errorf("append: the key %s is not enrolled: geosql collector %s add NAME --verify %s.pub", *t.sign, v.path, *t.sign)
	}
	return v.close(err)
}

// append adds the rows of the file.
func (t *appendTask) append(ctx context.Context) error {
	known, err := catalog.HasKey(t.conn, t.public.ID())
	if err != nil {
		return err
	}
	if !known && !t.newKey {
		return fmt.Errorf("append: %s is not sealed for the key %s: give the owner's key, or --new-key if the owner has changed it", t.path, t.keys.names[0])
	}
	if sameFile(t.path, dataset.FileName(t.file)) {
		return fmt.Errorf("append: %s is in the database itself: write it to a file first", t.file)
	}
	d, err := cli.OpenDataSet(ctx, t.file)
	if err != nil {
		return err
	}
	defer d.Close()
	if t.target, err = t.newTarget(d); err != nil {
		return err
	}
	if len(t.target.ignored) > 0 {
		cli.Say("%s has columns that are ignored: %s", t.file, strings.Join(t.target.ignored, ", "))
	}
	rows, err := t.target.read(d)
	if err != nil {
		return err
	}
	left := t.leaveOutErased(rows)
	rows.shuffle()
	stop := interruptOn(ctx, t.conn)
	defer stop()
	err = inTransaction(ctx, t.conn, func() error { return t.write(ctx, rows) })
	if ctx.Err() != nil && err != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return err
	}
	cli.Say("added %s of %s to %s of %s", count(int64(len(rows.order)), "row"), count(int64(len(rows.paying())), "account"), t.target.table, t.path)
	if left > 0 {
		cli.Say("left out %s of erased accounts", count(int64(left), "row"))
	}
	return nil
}
