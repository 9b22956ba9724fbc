package census

import (
	"testing"

	"github.com/geosql/geosql/study/chart/charttest"
)

// There is a panel for each radius, and in it a bar for the original and for each level.
func TestFigure(t *testing.T) {
	for _, c := range []struct {
		settings []Setting
		texts    map[string]int
	}{
		{Published, map[string]int{"r = 1.22 miles": 1, "r = 3.86 miles": 1, "original": 2, "ln 2": 1, "l = 8.6": 1, "10-25": 2, "% of jobs": 2}},
		{Each([]float64{2, 2}, []float64{3}), map[string]int{"r = 3 miles": 1, "original": 1, "l = 2": 1}},
	} {
		figure, err := Figure(rowsOf(t, newStudy(t, newDomain(t, 1), c.settings, Commute{downtown, downtown.north(20), 10})))
		if err != nil {
			t.Fatal(err)
		}
		texts := charttest.Texts(t, figure)
		for text, n := range c.texts {
			charttest.Hold(t, texts, n, text)
		}
	}
}

// Bars are as high as the shares, side by side, and do not touch.
func TestPanel(t *testing.T) {
	var rows []Row
	for _, level := range []float64{2, 4} {
		for k, jobs := range []int64{10, 20, 30, 40} {
			rows = append(rows, Row{Setting{level, 1}, Buckets[k], jobs, 2 * jobs, 0})
		}
	}
	rows[0].Released, rows[1].Released = 0, 60
	p := panel(rows)
	want := [][]float64{{10, 20, 30, 40}, {0, 30, 30, 40}, {10, 20, 30, 40}}
	if len(p.Curves) != len(want) {
		t.Fatalf("%d curves", len(p.Curves))
	}
	for k := range Buckets {
		right := float64(k) - 0.5
		for c, curve := range p.Curves {
			bar := curve.Points[4*k : 4*k+4]
			if bar[0].Y != 0 || bar[1].Y != want[c][k] || bar[2].Y != want[c][k] || bar[3].Y != 0 || bar[0].X != bar[1].X || bar[2].X != bar[3].X {
				t.Errorf("bucket %d, curve %d: %v", k, c, bar)
			}
			if bar[0].X <= right || bar[3].X <= bar[0].X || bar[3].X >= float64(k)+0.5 {
				t.Errorf("bucket %d, curve %d: %v after %v", k, c, bar, right)
			}
			right = bar[3].X
		}
	}
}
