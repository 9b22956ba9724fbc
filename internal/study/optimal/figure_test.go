package optimal

import (
	"io"
	"slices"
	"testing"

	"gonum.org/v1/plot/plotter"

	"github.com/geosql/geosql/internal/study/chart"
	"github.com/geosql/geosql/internal/study/chart/charttest"
	"github.com/geosql/geosql/internal/study/studytest"
)

func TestFigures(t *testing.T) {
	s := newStudy(t, square(4, ramp), ln2, 1e-3, 1.5, 1, 1.1)
	rows := append(rowsOf(t, s), studytest.Rows(t, s.Sweep)...)
	figure, err := OverDilation("km", rows)
	if err != nil {
		t.Fatal(err)
	}
	charttest.Check(t, figure)
	texts := charttest.Texts(t, figure)
	charttest.Hold(t, texts, 1, "Quality loss", "Constraints", "loss (km)", "constraints (thousands)", Optimal)
	charttest.Hold(t, texts, 2, "dilation (ratio of distances)")

	if figure, err = OverEpsilon("km", rows); err != nil {
		t.Fatal(err)
	}
	charttest.Check(t, figure)
	charttest.Hold(t, charttest.Texts(t, figure), 1, "epsilon (1/km)", "0.693", "2.77", Optimal, PlanarGeometric, Exponential)

	if figure, err = s.Spanner(1.1, 1000); err != nil {
		t.Fatal(err)
	}
	charttest.Check(t, figure)
	charttest.Hold(t, charttest.Texts(t, figure), 1, "42 edges", "places", "16 places and a spanner of dilation 1.1")
}

// The line of a mechanism joins the medians over users.
func TestCurve(t *testing.T) {
	c := curve(Optimal, plotter.XYs{{X: 2, Y: 5}, {X: 1, Y: 3}, {X: 1, Y: 1}, {X: 1, Y: 2}})
	if want := (plotter.XYs{{X: 1, Y: 2}, {X: 2, Y: 5}}); !slices.Equal(c.Points, want) || len(c.Cloud) != 4 {
		t.Errorf("%+v", c)
	}
	if want := []chart.Interval{{X: 1, Low: 1, High: 3}}; !slices.Equal(c.Spread, want) { // one user does not spread
		t.Errorf("%+v", c.Spread)
	}
}

// There is a disc for each user, and a larger one for the median of the optimal mechanism.
func TestFiguresOfUsers(t *testing.T) {
	var rows []Row
	for _, weight := range []func(int) float64{uniform, ramp, func(k int) float64 { return float64(k%3 + 1) }} {
		s := newStudy(t, square(3, weight), ln2, 1e-3, 1, 1.5)
		rows = append(append(rows, rowsOf(t, s)...), studytest.Rows(t, s.Sweep)...)
	}
	for _, c := range []struct {
		name    string
		draw    func(unit string, rows []Row) (io.WriterTo, error)
		users   int
		medians int // and one in the legend
	}{
		{"epsilon", OverEpsilon, 3 * 5 * 3, 5 + 1},
		{"dilation", OverDilation, 2 * 2 * 3, 2*2 + 1},
	} {
		for radius, want := range map[float64]int{1: c.users, 1.75: c.medians} {
			figure, err := c.draw("km", rows)
			if err != nil {
				t.Fatal(err)
			}
			charttest.Check(t, figure)
			if got := charttest.Discs(t, figure, radius); got != want {
				t.Errorf("%s has %d discs of radius %v, not %d", c.name, got, radius, want)
			}
		}
	}
}
