package sqlitefn_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/geosql/geosql/sqlitefn"
)

// withoutLedger opens a new file with the domain beijing and no limit, hence no ledger.
func withoutLedger(t *testing.T) *database {
	d := newDatabase(t)
	d.run(`CREATE TABLE released(z)`, `SELECT geo_domain('beijing', 39.4, 115.4, 41.1, 117.6, 1)`)
	return d
}

// loseLedger removes a database's ledger and checks that no other takes its place.
func loseLedger(d *database) {
	d.Helper()
	d.close()
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(d.path + "-ledger" + suffix); err != nil && !os.IsNotExist(err) {
			d.Fatal(err)
		}
	}
	again := open(d, d.path)
	again.fails(`SELECT budget_limit('ana', 'm', 1)`, "budget_limit: ledger ", "-ledger is missing: this database was charged to ledger ")
	again.fails(release, "geoind_laplace: ledger ", " is missing")
}

// The first limit is set in a transaction, and its ROLLBACK removes the ledger's id.
func TestRollbackLeavesTheBinding(t *testing.T) {
	for name, around := range map[string][2]string{
		"BEGIN":              {`BEGIN`, `ROLLBACK`},
		"after a write":      {`BEGIN; INSERT INTO released VALUES (1)`, `ROLLBACK`},
		"SAVEPOINT":          {`SAVEPOINT a`, `ROLLBACK TO a; RELEASE a`},
		"a failed statement": {`SELECT 1`, `INSERT OR ROLLBACK INTO released SELECT 1`},
	} {
		t.Run(name, func(t *testing.T) {
			d := withoutLedger(t)
			d.exec(around[0])
			d.run(`SELECT budget_limit('ana', 'm', 1)`)
			d.exec(around[1])
			d.run(release)
			d.answers(`SELECT count(*) FROM geosql_ledger`, `[[1]]`)
			loseLedger(d)
		})
	}
}

// While only an open transaction holds the ledger's id nothing is charged: neither by this
// statement nor with a reserved budget.
func TestNoChargeBeforeTheBindingIsCommitted(t *testing.T) {
	const want = "does not hold the id of its ledger yet, but in a transaction"
	d := withoutLedger(t)
	d.run(`BEGIN`, `SELECT budget_limit('*', 'm', 1), budget_limit('*', 'record', 1)`)
	d.fails(release, "geoind_laplace: this database ", want, "COMMIT first")
	d.fails(`SELECT lat FROM geoind_laplace('ana', 39.9, 116.3, 0.5)`, want)
	d.fails(`SELECT dx_count('ana', 1)`, "dx_count: this database ", want)
	d.fails(`SELECT budget_reserve('ana', 'm', 1)`, "budget_reserve: this database ", want)
	d.run(`SELECT trace_policy('ana', 'ana', 'independent', '{"epsilon": 0.5, "alpha": 1000}')`)
	d.fails(`SELECT predictive_step('ana', 0, 39.9, 116.3)`, "predictive_step: this database ", want)
	d.spends("ana", "m", 0)
	d.spends("ana", "record", 0)

	d.run(`COMMIT`, `BEGIN`, `INSERT INTO released VALUES (1)`) // it is committed now: another transaction writes
	d.run(release, `ROLLBACK`)
	d.spends("ana", "m", 0.5)
	loseLedger(d)
}

// A transaction that keeps others from reading hides committed data too.
func TestBindingOfAnExclusiveTransaction(t *testing.T) {
	d := withoutLedger(t)
	d.run(`PRAGMA journal_mode = DELETE`, `BEGIN EXCLUSIVE`, `SELECT budget_limit('*', 'm', 1)`)
	d.fails(release, "COMMIT first")
	d.run(`COMMIT`)
	d.close()
	d = open(t, d.path) // which has not recorded the id itself
	d.run(`BEGIN EXCLUSIVE`, release, `ROLLBACK`)
	d.spends("ana", "m", 0.5)
}

// A statement that writes cannot commit the id before it ends.
func TestBindingWithinAStatementThatWrites(t *testing.T) {
	d := withoutLedger(t)
	d.run(`BEGIN`, `SELECT budget_limit('*', 'm', 1)`, `ROLLBACK`)
	const insert = `INSERT INTO released SELECT geoind_laplace('ana', 39.9, 116.3, 0.5)`
	d.fails(insert, "if this statement itself writes, run one before it")
	d.spends("ana", "m", 0)
	d.run(release, insert)
	d.spends("ana", "m", 1)
	loseLedger(d)
}

// A connection that only reads sets the limit, another one releases.
func TestBindingAfterALimitOverReadOnly(t *testing.T) {
	d := withoutLedger(t)
	d.close()
	ro := open(t, "file:"+d.path+"?mode=ro")
	ro.run(`SELECT budget_limit('ana', 'm', 2)`)
	ro.fails(release, "geoind_laplace: this database does not hold the id of its ledger yet, and this connection may not write it")
	d = open(t, d.path)
	d.run(`PRAGMA query_only = ON`)
	d.fails(release, "this connection may not write it")
	d.spends("ana", "m", 0)
	d.run(`PRAGMA query_only = OFF`, release)
	ro.run(release)
	ro.spends("ana", "m", 1)
	ro.close()
	loseLedger(d)
}

// The file of an open connection is overwritten by another database.
func TestBackupIntoAnOpenDatabase(t *testing.T) {
	d, other := declared(t), declared(t)
	d.run(release)
	other.run(release, release)
	backup(t, d, other)
	d.fails(release, "geoind_laplace: ledger "+d.path+"-ledger has id ", "but this database was charged to ledger ")
	d.fails(`SELECT dx_sum('ana', 1, 1, 'u')`, "but this database was charged to ledger ")
	d.fails(`SELECT budget_limit('ana', 'm', 5)`, "but this database was charged to ledger ")
	d.spends("ana", "m", 0) // unknown: see budget_spent

	d.close()
	other.close()
	for _, suffix := range []string{"", "-wal"} {
		if content, err := os.ReadFile(other.path + "-ledger" + suffix); err == nil {
			if err := os.WriteFile(d.path+"-ledger"+suffix, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	d = open(t, d.path)
	d.run(release)
	d.spends("ana", "m", 1.5)
}

// backup makes d's main database a copy of another's.
func backup(t *testing.T, d, from *database) {
	t.Helper()
	err := d.conn.Raw(func(to any) error {
		return from.conn.Raw(func(of any) error {
			b, err := to.(*sqlitefn.Conn).Backup("main", of.(*sqlitefn.Conn).SQLiteConn, "main")
			if err != nil {
				return err
			}
			if _, err := b.Step(-1); err != nil {
				return err
			}
			return b.Finish()
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Releases of an attached database's rows would be charged to the ledger of main.
func TestAttachedDatabaseHasALedgerOfItsOwn(t *testing.T) {
	city := declared(t)
	city.run(`CREATE TABLE "p"(user, lat, lon)`, `INSERT INTO p VALUES ('ana', 39.9, 116.3)`, release)
	const rows = `SELECT geoind_laplace(user, lat, lon, 0.5) FROM city.p`
	for _, main := range []string{":memory:", filepath.Join(t.TempDir(), "main.db")} {
		d := open(t, main)
		d.run(declarations...)
		d.run(`ATTACH '` + city.path + `' AS city`)
		d.fails(rows, "geoind_laplace: the attached database 'city' was charged to another ledger, ", "open it as the main database")
		d.fails(`SELECT dx_sum(user, lat, 1, 'u') FROM city.p`, "dx_sum: the attached database 'city'")
		d.spends("ana", "m", 0)
		d.run(`DETACH city`, release)
		d.run(`ATTACH ':memory:' AS "odd ""name"`, release)
	}

	shared := city.path + "-ledger"
	d := open(t, filepath.Join(t.TempDir(), "main.db"), sqlitefn.WithLedger(shared))
	d.run(declarations[0], `ATTACH '`+city.path+`' AS city`, rows)
	city.spends("ana", "m", 1)
}

// cp -al and rsync --link-dest give the database and its ledger second names.
func TestHardLinkedSnapshot(t *testing.T) {
	d := declared(t)
	d.run(`SELECT budget_limit('ana', 'm', 1)`, release)
	snapshot := filepath.Join(t.TempDir(), "main.db")
	for _, suffix := range []string{"", "-ledger"} {
		if err := os.Link(d.path+suffix, snapshot+suffix); err != nil {
			t.Skip("no hard links here:", err)
		}
	}
	const want = "the file has 2 names (hard links)"
	d.fails(release, want)
	open(t, snapshot).fails(release, want)
	if err := os.Remove(snapshot + "-ledger"); err != nil && runtime.GOOS == "windows" {
		return // until the ledger is closed, Windows keeps its other name, too
	} else if err != nil {
		t.Fatal(err)
	}
	d.run(release)
	d.fails(release, "account 'ana' has 0.0/m left of 1.0/m")
}

// exec runs several statements.
func (d *database) exec(script string) {
	d.Helper()
	if _, err := d.conn.ExecContext(context.Background(), script); err != nil {
		d.Fatalf("%s\n%v", script, err)
	}
}

// A copy in memory of a charged database would start with a new budget.
func TestCopyInMemoryOfAChargedDatabase(t *testing.T) {
	d, memory := declared(t), open(t, ":memory:")
	d.run(release)
	backup(t, memory, d)
	const want = "and a copy of it in memory cannot be charged to that ledger"
	memory.fails(`SELECT budget_limit('ana', 'm', 1)`, "budget_limit: this database was charged to ledger ", want)
	memory.fails(release, "geoind_laplace: this database was charged to ledger ", want)
}
