package file_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// statement is one that needs the ledger.
var needLedger = []string{
	`SELECT geoind_laplace('a0', 39.9, 116.3, 0.5)`,
	`SELECT lat FROM geoind_laplace('a0', 39.9, 116.3, 0.5)`,
	`SELECT dx_sum(account, x, 0.5, 'u') FROM t`,
	`SELECT budget_reserve('a0', 'm', 0.5)`,
	`SELECT budget_limit('a0', 'm', 7)`,
}

// Through SQL a faulty ledger is told in one line by every statement that needs
// it, nothing is answered, and all is well once the fault is gone, in the same
// connection too.
func TestCrashFaultSQL(t *testing.T) {
	for name, f := range map[string]struct {
		want  string
		wreck func(t *testing.T, path string) (repair func())
	}{
		"missing": {"put that file back", func(t *testing.T, path string) func() {
			check(t, os.Rename(path, path+"-away"))
			return func() { check(t, os.Rename(path+"-away", path)) }
		}},
		"empty": {"put that file back", func(t *testing.T, path string) func() {
			content, err := os.ReadFile(path)
			check(t, err)
			check(t, os.Truncate(path, 0))
			return func() { check(t, os.WriteFile(path, content, 0o600)) }
		}},
		"another's": {"but this database was charged to ledger", func(t *testing.T, path string) func() {
			other := t.TempDir()
			prepareScan(t, other)
			check(t, os.Rename(path, path+"-away"))
			check(t, os.Rename(ledgerFile(other), path))
			return func() { check(t, os.Rename(path+"-away", path)) }
		}},
		"no ledger": {"file is not a database", func(t *testing.T, path string) func() {
			content, err := os.ReadFile(path)
			check(t, err)
			check(t, os.WriteFile(path, []byte(strings.Repeat("no ledger\n", 1000)), 0o600))
			return func() { check(t, os.WriteFile(path, content, 0o600)) }
		}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			prepareScan(t, dir)
			before, err := readState(ledgerFile(dir))
			check(t, err)
			repair := f.wreck(t, ledgerFile(dir))
			db := connect(dir)
			defer db.Close()
			db.SetMaxOpenConns(1)
			for _, query := range needLedger {
				var answer sql.NullString
				err := db.QueryRow(query).Scan(&answer)
				if err == nil || answer.Valid || !strings.Contains(err.Error(), f.want) || strings.Contains(err.Error(), "\n") {
					t.Errorf("%s: %v, %v", query, answer, err)
				}
			}
			repair()
			for _, query := range needLedger {
				var answer sql.NullString
				if err := db.QueryRow(query).Scan(&answer); err != nil || !answer.Valid {
					t.Errorf("%s: %v, %v", query, answer, err)
				}
			}
			check(t, db.Close())
			after, err := readState(ledgerFile(dir))
			check(t, err)
			if n := after.balances[key{"a0", "m"}].spent - before.balances[key{"a0", "m"}].spent; n != int64(2*half) {
				t.Errorf("charged %d for two answers", n)
			}
			if _, err := os.Stat(filepath.Join(dir, "main.db-ledger-queue")); err == nil {
				t.Error("left a queue")
			}
		})
	}
}
