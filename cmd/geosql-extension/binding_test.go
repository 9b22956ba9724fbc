package main_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/geosql/geosql/sqlitefn"
)

// declared opens a new database through the Go binding, with a domain and a limit
// for 'ana' in metres.
func declared(t *testing.T, limit int) (db *sql.DB, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "main.db")
	db = sql.OpenDB(sqlitefn.Connector(path))
	t.Cleanup(func() { db.Close() })
	for _, s := range []string{
		`SELECT geo_domain('beijing', 39.4, 115.4, 41.1, 117.6, 1)`,
		fmt.Sprintf(`SELECT budget_limit('ana', 'm', %d)`, limit),
	} {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	return db, path
}

// release releases once through the Go binding.
func release(db *sql.DB) error {
	var wkt string
	return db.QueryRow(`SELECT geoind_laplace('ana', 39.9, 116.3, 0.25)`).Scan(&wkt)
}

// TestOneBudget lets hosts with different versions of SQLite and a Go program spend
// one budget at the same time: together they spend all of it. (A Python program
// loses the row before an error.)
func TestOneBudget(t *testing.T) {
	const limit, perUnit = 500, 4
	db, path := declared(t, limit)
	results := make(chan string)
	pythons := 0
	for _, h := range hosts(t) {
		for range 2 {
			cmd := h.script(t, library.path(t), "drain.py", path)
			pythons++
			go func() {
				out, err := cmd.CombinedOutput()
				if err != nil {
					out = fmt.Appendf(out, "%v", err)
				}
				results <- string(out)
			}()
		}
	}
	total := 0
	for ; total < limit/2 && release(db) == nil; total++ {
	}
	for range pythons {
		out := <-results
		n, err := strconv.Atoi(out)
		if err != nil {
			t.Error(out)
		}
		total += n
	}
	for release(db) == nil { // for hosts refused while others held reservations that they returned
		total++
	}
	var evaluations int
	if err := db.QueryRow(`SELECT sum(evaluations) FROM ledger_charges`).Scan(&evaluations); err != nil {
		t.Fatal(err)
	}
	if evaluations != limit*perUnit || total > evaluations || total < evaluations-pythons {
		t.Errorf("%d answers, %d charged; want %d", total, evaluations, limit*perUnit)
	}
}
