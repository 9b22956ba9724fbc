// Package vault opens sealed databases for their owner, with the keys that open and sign their values. It imports sealed,
// sealed/catalog and package store. Start at [Open], and at [KeyFlags] for the flags.
package vault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/geosql/geosql/cmd/geosql/internal/store"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/engines"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sealed/catalog"
)

// WereSealed returns the beginning of a sentence about sessions.
func WereSealed(sessions int) string {
	if sessions == 1 {
		return "1 session is sealed for"
	}
	return fmt.Sprintf("%d sessions are sealed for", sessions)
}

// A Vault is a sealed database that its owner has open, with its ledger.
type Vault struct {
	Path   string
	Conn   *sqlite.Conn
	Ledger ledger.Ledger
	Where  string // where it is, as package engines has it
	Record *catalog.Record
}

// OpenDatabase opens a sealed database for writing.
func OpenDatabase(path string) (*sqlite.Conn, error) {
	if err := store.CheckName(path); err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such database", path)
	}
	conn, err := store.Open(path, sqlite.ReadWrite)
	if err != nil {
		return nil, err
	}
	if err = conn.Distrust(); err == nil {
		_, err = catalog.ReadID(conn)
	}
	if err == nil && !conn.Writable() {
		err = errors.New("it cannot be written")
	}
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return conn, nil
}

// Open opens a sealed database with its ledger.
func Open(path string, f store.LedgerFlags) (*Vault, error) {
	conn, err := OpenDatabase(path)
	if err != nil {
		return nil, err
	}
	v := &Vault{Path: path, Conn: conn}
	if err := v.OpenLedger(f); err != nil {
		conn.Close()
		return nil, err
	}
	return v, nil
}

// OpenLedger opens the ledger and reads its record.
func (v *Vault) OpenLedger(f store.LedgerFlags) error {
	b, err := store.Find(v.Path, f)
	if err != nil {
		return err
	}
	if v.Ledger, err = b.Open(); err != nil {
		return err
	}
	if v.Ledger == nil {
		return engines.Missing(v.Path, "", b.Ledger)
	}
	v.Where = cmp.Or(v.Ledger.Path(), b.Ledger)
	v.Record, err = catalog.ReadRecordOf(context.Background(), v.Conn, v.Path, v.Ledger, engines.Label(v.Where))
	if err != nil {
		v.Ledger.Close()
	}
	return err
}

// Close closes the vault. It returns err, or else its own error.
func (v *Vault) Close(err error) error { return cmp.Or(err, v.Conn.Close(), v.Ledger.Close()) }

// Keeper returns the keeper of the database, for private keys that it was sealed for.
func (v *Vault) Keeper(command string, f KeyFlags) (*catalog.Keeper, error) {
	if len(f.Names) == 0 {
		return nil, cli.UsageError(command + ": give the private key with --key KEY")
	}
	keys, err := ReadPrivateKeys(f.Names, f.Passphrase)
	if err != nil {
		return nil, err
	}
	for i, key := range keys {
		if err := CheckSealedFor(v.Conn, v.Path, key.Public(), f.Names[i]); err != nil {
			return nil, err
		}
	}
	return catalog.Open(context.Background(), v.Conn, v.Ledger, sealed.NewKeyring(keys...))
}

// EnrolOnce enrols a new key, which signs one session, under the name of a command.
func (v *Vault) EnrolOnce(command string) (*sealed.PrivateKey, error) {
	signer, err := sealed.GenerateKey()
	if err != nil {
		return nil, err
	}
	return signer, v.Ledger.Record(catalog.Collector{Name: command, Verify: signer.Public().Verifier()}.Fact())
}

// patience bounds a command's wait for others that are writing, such as another append.
const patience = 2 * time.Minute

// begin begins a transaction that has the only right to write.
func begin(ctx context.Context, conn *sqlite.Conn) error {
	for begun := time.Now(); ; {
		err := conn.Exec("BEGIN IMMEDIATE") // which waits for busyTimeout
		busy, ok := errors.AsType[*sqlite.Error](err)
		if !ok || !busy.Busy() || time.Since(begun) > patience {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// InTransaction runs work in a transaction that has the only right to write from its beginning.
func InTransaction(ctx context.Context, conn *sqlite.Conn, work func() error) error {
	if err := begin(ctx, conn); err != nil {
		return err
	}
	if err := work(); err != nil {
		_ = conn.Exec("ROLLBACK")
		return err
	}
	err := conn.Exec("COMMIT")
	if err != nil {
		_ = conn.Exec("ROLLBACK")
	}
	return err
}

// WipeLog removes deleted data from the write-ahead log, if there is one. It reports false if
// other connections still read it.
func WipeLog(conn *sqlite.Conn) (wiped bool, err error) {
	busy := false
	err = store.First(conn, "PRAGMA wal_checkpoint(TRUNCATE)", func(v sqlite.Value) { busy = v.Int() != 0 })
	return !busy, err
}
