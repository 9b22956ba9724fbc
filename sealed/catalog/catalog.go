// Package catalog keeps the data of a sealed database beside its sealed values: in the database
// itself, in tables geosql_sealed_*, and in its ledger. It imports sealed, ledger and
// internal/sqlite. Start at Keeper.
//
// Collectors write to the database, and anybody may have read it. So the owner relies on nothing
// in it that its keys or the ledger do not confirm. The database holds sessions, which collectors
// have signed, and the names of accounts, which they have sealed. The ledger holds facts, which
// only the owner records: the id of the database, its columns with their universes and domains,
// the collectors, and the erased accounts. A [Keeper] puts the two together and opens values.
package catalog

import (
	"cmp"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/geosql/geosql/internal/declaration"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sealed"
)

// schema creates the tables of a sealed database. geosql_sealed_column is for readers: the
// keeper goes by the ledger.
const schema = `
CREATE TABLE main.geosql_sealed(id BLOB NOT NULL, salt BLOB NOT NULL);
CREATE TABLE main.geosql_sealed_key(id BLOB PRIMARY KEY, public BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE main.geosql_sealed_column(
  number INTEGER PRIMARY KEY, tbl TEXT NOT NULL, col TEXT NOT NULL, account TEXT NOT NULL,
  kind TEXT NOT NULL, name TEXT NOT NULL);
CREATE TABLE main.geosql_sealed_session(
  number INTEGER PRIMARY KEY, key BLOB NOT NULL, enc BLOB NOT NULL, signer BLOB NOT NULL, signature BLOB NOT NULL);
CREATE TABLE main.geosql_sealed_account(pseudonym TEXT NOT NULL, sealed BLOB NOT NULL);
CREATE INDEX main.geosql_sealed_pseudonym ON geosql_sealed_account(pseudonym)`

// ErrNotSealed says that a database is not a sealed one.
var ErrNotSealed = errors.New("this database is not sealed")

// A Column is a sealed column, which is also a fact of the ledger.
type Column sealed.Column

// Declarations of columns.
type (
	Universe = sealed.Universe
	Domain   = sealed.Domain
)

// Create creates the tables of a sealed database in the main database of a connection. Identify
// gives it an id.
func Create(conn *sqlite.Conn) error { return conn.Exec(schema) }

// ReadID returns the id of the main database of a connection, or ErrNotSealed.
func ReadID(conn *sqlite.Conn) (id sealed.DatabaseID, err error) {
	exists, err := declaration.Has(conn, "geosql_sealed")
	if err != nil || !exists {
		return id, cmp.Or(err, ErrNotSealed)
	}
	err = ErrNotSealed
	failed := each(conn, "SELECT id FROM main.geosql_sealed", func(v []sqlite.Value) error {
		if b, ok := blob(v[0]); ok && len(b) == len(id) {
			id, err = sealed.DatabaseID(b), nil
		}
		return nil
	})
	return id, cmp.Or(failed, err)
}

// AddKey adds a public key that the database is sealed for. Adding it again changes nothing.
func AddKey(conn *sqlite.Conn, key sealed.PublicKey) error {
	text, err := key.MarshalText()
	if err != nil {
		return err
	}
	id := key.ID()
	return exec(conn, "INSERT OR IGNORE INTO main.geosql_sealed_key VALUES (?1, ?2)", id[:], text)
}

// HasKey reports whether the database is sealed for a key.
func HasKey(conn *sqlite.Conn, id sealed.KeyID) (known bool, err error) {
	err = each(conn, "SELECT 1 FROM main.geosql_sealed_key WHERE id = ?1", func([]sqlite.Value) error {
		known = true
		return nil
	}, id[:])
	return known, err
}

// AddColumn tells readers of a sealed column.
func AddColumn(conn *sqlite.Conn, c Column) error {
	kind, name := "", ""
	switch {
	case c.Universe != nil:
		kind, name = "universe", c.Universe.Name
	case c.Domain != nil:
		kind, name = "domain", c.Domain.Name
	}
	return exec(conn, "INSERT INTO main.geosql_sealed_column VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
		int64(c.Number), c.Table, c.Name, c.Account, kind, name)
}

// NewSession begins a session of the database for a key, and adds it. Its number is drawn at
// random among the free ones, so that sessions of two copies of a database hardly ever have
// the same one.
func NewSession(conn *sqlite.Conn, id sealed.DatabaseID, key sealed.PublicKey, signer *sealed.PrivateKey) (*sealed.Sealer, error) {
	for {
		var b [4]byte
		rand.Read(b[:])
		number := binary.BigEndian.Uint32(b[:])
		used := number == 0
		err := each(conn, "SELECT 1 FROM main.geosql_sealed_session WHERE number = ?1", func([]sqlite.Value) error {
			used = true
			return nil
		}, int64(number))
		if err != nil {
			return nil, err
		}
		if used {
			continue
		}
		sealer, s, err := sealed.NewSession(key, id, number, signer.Signer())
		if err != nil {
			return nil, err
		}
		return sealer, addSession(conn, s)
	}
}

// addSession adds a session with a free number.
func addSession(conn *sqlite.Conn, s *sealed.Session) error {
	return exec(conn, "INSERT INTO main.geosql_sealed_session VALUES (?1, ?2, ?3, ?4, ?5)",
		int64(s.Number), s.Key[:], s.Enc, []byte(s.Signer), s.Signature)
}

// Errors of AddSession.
var (
	ErrAdded = errors.New("was added before")
	ErrTaken = errors.New("has the number of another session")
)

// AddSession adds a session that was begun elsewhere. The error is ErrAdded for one that the database has, and
// ErrTaken if another one has its number.
func AddSession(conn *sqlite.Conn, s *sealed.Session) error {
	err := each(conn, "SELECT signature FROM main.geosql_sealed_session WHERE number = ?1", func(v []sqlite.Value) error {
		if signature, _ := blob(v[0]); string(signature) == string(s.Signature) {
			return ErrAdded
		}
		return ErrTaken
	}, int64(s.Number))
	if err != nil {
		return err
	}
	return addSession(conn, s)
}

// AddAccount adds the entry that [sealed.Sealer.SealAccount] has sealed for the account of a pseudonym.
func AddAccount(conn *sqlite.Conn, pseudonym string, entry []byte) error {
	return exec(conn, "INSERT INTO main.geosql_sealed_account VALUES (?1, ?2)", pseudonym, entry)
}

// Entered returns a function that reports whether a collector has entered the account of a
// pseudonym, in any session. Every collector enters the accounts that it uses: entries of others
// do not open any more once they are revoked.
func Entered(conn *sqlite.Conn, collector ed25519.PublicKey) (func(pseudonym string) (bool, error), error) {
	own := map[uint32]bool{}
	err := sessions(conn, func(s *sealed.Session) {
		own[s.Number] = own[s.Number] || s.Signer.Equal(collector)
	})
	return func(pseudonym string) (entered bool, err error) {
		err = each(conn, "SELECT sealed FROM main.geosql_sealed_account WHERE pseudonym = ?1", func(v []sqlite.Value) error {
			if b, ok := blob(v[0]); ok && len(b) > sealed.ValueSize {
				h, err := sealed.ParseHeader(b[:sealed.ValueSize])
				entered = entered || err == nil && own[h.Session]
			}
			return nil
		}, pseudonym)
		return entered, err
	}, err
}

// CountSessions returns how many sessions each collector has begun, by Collector.Verify.
func CountSessions(conn *sqlite.Conn) (map[string]int64, error) {
	count := map[string]int64{}
	err := sessions(conn, func(s *sealed.Session) { count[string(s.Signer)]++ })
	return count, err
}

// sessions calls add for every session of the database. A row of another form is no session.
func sessions(conn *sqlite.Conn, add func(*sealed.Session)) error {
	return each(conn, "SELECT number, key, enc, signer, signature FROM main.geosql_sealed_session ORDER BY number", func(v []sqlite.Value) error {
		key, a := blob(v[1])
		enc, b := blob(v[2])
		signer, c := blob(v[3])
		signature, d := blob(v[4])
		number := v[0].Int()
		if a && b && c && d && len(key) == len(sealed.KeyID{}) && int64(uint32(number)) == number {
			add(&sealed.Session{Number: uint32(number), Key: sealed.KeyID(key), Enc: enc, Signer: signer, Signature: signature})
		}
		return nil
	})
}

// patience is how long a query may take: a server does not read a database without end. Tests change it.
var patience = time.Minute

// each is [declaration.Each], for as long as patience says.
func each(conn *sqlite.Conn, sql string, row func([]sqlite.Value) error, params ...any) error {
	stop := conn.InterruptAfter(patience)
	err := declaration.Each(conn, sql, row, params...)
	if !stop() && err != nil {
		err = fmt.Errorf("reading %s takes longer than %s, restore the database from a backup: %w", strings.Join(declaration.Named(sql), ", "), patience, err)
	}
	return err
}

// exec runs a statement that writes one of the tables.
func exec(conn *sqlite.Conn, sql string, params ...any) error {
	if err := declaration.Check(conn, declaration.Named(sql)...); err != nil {
		return err
	}
	return conn.Each(sql, func([]sqlite.Value) error { return nil }, params...)
}

// blob returns a copy of a blob. It reports false for anything else.
func blob(v sqlite.Value) ([]byte, bool) {
	if v.Type() != sqlite.Blob {
		return nil, false
	}
	return append([]byte{}, v.Bytes()...), true
}
