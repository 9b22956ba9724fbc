package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/cli/clitest"
	"github.com/geosql/geosql/internal/need"
	"github.com/geosql/geosql/internal/trials"
)

// realData is GeoLife and the meters, plain and sealed, as docs/real-data.md declares them.
type realData struct {
	*testing.T
	plain, out, key string
}

func newRealData(t *testing.T) realData {
	points, readings := need.Data(t, "geolife/points.csv.gz"), need.Data(t, "meters_sgsc/readings.csv.gz")
	trials.Rarely(t, 3)
	r := realData{t, clitest.TempFile(t, "real.db"), clitest.TempFile(t, "open.db"), clitest.TempFile(t, "KEY")}
	clitest.Import(t, r.plain, "point", points)
	clitest.Import(t, r.plain, "reading", readings)
	clitest.Query(t, r.plain, `SELECT geo_domain('beijing', 39.4, 115.4, 41.1, 117.6, 1), dx_universe('halfhour', 0, 10, 0.001, 'kWh'),
		  dx_universe('month', 0, 5000, 0.001, 'kWh'), dx_universe('flag', 0, 1, 1, 'yes');
		SELECT budget_limit('*', 'm', 2500), budget_limit('*', 'kWh', 200), budget_limit('*', 'record', 20);
		DELETE FROM point WHERE rowid % 8; ALTER TABLE point ADD COLUMN n INTEGER; UPDATE point SET n = rowid;
		CREATE TABLE july AS SELECT meter, sum(kwh) AS kwh, 1 AS here FROM reading WHERE t_local LIKE '2013-07%' GROUP BY meter`)
	for _, args := range [][]string{
		{"keygen", r.key},
		{"seal", r.plain, r.out, "--key", r.key + ".pub", "--yes", "--table", "point", "--account", "user", "--seal", "lat,lon:beijing", "--public", "n",
			"--table", "reading", "--account", "meter", "--seal", "kwh:halfhour", "--public", "t_local",
			"--table", "july", "--account", "meter", "--seal", "kwh:month", "--seal", "here:flag"},
	} {
		if run := clitest.Run(t, "", args...); run.Status != 0 {
			t.Fatalf("%q: %s", args, run.Err)
		}
	}
	return r
}

// numbers returns the first row of a query.
func (r realData) numbers(args ...string) (row []float64) {
	r.Helper()
	lines := strings.Split(clitest.Query(r.T, append([]string{"-csv"}, args...)...), "\n")
	for _, cell := range strings.Split(lines[1], ",") {
		x, err := strconv.ParseFloat(cell, 64)
		if err != nil {
			r.Fatalf("%q: %v", args, err)
		}
		row = append(row, x)
	}
	return row
}

// both returns the first row of the answers over plain values and over sealed ones.
func (r realData) both(plain, sealed string) (a, b []float64) {
	r.Helper()
	return r.numbers(r.plain, plain), r.numbers("--key", r.key, r.out, sealed)
}

// The queries of docs/real-data.md are as accurate over sealed values, at the same epsilon. Where
// an answer has a known noise, both errors are within a bound that is exceeded with a probability below 1e-8.
func TestSealedRealData(t *testing.T) {
	t.Parallel()
	r := newRealData(t)
	t.Run("points", func(t *testing.T) {
		// A distance has mean 400 m and standard deviation 283 m. So the mean of 140,000 has 0.75 m,
		// and a difference of two 1.06 m: both are within 8 m with a probability above 1 - 1e-10.
		const errors = `SELECT avg(d), avg(d <= geoind_radius(0.005, 0.95, 'beijing')) FROM
			(SELECT sqrt(pow((z.lat - p.lat) * 111035, 2) + pow((z.lon - p.lon) * 111320 * cos(radians(p.lat)), 2)) AS d
			FROM main.released AS z, plain.point AS p WHERE p.rowid = z.n AND geo_outside('beijing', p.lat, p.lon) = 0)`
		clitest.Query(t, r.plain, `CREATE TABLE released AS SELECT n, g.lat, g.lon FROM point AS p, geoind_laplace(p.user, p.lat, p.lon, 0.005) AS g`)
		clitest.Query(t, "--key", r.key, r.out, `CREATE TABLE released AS SELECT n, g.lat, g.lon FROM point AS p, geoind_laplace(p.location, 0.005) AS g`)
		attach := fmt.Sprintf(`ATTACH '%s' AS plain; `, r.plain)
		a, b := r.numbers(r.plain, strings.ReplaceAll(errors, "plain.", "main.")), r.numbers("--key", r.key, r.out, attach+errors)
		t.Logf("mean error %.2f m over plain and %.2f m over sealed locations; within the radius of 95 %%: %.4f and %.4f", a[0], b[0], a[1], b[1])
		if math.Abs(a[0]-b[0]) > 8 || math.Abs(b[0]-400) > 8 || math.Abs(b[1]-0.95) > 0.005 {
			t.Error("not as accurate")
		}
		const spent = `SELECT sum(spent), max(spent) FROM ledger_balance WHERE unit = 'm'`
		if a, b := r.both(spent, spent); math.Abs(a[0]-b[0]) > 1e-6 || a[1] != b[1] || a[1] < 60 {
			t.Errorf("charged %v and %v", a, b)
		}
	})
	t.Run("months", func(t *testing.T) {
		const truth = `SELECT round(sum(kwh), 3) FROM reading WHERE substr(t_local, 1, 7) = '%s'`
		var plain, sealed float64
		months := func(values string, args ...string) (sums []float64) {
			for _, line := range strings.Split(strings.TrimSpace(clitest.Query(t, append([]string{"-csv"}, append(args, `SELECT substr(t_local, 1, 7) AS month, dx_sum(`+values+`) AS answer FROM reading GROUP BY month`)...)...)), "\n")[1:] {
				x, err := strconv.ParseFloat(line[8:], 64)
				if err != nil {
					t.Fatal(err)
				}
				sums = append(sums, x)
			}
			return sums
		}
		a, b := months("meter, kwh, 1, 'halfhour'", r.plain), months("kwh, 1", "--key", r.key, r.out)
		if len(a) != 12 || len(b) != 12 {
			t.Fatal(a, b)
		}
		most := r.numbers(r.plain, `SELECT dx_radius('sum', 0.9999999999, 1, 'halfhour')`)[0]
		for i := range a {
			want := r.numbers(r.plain, fmt.Sprintf(truth, fmt.Sprintf("2013-%02d", i+1)))[0]
			plain, sealed = plain+math.Abs(a[i]-want)/12, sealed+math.Abs(b[i]-want)/12
			if math.Abs(b[i]-want) > most || math.Abs(a[i]-want) > most {
				t.Errorf("month %d: %v over plain, %v over sealed readings, in truth %v", i+1, a[i], b[i], want)
			}
		}
		t.Logf("mean error of the sums of twelve months: %.2f kWh over plain and %.2f kWh over sealed readings", plain, sealed)
		const spent = `SELECT count(*), min(spent), max(spent) FROM ledger_balance WHERE unit = 'kWh' AND spent > 0`
		if a, b := r.both(spent, spent); fmt.Sprint(a, b) != "[60 1 1] [60 1 1]" {
			t.Errorf("charged %v and %v", a, b)
		}
	})
	for _, c := range []struct {
		name, plain, sealed, truth string
		within                     float64 // of the truth, far beyond the noise
	}{
		{"average", `SELECT dx_avg(meter, kwh, 5, 'halfhour') FROM reading WHERE t_local LIKE '2013-07%'`, `SELECT dx_avg(kwh, 5) FROM reading WHERE t_local LIKE '2013-07%'`,
			`SELECT avg(kwh) FROM reading WHERE t_local LIKE '2013-07%'`, 0.0001},
		{"95th percentile", `SELECT dx_percentile(meter, kwh, 95, 5, 'halfhour') FROM reading WHERE t_local LIKE '2013-07%'`, `SELECT dx_percentile(kwh, 95, 5) FROM reading WHERE t_local LIKE '2013-07%'`,
			`SELECT min(kwh) FROM (SELECT kwh, percent_rank() OVER (ORDER BY kwh) AS p FROM reading WHERE t_local LIKE '2013-07%') WHERE p >= 0.95`, 0.1},
		{"total of whole households", `SELECT dx_sum(meter, kwh, 0.5, 'month', 'nd1') FROM july`, `SELECT dx_sum(kwh, 0.5, 'nd1') FROM july`, `SELECT sum(kwh) FROM july`, 250_000},
		{"households below 500 kWh", `SELECT dx_histogram(meter, kwh, 1, 'month', 10) ->> '$[0].count' FROM july`, `SELECT dx_histogram(kwh, 1, 10) ->> '$[0].count' FROM july`,
			`SELECT count(*) FROM july WHERE kwh < 499.9995`, 45},
		{"households", `SELECT dx_accounts(meter, 1) FROM july`, `SELECT dx_accounts(here, 1) FROM july`, `SELECT count(*) FROM july`, 45},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := r.both(c.plain, c.sealed)
			truth := r.numbers(r.plain, c.truth)
			t.Logf("%v over plain and %v over sealed readings, in truth %v", a[0], b[0], truth[0])
			if math.Abs(a[0]-truth[0]) > c.within || math.Abs(b[0]-truth[0]) > c.within {
				t.Errorf("not within %v", c.within)
			}
		})
	}
}
