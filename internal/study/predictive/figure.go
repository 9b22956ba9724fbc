package predictive

import (
	"fmt"
	"io"
	"math"

	"github.com/geosql/geosql/internal/study/chart"
	"github.com/geosql/geosql/internal/study/stats"
	"github.com/geosql/geosql/internal/study/track"
)

// A curve is a measure as a function of the jump.
type curve struct {
	name  string
	style chart.Style
	side  func(Row) Summary
	of    func(Summary) float64
	alone bool // without the quartiles of the traces: it says itself how far values spread
}

func predicted(r Row) Summary   { return r.Predictive }
func independent(r Row) Summary { return r.Independent }

// A panel is a plot of curves of the same scale.
type panel struct {
	axis   chart.Axis
	whole  bool    // 0 to 100 %
	scale  float64 // factor of values, for the unit of the axis
	curves []curve
}

var panels = []panel{
	{chart.Axis{Name: "share", Unit: chart.Percent}, true, 100, []curve{
		{"tests passed", chart.Blue, predicted, func(s Summary) float64 { return s.PredictionRate }, false},
		{"budget spent on tests", chart.Red, predicted, func(s Summary) float64 { return s.TestShare }, false},
		{"points skipped", chart.Green, predicted, func(s Summary) float64 { return s.Skipped }, false},
	}},
	{chart.Axis{Name: "error", Unit: "km"}, false, 0.001, []curve{
		{"predictive, 90 % below", chart.Sky, predicted, func(s Summary) float64 { return s.P90Error }, true},
		{"predictive, average", chart.Blue, predicted, func(s Summary) float64 { return s.AverageError }, false},
		{"independent, 90 % below", chart.Grey, independent, func(s Summary) float64 { return s.P90Error }, true},
		{"independent, average", chart.Black, independent, func(s Summary) float64 { return s.AverageError }, false},
	}},
	{chart.Axis{Name: "spent per point", Unit: "% of epsilon"}, false, 100, []curve{
		{"predictive", chart.Blue, predicted, func(s Summary) float64 { return s.Rate }, false},
		{"independent", chart.Black, independent, func(s Summary) float64 { return s.Rate }, false},
	}},
}

// Figure draws, as SVG, figures 4 and 5 of the paper: statistics, error and budget rate
// against the probability of jumping. The rows are those of one manager and predictor; each
// skip speed has a line of plots of its own.
func Figure(rows []Row) (io.WriterTo, error) {
	lines := stats.Runs(rows, func(r Row) float64 { return r.SkipSpeed })
	page := make([][]chart.Panel, len(lines))
	for _, p := range panels {
		column := make([][]chart.Panel, len(lines)) // with one scale
		for k, line := range lines {
			column[k] = []chart.Panel{{
				Title: conditions(line[0]), X: chart.Axis{Name: "probability of jumping", Unit: chart.Percent}, Y: p.axis,
				Whole: p.whole, Curves: p.of(line), Spread: "quartiles of the traces",
			}}
		}
		chart.SameScale(column...)
		for k := range page {
			page[k] = append(page[k], column[k]...)
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

// of returns the curves of a panel through rows, without points that have no measurement.
func (p panel) of(rows []Row) (curves []chart.Curve) {
	for _, c := range p.curves {
		drawn := chart.Curve{Name: c.name, Style: c.style}
		for _, r := range rows {
			s := c.side(r)
			around := stats.NewQuartiles(nil)
			if !c.alone {
				around = stats.QuartilesOf(s.Traces, c.of)
			}
			if y := c.of(s); !math.IsNaN(y) {
				drawn.Add(100*r.Jump, p.scale*y, around.Times(p.scale))
			}
		}
		curves = append(curves, drawn)
	}
	return curves
}

// Map draws an example as SVG, like figure 6 of the paper: the original track, the query
// points, and the reports, larger where a report occurs more often. A thin line leads from
// each query point to its report.
func Map(e Example) (io.WriterTo, error) {
	m := chart.NewMap("A trace, its query points and the reports", e.Track.Fixes[0])
	if err := m.Line("original", e.Track.Fixes, chart.Red); err != nil {
		return nil, err
	}
	for k, x := range e.Queries {
		if err := m.Line("", []track.Fix{x, e.Reports[k]}, chart.Grey); err != nil {
			return nil, err
		}
	}
	if err := m.Discs("reported", e.Reports, chart.Yellow, 4); err != nil {
		return nil, err
	}
	if err := m.Discs("query point", e.Queries, chart.Sky, 2); err != nil {
		return nil, err
	}
	return m.Draw(), nil
}
