package main

import (
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/cli/clitest"
)

func TestStudyHeatmap(t *testing.T) {
	file := clitest.WriteFile(t, "lat,lon\n"+strings.Repeat("45.1,5.2\n", 30)+"50,5\n")
	rows := csvRows(t, clitest.Query(t, "heatmap", "-points", file, "-domain", "45,5,45.3,5.4", "-epsilon", "100000", "-cells", "1000", "-sides", "20000", "-draws", "2", "-questions", "3"))
	for i, kind := range []string{"flat", "adaptive"} {
		if r := rows[i]; r["map"] != kind || measure(t, r, "mean_error") > 0.01 || len(rows) != 2 {
			t.Errorf("%v", rows)
		}
	}
	for _, c := range []struct {
		args   []string
		status int
		text   string
	}{
		{nil, 2, "no file of locations"},
		{[]string{"-points", file}, 2, "-domain is SOUTH,WEST,NORTH,EAST"},
		{[]string{"-points", file, "-domain", "1,2,3,4", "-columns", "lat"}, 2, "-columns names lat,lon"},
		{[]string{"-points", file, "-domain", "5,2,3,4"}, 2, "-domain: "},
		{[]string{"-points", file, "-domain", "1,2,3,4", "-cells", "1e9"}, 2, "cell_m 1000000000 exceeds the box"},
		{[]string{"-points", file, "-domain", "1,2,3,4", "-draws", "0"}, 2, "draws and questions must be at least 1"},
		{[]string{"-points", file, "-domain", "1,2,3,4"}, 1, "has no locations in the domain"},
		{[]string{"-points", file, "-domain", "1,2,3,4", "-columns", "lat,x"}, 1, "has no column x"},
	} {
		clitest.WantError(t, clitest.Run(t, "", append([]string{"heatmap"}, c.args...)...), c.status, c.text)
	}
}

// Check-ins of New York are as near to the truth as docs/accuracy.md says, to within a quarter, and a half in large squares, where draws vary most.
func TestStudyHeatmapOfCheckIns(t *testing.T) {
	points := realData(t, "gowalla/checkins_nyc.csv.gz")
	for _, c := range []struct {
		whole string
		most  [3]float64
	}{{"-whole=false", [3]float64{38, 90, 230}}, {"-whole", [3]float64{30, 75, 230}}} {
		rows := csvRows(t, clitest.Query(t, "heatmap", "-points", points, "-domain", "40.484,-74.259,40.918,-73.701",
			"-epsilon", "1", "-cells", "191", "-questions", "100", "-draws", "50", c.whole))
		for i, most := range c.most {
			flat, adaptive := measure(t, rows[i], "mean_error"), measure(t, rows[3+i], "mean_error")
			t.Logf("%s, squares of %s m: flat %v, adaptive %v", c.whole, rows[i]["side"], flat, adaptive)
			if adaptive > most || adaptive > 0.75*flat {
				t.Errorf("%s, squares of %s m: flat %v, adaptive %v", c.whole, rows[i]["side"], flat, adaptive)
			}
		}
	}
}
