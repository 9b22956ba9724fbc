package predictive

import (
	"fmt"
	"image/color"
	"io"
	"math"

	"gonum.org/v1/plot/plotter"

	"github.com/geosql/geosql/study/chart"
)

// A curve is a measure as a function of the jump.
type curve struct {
	name   string
	colour color.Color
	dashed bool // a baseline
	value  func(Row) float64
}

// A panel is a plot of curves of the same scale.
type panel struct {
	title, axis string
	curves      []curve
}

var panels = []panel{
	{"Statistics", "per cent", []curve{
		{"tests passed", chart.Blue, false, func(r Row) float64 { return 100 * r.Predictive.PredictionRate }},
		{"budget spent on tests", chart.Red, false, func(r Row) float64 { return 100 * r.Predictive.TestShare }},
		{"points skipped", chart.Green, false, func(r Row) float64 { return 100 * r.Predictive.Skipped }},
	}},
	{"Error", "metres", []curve{
		{"predictive, 90 % below", chart.Sky, false, func(r Row) float64 { return r.Predictive.P90Error }},
		{"predictive, average", chart.Blue, false, func(r Row) float64 { return r.Predictive.AverageError }},
		{"independent, 90 % below", chart.Grey, true, func(r Row) float64 { return r.Independent.P90Error }},
		{"independent, average", color.Black, true, func(r Row) float64 { return r.Independent.AverageError }},
	}},
	{"Budget rate", "per cent of epsilon per point", []curve{
		{"predictive", chart.Blue, false, func(r Row) float64 { return 100 * r.Predictive.Rate }},
		{"independent", color.Black, true, func(r Row) float64 { return 100 * r.Independent.Rate }},
	}},
}

// Figure draws, as SVG, figures 4 and 5 of the paper: statistics, error and budget rate
// against the probability of jumping. The rows are those of one manager and predictor; each
// skip speed has a line of plots of its own.
func Figure(rows []Row) (io.WriterTo, error) {
	var lines [][]Row
	for _, r := range rows {
		if n := len(lines); n == 0 || lines[n-1][0].SkipSpeed != r.SkipSpeed {
			lines = append(lines, nil)
		}
		lines[len(lines)-1] = append(lines[len(lines)-1], r)
	}
	page := make([][]chart.Panel, len(lines))
	for k, line := range lines {
		for _, p := range panels {
			page[k] = append(page[k], chart.Panel{
				Title: fmt.Sprintf("%s: %s", p.title, conditions(line[0])),
				X:     "probability of jumping", Y: p.axis,
				Right: 1, Top: chart.Top(p.of(rows)), Curves: p.of(line),
			})
		}
	}
	return chart.Page(page)
}

// conditions returns the title of a line of plots: its manager and skip speed.
func conditions(r Row) string {
	if r.SkipSpeed == 0 {
		return r.Manager + ", no skip"
	}
	return fmt.Sprintf("%s, skip at %.4g km/h", r.Manager, r.SkipSpeed*3.6)
}

// of returns the curves of a panel through rows.
func (p panel) of(rows []Row) (curves []chart.Curve) {
	for _, c := range p.curves {
		curves = append(curves, chart.Curve{Name: c.name, Colour: c.colour, Dashed: c.dashed, Points: c.points(rows)})
	}
	return curves
}

// points returns a curve's points, without those that have no measurement.
func (c curve) points(rows []Row) (points plotter.XYs) {
	for _, r := range rows {
		if y := c.value(r); !math.IsNaN(y) {
			points = append(points, plotter.XY{X: r.Jump, Y: y})
		}
	}
	return points
}
