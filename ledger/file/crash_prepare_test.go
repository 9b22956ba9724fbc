package file_test

import (
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/need"
	"github.com/geosql/geosql/internal/sqlite"
)

const declareDomain = `SELECT geo_domain('beijing', 39.4, 115.4, 41.1, 117.6, 1)`

// A scan has so many rows, of so many accounts that are interleaved.
const (
	scanRows     = 400
	scanAccounts = 5
)

// prepareScan makes a database with readings of few accounts (t) and of many.
func prepareScan(t *testing.T, dir string) {
	statements := []string{
		`PRAGMA synchronous = OFF`,
		declareDomain,
		`SELECT dx_universe('u', 0, 10, 1, 'kWh')`,
		`SELECT budget_limit('*', 'm', 9000000), budget_limit('*', 'kWh', 9000000), budget_limit('*', 'record', 9000000)`,
		fmt.Sprintf(`CREATE TABLE t AS SELECT i, 'a' || (i %% %d) AS account, 39.9 AS lat, 116.3 AS lon, 3 AS x FROM (%s)`, scanAccounts, numbers(scanRows)),
		`CREATE TABLE many AS SELECT i, 'b' || (i % 200) AS account, 3 AS x FROM (` + numbers(scanRows) + `)`,
	}
	for i := range windows {
		statements = append(statements, fmt.Sprintf(`SELECT budget_limit('w%d', 'kWh', 1, 1), budget_limit('v%[1]d', 'kWh', 1, 1)`, i))
	}
	run(t, dir, statements...)
}

// numbers is a query for 0, 1, .., n-1.
func numbers(n int) string {
	return fmt.Sprintf(`WITH RECURSIVE s(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM s WHERE i < %d) SELECT i FROM s`, n-1)
}

// run runs statements that answer one row at most each.
func run(t *testing.T, dir string, statements ...string) {
	t.Helper()
	db := connect(dir)
	defer db.Close()
	db.SetMaxOpenConns(1) // for PRAGMA
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s\n%v", s, err)
		}
	}
}

// allOrNone demands that accounts which are always charged together have been
// charged the same.
func allOrNone(_, after state) error {
	var first int64
	for k, b := range after.balances {
		switch total := b.spent + b.reserved; {
		case k.unit != "kWh":
		case first == 0:
			first = total
		case total != first:
			return fmt.Errorf("%v was charged %d, another %d, by the same statements", k, total, first)
		}
	}
	return nil
}

// prepareTraces makes every account a trace with steps that spend a half, rounded up.
func prepareTraces(t *testing.T, dir string) {
	prepareScan(t, dir)
	run(t, dir, `SELECT trace_policy('*', '*', 'independent', '{"epsilon": 9000000, "alpha": 7.7794403397}')`)
}

// realEps is the epsilon of the scans of real data.
const realEps = half / 10

// prepareGeoLife makes a database of every 20th GPS fix of GeoLife.
func prepareGeoLife(t *testing.T, dir string) {
	load(t, dir, "geolife/points.csv.gz", func(i int, _ []string) bool { return i%20 == 0 },
		`CREATE TABLE point(user, trace, t_utc, lat REAL, lon REAL)`, `INSERT INTO point VALUES (?, ?, ?, ?, ?)`)
	run(t, dir, declareDomain, `SELECT budget_limit('*', 'm', 9000000)`)
}

// prepareMeters makes a database of a month of the Smart-Grid Smart-City trial.
func prepareMeters(t *testing.T, dir string) {
	load(t, dir, "meters_sgsc/readings.csv.gz", func(_ int, f []string) bool { return strings.HasPrefix(f[1], "2013-03-") },
		`CREATE TABLE reading(meter, t_local, kwh REAL)`, `INSERT INTO reading VALUES (?, ?, ?)`)
	run(t, dir, `CREATE INDEX reading_t ON reading(t_local, meter, kwh)`,
		`SELECT budget_limit('*', 'record', 9000000)`)
}

// load fills a table with the lines to keep of a file of the real data sets,
// which are not part of the project.
func load(t *testing.T, dir, name string, keep func(i int, fields []string) bool, create, insert string) {
	t.Helper()
	file, err := os.Open(need.Data(t, name))
	check(t, err)
	defer file.Close()
	text, err := gzip.NewReader(file)
	check(t, err)
	lines := csv.NewReader(text)
	lines.ReuseRecord = true

	conn, err := sqlite.Open(mainFile(dir), sqlite.ReadWrite|sqlite.Create)
	check(t, err)
	defer conn.Close()
	check(t, conn.Exec("PRAGMA synchronous = OFF; BEGIN; "+create))
	s, _, err := conn.Prepare(insert)
	check(t, err)
	for i := 0; ; i++ {
		fields, err := lines.Read()
		if err == io.EOF {
			break
		}
		check(t, err)
		if i == 0 || !keep(i, fields) { // 0 is the header
			continue
		}
		for j, f := range fields {
			s.BindText(j+1, f)
		}
		check(t, s.Run())
	}
	s.Close()
	check(t, conn.Exec("COMMIT"))
}
