package sqlitefn_test

import (
	"path/filepath"
	"testing"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sqlitefn"
)

// A statement may allocate for itself; its rows may not.
func TestRowsDoNotAllocate(t *testing.T) {
	const rows = 20_000
	conn, err := sqlite.Open(filepath.Join(t.TempDir(), "alloc.db"), sqlite.ReadWrite|sqlite.Create)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := sqlitefn.Attach(conn.Handle()); err != nil {
		t.Fatal(err)
	}
	if err := conn.Exec(`
		CREATE TABLE t(account TEXT, id INTEGER, lat REAL, lon REAL, x REAL);
		INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
		SELECT 'account' || (i % 7), i % 5, 40 + i * 1e-5, 116 + i * 1e-5, (i % 3000) * 0.001 FROM n;
		SELECT geo_domain('d', 39.4, 115.4, 41.1, 117.6, 1), dx_universe('u', 0, 10, 0.001, 'kWh'),
			budget_limit('*', 'm', 9000000), budget_limit('*', 'm:b', 9000000), budget_limit('*', 'kWh', 9000000), budget_limit('*', 'record', 9000000);
		SELECT optql_store('o', optql_build(40 + i * 0.05, 116.1, i, 0.0002, 1)), optql_store('b', optql_build(40 + i * 0.05, 116.1, i, 0.0002, 1, 'd', 'manhattan')) FROM (SELECT 1 AS i UNION ALL SELECT 2 UNION ALL SELECT 3)`); err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{
		`SELECT count(geoind_laplace(account, lat, lon, 0.01)) FROM t`,
		`SELECT count(geoind_laplace(id, lat, lon, 0.01, 'd')) FROM t`,
		`SELECT count(g.lat), count(g.wkt) FROM t, geoind_laplace(t.account, t.lat, t.lon, 0.01) g`,
		`SELECT count(geoind_optimal(account, lat, lon, 'o')) FROM t`,
		`SELECT count(g.lat), count(g.wkt) FROM t, geoind_optimal(t.account, t.lat, t.lon, 'o') g`,
		`SELECT count(geoind_optimal(account, lat, lon, 'b')) FROM t`,
		`SELECT count(dx_value(account, x, 0.1, 'u')) FROM t`,
		`SELECT dx_sum(account, x, 0.1, 'u') FROM t`,
		`SELECT dx_avg(id, x, 0.1, 'u', 'dinf') FROM t`,
		`SELECT dx_min(account, x, 0.1, 'u') FROM t`,
		`SELECT dx_count(account, 0.1) FROM t`,
		`SELECT dx_accounts(account, 0.1) FROM t`,
		`SELECT dx_histogram(account, x, 0.1, 'u', 100) FROM t`,
		`SELECT dx_percentiles(account, x, '[5, 50, 95]', 0.1, 'u', 'dh') FROM t`,
		`SELECT dx_curve(account, x, 0.1, 'u') FROM t`,
		`SELECT dx_heatmap(account, lat, lon, 0.1, 'd', 1000) FROM t`,
		`SELECT dx_heatmap(account, lat, lon, 0.1, 'd', 1000, 'adaptive') FROM t`,
	} {
		t.Run(query, func(t *testing.T) {
			run := func() {
				if err := conn.Exec(query); err != nil {
					t.Fatal(err)
				}
			}
			allocs := testing.AllocsPerRun(3, run)
			t.Logf("%.0f allocations", allocs)
			if allocs > rows/20 {
				t.Errorf("%.0f allocations over %d rows", allocs, rows)
			}
		})
	}
}
