package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/cmd/geosql/internal/store"
	"github.com/geosql/geosql/cmd/geosql/internal/vault"
	"github.com/geosql/geosql/internal/cli/clitest"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/file"
	"github.com/geosql/geosql/mechanism/scalar"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sealed/catalog"
)

// A sealedPlace is a sealed database without rows, with its ledger and its owner's key.
type sealedPlace struct {
	*testing.T
	out, key, pub string
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// sealedColumns are the sealed columns of table meter.
var sealedColumns = []catalog.Column{
	{Number: 1, Table: "meter", Name: "kwh", Account: "who", Universe: &catalog.Universe{Name: "load", Lo: -1, Hi: 10, Step: 0.5, Unit: "kWh"}},
	{Number: 2, Table: "meter", Name: "location", Account: "who", Domain: &catalog.Domain{Name: "city", South: 48, West: 2, North: 49, East: 3, StepM: 1}},
}

func newSealed(t *testing.T) sealedPlace {
	t.Helper()
	out := clitest.TempFile(t, "out.db")
	p := sealedPlace{t, out, out + ".key", out + ".key.pub"}
	p.keygen(p.key)
	clitest.Query(t, out, `SELECT geo_domain('city', 48, 2, 49, 3, 1); SELECT dx_universe('load', -1, 10, 0.5, 'kWh');
		SELECT budget_limit('*', 'kWh', 5); CREATE TABLE meter(who TEXT, room INTEGER, kwh BLOB, location BLOB)`)
	conn, err := store.Open(out, sqlite.ReadWrite)
	check(t, err)
	defer conn.Close()
	check(t, catalog.Create(conn))
	var facts []ledger.Fact
	for _, c := range sealedColumns {
		check(t, catalog.AddColumn(conn, c))
		facts = append(facts, c.Fact())
	}
	id, err := catalog.Identify(conn)
	check(t, err)
	public, err := vault.ReadPublicKey(p.pub)
	check(t, err)
	check(t, catalog.AddKey(conn, public))
	l, err := file.Open(out+"-ledger", false)
	check(t, err)
	check(t, l.Record(append(facts, catalog.Database(id))...))
	check(t, l.Close())
	return p
}

// keygen makes a key and returns its names.
func (p sealedPlace) keygen(name string) (key, pub string) {
	p.Helper()
	if r := clitest.Run(p.T, "", "keygen", name); r.Status != 0 {
		p.Fatalf("keygen: %+v", r)
	}
	return name, name + ".pub"
}

// run runs a command that must succeed, and returns its messages.
func (p sealedPlace) run(args ...string) string {
	p.Helper()
	r := clitest.Run(p.T, "", args...)
	if r.Status != 0 {
		p.Fatalf("%q: status %d, %s", args, r.Status, r.Err)
	}
	return r.Err
}

// append adds rows of CSV, which have the header who,room,kwh,lat,lon.
func (p sealedPlace) append(rows string, flags ...string) string {
	p.Helper()
	in := clitest.WriteFile(p.T, "who,room,kwh,lat,lon\n"+rows)
	return p.run(append([]string{"append", p.out, "meter", in, "--key", p.pub}, flags...)...)
}

// opened returns the rows of a sealed database in their order, as keys open them, such as
// "ana 1 2.5 48.5,2.5". A value that does not open is an X, one that counts as NULL a -.
func opened(t *testing.T, out string, keys ...string) (rows []string) {
	t.Helper()
	conn, err := store.Open(out, sqlite.ReadWrite)
	check(t, err)
	defer conn.Close()
	l, err := file.Open(out+"-ledger", false)
	check(t, err)
	defer l.Close()
	private, err := vault.ReadPrivateKeys(keys, "")
	check(t, err)
	k, err := catalog.Open(t.Context(), conn, l, sealed.NewKeyring(private...))
	check(t, err)
	universe, err := scalar.NewUniverse("load", -1, 10, 0.5, "kWh")
	check(t, err)
	err = store.Each(conn, func(v []sqlite.Value) {
		name, texts := "?", []string{"NULL", "NULL"}
		for i := range texts {
			if v[1+i].Type() == sqlite.Null {
				continue
			}
			row, present, err := k.Open(v[1+i].Bytes())
			switch {
			case err != nil:
				texts[i] = "X"
				continue
			case !present:
				texts[i] = "-"
				continue
			}
			name = k.Name(row.Account)
			if texts[i] = fmt.Sprint(universe.Value(row.Data.Reading())); i == 1 {
				lat, lon := row.Data.Location()
				texts[i] = fmt.Sprintf("%v,%v", float64(lat)/1e7, float64(lon)/1e7)
			}
		}
		room := "NULL"
		if v[0].Type() == sqlite.Integer {
			room = fmt.Sprint(v[0].Int())
		}
		rows = append(rows, strings.Join([]string{name, room, texts[0], texts[1]}, " "))
	}, "SELECT room, kwh, location FROM meter ORDER BY rowid")
	check(t, err)
	return rows
}

// wantOpened demands rows, in any order.
func (p sealedPlace) wantOpened(want ...string) {
	p.Helper()
	got := opened(p.T, p.out, p.key)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		p.Errorf("rows %q, want %q", got, want)
	}
}

// count returns SQLite's answer from the database. For SQLite, sealed values are bytes.
func (p sealedPlace) count(sql string) (n string) {
	p.Helper()
	conn, err := sqlite.Open(p.out, sqlite.ReadWrite)
	check(p.T, err)
	defer conn.Close()
	check(p.T, store.First(conn, "SELECT CAST(("+sql+") AS TEXT)", func(v sqlite.Value) { n = v.Text() }))
	return n
}

// copyFiles copies a database with its ledger, and keys if there are any, to a new folder.
func copyFiles(t *testing.T, from string, suffixes ...string) (to string) {
	t.Helper()
	to = clitest.TempFile(t, filepath.Base(from))
	for _, suffix := range append([]string{""}, suffixes...) {
		text, err := os.ReadFile(from + suffix)
		check(t, err)
		check(t, os.WriteFile(to+suffix, text, 0o600))
	}
	return to
}

// sortedRows shows rows in the order of their texts: append adds them in random order.
func sortedRows(rows []string) string {
	slices.Sort(rows)
	return fmt.Sprint(rows)
}
