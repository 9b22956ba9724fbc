package sqlitefntest_test

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/geosql/geosql/sqlitefn"
	"github.com/geosql/geosql/sqlitefn/sqlitefntest"
)

func ExampleWithSeed() {
	t := new(testing.T) // in a test, its own
	db := sql.OpenDB(sqlitefn.Connector(":memory:", sqlitefntest.WithSeed(t, 1)))
	defer db.Close()
	db.SetMaxOpenConns(1) // the same answers in each run
	for _, statement := range []string{
		`SELECT dx_universe('kwh', 0, 10, 0.1, 'kWh')`,
		`SELECT budget_limit('*', 'kWh', 2)`,
	} {
		if _, err := db.Exec(statement); err != nil {
			fmt.Println(err)
		}
	}
	for range 3 {
		var kwh float64
		err := db.QueryRow(`SELECT dx_value('ana', 3.4, 0.8, 'kwh')`).Scan(&kwh)
		fmt.Println(kwh, err)
	}
	// Output:
	// 4.9 <nil>
	// 4.2 <nil>
	// 0 dx_value: account 'ana' has 0.4/kWh left of 2.0/kWh, 0.8/kWh asked, 0.4/kWh short
}

var declarations = []string{
	`SELECT geo_domain('beijing', 39.4, 115.4, 41.1, 117.6, 1)`,
	`SELECT dx_universe('u', 0, 10, 1, 'kWh')`,
	`SELECT budget_limit('*', u.value, 100) FROM json_each('["m", "m2", "kWh", "record"]') AS u`,
}

const releases = `SELECT geoind_laplace('ana', 39.9, 116.3, 0.01), geoind_gauss('ana', 39.9, 116.3, 0.01), dx_value('ana', 3, 0.1, 'u'),
	dx_sum('ana', 3, 0.1, 'u'), dx_median('ana', 3, 0.1, 'u', 'dh'), dx_count('ana', 0.1)`

// open opens a connection that the end of the test closes.
func open(t *testing.T, dsn string, opts ...sqlitefn.Option) *sql.DB {
	t.Helper()
	db := sql.OpenDB(sqlitefn.Connector(dsn, opts...))
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	return db
}

// run returns the columns of the last row of each statement, or its error.
func run(db *sql.DB, statements ...string) (answers []string) {
	for _, s := range statements {
		answers = append(answers, answer(db, s))
	}
	return answers
}

func answer(db *sql.DB, statement string) (text string) {
	rows, err := db.Query(statement)
	if err != nil {
		return err.Error()
	}
	defer rows.Close()
	for rows.Next() {
		columns, _ := rows.Columns()
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(any)
		}
		if err := rows.Scan(values...); err != nil {
			return err.Error()
		}
		text = ""
		for _, v := range values {
			text += fmt.Sprint(*v.(*any), " ")
		}
	}
	if err := rows.Err(); err != nil {
		return err.Error()
	}
	return text
}

func TestSameSeed(t *testing.T) {
	of := map[uint64]string{}
	for _, seed := range []uint64{1, 2, 1, 2} {
		db := open(t, ":memory:", sqlitefntest.WithSeed(t, seed))
		run(db, declarations...)
		got := strings.Join(run(db, releases, releases), "\n")
		if before, found := of[seed]; found && got != before {
			t.Errorf("seed %d answers\n%s\nand before\n%s", seed, got, before)
		}
		of[seed] = got
	}
	if first, second, _ := strings.Cut(of[1], "\n"); of[1] == of[2] || first == second {
		t.Errorf("the noise does not change:\n%s\n%s", of[1], of[2])
	}
}

// The ledger outlives the connections, and nothing lies beside the database.
func TestLedgerInMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "main.db")
	seed := sqlitefntest.WithSeed(t, 1)
	db := open(t, path, seed, sqlitefn.WithLedger(path+"-named"))
	run(db, append(declarations, releases)...)
	db.Close()
	again := open(t, path, seed)
	if got := run(again, `SELECT budget_spent('ana', 'm'), geosql_version()`)[0]; got != "0.01 "+sqlitefn.Version+" for tests: answers can be predicted and are not private " {
		t.Error(got)
	}
	if got := run(again, `SELECT geosql_ledger('other')`)[0]; !strings.Contains(got, "comes too late: this connection uses a ledger in memory") {
		t.Error(got)
	}
	for _, suffix := range []string{"-ledger", "-named"} {
		if _, err := os.Stat(path + suffix); !errors.Is(err, fs.ErrNotExist) {
			t.Error(suffix, err)
		}
	}
}

// Neither charges what the other has charged.
func TestRefusals(t *testing.T) {
	charge := []string{`SELECT budget_limit('ana', 'm', 100)`, `SELECT geoind_laplace('ana', 39.9, 116.3, 0.01)`}
	seed, other := sqlitefntest.WithSeed(t, 1), sqlitefntest.WithSeed(t, 1)
	for _, c := range []struct {
		first, then sqlitefn.Option
		want        string
	}{
		{seed, sqlitefn.WithLedger(""), ", and a test made that ledger: its answers could be predicted, and only a test may use it"},
		{sqlitefn.WithLedger(""), seed, ", and no test made that ledger: answers of a test can be predicted, so it uses only ledgers that tests made"},
		{seed, other, "a ledger in memory has id test-"},
	} {
		path := filepath.Join(t.TempDir(), "main.db")
		db := open(t, path, c.first)
		run(db, append(declarations, releases)...)
		for _, got := range run(open(t, path, c.then), charge...) {
			if !strings.Contains(got, c.want) {
				t.Errorf("%s; want %s", got, c.want)
			}
		}
	}
	// A ledger beside a database that does not say so.
	path := filepath.Join(t.TempDir(), "main.db")
	run(open(t, path), declarations...)
	db := open(t, filepath.Join(t.TempDir(), "main.db"), seed)
	run(db, declarations...)
	if got := run(db, `ATTACH '`+path+`' AS other`, releases)[1]; !strings.Contains(got, "the attached database 'other' was charged to another ledger") {
		t.Error(got)
	}
}
