package lbs

import (
	"math"
	"testing"

	"github.com/geosql/geosql/study/chart/charttest"
)

// There is a line for each level, and none for one about which nothing is known.
func TestFigure(t *testing.T) {
	var rows []Row
	for _, level := range []float64{math.Ln2, 0.9, math.Log(6)} {
		for _, c := range []float64{0.9, 0.99} {
			for _, name := range []string{Continuous, Lattice} {
				r := Row{Level: level, Confidence: c, Radius: name, AreaRatio: 12, Overhead: 10}
				if level == math.Log(6) {
					r.Overhead = math.NaN()
				}
				rows = append(rows, r)
			}
		}
	}
	for n, levels := range map[int]int{len(rows): 2, 2: 0} { // lines of the level 0.9
		figure, err := Figure(rows[:n])
		if err != nil {
			t.Fatal(err)
		}
		texts := charttest.Texts(t, figure)
		charttest.Hold(t, texts, 1, "Overhead", "Area of retrieval")
		charttest.Hold(t, texts, 2, "confidence", "ln 2")
		charttest.Hold(t, texts, levels, "l = 0.9")
		charttest.Hold(t, texts, 0, "ln 6")
	}
}
