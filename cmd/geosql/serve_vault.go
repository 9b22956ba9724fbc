package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger/engines"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sealed/catalog"
	"github.com/geosql/geosql/serve/role"
	"github.com/geosql/geosql/serve/wire"
)

// A servedVault is a vault that is only read, the keys that open it, and its roles.
type servedVault struct {
	vault
	keyring *sealed.Keyring
	file    os.FileInfo

	mu    sync.Mutex
	roles role.Roles
}

// openServedVault opens a sealed database and makes sure that the keys open it.
func openServedVault(path string, f ledgerFlags, keys keyFlags) (*servedVault, error) {
	if err := checkDatabase(path); err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such database", path)
	}
	if err != nil {
		return nil, err
	}
	conn, err := openDatabase(path, sqlite.ReadOnly)
	if err != nil {
		return nil, err
	}
	v := &servedVault{vault: vault{path: path, conn: conn}, file: info}
	if err = conn.Distrust(); err == nil {
		_, err = catalog.ReadID(conn)
	}
	if err != nil {
		conn.Close()
		if errors.Is(err, catalog.ErrNotSealed) {
			return nil, fmt.Errorf("%s is not a sealed database (geosql seal makes one)", path)
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := v.openLedger(f); err != nil {
		conn.Close()
		return nil, err
	}
	if err := v.readKeys(keys); err != nil {
		return nil, v.vault.close(err)
	}
	return v, nil
}

// readKeys reads the keys, and the roles.
func (v *servedVault) readKeys(f keyFlags) error {
	keys, err := readPrivateKeys(f.names, f.passphrase)
	if err != nil {
		return err
	}
	for i, key := range keys {
		if err := checkSealedFor(v.conn, v.path, key.Public(), f.names[i]); err != nil {
			return err
		}
	}
	v.keyring = sealed.NewKeyring(keys...)
	return v.roles.Update(v.book)
}

func (v *servedVault) close() error { return v.vault.close(nil) }

// Errors about health. They say nothing that is not for everybody.
var (
	errNoDatabase = errors.New("the database cannot be read")
	errNoLedger   = errors.New("the ledger cannot be read")
	errNoAudit    = errors.New("the audit log cannot be written")
)

// check returns an error unless database and ledger are where they were, and can be read.
func (v *servedVault) check(context.Context) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	info, err := os.Stat(v.path)
	if err != nil || !os.SameFile(info, v.file) {
		return errNoDatabase
	}
	if err := firstValue(v.conn, "SELECT count(*) FROM sqlite_schema", func(sqlite.Value) {}); err != nil {
		return errNoDatabase
	}
	if !engines.IsURL(v.ledger) {
		if _, err := os.Stat(v.ledger); err != nil {
			return errNoLedger
		}
	}
	if err := v.roles.Update(v.book); err != nil {
		return errNoLedger
	}
	return nil
}

// iterations returns how often the passwords of roles are hashed.
func (v *servedVault) iterations() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	most := 0
	for _, r := range v.roles.All() {
		most = max(most, r.Verifier.Iterations)
	}
	return cmp.Or(most, wire.DefaultIterations)
}

// roleHint returns how to add a role, with a column and unit of the database, or "" if there is one.
func (v *servedVault) roleHint() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.roles.All()) > 0 || len(v.record.Columns) == 0 {
		return ""
	}
	c := v.record.Columns[0]
	unit := budget.Metre
	if c.Universe != nil {
		unit = budget.Unit(c.Universe.Unit)
	}
	return fmt.Sprintf("geosql role %s add NAME --password-file FILE --columns %s.%s --epsilon %s=1 (it can log in at once)",
		v.path, c.Table, c.Name, unit)
}

// mockSecret returns a secret that stays the same as long as the keys do. It makes up what users who do not exist
// are asked.
func (v *servedVault) mockSecret() ([]byte, error) {
	secret, err := v.keyring.Derive(*v.record.Database, "users that do not exist")
	return secret[:], err
}
