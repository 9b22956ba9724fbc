package lbs

import (
	"math"
	"testing"

	"github.com/geosql/geosql/internal/study/chart/charttest"
	"github.com/geosql/geosql/internal/study/stats"
)

// There is a line for each level, and none for one about which nothing is known.
func TestFigure(t *testing.T) {
	var rows []Row
	for _, level := range []float64{math.Ln2, 0.9, math.Log(6)} {
		for _, c := range []float64{0.9, 0.99} {
			for _, name := range []string{Continuous, Lattice} {
				r := Row{Level: level, Confidence: c, Radius: name, AreaRatio: 12, Overhead: 10, UserOverheads: stats.Quartiles{Low: 8, High: 11}}
				if level == math.Log(6) {
					r.Overhead = math.NaN()
				}
				rows = append(rows, r)
			}
		}
	}
	for n, levels := range map[int]int{len(rows): 1, 2: 0} { // lines of the level 0.9
		figure, err := Figure(rows[:n])
		if err != nil {
			t.Fatal(err)
		}
		charttest.Check(t, figure)
		texts := charttest.Texts(t, figure)
		charttest.Hold(t, texts, 1, "Overhead", "Area of retrieval", "ln 2", "quartiles of the users")
		charttest.Hold(t, texts, 2, "confidence (%)")
		charttest.Hold(t, texts, levels, "l = 0.9")
		charttest.Hold(t, texts, 0, "ln 6")
	}
}
