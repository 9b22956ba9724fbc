package cip

import (
	"testing"

	"github.com/geosql/geosql/internal/study/chart/charttest"
	"github.com/geosql/geosql/mechanism/cip"
)

func TestFigure(t *testing.T) {
	s := published()
	s.Families, s.Sigma2 = []string{"every-other", "windows:2"}, []float64{2, 1, .5}
	figure, err := Figure(rowsOf(t, s))
	if err != nil {
		t.Fatal(err)
	}
	charttest.Check(t, figure)
	texts := charttest.Texts(t, figure)
	charttest.Hold(t, texts, 1, "every-other", "windows:2", "l = 0.5", "l = 1", "l = 2", "independent")
	charttest.Hold(t, texts, 2, "variance of the noise (squared units)", "loss (nats)")
}

// One variance is a figure too.
func TestFigureOfOneVariance(t *testing.T) {
	figure, err := Figure([]Row{{LengthScale: 3, Family: "singles", Sigma2: 7, Loss: cip.Loss{Loss: 2, Independent: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	charttest.Check(t, figure)
	charttest.Hold(t, charttest.Texts(t, figure), 1, "singles", "l = 3")
}

// Points of the independent curve are not repeated, and those of the largest worst set.
func TestIndependentCurve(t *testing.T) {
	s := published()
	s.Families, s.Sigma2 = []string{"windows:10"}, []float64{4, 1}
	rows := rowsOf(t, s)
	panels := panelsOf(rows)
	points := panels[0].Curves[3].Points
	if len(panels) != 1 || len(points) != 2 || points[0].X != 1 || points[1].X != 4 {
		t.Fatalf("%+v", panels)
	}
	for _, r := range rows {
		for _, xy := range points {
			if xy.X == r.Sigma2 && xy.Y < r.Loss.Independent {
				t.Errorf("%v, but %+v", xy, r)
			}
		}
	}
}
