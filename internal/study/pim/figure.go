package pim

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/geosql/geosql/internal/study/chart"
	"github.com/geosql/geosql/internal/study/stats"
	"github.com/geosql/geosql/mechanism/pim"
)

// newCurve returns the curve of a mechanism, without points.
func newCurve(mechanism string) chart.Curve {
	style := map[string]chart.Style{pim.PIM: chart.Blue, pim.Laplace: chart.Black, pim.LaplaceTight: chart.Yellow}[mechanism]
	return chart.Curve{Name: mechanism, Style: style}
}

// A quantity is one that figures 6 to 9 of the paper show.
type quantity struct {
	title  string
	axis   chart.Axis
	scale  float64 // factor of a value, for the unit of the axis
	of     func(Summary) float64
	binary bool // 0 or 1 for a step, so that quartiles say nothing
}

var quantities = []quantity{
	{"Size of the location set", chart.Axis{Name: "size", Unit: "cells"}, 1, func(s Summary) float64 { return s.SetSize }, false},
	{"Drift ratio", chart.Axis{Name: "drift", Unit: chart.Percent}, 100, func(s Summary) float64 { return s.DriftRatio }, true},
	{"Distance", chart.Axis{Name: "distance", Unit: "km"}, 0.001, func(s Summary) float64 { return s.Distance }, false},
}

// at returns the quantity and its quartiles over the runs, in the unit of the axis.
func (q quantity) at(s Summary) (float64, stats.Quartiles) {
	return q.scale * q.of(s), stats.QuartilesOf(s.Runs, q.of).Times(q.scale)
}

// OverTime draws, as SVG, the right half of the paper's figure 6.
func OverTime(e Example) (io.WriterTo, error) {
	var line []chart.Panel
	for _, q := range quantities {
		p := chart.Panel{Title: q.title, X: chart.Axis{Name: "time", Unit: "steps"}, Y: q.axis, Spread: spread}
		for _, s := range slices.Backward(e.Series) { // the first mechanism lies on top
			c := newCurve(s.Mechanism)
			c.Plain = true
			for k, step := range s.Steps {
				y, around := q.at(step)
				if q.binary {
					around = stats.NewQuartiles(nil)
				}
				c.Add(float64(k+1), y, around)
			}
			p.Curves = append(p.Curves, c)
		}
		line = append(line, p)
	}
	return chart.Page([][]chart.Panel{line})
}

// Map draws, as SVG, the left half of the paper's figure 6: a trajectory and its reports.
func Map(e Example) (io.WriterTo, error) {
	m := chart.NewMap("A trajectory and its reports", e.Truth[0])
	for _, name := range []string{pim.Laplace, pim.PIM} {
		at := slices.IndexFunc(e.Series, func(s Series) bool { return s.Mechanism == name })
		if err := m.Discs(name, e.Series[at].Reports, newCurve(name).Style, 1.5); err != nil {
			return nil, err
		}
	}
	if err := m.Line("original", e.Truth, chart.Red); err != nil {
		return nil, err
	}
	return m.Draw(), nil
}

// Parameters draws, as SVG, figures 7 to 9 of the paper: each quantity against epsilon, at
// the first delta, and against delta, at the first epsilon. A parameter with one value only is left out, unless both
// have one.
func Parameters(rows []Row) (io.WriterTo, error) {
	first := rows[0]
	var page [][]chart.Panel
	for _, q := range quantities {
		value := func(r Row) (float64, stats.Quartiles) { return q.at(r.Summary) }
		byEpsilon := panelOf(rows, func(r Row) (float64, bool) { return r.Epsilon, r.Delta == first.Delta }, value)
		byEpsilon.Title, byEpsilon.X, byEpsilon.Y = fmt.Sprintf("%s, at delta %v", q.title, first.Delta), chart.Axis{Name: "epsilon", Unit: "1/step"}, q.axis
		byDelta := panelOf(rows, func(r Row) (float64, bool) { return r.Delta, r.Epsilon == first.Epsilon }, value)
		byDelta.Title, byDelta.X, byDelta.Y = fmt.Sprintf("%s, at epsilon %v", q.title, first.Epsilon), chart.Axis{Name: "delta", Unit: "share of the prior"}, q.axis
		line := []chart.Panel{byEpsilon, byDelta}
		if varied := slices.DeleteFunc(slices.Clone(line), func(p chart.Panel) bool { return len(p.Names) == 1 }); len(varied) > 0 {
			line = varied
		}
		chart.SameScale(line)
		page = append(page, line)
	}
	return chart.Page(page)
}

// panelOf returns a panel of the selected rows, with one curve for each mechanism. The
// function setting returns a row's setting, and whether the row is selected. Settings are
// evenly spaced, in ascending order.
func panelOf(rows []Row, setting func(Row) (float64, bool), value func(Row) (float64, stats.Quartiles)) (p chart.Panel) {
	var settings []float64
	for _, r := range rows {
		if x, selected := setting(r); selected && !slices.Contains(settings, x) {
			settings = append(settings, x)
		}
	}
	slices.Sort(settings)
	p.Spread = spread
	for _, name := range mechanisms {
		p.Curves = append(p.Curves, newCurve(name))
	}
	for n, x := range settings {
		p.Names = append(p.Names, strconv.FormatFloat(x, 'g', -1, 64))
		for _, r := range rows {
			if y, selected := setting(r); selected && y == x {
				c := &p.Curves[slices.Index(mechanisms, r.Mechanism)]
				y, around := value(r)
				c.Add(float64(n), y, around)
			}
		}
	}
	return p
}

// spread names the intervals of the curves.
const spread = "quartiles of the runs"

// Nearest draws, as SVG, figure 10 of the paper at the first epsilon and delta: first
// precision, which equals recall, for queries that return as many places as are wanted; then
// both against the number returned, for the number wanted that most queries have.
func Nearest(queries []KNN, rows []Row) (io.WriterTo, error) {
	k := mostWanted(queries)
	precision := func(s Summary) []float64 { return s.Precision }
	recall := func(s Summary) []float64 { return s.Recall }
	same := knnPanel(queries, rows, func(q KNN) bool { return q.K == q.Returned }, precision)
	same.Title, same.X, same.Y.Name = "Precision and recall", chart.Axis{Name: "wanted and returned", Unit: "places"}, "precision and recall"
	var line []chart.Panel
	if same.Names != nil {
		line = append(line, same)
	}
	for _, c := range []struct {
		title string
		of    func(Summary) []float64 // by query
	}{{"Precision", precision}, {"Recall", recall}} {
		p := knnPanel(queries, rows, func(q KNN) bool { return q.K == k }, c.of)
		p.Title, p.X, p.Y.Name = fmt.Sprintf("%s, %d wanted", c.title, k), chart.Axis{Name: "returned", Unit: "places"}, strings.ToLower(c.title)
		line = append(line, p)
	}
	chart.SameScale(line)
	return chart.Page([][]chart.Panel{line})
}

// mostWanted returns the most frequent K of the queries, the first of several.
func mostWanted(queries []KNN) (k int) {
	times := map[int]int{}
	for _, q := range queries {
		times[q.K]++
	}
	for _, q := range queries {
		if times[q.K] > times[k] {
			k = q.K
		}
	}
	return k
}

// knnPanel returns a panel of the selected queries, in the order of the number
// returned.
func knnPanel(queries []KNN, rows []Row, selected func(KNN) bool, of func(Summary) []float64) chart.Panel {
	var order []int
	p := chart.Panel{Y: chart.Axis{Unit: chart.Percent}, Spread: spread}
	for n, q := range queries {
		if selected(q) {
			order = append(order, n)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return queries[a].Returned - queries[b].Returned })
	for _, n := range order {
		p.Names = append(p.Names, strconv.Itoa(queries[n].Returned))
	}
	for _, r := range rows[:len(mechanisms)] {
		c := newCurve(r.Mechanism)
		for x, n := range order {
			share, around := quantity{scale: 100, of: func(s Summary) float64 { return of(s)[n] }}.at(r.Summary)
			c.Add(float64(x), share, around)
		}
		p.Curves = append(p.Curves, c)
	}
	return p
}
