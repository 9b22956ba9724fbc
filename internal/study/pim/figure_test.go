package pim

import (
	"slices"
	"testing"

	"gonum.org/v1/plot/plotter"

	"github.com/geosql/geosql/internal/study/chart"
	"github.com/geosql/geosql/internal/study/chart/charttest"
	"github.com/geosql/geosql/internal/study/stats"
)

func TestFigures(t *testing.T) {
	settings := brief()
	settings.Epsilons, settings.Deltas = []float64{1, 0.5, 2.5}, []float64{0.01, 0, 0.003}
	study := newStudy(t, settings, corners())
	study.repeatable() // with other draws an axis may have a tick of 2.5 or 0.003
	tracks := walks(2, 200)
	rows := rowsOf(t, study, tracks)

	parameters, err := Parameters(rows)
	if err != nil {
		t.Fatal(err)
	}
	charttest.Check(t, parameters)
	texts := charttest.Texts(t, parameters)
	charttest.Hold(t, texts, 3, "epsilon (1/step)", "delta (share of the prior)", "2.5", "0.003")
	charttest.Hold(t, texts, 2, "size (cells)", "drift (%)", "distance (km)")
	charttest.Hold(t, texts, 1, "Size of the location set, at delta 0.01", "Drift ratio, at epsilon 1", "pim", "laplace", "laplace_tight", "quartiles of the runs")

	nearest, err := Nearest(settings.KNN, rows)
	if err != nil {
		t.Fatal(err)
	}
	charttest.Check(t, nearest)
	charttest.Hold(t, charttest.Texts(t, nearest), 1,
		"Precision and recall", "wanted and returned (places)", "Precision, 2 wanted", "Recall, 2 wanted", "recall (%)")

	e, err := study.Example(t.Context(), tracks)
	if err != nil {
		t.Fatal(err)
	}
	overTime, err := OverTime(e)
	if err != nil {
		t.Fatal(err)
	}
	charttest.Check(t, overTime)
	texts = charttest.Texts(t, overTime)
	charttest.Hold(t, texts, 1, "Size of the location set", "Drift ratio", "Distance", "pim", "laplace", "laplace_tight")
	charttest.Hold(t, texts, 3, "time (steps)")

	drawn, err := Map(e)
	if err != nil {
		t.Fatal(err)
	}
	charttest.Check(t, drawn)
	charttest.Hold(t, charttest.Texts(t, drawn), 1, "original", "pim", "laplace", "to the east (km)")
}

// Settings stand in ascending order, in whatever order they were measured.
func TestPanelOrder(t *testing.T) {
	rows := []Row{
		{"pim", 1, 0.1, Summary{}}, {"laplace", 1, 0.1, Summary{}}, {"pim", 0.5, 0.1, Summary{}}, {"pim", 2, 0.1, Summary{}}, {"pim", 1, 0, Summary{}},
	}
	p := panelOf(rows, func(r Row) (float64, bool) { return r.Epsilon, r.Delta == 0.1 }, func(r Row) (float64, stats.Quartiles) {
		return 10 * r.Epsilon, stats.Quartiles{Low: 9 * r.Epsilon, High: 11 * r.Epsilon}
	})
	if !slices.Equal(p.Names, []string{"0.5", "1", "2"}) ||
		!slices.Equal(p.Curves[0].Points, plotter.XYs{{X: 0, Y: 5}, {X: 1, Y: 10}, {X: 2, Y: 20}}) ||
		!slices.Equal(p.Curves[1].Points, plotter.XYs{{X: 1, Y: 10}}) || p.Curves[1].Spread[0] != (chart.Interval{X: 1, Low: 9, High: 11}) {
		t.Errorf("%+v", p)
	}
}

// Queries that all return more than is wanted have no plot of equal numbers.
func TestNearestWithoutEqualNumbers(t *testing.T) {
	settings := brief()
	settings.KNN = []KNN{{1, 3}}
	figure, err := Nearest(settings.KNN, rowsOf(t, newStudy(t, settings, corners()), walks(1, 200)))
	if err != nil {
		t.Fatal(err)
	}
	texts := charttest.Texts(t, figure)
	charttest.Hold(t, texts, 1, "Precision, 1 wanted", "Recall, 1 wanted")
	charttest.Hold(t, texts, 0, "Precision and recall")
}

func TestMostWanted(t *testing.T) {
	if k := mostWanted([]KNN{{1, 1}, {5, 5}, {2, 2}, {2, 3}, {5, 6}}); k != 5 {
		t.Errorf("%d", k)
	}
}

// A setting with one value has no plot.
func TestParametersOfOneDelta(t *testing.T) {
	rows := []Row{{"pim", 1, 0.1, Summary{SetSize: 3}}, {"pim", 2, 0.1, Summary{SetSize: 2}}}
	for n, texts := range map[int]map[string]int{
		2: {"epsilon (1/step)": 3, "delta (share of the prior)": 0},
		1: {"epsilon (1/step)": 3, "delta (share of the prior)": 3},
	} {
		figure, err := Parameters(rows[:n])
		if err != nil {
			t.Fatal(err)
		}
		for text, times := range texts {
			charttest.Hold(t, charttest.Texts(t, figure), times, text)
		}
	}
}
