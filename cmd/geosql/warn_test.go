package main

import (
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/cli/clitest"
)

// trapped makes a database of true locations with times, and of releases of them by each mechanism.
func trapped(t *testing.T) (db string) {
	t.Helper()
	db = clitest.TempFile(t, "x.db")
	clitest.Query(t, db, `SELECT geo_domain('lisbon', 38.5, -9.5, 39, -8.9, 1), geo_domain('coarse', 38, -10, 40, -8, 100), dx_universe('kwh', 0, 10, 0.001, 'kWh');
		SELECT budget_limit('*', 'record', 1000), budget_limit('*', 'm', 1000), budget_limit('*', 'm2', 1000), budget_limit('*', 'kWh', 1000);
		CREATE TABLE trip AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 19)
		  SELECT 'p' || (i % 10) AS who, 1600000000 + i * 2000000 AS t, (1600000000 + i * 2000000) * 1000 AS ms,
		    date(1600000000 + i * 2000000, 'unixepoch') AS day, 38.7 + i / 1000.0 AS lat, -9.1 + i / 1200.0 AS lon, 0.5 AS kwh FROM n;
		SELECT optql_store('homes', optql_build(lat, lon, 1, 0.01, 1.5, 'lisbon')) FROM (SELECT lat, lon FROM trip LIMIT 5);
		CREATE TABLE laplace AS SELECT who, g.lat, g.lon FROM trip, geoind_laplace(who, trip.lat, trip.lon, 0.01, 'lisbon') AS g;
		CREATE TABLE coarse AS SELECT who, g.lat, g.lon FROM trip, geoind_laplace_l1(who, trip.lat, trip.lon, 0.001, 'coarse') AS g;
		CREATE TABLE gauss AS SELECT who, g.lat, g.lon FROM trip, geoind_gauss(who, trip.lat, trip.lon, 0.0001, 'lisbon') AS g;
		CREATE TABLE optimal AS SELECT who, g.lat, g.lon FROM trip, geoind_optimal(who, trip.lat, trip.lon, 'homes') AS g`)
	return db
}

// warnings returns the messages of a statement that succeeds.
func warnings(t *testing.T, db, sql string) string {
	t.Helper()
	r := clitest.Run(t, "", db, sql)
	if r.Status != 0 {
		t.Fatalf("%s: %s", sql, r.Err)
	}
	return r.Err
}

// Groups of true locations and of released columns are warned of once, and no others.
func TestGroupsOfSecrets(t *testing.T) {
	db := trapped(t)
	const cells = "SELECT geo_cell(lat, lon, 5000, 'lisbon') AS cell, dx_accounts(who, 0.1) AS people FROM %s GROUP BY 1"
	of := func(table string) string { return strings.Replace(cells, "%s", table, 1) }
	for _, sql := range []string{of("trip"), of("trip") + " ORDER BY 2 DESC LIMIT 3", of("trip") + "; " + of("trip"), "WITH x AS (" + of("trip") + ") SELECT count(*) FROM x"} {
		if said := warnings(t, db, sql); strings.Count(said, "\n") != 1 || !strings.Contains(said, "which groups there are is public") {
			t.Errorf("%s says %q", sql, said)
		}
	}
	for sql, column := range map[string]string{
		"SELECT round(lat, 1), dx_accounts(who, 0.1) FROM trip GROUP BY 1": "lat", "SELECT dx_count(who, 0.1) FROM trip AS t GROUP BY day, cast(t.LON AS INTEGER)": "lon",
		"SELECT 'a', CASE WHEN kwh > 1 THEN 'much' ELSE 'little' END AS use, dx_sum(who, 2 * kwh, 0.1, 'kwh') FROM trip GROUP BY use HAVING true": "kwh",
		"SELECT * FROM (SELECT round(kwh) AS r, dx_histogram(who, kwh, 0.1, 'kwh', 4) FROM trip GROUP BY r)":                                      "kwh",
	} {
		if said := warnings(t, db, sql+"; "+sql); strings.Count(said, "\n") != 1 || !strings.Contains(said, "the groups are made of "+column) {
			t.Errorf("%s says %q", sql, said)
		}
	}
	if r := clitest.Run(t, "", "cost", db, of("trip")); r.Status != 0 || !strings.HasPrefix(r.Err, "geosql: geo_cell was given locations") {
		t.Errorf("cost says %q", r.Err)
	}
	if said := warnings(t, db, "CREATE TABLE kept AS "+of("trip")); strings.Count(said, "\n") != 1 {
		t.Errorf("the warning about a table is %q", said)
	}
	for _, sql := range []string{
		of("laplace"), of("coarse"), of("gauss"), of("optimal"),
		"SELECT geo_cell(lat, lon, 5000, 'lisbon') AS cell, count(*) FROM trip GROUP BY 1", // the owner's own answer, without noise
		"SELECT geo_cell(g.lat, g.lon, 5000, 'lisbon') AS cell, count(*) FROM trip, geoind_laplace(who, trip.lat, trip.lon, 0.01, 'lisbon') AS g GROUP BY 1",
		"SELECT geo_cell(g.lat, g.lon, 5000, 'lisbon') AS cell, count(*) FROM trip, geoind_optimal(who, trip.lat, trip.lon, 'homes') AS g GROUP BY 1",
		"SELECT dx_heatmap(who, lat, lon, 0.1, 'lisbon', 5000) FROM trip",
		"SELECT round(lat, 1), dx_accounts(who, 0.1) FROM laplace GROUP BY 1", "SELECT round(lat, 1) AS l, dx_accounts(who, 0.1) FROM optimal GROUP BY l",
		"SELECT day, dx_sum(who, kwh, 0.1, 'kwh') AS kwh FROM trip GROUP BY day ORDER BY kwh", "SELECT who, dx_sum(who, kwh, 0.1, 'kwh') FROM trip WHERE lat > 0 GROUP BY who",
		"SELECT round(lat, 1), count(*) FROM trip GROUP BY 1",
	} {
		if said := warnings(t, db, sql); said != "" {
			t.Errorf("%s says %q", sql, said)
		}
	}
}

// A time of day or a month of numbers since 1970 is NULL: the warning has the cure.
func TestTimesOfNumbers(t *testing.T) {
	db := trapped(t)
	for _, c := range []struct{ by, from, cure string }{
		{"strftime('%m', t)", "trip", "t has seconds since 1970; write strftime('%m', t, 'unixepoch')"},
		{"strftime('%m', ms, 'start of month')", "trip", "ms has milliseconds since 1970; write strftime('%m', ms / 1000, 'unixepoch', 'start of month')"},
		{"date(x.t)", "trip AS x", "write date(x.t, 'unixepoch')"},
		{"date(x.t)", "(SELECT * FROM trip) AS x", "write date(x.t, 'unixepoch')"},
		{"DateTime(t + 3600)", "trip", "t + 3600 has seconds since 1970"},
	} {
		sql := "SELECT " + c.by + " AS part, dx_sum(who, kwh, 0.1, 'kwh') FROM " + c.from + " GROUP BY 1"
		if said := warnings(t, db, sql); strings.Count(said, "\n") != 1 || !strings.Contains(said, c.cure) {
			t.Errorf("%s says %q", sql, said)
		}
	}
	for _, by := range []string{"strftime('%m', t, 'unixepoch')", "date(ms / 1000, 'unixepoch')", "date(t, 'AUTO')", "date(day)", "date(ms / 1000, day)", "date(kwh)", "who", "date()"} {
		if said := warnings(t, db, "SELECT "+by+" AS part, dx_count(who, 0.1) FROM trip GROUP BY 1"); said != "" {
			t.Errorf("%s says %q", by, said)
		}
	}
	// The cures of the warnings work.
	const months = "SELECT count(DISTINCT m) > 10 AS many FROM (SELECT strftime('%Y-%m', ms / 1000, 'unixepoch') AS m, dx_sum(who, kwh, 0.1, 'kwh') FROM trip GROUP BY 1)"
	if got := clitest.Query(t, "--raw", db, months); got != "1\n" {
		t.Errorf("%s", got)
	}
}
