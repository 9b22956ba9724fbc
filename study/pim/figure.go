package pim

import (
	"fmt"
	"image/color"
	"io"
	"slices"
	"strconv"

	"gonum.org/v1/plot/plotter"

	"github.com/geosql/geosql/mechanism/pim"
	"github.com/geosql/geosql/study/chart"
)

// newCurve returns the curve of a mechanism, without points.
func newCurve(mechanism string) chart.Curve {
	colour := map[string]color.Color{pim.PIM: chart.Blue, pim.Laplace: color.Black, pim.LaplaceTight: chart.Grey}[mechanism]
	return chart.Curve{Name: mechanism, Colour: colour, Dashed: mechanism != pim.PIM}
}

// A quantity is one that figures 6 to 9 of the paper show.
type quantity struct {
	title, axis string
	of          func(Summary) float64
	series      func(Series) []float64
}

var quantities = []quantity{
	{"Size of the location set", "cells",
		func(s Summary) float64 { return s.SetSize }, func(s Series) []float64 { return s.SetSize }},
	{"Drift ratio", "share of the steps",
		func(s Summary) float64 { return s.DriftRatio }, func(s Series) []float64 { return s.DriftRatio }},
	{"Distance", "metres",
		func(s Summary) float64 { return s.Distance }, func(s Series) []float64 { return s.Distance }},
}

// OverTime draws, as SVG, the right half of the paper's figure 6.
func OverTime(e Example) (io.WriterTo, error) {
	var line []chart.Panel
	for _, q := range quantities {
		p := chart.Panel{Title: q.title, X: "step", Y: q.axis, Right: float64(len(e.Truth))}
		for _, s := range slices.Backward(e.Series) { // the first mechanism lies on top
			c := newCurve(s.Mechanism)
			c.Plain, c.Dashed = true, false
			for k, y := range q.series(s) {
				c.Points = append(c.Points, plotter.XY{X: float64(k + 1), Y: y})
			}
			p.Curves = append(p.Curves, c)
		}
		line = append(line, p)
	}
	return chart.Page([][]chart.Panel{line})
}

// Map draws, as SVG, the left half of the paper's figure 6: a trajectory and its reports.
func Map(e Example) (io.WriterTo, error) {
	m := chart.NewMap("A trajectory and what was reported", e.Truth[0])
	for _, name := range []string{pim.Laplace, pim.PIM} {
		at := slices.IndexFunc(e.Series, func(s Series) bool { return s.Mechanism == name })
		if err := m.Discs(name, e.Series[at].Reports, newCurve(name).Colour, 1.5); err != nil {
			return nil, err
		}
	}
	if err := m.Line("original", e.Truth, chart.Red); err != nil {
		return nil, err
	}
	return m.Draw(), nil
}

// Parameters draws, as SVG, figures 7 to 9 of the paper: each quantity against epsilon, at
// the first delta, and against delta, at the first epsilon.
func Parameters(rows []Row) (io.WriterTo, error) {
	first := rows[0]
	var page [][]chart.Panel
	for _, q := range quantities {
		value := func(r Row) float64 { return q.of(r.Summary) }
		byEpsilon := panelOf(rows, func(r Row) (float64, bool) { return r.Epsilon, r.Delta == first.Delta }, value)
		byEpsilon.Title, byEpsilon.X, byEpsilon.Y = q.title, fmt.Sprintf("epsilon, at delta %v", first.Delta), q.axis
		byDelta := panelOf(rows, func(r Row) (float64, bool) { return r.Delta, r.Epsilon == first.Epsilon }, value)
		byDelta.Title, byDelta.X, byDelta.Y = q.title, fmt.Sprintf("delta, at epsilon %v", first.Epsilon), q.axis
		page = append(page, []chart.Panel{byEpsilon, byDelta})
	}
	return chart.Page(page)
}

// panelOf returns a panel of the selected rows, with one curve for each mechanism. The
// function setting returns a row's setting, and whether the row is selected. Settings are
// evenly spaced, in ascending order.
func panelOf(rows []Row, setting func(Row) (float64, bool), value func(Row) float64) (p chart.Panel) {
	var settings []float64
	for _, r := range rows {
		if x, selected := setting(r); selected && !slices.Contains(settings, x) {
			settings = append(settings, x)
		}
	}
	slices.Sort(settings)
	p.Left, p.Right = -axisMargin, float64(len(settings)-1)+axisMargin
	for _, name := range mechanisms {
		p.Curves = append(p.Curves, newCurve(name))
	}
	for n, x := range settings {
		p.Names = append(p.Names, strconv.FormatFloat(x, 'g', -1, 64))
		for _, r := range rows {
			if y, selected := setting(r); selected && y == x {
				c := &p.Curves[slices.Index(mechanisms, r.Mechanism)]
				c.Points = append(c.Points, plotter.XY{X: float64(n), Y: value(r)})
			}
		}
	}
	return p
}

// axisMargin is how far a horizontal axis extends beyond its first and last places.
const axisMargin = 0.2
