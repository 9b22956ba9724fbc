package sqlitefn_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/files/filestest"
	"github.com/geosql/geosql/sqlitefn"
)

const release = `SELECT geoind_laplace('ana', 39.9, 116.3, 0.5)`

// numbered is a common table expression s of one column i, 1 to n.
func numbered(n string) string {
	return `WITH RECURSIVE s(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM s WHERE i < ` + n + `) `
}

func TestTransactionsRefundNothing(t *testing.T) {
	for name, around := range map[string][2]string{
		"ROLLBACK":           {`BEGIN`, `ROLLBACK`},
		"IMMEDIATE ROLLBACK": {`BEGIN IMMEDIATE`, `ROLLBACK`},
		"EXCLUSIVE ROLLBACK": {`BEGIN EXCLUSIVE`, `ROLLBACK`},
		"ROLLBACK TO":        {`SAVEPOINT before`, `ROLLBACK TO before`},
		"RELEASE":            {`SAVEPOINT before`, `RELEASE before`},
		"COMMIT":             {`BEGIN`, `COMMIT`},
	} {
		t.Run(name, func(t *testing.T) {
			for _, journal := range []string{"DELETE", "WAL"} {
				d := declared(t)
				d.run(`PRAGMA journal_mode = `+journal, `CREATE TABLE released(z)`, around[0],
					release,
					`SELECT lat FROM geoind_laplace('ana', 39.9, 116.3, 0.5)`,
					`SELECT dx_sum('ana', 3, 0.25, 'u')`,
					`INSERT INTO released SELECT dx_value('ana', 3, 0.5, 'u')`,
					around[1])
				d.spends("ana", "m", 1)
				d.spends("ana", "kWh", 0.75)
				if n := d.evaluations(); n != 4 {
					t.Errorf("%s: %d evaluations charged, want 4", journal, n)
				}
			}
		})
	}
}

// A limit is the owner's word and holds at once, whatever becomes of the
// transaction around it.
func TestLimitSurvivesRollback(t *testing.T) {
	d := declared(t)
	d.run(`BEGIN`, `SELECT budget_limit('ana', 'm', 0.75)`, `ROLLBACK`, release)
	d.fails(release, "geoind_laplace: account 'ana' has 0.25/m left of 0.75/m, 0.50/m asked, 0.25/m short")

	d = newDatabase(t)
	d.run(`BEGIN`, `SELECT budget_limit('ana', 'm', 0.75)`, `ROLLBACK`,
		`SELECT geo_domain('beijing', 39.4, 115.4, 41.1, 117.6, 1)`, release)
	d.spends("ana", "m", 0.5)
	again := open(t, d.path)
	again.spends("ana", "m", 0.5)
	again.fails(release, "0.25/m left")
}

func TestReadOnlyDatabases(t *testing.T) {
	t.Run("mode=ro", func(t *testing.T) {
		d := declared(t)
		d.close()
		ro := open(t, "file:"+d.path+"?mode=ro")
		ro.run(release)
		ro.spends("ana", "m", 0.5)
		ro.fails(`CREATE TABLE x(i)`, "readonly")
		ro.run(`SELECT budget_limit('ana', 'm', 0.5)`)
		ro.fails(release, "0/m left of 0.5/m")
	})
	t.Run("mode=ro and never declared", func(t *testing.T) {
		d := newDatabase(t)
		d.run(`CREATE TABLE x(i)`)
		d.close()
		ro := open(t, "file:"+d.path+"?mode=ro")
		ro.spends("ana", "m", 0)
		ro.fails(`SELECT geo_domain('beijing', 39.4, 115.4, 41.1, 117.6, 1)`, "geo_domain: ", "readonly")
		ro.fails(release, "geoind_laplace: domain is missing")
		ro.run(`SELECT budget_limit('ana', 'm', 1)`)
		ro.spends("ana", "m", 0)
	})
	t.Run("query_only", func(t *testing.T) {
		d := declared(t)
		d.run(`PRAGMA query_only = ON`, release, `SELECT budget_limit('ana', 'm', 0.5)`)
		d.spends("ana", "m", 0.5)
		d.fails(release, "0/m left of 0.5/m")
	})
}

// A writer of the main database holds no lock of the ledger: neither its own
// releases nor those of another connection wait for it.
func TestWritersDoNotBlockCharges(t *testing.T) {
	for _, journal := range []string{"DELETE", "WAL"} {
		t.Run(journal, func(t *testing.T) {
			d := declared(t)
			d.run(`PRAGMA journal_mode = `+journal, `CREATE TABLE released(z)`,
				`BEGIN IMMEDIATE`,
				`INSERT INTO released SELECT geoind_laplace('ana', 39.9, 116.3, 0.5)`)
			other := open(t, d.path)
			other.run(`PRAGMA busy_timeout = 0`, release)
			other.fails(`INSERT INTO released VALUES (1)`, "locked")
			d.run(`COMMIT`)
			d.answers(`SELECT count(*) FROM released`, `[[1]]`)
			d.spends("ana", "m", 1)
		})
	}
}

func TestFailedInsertIsCharged(t *testing.T) {
	d := declared(t)
	d.run(`CREATE TABLE released(i UNIQUE, z)`)
	d.fails(`INSERT INTO released `+numbered("5")+`SELECT i % 3, geoind_laplace('ana', 39.9, 116.3, 0.5) FROM s`, "UNIQUE")
	d.answers(`SELECT count(*) FROM released`, `[[0]]`)
	d.spends("ana", "m", 2)
}

// The unused part of a statement's reservation returns when the statement ends, however
// it ends.
func TestReservationsReturn(t *testing.T) {
	for name, q := range map[string]struct{ release, from string }{
		"scalar":       {`geoind_laplace('ana', 39.9, 116.3, 0.5)`, `s`},
		"table-valued": {`g.lat`, `s CROSS JOIN geoind_laplace(substr('ana', 1, 3 + i), 39.9, 116.3, 0.5) g`},
		"value":        {`dx_value('ana', 3, 0.5, 'u')`, `s`},
	} {
		query := numbered("1000") + `SELECT ` + q.release + ` FROM ` + q.from
		t.Run(name+" read to the end", func(t *testing.T) {
			d := declared(t)
			d.run(query)
			d.checkCharged(1000, 1000)
		})
		t.Run(name+" closed early", func(t *testing.T) {
			d := declared(t)
			rows, err := d.conn.QueryContext(t.Context(), query)
			if err != nil {
				t.Fatal(err)
			}
			for range 10 {
				rows.Next()
			}
			rows.Close()
			d.checkCharged(10, 11)
		})
		t.Run(name+" cancelled", func(t *testing.T) {
			d := declared(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			rows, err := d.conn.QueryContext(ctx, query)
			if err != nil {
				t.Fatal(err)
			}
			seen := int64(0)
			for rows.Next() {
				if seen++; seen == 10 {
					cancel()
				}
			}
			rows.Close()
			d.checkCharged(seen, 1000)
		})
		t.Run(name+" failed", func(t *testing.T) {
			d := declared(t)
			rows := d.fails(numbered("1000")+`SELECT `+q.release+`, json('[' || CASE WHEN i < 100 THEN ']' ELSE '' END) FROM `+q.from, "JSON")
			if len(rows) != 99 {
				t.Errorf("%d rows before the error, want 99", len(rows))
			}
			d.checkCharged(99, 100)
		})
	}
}

// checkCharged checks that from low to high evaluations were charged, at 0.5 each,
// and that nothing stays reserved.
func (d *database) checkCharged(low, high int64) {
	d.Helper()
	n := d.evaluations()
	if n < low || n > high {
		d.Errorf("%d evaluations charged, want %d to %d", n, low, high)
	}
	if got := d.value(`SELECT sum(spent) FROM ledger_balance`).(float64); got != float64(n)*0.5 {
		d.Errorf("spent %v for %d evaluations of 0.5", got, n)
	}
	if r := d.reserved(); r != 0 {
		d.Errorf("%v stays reserved", r)
	}
}

// A reservation is spent from before the limit is, and the rest of it returns
// when the last connection closes.
func TestReservationReturnsAtClose(t *testing.T) {
	d := declared(t)
	other := open(t, d.path)
	d.run(`SELECT budget_limit('ana', 'm', 10)`, `SELECT budget_reserve('ana', 'm', 9.5)`)
	other.run(release)
	d.answers(`SELECT spent, reserved, remaining FROM ledger_balance WHERE account = 'ana'`, `[[0.5 9 0.5]]`)
	d.close()
	other.spends("ana", "m", 9.5)
	other.close()
	again := open(t, d.path)
	again.spends("ana", "m", 0.5)
	again.answers(`SELECT function, epsilon FROM ledger_charges`, `[[geoind_laplace 0.5]]`)
}

// SQLite completes the group of an interrupted aggregate. That may charge, once,
// and answers nothing.
func TestInterruptedAggregate(t *testing.T) {
	d := declared(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := d.conn.Raw(func(c any) error {
		return c.(*sqlitefn.Conn).RegisterFunc("stop", func(i int64) int64 {
			if i == 1000 {
				cancel()
			}
			return 3
		}, false)
	})
	if err != nil {
		t.Fatal(err)
	}
	// Without an end, so that it is the interrupt that ends it.
	rows, err := d.conn.QueryContext(ctx, `WITH RECURSIVE s(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM s)
		SELECT dx_sum('ana', stop(i), 0.5, 'u') FROM s`)
	if err == nil {
		if rows.Next() {
			t.Error("an interrupted aggregate answers")
		}
		err = rows.Err()
		rows.Close()
	}
	if err == nil {
		t.Error("no error")
	}
	if spent := d.spent("ana", "kWh"); spent != 0 && spent != 0.5 {
		t.Errorf("spent %v", spent)
	}
	if r := d.reserved(); r != 0 {
		t.Errorf("%v stays reserved", r)
	}
	d.answers(`SELECT dx_sum('ana', 3, 100, 'u')`, `[[3]]`)
}

// A refusal in mid-scan: the rows before it have been delivered, their cost
// is spent exactly, and the rest can still be used.
func TestRefusalInMidScan(t *testing.T) {
	for name, query := range map[string]string{
		"scalar":       numbered("100") + `SELECT geoind_laplace('ana', 39.9, 116.3, 0.5) FROM s`,
		"table-valued": numbered("100") + `SELECT g.lat FROM s CROSS JOIN geoind_laplace(substr('ana', 1, 2 + i), 39.9, 116.3, 0.5) g`,
	} {
		t.Run(name, func(t *testing.T) {
			d := declared(t)
			d.run(`SELECT budget_limit('ana', 'm', 11.7)`)
			rows := d.fails(query, "geoind_laplace: account 'ana' has 0.2/m left of 11.7/m, 0.5/m asked, 0.3/m short")
			if len(rows) != 23 {
				t.Errorf("%d rows before the refusal, want 23", len(rows))
			}
			d.spends("ana", "m", 11.5)
			d.run(`SELECT geoind_laplace('ana', 39.9, 116.3, 0.2)`, `SELECT geoind_laplace('bo', 39.9, 116.3, 0.5)`)
			d.spends("ana", "m", 11.7)
			d.run(`SELECT budget_limit('ana', 'm', 12.2)`, release)
			d.fails(release, "0.0/m left of 12.2/m, 0.5/m asked")
		})
	}
}

// The busy time of a charge is five seconds, which this test waits for.
func TestAttachedLedgerHeldByTheSameConnection(t *testing.T) {
	t.Parallel()
	d := declared(t)
	d.run(release, `ATTACH '`+d.path+`-ledger' AS book`, `BEGIN IMMEDIATE`)
	d.fails(release, "geoind_laplace: ledger: ", "locked")
	d.run(`ROLLBACK`, `DETACH book`, release)
	d.spends("ana", "m", 1)
}

// spoilt changes the file of a ledger that nothing in the process has open.
type spoilt struct {
	name  string
	spoil func(t *testing.T, path string)
	parts []string // of the error of a charge
}

var spoils = []spoilt{
	{"deleted", func(t *testing.T, path string) { remove(t, path) }, []string{"is missing"}},
	{"replaced by another", func(t *testing.T, path string) {
		other := declared(t)
		other.close()
		copyFile(t, other.path+"-ledger", path)
	}, []string{"has id", "but this database was charged to ledger"}},
	{"empty", func(t *testing.T, path string) { write(t, path, "") }, []string{"is missing"}},
	{"garbage", func(t *testing.T, path string) { write(t, path, strings.Repeat("garbage ", 1000)) }, []string{"not a database"}},
	{"of another application", func(t *testing.T, path string) {
		remove(t, path)
		d := open(t, path)
		d.run(`CREATE TABLE notes(text)`)
		d.close()
	}, []string{"another application's"}},
	{"a directory", func(t *testing.T, path string) {
		remove(t, path)
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}, []string{"unable to open"}},
	{"truncated", func(t *testing.T, path string) {
		if err := os.Truncate(path, 5000); err != nil {
			t.Fatal(err)
		}
	}, []string{"malformed"}},
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	write(t, to, string(b))
}

func TestSpoiltLedgers(t *testing.T) {
	for _, s := range spoils {
		t.Run(s.name, func(t *testing.T) {
			d := declared(t)
			d.run(release)
			d.close()
			s.spoil(t, d.path+"-ledger")
			d = open(t, d.path)
			d.fails(release, append(s.parts, "geoind_laplace: ledger")...)
			d.fails(`SELECT lat FROM geoind_laplace('ana', 39.9, 116.3, 0.5)`, s.parts...)
			d.fails(`SELECT dx_value('ana', 3, 0.5, 'u')`, s.parts...)
			d.fails(`SELECT dx_sum('ana', 3, 0.5, 'u')`, s.parts...)
			d.fails(`SELECT budget_limit('ana', 'm', 1)`, s.parts...)
			d.fails(`SELECT budget_reserve('ana', 'm', 1)`, s.parts...)
			d.fails(`SELECT * FROM ledger_charges`, s.parts...)
			d.spends("ana", "m", 0)
			d.answers(`SELECT budget_remaining('ana', 'm')`, `[[0]]`)
		})
	}
}

// A charge must be found later, so a ledger that goes missing under an
// open connection must be noticed as well.
func TestLedgerLostWhileInUse(t *testing.T) {
	for name, another := range map[string]bool{"deleted": false, "replaced": true} {
		t.Run(name, func(t *testing.T) {
			d := declared(t)
			d.run(release)
			err := os.Remove(d.path + "-ledger")
			if err != nil && runtime.GOOS == "windows" { // nobody may remove an open file there
				d.run(release)
				return
			} else if err != nil {
				t.Fatal(err)
			}
			if another {
				other := declared(t)
				other.close()
				copyFile(t, other.path+"-ledger", d.path+"-ledger")
			}
			d.fails(release, "geoind_laplace: ledger")
		})
	}
}

// A ledger that comes back is used again, without a new connection.
func TestLedgerPutBack(t *testing.T) {
	d := declared(t)
	d.run(release)
	d.close()
	if err := os.Rename(d.path+"-ledger", d.path+"-elsewhere"); err != nil {
		t.Fatal(err)
	}
	d = open(t, d.path)
	d.fails(release, "is missing")
	if err := os.Rename(d.path+"-elsewhere", d.path+"-ledger"); err != nil {
		t.Fatal(err)
	}
	d.run(release)
	d.spends("ana", "m", 1)
}

// Two names of one database lead to one ledger.
func TestSymlinkUsesTheSameLedger(t *testing.T) {
	d := declared(t)
	link := filepath.Join(t.TempDir(), "link.db")
	filestest.Symlink(t, d.path, link)
	d.run(release)
	other := open(t, link)
	other.run(release)
	other.spends("ana", "m", 1)
	if _, err := os.Lstat(link + "-ledger"); err == nil {
		t.Error("a second ledger stands beside the link")
	}
}

// The option keeps the ledger where the owner wants it.
func TestWithLedger(t *testing.T) {
	d := newDatabase(t)
	d.close()
	ledgerAt := filepath.Join(t.TempDir(), "book")
	d = open(t, d.path, sqlitefn.WithLedger(ledgerAt))
	d.run(declarations...)
	d.run(release)
	d.close()
	if _, err := os.Stat(ledgerAt); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(d.path + "-ledger"); err == nil {
		t.Error("a second ledger stands beside the database")
	}
	open(t, d.path).fails(release, "is missing")
	open(t, d.path, sqlitefn.WithLedger(ledgerAt)).spends("ana", "m", 0.5)
}

func TestMemoryDatabases(t *testing.T) {
	t.Run("ledger in memory", func(t *testing.T) {
		t.Chdir(t.TempDir())
		d := open(t, ":memory:")
		d.run(declarations...)
		d.run(release)
		d.spends("ana", "m", 0.5)
		files, err := os.ReadDir(".")
		if err != nil || len(files) != 0 {
			t.Errorf("files %v, %v", files, err)
		}
		other := open(t, ":memory:")
		other.run(declarations...)
		other.spends("ana", "m", 0)
	})
	for name, dsn := range map[string]string{
		"shared cache": "file:shared_cache?mode=memory&cache=shared",
		"memdb":        "file:/memdb_shared?vfs=memdb",
	} {
		t.Run(name+" shares one ledger", func(t *testing.T) {
			d, other := open(t, dsn), open(t, dsn)
			d.run(declarations...)
			d.run(release)
			other.run(release)
			d.spends("ana", "m", 1)
			other.spends("ana", "m", 1)
			d.close()
			other.run(release)
			other.spends("ana", "m", 1.5)
		})
	}
}

// Pooled connections of one process share the ledger and its reservations.
func TestPool(t *testing.T) {
	d := declared(t)
	d.run(`SELECT budget_limit('ana', 'm', 10)`, `SELECT budget_reserve('ana', 'm', 9.5)`)
	pool := sql.OpenDB(sqlitefn.Connector(d.path))
	defer pool.Close()
	granted := make(chan int)
	for range 4 {
		go func() {
			n := 0
			for {
				var point string
				if pool.QueryRow(release).Scan(&point) != nil {
					break
				}
				n++
			}
			granted <- n
		}()
	}
	total := 0
	for range 4 {
		total += <-granted
	}
	if total != 20 {
		t.Errorf("granted %d, want 20", total)
	}
	d.spends("ana", "m", 10)
}
