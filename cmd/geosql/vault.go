package main

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/engines"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sealed/catalog"
)

// A vault is a sealed database that its owner has open, with its ledger.
type vault struct {
	path   string
	conn   *sqlite.Conn
	book   ledger.Ledger
	ledger string // where it is, as package engines has it
	record *catalog.Record
}

// openSealedFile opens a sealed database for writing.
func openSealedFile(path string) (*sqlite.Conn, error) {
	if err := checkDatabase(path); err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such database", path)
	}
	conn, err := openDatabase(path, sqlite.ReadWrite)
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

// openVault opens a sealed database with its ledger.
func openVault(path string, f ledgerFlags) (*vault, error) {
	conn, err := openSealedFile(path)
	if err != nil {
		return nil, err
	}
	v := &vault{path: path, conn: conn}
	if err := v.openLedger(f); err != nil {
		conn.Close()
		return nil, err
	}
	return v, nil
}

// openLedger opens the ledger and reads what is recorded in it.
func (v *vault) openLedger(f ledgerFlags) error {
	b, err := findBooks(v.path, f)
	if err != nil {
		return err
	}
	if v.book, err = b.open(); err != nil {
		return err
	}
	if v.book == nil {
		return missingLedger(fmt.Sprintf("ledger %s of %s is missing: put it there, or name it with --ledger", engines.Label(b.ledger), v.path))
	}
	v.ledger = cmp.Or(v.book.Path(), b.ledger)
	v.record, err = catalog.ReadRecord(v.book)
	if err == nil {
		err = v.checkLedger()
	}
	if err != nil {
		v.book.Close()
	}
	return err
}

// checkLedger returns an error if the ledger is not that of the database.
func (v *vault) checkLedger() error {
	id, err := catalog.ReadID(v.conn)
	if err == nil && (v.record.Database == nil || *v.record.Database != id) {
		err = fmt.Errorf("ledger %s is not that of the sealed database %s: name the right one with --ledger", engines.Label(v.ledger), v.path)
	}
	return err
}

// close closes the vault. It returns err, or else its own error.
func (v *vault) close(err error) error { return cmp.Or(err, v.conn.Close(), v.book.Close()) }

// keeper returns the keeper of the database, for private keys that it was sealed for.
func (v *vault) keeper(command string, f keyFlags) (*catalog.Keeper, error) {
	if len(f.names) == 0 {
		return nil, cli.UsageError(command + ": give the private key with --key KEY")
	}
	keys, err := readPrivateKeys(f.names, f.passphrase)
	if err != nil {
		return nil, err
	}
	for i, key := range keys {
		if err := checkSealedFor(v.conn, v.path, key.Public(), f.names[i]); err != nil {
			return nil, err
		}
	}
	return catalog.Open(v.conn, v.book, sealed.NewKeyring(keys...))
}

// enrolOnce enrols a new key, which signs one session, under the name of a command.
func (v *vault) enrolOnce(command string) (*sealed.PrivateKey, error) {
	signer, err := sealed.GenerateKey()
	if err != nil {
		return nil, err
	}
	return signer, v.book.Record(catalog.Collector{Name: command, Verify: signer.Public().Verifier()}.Fact())
}

// oneTimeNames are the names of collectors that commands enrol for one session.
var oneTimeNames = []string{"seal", "append", "accounts", "rekey"}

// fingerprint shows a key that verifies.
func fingerprint(verify []byte) string { return hex.EncodeToString(verify[:min(8, len(verify))]) }

// patience is how long a command waits for others that are writing, such as another append.
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

// inTransaction runs work in a transaction that has the only right to write from its beginning.
func inTransaction(ctx context.Context, conn *sqlite.Conn, work func() error) error {
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

// wipeLog removes what is deleted from the write-ahead log, if there is one. It reports false if
// others are reading what is there.
func wipeLog(conn *sqlite.Conn) (wiped bool, err error) {
	busy := false
	err = firstValue(conn, "PRAGMA wal_checkpoint(TRUNCATE)", func(v sqlite.Value) { busy = v.Int() != 0 })
	return !busy, err
}
