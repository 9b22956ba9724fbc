package optimal

import (
	"testing"

	"github.com/geosql/geosql/study/chart/charttest"
)

func TestFigures(t *testing.T) {
	s := newStudy(t, square(4, ramp), ln2, 1e-3, 1.5, 1, 1.1)
	rows := rowsOf(t, s)
	figure, err := OverDilation("km", rows)
	if err != nil {
		t.Fatal(err)
	}
	texts := charttest.Texts(t, figure)
	charttest.Hold(t, texts, 1, "Quality loss", "Constraints", "km", "thousands")
	charttest.Hold(t, texts, 2, Optimal, "dilation")

	if rows, err = s.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if figure, err = OverEpsilon("km", rows); err != nil {
		t.Fatal(err)
	}
	charttest.Hold(t, charttest.Texts(t, figure), 1, "epsilon per km", "0.693", "2.77", Optimal, PlanarGeometric, Exponential)

	if figure, err = s.Spanner(1.1, 1000); err != nil {
		t.Fatal(err)
	}
	charttest.Hold(t, charttest.Texts(t, figure), 1, "42 edges", "places", "16 places and a spanner of dilation 1.1")
}
