package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/cli/clitest"
)

// A heat map or a count of many rows of each account is refused with the SQL that asks about accounts. As it stands, that
// charges each once.
func TestManyRowsOfAnAccount(t *testing.T) {
	db := clitest.TempFile(t, "x.db")
	const limit = "SELECT budget_limit('*', 'record', 2)"
	asked := 0
	clitest.Query(t, db, `SELECT geo_domain('lisbon', 38.5, -9.5, 39, -8.9, 1), dx_universe('u', 0, 1, 0.1, 'kWh'); `+limit+`;
		CREATE TABLE checkin AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 199)
		  SELECT 'p' || i % 4 AS who, 38.7 + i / 1000.0 AS lat, -9.1 + i / 1200.0 AS lon, i % 2 AS weekend, 0.5 AS x FROM n;
		CREATE VIEW visit AS SELECT dx_count(who, 0.5) AS n FROM checkin`)
	const cure = "; each row is charged: "
	const where = "FROM checkin AS c WHERE c.weekend AND c.lat > 38 GROUP BY 1)"
	for _, c := range []struct{ sql, cure, runs string }{
		{"SELECT dx_heatmap(who, lat, lon, 0.5, 'lisbon', 1000) AS map FROM checkin ORDER BY 1",
			"SELECT dx_heatmap(who, lat, lon, 0.5, 'lisbon', 1000) FROM (SELECT who, lat, lon FROM checkin GROUP BY 1)", ""},
		{"CREATE TABLE heat AS SELECT dx_heatmap(c.who, c.lat, round(c.lon, 2), 0.5, NULL, 1000) AS map FROM checkin AS c WHERE c.weekend AND c.lat > 38",
			"SELECT dx_heatmap(account, lat, lon, 0.5, NULL, 1000) FROM (SELECT c.who AS account, c.lat AS lat, round(c.lon, 2) AS lon " + where, ""},
		{"SELECT weekend, DX_COUNT(who, 0.5) FROM checkin GROUP BY 1", "write dx_accounts(who, 0.5)", "SELECT dx_accounts(who, 0.5) FROM checkin"},
		{"SELECT n FROM visit", "call dx_accounts", ""},
		{"SELECT weekend, dx_heatmap(who, lat, lon, 0.5, 'lisbon', 1000) FROM checkin GROUP BY 1", "with GROUP BY account in a subquery", ""},
		{"SELECT dx_avg(who, x, 0.5, 'u', 'dh') FROM checkin", "with GROUP BY account in a subquery", ""},
	} {
		refused := clitest.Run(t, "", db, c.sql)
		_, said, found := strings.Cut(refused.Err, cure)
		said = strings.TrimSuffix(said, "; nothing was charged\n")
		if refused.Status != 1 || !found || !strings.HasSuffix(said, c.cure) {
			t.Errorf("%s: %+v", c.sql, refused)
			continue
		}
		cost := clitest.Run(t, "", "-csv", "cost", db, c.sql)
		if cost.Status != 3 || !strings.Contains(cost.Err, cure+said) || !strings.Contains(cost.Out, said) {
			t.Errorf("cost of %s: %+v", c.sql, cost)
		}
		if c.runs == "" && strings.HasPrefix(c.cure, "SELECT") {
			c.runs = c.cure
		}
		if c.runs == "" {
			continue
		}
		clitest.Query(t, db, c.runs)
		asked++
		want := fmt.Sprintf("min(spent),max(spent)\n%[1]g,%[1]g\n", 0.5*float64(asked))
		if got := clitest.Query(t, "-csv", db, "SELECT min(spent), max(spent) FROM ledger_balance WHERE account <> '*'"); got != want {
			t.Errorf("after %s accounts have spent %s", c.runs, got)
		}
	}
}

// Over sealed locations the rows become one by the public column of the account.
func TestManySealedRowsOfAnAccount(t *testing.T) {
	dir := t.TempDir()
	plain, db, key := filepath.Join(dir, "plain.db"), filepath.Join(dir, "sealed.db"), filepath.Join(dir, "key")
	clitest.Query(t, plain, `SELECT geo_domain('lisbon', 38.5, -9.5, 39, -8.9, 1), budget_limit('*', 'record', 0.5);
		CREATE TABLE checkin AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 59)
		  SELECT 'p' || i % 4 AS "the person", 38.7 + i / 1000.0 AS lat, -9.1 + i / 1200.0 AS lon FROM n`)
	for _, args := range [][]string{{"keygen", key},
		{"seal", plain, db, "--key", key + ".pub", "--yes", "--table", "checkin", "--account", "the person", "--seal", "lat,lon:lisbon"}} {
		if r := clitest.Run(t, "", args...); r.Status != 0 {
			t.Fatalf("%q: %s", args, r.Err)
		}
	}
	const cure = `SELECT dx_heatmap(location, 0.5, 10000) FROM (SELECT location FROM checkin GROUP BY "the person")`
	clitest.WantError(t, clitest.Run(t, "", "--key", key, db, "SELECT dx_heatmap(location, 0.5, 10000) AS map FROM checkin"), 1, ": "+cure+"; nothing was charged")
	clitest.Query(t, "--key", key, db, cure)
}
