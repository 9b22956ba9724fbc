package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/cli/clitest"
)

// accuracyOf runs the study of accuracy.
func accuracyOf(t *testing.T, args ...string) []map[string]string {
	t.Helper()
	return csvRows(t, clitest.Query(t, append([]string{"accuracy"}, args...)...))
}

func TestStudyAccuracy(t *testing.T) {
	file := clitest.WriteFile(t, "day;kwh\n1;1.5\n2;\n3; 0.5\n4;99\n")
	var got []string
	for _, r := range accuracyOf(t, "-readings", file, "-column", "kwh", "-universe", "0,4,0.5", "-metric", "d1", "-epsilon", "1000000", "-draws", "2") {
		if measure(t, r, "median_error") > 1e-5 || measure(t, r, "p95_error") > 1e-5 {
			t.Errorf("%v", r)
		}
		got = append(got, r["question"]+" "+r["mechanism"]+" "+r["truth"])
	}
	want := `sum geosql 6
avg geosql 2
avg thesis 2
min geosql 0.5
min thesis 0.5
median geosql 1.5
median thesis 1.5
percentile 95 geosql 4
percentile 95 thesis 4
percentile 99 geosql 4
percentile 99 thesis 4
max geosql 4
max thesis 4
variance geosql 2.166666667
stddev geosql 1.471960144`
	if strings.Join(got, "\n") != want {
		t.Errorf("rows\n%s", strings.Join(got, "\n"))
	}
}

func TestStudyAccuracyErrors(t *testing.T) {
	good := clitest.WriteFile(t, "value\n1\n")
	for _, c := range []struct {
		args   []string
		status int
		text   string
	}{
		{nil, 2, "no file of readings"},
		{[]string{"-readings", good}, 2, "-universe is LO,HI,STEP"},
		{[]string{"-readings", good, "-universe", "0,1,0.3"}, 2, "-universe: step 0.3 does not divide"},
		{[]string{"-readings", good, "-universe", "0,1,0.1", "-metric", "d2"}, 2, `metric "d2" is not one of`},
		{[]string{"-readings", good, "-universe", "0,1,0.1", "-metric", "nd1"}, 2, "metric must be d1 or dh, not nd1"},
		{[]string{"-readings", good, "-universe", "0,1,0.1", "-draws", "0"}, 2, "draws must be at least 1"},
		{[]string{"-readings", good, "-universe", "0,1,0.1", "-epsilon", "0"}, 2, "epsilon must be above 0"},
		{[]string{"-readings", good, "-universe", "0,1,0.1", "-column", "kwh"}, 1, "has no column kwh: it has value"},
		{[]string{"-readings", clitest.WriteFile(t, "value\n\n"), "-universe", "0,1,0.1"}, 1, "has no readings"},
		{[]string{"-readings", clitest.WriteFile(t, "value\n1\nmuch\n"), "-universe", "0,1,0.1"}, 1, `line 3: "much" is not a number`},
	} {
		clitest.WantError(t, clitest.Run(t, "", append([]string{"accuracy"}, c.args...)...), c.status, c.text)
	}
}

func TestStudyAccuracyInterrupted(t *testing.T) {
	interruptStudy(t, accuracyTable.head, "accuracy", "-readings", clitest.WriteFile(t, "value\n1\n2\n"), "-universe", "0,200,0.001",
		"-epsilon", "1"+strings.Repeat(",1", 2000), "-draws", "2000")
}

// The days of the homes of the Smart-Grid Smart-City subset in July are answered no worse than
// the best known mechanisms answered those of other homes of that trial. 4,000 draws each; a
// bound is missed by chance with a probability below 1e-9 (Chernoff).
func TestStudyAccuracySmartGrid(t *testing.T) {
	file, db := realData(t, "meters_sgsc/readings.csv.gz"), filepath.Join(t.TempDir(), "x.db")
	geosql(t, "", "import", db, "reading", file)
	geosql(t, "", db, `CREATE TABLE day AS SELECT round(sum(kwh), 3) AS kwh FROM reading
		WHERE t_local LIKE '2013-07-%' GROUP BY meter, substr(t_local, 1, 10)`)
	most := map[string][2]float64{"avg": {0.2, 0.65}, "median": {0.03, 0.16}, "percentile 95": {0.33, 1.35}}
	for _, r := range accuracyOf(t, "-readings", db+"#day", "-column", "kwh", "-universe", "0,200,0.001", "-epsilon", "1", "-draws", "4000") {
		if r["question"] == "count" && r["truth"] != "1623" {
			t.Errorf("%v", r)
		}
		bound, ok := most[r["question"]]
		if !ok || r["mechanism"] != "geosql" {
			continue
		}
		delete(most, r["question"])
		if measure(t, r, "median_error") > bound[0] || measure(t, r, "p95_error") > bound[1] {
			t.Errorf("%v: above %v", r, bound)
		}
	}
	if len(most) > 0 {
		t.Errorf("no row of %v", most)
	}
}
