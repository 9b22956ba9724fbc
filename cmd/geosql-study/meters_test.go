package main

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/cli/clitest"
)

const readingsHead = "device,t,value"

// televisions is a file of devices of different habits, metered every ten seconds for
// an hour. head names the columns.
func televisions(t *testing.T, head string, devices int) (path string) {
	t.Helper()
	var text strings.Builder
	text.WriteString(head + "\n")
	for j := range 360 { // interleaved
		for k := range devices {
			watts := 100 + 20*float64(k) + 30*math.Sin(float64(j)/float64(3+k)) + float64(j%7)
			fmt.Fprintf(&text, "tv%d,%d,%.1f\n", k, 1_200_000_000+10*j, watts)
		}
	}
	return clitest.WriteFile(t, clitest.Zipped(t, text.String()))
}

// metersOf runs the study of meters.
func metersOf(t *testing.T, args ...string) []map[string]string {
	t.Helper()
	return csvRows(t, clitest.Query(t, append([]string{"meters"}, args...)...))
}

func TestStudyMetersSignatures(t *testing.T) {
	rows := metersOf(t, "-readings", televisions(t, readingsHead, 3), "-epsilon", "0.1,0.5,1000", "-windows", "8", "-repeat", "3")
	var got []string
	for _, r := range rows {
		got = append(got, strings.Join([]string{r["epsilon"], r["tuple_epsilon"], r["devices"], r["signatures"], r["readings"], r["radius95"]}, " "))
		if measure(t, r, "device_recognised") < measure(t, r, "signature_recognised") {
			t.Errorf("%v", r)
		}
	}
	// The radius, the smallest k with 2q^(k+1)/(1+q) <= 0.05, is 30 at q = e^-0.1, 6 at
	// e^-0.5 and 0 at e^-1000.
	want := "  3 24 30 \n0.1 3 3 24 30 30\n0.5 15 3 24 30 6\n1000 30000 3 24 30 0"
	if strings.Join(got, "\n") != want {
		t.Errorf("rows\n%s", strings.Join(got, "\n"))
	}
	if r := rows[0]; r["mean_error"]+r["p95_error"]+r["within95"] != "" || r["signature_recognised"] != "1.0000" {
		t.Errorf("%v", r)
	}
	if r := rows[3]; r["mean_error"] != "0.000000" || r["within95"] != "1.0000" || r["signature_recognised"] != "1.0000" {
		t.Errorf("%v", r)
	}
}

// The radii are as dx_radius promises.
func TestStudyMetersRadius(t *testing.T) {
	readings, db := televisions(t, readingsHead, 2), filepath.Join(t.TempDir(), "x.db")
	geosql(t, "", db, "SELECT dx_universe('u', 0, 300, 0.5, 'W')")
	for part, aggregate := range map[string]string{"signatures": "value", "totals": "sum"} {
		for _, r := range metersOf(t, "-readings", readings, "-part", part, "-universe", "0,300,0.5", "-epsilon", "0.02,0.3", "-repeat=1") {
			if r["epsilon"] == "" {
				continue
			}
			promised := geosql(t, "", "-csv", db, "SELECT dx_radius('"+aggregate+"', 0.95, "+r["epsilon"]+", 'u') AS r")
			if want := strings.TrimSuffix(strings.TrimSuffix(strings.Split(promised, "\n")[1], "\r"), ".0"); r["radius95"] != want {
				t.Errorf("%s: radius %s, not %s", part, r["radius95"], want)
			}
		}
	}
}

func TestStudyMetersPredictions(t *testing.T) {
	rows := metersOf(t, "-readings", televisions(t, readingsHead, 3), "-part", "predictions", "-universe", "0,300,0.1", "-alpha", "20,80", "-eta", "0.25,0.5", "-repeat", "2")
	var got []string
	for _, r := range rows {
		got = append(got, strings.Join([]string{r["alpha"], r["eta"], r["meters"], r["readings"]}, " "))
		for _, name := range []string{"prediction_rate", "mean_error", "p95_error", "beyond_alpha", "epsilon", "same_error_epsilon", "same_epsilon_error", "meters_saving"} {
			if !(measure(t, r, name) >= 0) {
				t.Errorf("%s: %v", name, r)
			}
		}
	}
	if want := "20 0.25 3 2160\n80 0.25 3 2160\n20 0.5 3 2160\n80 0.5 3 2160"; strings.Join(got, "\n") != want {
		t.Errorf("rows\n%s", strings.Join(got, "\n"))
	}
}

func TestStudyMetersTotals(t *testing.T) {
	rows := metersOf(t, "-readings", televisions(t, readingsHead, 3), "-part", "totals", "-universe", "0,300,0.1", "-epsilon", "1,1000000", "-repeat", "50")
	if len(rows) != 8 {
		t.Fatalf("%d rows", len(rows))
	}
	sums := map[string]float64{"meter": 0, "district": 0}
	for k, r := range rows {
		if want := []string{"meter day", "meter month", "district day", "district month"}[k/2]; r["scope"]+" "+r["span"] != want {
			t.Errorf("%v, not of %s", r, want)
		}
		// From 21:20 to 22:20, UTC, of one day.
		if r["groups"] != map[string]string{"meter": "3", "district": "1"}[r["scope"]] || r["zeros"] != "0" {
			t.Errorf("%v", r)
		}
		sums[r["scope"]] = measure(t, r, "groups") * measure(t, r, "mean_sum")
		if k%2 == 1 && (r["mean_error"] != "0.000000" || r["relative_p95"] != "0.000000" || r["within95"] != "1.0000") {
			t.Errorf("%v", r)
		}
	}
	if math.Abs(sums["meter"]-sums["district"]) > 1e-5 || sums["meter"] < 360*3*100 {
		t.Errorf("%v", sums)
	}
}

// The same readings are the same study, whatever the columns are called and however
// times are written; empty cells are left out.
func TestStudyMetersReads(t *testing.T) {
	for name, c := range map[string]struct{ text, columns string }{
		"seconds":     {"device,t,value\na,1356998400,1\na,1356999000.5,2\nb,1357084800,3\n", "device,t,value"},
		"to a second": {"value;t;who\n1;2013-01-01T00:00:00;a\n;2012-01-01T00:00:00;c\n2;2013-01-01 00:10:00;a\n 3 ;2013-01-02T00:00:00Z;b\n", "who,t,value"},
		"to a minute": {"meter\tt_local\tkwh\na\t2013-01-01T00:00\t1\nb\t2013-01-02 00:00\t3\na\t2013-01-01T00:10\t2\n", "meter,t_local,kwh"},
	} {
		t.Run(name, func(t *testing.T) {
			rows := metersOf(t, "-readings", clitest.WriteFile(t, c.text), "-columns", c.columns, "-part", "totals", "-epsilon", "1000", "-repeat", "1")
			var got []string
			for _, r := range rows {
				got = append(got, r["groups"]+" of "+r["mean_sum"])
			}
			if text := strings.Join(got, ", "); text != "2 of 3.000000, 2 of 3.000000, 2 of 3.000000, 1 of 6.000000" {
				t.Error(text)
			}
		})
	}
}

func TestStudyMetersFigures(t *testing.T) {
	out := filepath.Join(t.TempDir(), "new", "figures")
	args := []string{"meters", "-readings", televisions(t, readingsHead, 2), "-repeat", "1", "-out", out}
	wantFigures(t, clitest.Run(t, "", args...), out, "signature", "recognition")
	wantFigures(t, clitest.Run(t, "", append(args, "-part", "totals")...), out, "totals")
}

func TestStudyMetersErrors(t *testing.T) {
	good := televisions(t, readingsHead, 2)
	for _, c := range []struct {
		args   []string
		status int
		text   string
	}{
		{nil, 2, "no file of readings"},
		{[]string{"-readings", good, "-columns", "t,value"}, 2, "-columns names device,t,value"},
		{[]string{"-readings", good, "-part", "sums"}, 2, "-part must be signatures, totals or predictions, not sums"},
		{[]string{"-readings", good, "-universe", "0,300"}, 2, "-universe is LO,HI,STEP"},
		{[]string{"-readings", good, "-universe", "0,300,7"}, 2, "-universe: step 7 does not divide"},
		{[]string{"-readings", good, "-epsilon", "0.1,0"}, 2, "epsilon must be above 0"},
		{[]string{"-readings", good, "-epsilon", "much"}, 2, `"much" is not a number`},
		{[]string{"-readings", good, "-window", "0"}, 2, "-window must be above 0"},
		{[]string{"-readings", good, "-period", "1e10"}, 2, "-period must be above 0, in seconds, and at most"},
		{[]string{"-readings", good, "-period", "1e-9"}, 2, "period must be at least a microsecond"},
		{[]string{"-readings", good, "-period", "7"}, 2, "whole periods of 7s, not 5m0s"},
		{[]string{"-readings", good, "-windows", "0"}, 2, "windows must be at least 1"},
		{[]string{"-readings", good, "-repeat", "0"}, 2, "repeat must be at least 1"},
		{[]string{"-readings", good, "-points", good}, 2, "meters takes no flag -points"},
		{[]string{"-readings", good, "-columns", "meter,t,value"}, 1, "has no column meter: it has device, t, value"},
		{[]string{"-readings", good + "x"}, 1, "no such file"},
		{[]string{"-readings", clitest.WriteFile(t, readingsHead+"\n")}, 1, "has no readings"},
		{[]string{"-readings", clitest.WriteFile(t, readingsHead+"\na,1,\n")}, 1, "has no readings"},
		{[]string{"-readings", clitest.WriteFile(t, readingsHead+"\na,1,2\na,noon,2\n")}, 1, `line 3: time "noon" must be seconds or milliseconds since 1970`},
		{[]string{"-readings", clitest.WriteFile(t, readingsHead+"\na,12:00,2\n")}, 1, "line 2: "},
		{[]string{"-readings", clitest.WriteFile(t, readingsHead+"\na,1,inf\n")}, 1, `line 2: "inf" is not a number`},
		{[]string{"-readings", clitest.WriteFile(t, readingsHead+"\na,1,2\n")}, 1, "fewer than two windows are complete and vary"},
		{[]string{"-readings", good, "-out", good}, 1, "not a directory"},
	} {
		clitest.WantError(t, clitest.Run(t, "", append([]string{"meters"}, c.args...)...), c.status, c.text)
	}
}

func TestStudyMetersInterrupted(t *testing.T) {
	readings := televisions(t, readingsHead, 3)
	interruptStudy(t, signaturesTable.head, "meters", "-readings", readings, "-epsilon", "1"+strings.Repeat(",1", 2000), "-repeat", "200")
	interruptStudy(t, totalsTable.head, "meters", "-readings", readings, "-part", "totals", "-epsilon", "1"+strings.Repeat(",1", 2000), "-repeat", "100000")
}

// The televisions of the tracebase subset: at epsilon 0.5 per watt their signatures are
// still recognised, at 0.001 no longer. Of 26,800 releases, by Hoeffding, a share is off
// by 0.02 with probability below 1e-9.
func TestStudyMetersTracebase(t *testing.T) {
	file, db := realData(t, "tracebase/power.csv.gz"), filepath.Join(t.TempDir(), "x.db")
	geosql(t, "", "import", db, "power", file)
	readings := clitest.WriteFile(t, geosql(t, "", "-csv", db, "SELECT device, t_local, p1s_w FROM power WHERE appliance LIKE 'TV%'"))
	rows := metersOf(t, "-readings", readings, "-columns", "device,t_local,p1s_w", "-epsilon", "0.5,0.1,0.001")
	for k, want := range []float64{1, 0.9983, 0.7765, 0.0083} {
		r := rows[k]
		if got := measure(t, r, "signature_recognised"); r["signatures"] != "268" || math.Abs(got-want) > 0.025 {
			t.Errorf("%v: not %v of 268", r, want)
		}
	}
}

// Totals of the Smart-Grid Smart-City subset. The facts published with it have 60
// meters with 194,339.346 kWh in all, every month of the year.
func TestStudyMetersSmartGrid(t *testing.T) {
	rows := metersOf(t, "-readings", realData(t, "meters_sgsc/readings.csv.gz"), "-columns", "meter,t_local,kwh",
		"-part", "totals", "-universe", "0,6,0.001", "-epsilon", "0.5", "-repeat", "10")
	if len(rows) != 4 {
		t.Fatalf("%d rows", len(rows))
	}
	for k, groups := range []string{"19480", "656", "365", "12"} {
		r := rows[k]
		if total := measure(t, r, "groups") * measure(t, r, "mean_sum"); r["groups"] != groups || math.Abs(total-194_339.346) > 0.1 {
			t.Errorf("%v: %v kWh", r, total)
		}
	}
	// At least 95 % are expected within the radius. Of 194,800, by Hoeffding, 1 % fewer
	// are with probability below 1e-16.
	if measure(t, rows[0], "within95") < 0.94 || rows[0]["radius95"] != "5.991" {
		t.Errorf("%v", rows[0])
	}
}
