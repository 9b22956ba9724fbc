package sqlitefn_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/geosql/geosql/sqlitefn"
)

// A connection is told where its ledger is, and charges that one.
func TestNamedLedger(t *testing.T) {
	at := filepath.Join(t.TempDir(), "books")
	path := filepath.Join(t.TempDir(), "main.db")
	name := `SELECT geosql_ledger('` + at + `')`

	d := open(t, path)
	d.answers(name, `[[<nil>]]`) // there is none yet
	d.run(`SELECT geo_domain('beijing', 39.4, 115.4, 41.1, 117.6, 1)`)
	d.fails(release, "has no budget in unit 'm'") // asking makes none
	if _, err := os.Stat(at); err == nil {
		t.Fatal("the ledger is made before a limit")
	}
	d.run(`SELECT budget_limit('ana', 'm', 1)`, release)
	id := d.value(`SELECT id FROM geosql_ledger`)
	if got := d.value(name); got != id { // said again, it changes nothing
		t.Errorf("the ledger is %v, want %v", got, id)
	}
	d.fails(`SELECT geosql_ledger('x')`, "geosql_ledger: where comes too late: this connection uses ledger "+at)
	if _, err := os.Stat(path + "-ledger"); err == nil {
		t.Error("there is a ledger beside the database")
	}
	d.close()

	again := open(t, path)
	again.fails(release, "-ledger is missing: this database was charged to ledger ")
	other := filepath.Join(t.TempDir(), "other")
	again.fails(`SELECT geosql_ledger('`+other+`')`, "geosql_ledger: ledger "+other+" is missing")
	foreign := open(t, filepath.Join(t.TempDir(), "foreign.db"), sqlitefn.WithLedger(other))
	foreign.run(`SELECT budget_limit('ana', 'm', 1)`)
	again.fails(`SELECT geosql_ledger('`+other+`')`, "geosql_ledger: ledger "+other+" has id ", "but this database was charged to ledger ")
	if got := again.value(name); got != id { // after the failures
		t.Errorf("the ledger is %v, want %v", got, id)
	}
	again.run(release)
	again.answers(`SELECT count(*) FROM ledger_charges`, `[[2]]`)

	// A program's option is not overruled.
	foreign.close()
	told := open(t, filepath.Join(t.TempDir(), "told.db"), sqlitefn.WithLedger(other))
	told.fails(`SELECT geosql_ledger('`+at+`')`, "geosql_ledger: where is not ledger "+other)
	if got := told.value(`SELECT geosql_ledger('` + other + `')`); got == id || got == nil {
		t.Errorf("the option's ledger is %v", got)
	}
}

// A text that is no place of a ledger is refused, without a word of it: it may hold a password.
func TestNamedLedgerSlips(t *testing.T) {
	d := newDatabase(t)
	for where, want := range map[string]string{
		``:                                 "the name of the ledger is empty",
		`postgres:/ana:secret@host/x`:      "begins with postgres://, as in postgres://host/database",
		`POSTGRESQL://ana:secret@host/x`:   "PGPASSFILE",
		`postgres:secret`:                  "in front of the name of a file that begins with postgres: stands ./",
		`mysql://ana:secret@host/x`:        "and not with mysql://",
		`host=db user=ana password=secret`: "has a URL, such as postgres://host/database",
	} {
		query := `SELECT geosql_ledger('` + where + `')`
		d.fails(query, "geosql_ledger: where ", want)
		if _, err := d.try(query); err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("the error shows a password: %v", err)
		}
	}
	d.run(`SELECT geosql_ledger('./postgres:x.db')`)
}
