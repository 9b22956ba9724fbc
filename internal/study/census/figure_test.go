package census

import (
	"slices"
	"testing"

	"github.com/geosql/geosql/internal/study/chart/charttest"
)

// There is a panel for each radius, and in it a bar for the original and for each level.
func TestFigure(t *testing.T) {
	for _, c := range []struct {
		settings []Setting
		texts    map[string]int
	}{
		{Published, map[string]int{"r = 1.22 miles": 1, "r = 3.86 miles": 1, "original": 2, "ln 2": 1, "l = 8.6": 1, "10-25": 2, "jobs (%)": 2}},
		{Each([]float64{2, 2}, []float64{3}), map[string]int{"r = 3 miles": 1, "original": 1, "l = 2": 1}},
	} {
		figure, err := Figure(rowsOf(t, newStudy(t, newDomain(t, 1), c.settings, Commute{downtown, downtown.north(20), 10})))
		if err != nil {
			t.Fatal(err)
		}
		charttest.Check(t, figure)
		texts := charttest.Texts(t, figure)
		for text, n := range c.texts {
			charttest.Hold(t, texts, n, text)
		}
	}
}

// Bars are as high as the shares.
func TestPanel(t *testing.T) {
	var rows []Row
	for _, level := range []float64{2, 4} {
		for k, jobs := range []int64{10, 20, 30, 40} {
			rows = append(rows, Row{Setting: Setting{level, 1}, Bucket: Buckets[k], Original: jobs, Released: 2 * jobs})
		}
	}
	rows[0].Released, rows[1].Released = 0, 60
	p := panel(rows)
	want := [][]float64{{10, 20, 30, 40}, {0, 30, 30, 40}, {10, 20, 30, 40}}
	if len(p.Bars) != len(want) {
		t.Fatalf("%d series", len(p.Bars))
	}
	for k, b := range p.Bars {
		if !slices.Equal(b.Heights, want[k]) {
			t.Errorf("series %d: %v", k, b.Heights)
		}
	}
}
