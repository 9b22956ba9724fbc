package pim

import (
	"slices"
	"testing"

	"gonum.org/v1/plot/plotter"

	"github.com/geosql/geosql/study/chart/charttest"
)

func TestFigures(t *testing.T) {
	settings := brief()
	settings.Epsilons, settings.Deltas = []float64{1, 0.5, 2.5}, []float64{0.01, 0, 0.003}
	study := newStudy(t, settings, corners())
	tracks := walks(2, 200)
	rows := rowsOf(t, study, tracks)

	parameters, err := Parameters(rows)
	if err != nil {
		t.Fatal(err)
	}
	texts := charttest.Texts(t, parameters)
	charttest.Hold(t, texts, 3, "epsilon, at delta 0.01", "delta, at epsilon 1", "2.5", "0.003")
	charttest.Hold(t, texts, 2, "Size of the location set", "Drift ratio", "Distance", "metres", "cells")
	charttest.Hold(t, texts, 6, "pim", "laplace", "laplace_tight")

	nearest, err := Nearest(settings.KNN, rows)
	if err != nil {
		t.Fatal(err)
	}
	charttest.Hold(t, charttest.Texts(t, nearest), 1,
		"Precision and recall", "places wanted and returned", "Precision, 2 wanted", "Recall, 2 wanted")

	e, err := study.Example(t.Context(), tracks)
	if err != nil {
		t.Fatal(err)
	}
	overTime, err := OverTime(e)
	if err != nil {
		t.Fatal(err)
	}
	texts = charttest.Texts(t, overTime)
	charttest.Hold(t, texts, 1, "Size of the location set", "Drift ratio", "Distance")
	charttest.Hold(t, texts, 3, "step", "pim", "laplace", "laplace_tight")

	drawn, err := Map(e)
	if err != nil {
		t.Fatal(err)
	}
	charttest.Hold(t, charttest.Texts(t, drawn), 1, "original", "pim", "laplace", "km to the east")
}

// Settings stand in ascending order, in whatever order they were measured.
func TestPanelOrder(t *testing.T) {
	rows := []Row{
		{"pim", 1, 0.1, Summary{}}, {"laplace", 1, 0.1, Summary{}}, {"pim", 0.5, 0.1, Summary{}}, {"pim", 2, 0.1, Summary{}}, {"pim", 1, 0, Summary{}},
	}
	p := panelOf(rows, func(r Row) (float64, bool) { return r.Epsilon, r.Delta == 0.1 }, func(r Row) float64 { return 10 * r.Epsilon })
	if !slices.Equal(p.Names, []string{"0.5", "1", "2"}) ||
		!slices.Equal(p.Curves[0].Points, plotter.XYs{{X: 0, Y: 5}, {X: 1, Y: 10}, {X: 2, Y: 20}}) ||
		!slices.Equal(p.Curves[1].Points, plotter.XYs{{X: 1, Y: 10}}) {
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
