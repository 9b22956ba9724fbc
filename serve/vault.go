package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"

	"github.com/geosql/geosql/internal/declaration"
	"github.com/geosql/geosql/internal/files"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/engines"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sealed/catalog"
	"github.com/geosql/geosql/serve/internal/keeper"
	"github.com/geosql/geosql/serve/internal/role"
	"github.com/geosql/geosql/serve/internal/wire"
	"github.com/geosql/geosql/sqlitefn"
)

// busyTimeout bounds the wait for a locked database, in milliseconds.
const busyTimeout = 5000

// A vault is a sealed database, which is only read, with its ledger and its roles.
type vault struct {
	path     string
	file     os.FileInfo
	ledgerAt string // as package engines has it
	record   *catalog.Record

	mu     sync.Mutex // guards the fields below
	conn   *sqlite.Conn
	ledger ledger.Ledger
	roles  role.Roles

	size atomic.Pointer[ledger.Size] // as check has read it; nil if it could not
}

// openVault opens a sealed database with its ledger, by default the one beside it.
func openVault(path, ledger string) (*vault, error) {
	if path == "" {
		return nil, errors.New("the database has an empty name")
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: no such database", path)
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s is a directory, not a database", path)
	}
	v := &vault{path: path, file: info, ledgerAt: cmp.Or(ledger, sqlitefn.LedgerPath(path))}
	if err = v.openDatabase(); err == nil {
		err = v.openLedger()
	}
	if err == nil {
		err = v.roles.Update(context.Background(), v.ledger)
	}
	if err != nil {
		v.close()
		return nil, err
	}
	return v, nil
}

// openDatabase opens the database and makes sure that it is a sealed one.
func (v *vault) openDatabase() (err error) {
	if v.conn, err = sqlite.Open(v.path, sqlite.ReadOnly); err != nil {
		return fmt.Errorf("%s: %w", v.path, err)
	}
	v.conn.BusyTimeout(busyTimeout)
	if err = v.conn.Distrust(); err == nil {
		_, err = catalog.ReadID(v.conn)
	}
	switch {
	case errors.Is(err, catalog.ErrNotSealed):
		return fmt.Errorf("%s is not a sealed database (geosql seal makes one)", v.path)
	case err != nil:
		return fmt.Errorf("%s: %w", v.path, err)
	}
	return nil
}

// openLedger opens the ledger, makes sure that it is that of the database, and reads its facts.
func (v *vault) openLedger() error {
	charged, err := declaration.Ledger(v.conn)
	if err != nil {
		return err
	}
	if v.ledger, err = engines.OpenOf(v.path, charged, v.ledgerAt, 0); err != nil {
		return err
	}
	v.ledgerAt = cmp.Or(v.ledger.Path(), v.ledgerAt)
	v.record, err = catalog.ReadRecordOf(context.Background(), v.conn, v.path, v.ledger, engines.Label(v.ledgerAt))
	return err
}

// renewLedger opens the ledger again after its owner has accepted a loss: facts that were read may be lost too.
func (v *vault) renewLedger(ctx context.Context) error {
	l, err := engines.Open(v.ledgerAt, false, 0)
	if err != nil {
		return err
	}
	_ = v.ledger.Close() // its reservations stay
	v.ledger, v.roles = l, role.Roles{}
	return v.ledger.Ready(ctx)
}

// close closes database and ledger.
func (v *vault) close() (err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.conn != nil {
		err = v.conn.Close()
		v.conn = nil
	}
	if v.ledger != nil {
		err = cmp.Or(err, v.ledger.Close())
	}
	return err
}

// A KeyError is the error of a key in [Options.Keys] that the database is not sealed for.
type KeyError struct {
	Index int    // of the key
	Path  string // of the database
}

func (e *KeyError) Error() string {
	return fmt.Sprintf("private key %d is not a key that %s is sealed for", e.Index+1, e.Path)
}

// checkKeys returns an error unless the database is sealed for the keys.
func (v *vault) checkKeys(keys []*sealed.PrivateKey) error {
	if len(keys) == 0 {
		return errors.New("no private key is given")
	}
	for i, key := range keys {
		known, err := catalog.HasKey(v.conn, key.Public().ID())
		if err == nil && !known {
			err = &KeyError{i, v.path}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Errors about health. They say nothing that is not for everybody.
var (
	errNoDatabase = errors.New("the database cannot be read")
	errNoLedger   = errors.New("the ledger cannot be read")
	errNoTemp     = errors.New("the disk of temporary files is full")
	errNoAudit    = errors.New("the audit log cannot be written")
	errSlow       = errors.New("the ledger or the database does not answer")
)

// An unchargedError is the error of a ledger that cannot be charged, with a reason that is for everybody.
type unchargedError struct {
	reason string
	cause  error // for the log
}

func (e *unchargedError) Error() string { return "nobody can be charged: " + e.reason }
func (e *unchargedError) Unwrap() error { return e.cause }

const diskFull = "the disk of the ledger is full"

// check returns an error unless database and ledger are where they were, and can be read and charged.
func (v *vault) check(ctx context.Context) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.size.Store(nil)
	if v.conn == nil {
		return errNoDatabase // the server has ended
	}
	err := v.usable(ctx)
	if !errors.Is(err, ledger.ErrUnreachable) { // which takes long
		if size, e := v.ledger.Size(ctx); e == nil {
			v.size.Store(&size)
			if err == nil && files.IsFull(size.Room) {
				err = &unchargedError{diskFull, fmt.Errorf("it has %d bytes left", size.Room)}
			}
		}
	}
	return err
}

// usable is check for its caller, who has the lock.
func (v *vault) usable(ctx context.Context) error {
	info, err := os.Stat(v.path)
	if err != nil || !os.SameFile(info, v.file) {
		return errNoDatabase
	}
	if err := v.conn.Exec("SELECT count(*) FROM sqlite_schema"); err != nil {
		return errNoDatabase
	}
	if !engines.IsURL(v.ledgerAt) {
		if _, err := os.Stat(v.ledgerAt); err != nil {
			return errNoLedger
		}
	}
	if err := v.ready(ctx); err != nil {
		return err
	}
	if err := v.roles.Update(ctx, v.ledger); err != nil {
		if ctx.Err() != nil {
			return errSlow
		}
		return errNoLedger
	}
	return nil
}

// ready returns an error unless the ledger can be charged.
func (v *vault) ready(ctx context.Context) error {
	err := v.ledger.Ready(ctx)
	if errors.Is(err, ledger.ErrLossAccepted) {
		err = v.renewLedger(ctx)
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return errSlow
	case errors.Is(err, ledger.ErrLost):
		return &unchargedError{"the ledger has lost charges", err}
	case errors.Is(err, ledger.ErrUnreachable):
		return &unchargedError{"the ledger cannot be reached", err}
	case keeper.IsFull(err):
		return &unchargedError{diskFull, err}
	}
	return &unchargedError{"the server's log says why", err}
}

// iterations returns how often the passwords of roles are hashed.
func (v *vault) iterations() int {
	most := 0
	for _, r := range v.roles.All() {
		most = max(most, r.Verifier.Iterations)
	}
	return cmp.Or(most, wire.DefaultIterations)
}

// mockSecret returns a secret that stays the same as long as the keys do. It makes up the salts of
// users that do not exist.
func mockSecret(keyring *sealed.Keyring, id sealed.DatabaseID) ([]byte, error) {
	secret, err := keyring.Derive(id, "users that do not exist")
	return secret[:], err
}
