// Package sealedtest makes sealed databases for tests.
package sealedtest

import (
	"fmt"
	"testing"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sealed/catalog"
)

// NewKey returns a new key.
func NewKey(t testing.TB) *sealed.PrivateKey {
	t.Helper()
	key, err := sealed.GenerateKey()
	check(t, err)
	return key
}

// A Database is a database that was made a sealed one, with a session of a collector.
type Database struct {
	t        testing.TB
	conn     *sqlite.Conn
	key      sealed.PublicKey
	sealer   *sealed.Sealer
	accounts map[string]sealed.Account
}

// Seal makes a sealed database of the main database of a connection, for the owner of a key. The
// columns get their numbers from 1 on. Their universes and domains are declared.
func Seal(t testing.TB, conn *sqlite.Conn, l ledger.Facts, key sealed.PublicKey, columns ...catalog.Column) *Database {
	t.Helper()
	collector := NewKey(t)
	check(t, catalog.Create(conn))
	check(t, catalog.AddKey(conn, key))
	facts := []ledger.Fact{catalog.Collector{Name: "test", Verify: collector.Public().Verifier()}.Fact()}
	for i, c := range columns {
		c.Number = uint32(i + 1)
		check(t, catalog.AddColumn(conn, c))
		facts = append(facts, c.Fact())
	}
	id, err := catalog.Identify(conn)
	check(t, err)
	check(t, l.Record(append(facts, catalog.Database(id))...))
	sealer, err := catalog.NewSession(conn, id, key, collector)
	check(t, err)
	return &Database{t, conn, key, sealer, map[string]sealed.Account{}}
}

// Collector returns the database as another collector writes it over a connection, in a session
// and with accounts of its own.
func (d *Database) Collector(t testing.TB, conn *sqlite.Conn, collector *sealed.PrivateKey) *Database {
	t.Helper()
	id, err := catalog.ReadID(conn)
	check(t, err)
	sealer, err := catalog.NewSession(conn, id, d.key, collector)
	check(t, err)
	return &Database{t, conn, d.key, sealer, map[string]sealed.Account{}}
}

// Reading returns a reading of an account, sealed for a column and as an SQL literal: steps is its
// index in the universe.
func (d *Database) Reading(column uint32, account string, steps int64) string {
	d.t.Helper()
	return literal(d.Value(column, account, steps))
}

// Value returns a reading as Reading does, as it is stored.
func (d *Database) Value(column uint32, account string, steps int64) []byte {
	d.t.Helper()
	return d.seal(column, account, sealed.OfReading(steps))
}

// Location returns a location of an account, in degrees, sealed for a column and as an SQL literal.
func (d *Database) Location(column uint32, account string, lat, lon float64) string {
	d.t.Helper()
	return literal(d.seal(column, account, sealed.OfLocation(int32(lat*1e7), int32(lon*1e7))))
}

func literal(value []byte) string { return fmt.Sprintf("x'%x'", value) }

// Skip leaves out the numbers of so many values.
func (d *Database) Skip(values int) {
	d.t.Helper()
	var v sealed.Value
	for range values {
		if err := d.sealer.Seal(&v, 1, sealed.Contents{}); err != nil {
			d.t.Fatal(err)
		}
	}
}

func (d *Database) seal(column uint32, name string, data sealed.Data) []byte {
	d.t.Helper()
	var v sealed.Value
	check(d.t, d.sealer.Seal(&v, column, sealed.Contents{Account: d.Account(name).Number, Data: data}))
	return v[:]
}

// Account returns the account of a name.
func (d *Database) Account(name string) sealed.Account {
	d.t.Helper()
	a, known := d.accounts[name]
	if !known {
		a = sealed.NewAccount()
		d.Name(name, a)
	}
	return a
}

// Name tells the owner that a name has an account, under which its next values are sealed.
func (d *Database) Name(name string, a sealed.Account) {
	d.t.Helper()
	d.Use(name, a)
	entry, err := d.sealer.SealAccount(a.Number, name)
	check(d.t, err)
	check(d.t, catalog.AddAccount(d.conn, a.Pseudonym, entry))
}

// Use seals the next values of a name under an account, and tells nobody.
func (d *Database) Use(name string, a sealed.Account) { d.accounts[name] = a }

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
