package sqlitefn_test

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/geosql/geosql/internal/pgtest"
	"github.com/geosql/geosql/sqlitefn"
)

// chargedTo opens a new file with a ledger on a server.
func chargedTo(t *testing.T, url string) *database {
	t.Helper()
	d := open(t, filepath.Join(t.TempDir(), "main.db"), sqlitefn.WithLedger(url))
	d.path = filepath.Join(filepath.Dir(d.path), "main.db")
	d.run(`SELECT geo_domain('beijing', 39.4, 115.4, 41.1, 117.6, 1)`, `SELECT budget_limit('ana', 'm', 10)`)
	return d
}

// The database holds the id of the ledger on the server, and is charged to no other.
func TestServerLedger(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	d := chargedTo(t, server.Database(t))
	d.run(release, release)
	d.answers(`SELECT spent, remaining FROM ledger_balance`, `[[1 9]]`)
	d.answers(`SELECT count(*) FROM geosql_ledger`, `[[1]]`)
	d.answers(`SELECT entries, limits FROM ledger_verify(ledger_head())`, `[[3 1]]`)
	path := d.path
	d.close()
	empty := open(t, path, sqlitefn.WithLedger(server.Database(t)))
	empty.fails(release, "there is no ledger at postgres://", "this database was charged to ledger ")
	empty.fails(`SELECT budget_limit('ana', 'm', 1)`, "there is no ledger at postgres://") // and none is made
	other := server.Database(t)
	chargedTo(t, other)
	open(t, path, sqlitefn.WithLedger(other)).fails(release, " has id ", "but this database was charged to ledger ")
	open(t, path).fails(release, "-ledger is missing: this database was charged to ledger ")
}

// Connections of a pool share the knowledge of their process about the ledger, and stop at the limit.
func TestServerLedgerOfPool(t *testing.T) {
	d := chargedTo(t, pgtest.Start(t).Database(t))
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 10 {
				rows, err := d.pool.Query(release)
				if err != nil {
					continue // refused
				}
				for rows.Next() {
				}
				rows.Close()
			}
		})
	}
	all.Wait()
	d.answers(`SELECT spent, remaining FROM ledger_balance`, `[[10 0]]`)
}

// While the server is away nothing is released. Then the same connection goes on.
func TestServerIsAway(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	d := chargedTo(t, server.Database(t))
	d.run(release)
	server.Kill(t)
	d.fails(release, "geoind_laplace: ledger: ")
	server.Restart(t)
	d.run(release)
	spent := d.value(`SELECT spent FROM ledger_balance`).(float64)
	if spent != 1 { // the failed charge was not stored: the server was not there
		t.Errorf("spent %v", spent)
	}
}

// A server that has another ledger than when the connection was opened is refused.
func TestServerIsReplaced(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	url := server.Database(t)
	d := chargedTo(t, url)
	d.run(release)
	older := server.Dump(t, url)
	d.run(release)
	server.Restore(t, url, older)
	d.fails(release, "the server lacks charges that this machine knows it has stored", "geosql ledger accept")
}
