package meters

import (
	"io"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot/plotter"

	"github.com/geosql/geosql/internal/study/chart"
	"github.com/geosql/geosql/internal/study/stats"
)

// Figure draws, as SVG, figure 4.4 of the thesis: a signature and its releases. The argument value is the axis of the
// metered quantity.
func (e Example) Figure(value chart.Axis) (io.WriterTo, error) {
	truth := chart.Curve{Name: "reported", Style: chart.Black, Points: e.points(e.Reports)}
	axis := chart.Axis{Name: "time", Unit: "s"}
	panels := []chart.Panel{{
		Title: "Signature", X: axis, Y: value,
		Curves: []chart.Curve{truth, {Name: "signal", Style: chart.Red, Plain: true, Points: e.signal()}},
	}}
	for k, epsilon := range e.Epsilons {
		released := chart.Curve{Name: "released", Style: chart.Blue, Points: e.points(e.Released[k])}
		panels = append(panels, chart.Panel{
			Title: "Released, epsilon " + short(epsilon), X: axis, Y: value,
			Curves: []chart.Curve{truth, released},
		})
	}
	chart.SameScale(panels)
	const columns = 2
	return chart.Page(slices.Collect(slices.Chunk(panels, columns)))
}

// points returns the reports of a window over their times.
func (e Example) points(reports []float64) (points plotter.XYs) {
	for k, y := range reports {
		points = append(points, plotter.XY{X: e.seconds(e.Start + int64(k)*e.Period), Y: y})
	}
	return points
}

// signal returns the signal over its times. A reading before the window counts at its start.
func (e Example) signal() (points plotter.XYs) {
	for _, r := range e.Signal {
		points = append(points, plotter.XY{X: max(0, e.seconds(r.T)), Y: r.Value})
	}
	return points
}

func (e Example) seconds(t int64) float64 { return float64(t-e.Start) * 1e-6 }

// Recognition draws, as SVG, the shares that are recognised against epsilon. The rows are those
// of Signatures.
func Recognition(rows []SignatureRow) (io.WriterTo, error) {
	p := chart.Panel{
		Title: "Recognised", X: perReading, Y: chart.Axis{Name: "recognised", Unit: chart.Percent}, Whole: true,
		Spread: "quartiles of the repetitions",
		Curves: []chart.Curve{
			{Name: "signature", Style: chart.Blue}, {Name: "device", Style: chart.Green},
			{Name: "device, signature unknown", Style: chart.Grey},
		},
	}
	for k, r := range rows {
		name := "true"
		if r.Epsilon > 0 {
			name = short(r.Epsilon)
		}
		p.Names = append(p.Names, name)
		p.Curves[0].Add(float64(k), 100*r.Window, r.Windows.Times(100))
		p.Curves[1].Add(float64(k), 100*r.Device, r.DeviceShares.Times(100))
		p.Curves[2].Add(float64(k), 100*r.Unseen, r.UnseenShares.Times(100))
	}
	return chart.Page([][]chart.Panel{{p}})
}

// RelativeErrors draws, as SVG, the errors of sums against epsilon, in per cent of the sums,
// with a line of plots for each scope. The rows are those of Totals.
func RelativeErrors(rows []TotalRow) (io.WriterTo, error) {
	var page [][]chart.Panel
	for _, scope := range stats.Runs(rows, func(r TotalRow) string { return r.Scope }) {
		var line []chart.Panel
		for _, span := range stats.Runs(scope, func(r TotalRow) string { return r.Span }) {
			line = append(line, relativeErrors(span))
		}
		page = append(page, line)
	}
	return chart.Page(page)
}

// relativeErrors returns the plot of one scope and span.
func relativeErrors(rows []TotalRow) chart.Panel {
	p := chart.Panel{
		Title: "Error of sums: " + rows[0].Scope + ", " + rows[0].Span, X: perReading,
		Y:      chart.Axis{Name: "error", Unit: "% of the sum"},
		Spread: "quartiles of the releases",
		Curves: []chart.Curve{
			{Name: "median", Style: chart.Blue}, {Name: "95 % below", Style: chart.Sky},
			{Name: "95 % radius, of the mean", Style: chart.Black},
		},
	}
	for k, r := range rows {
		p.Names = append(p.Names, short(r.Epsilon))
		for j, share := range []float64{r.RelativeMedian, r.RelativeP95, r.Errors.Radius / r.MeanSum} {
			around := stats.NewQuartiles(nil)
			if j == 0 {
				around = r.Relative.Times(100)
			}
			if !math.IsNaN(share) && !math.IsInf(share, 0) {
				p.Curves[j].Add(float64(k), 100*share, around)
			}
		}
	}
	return p
}

// Predicted draws, as SVG, the spending of predictions against independent noise of the same mean
// error. The rows are those of Predictions.
func Predicted(rows []PredictionRow) (io.WriterTo, error) {
	p := chart.Panel{
		Title: "Spent, with predictions", X: chart.Axis{Name: "alpha", Unit: "units of the reading"},
		Y: chart.Axis{Name: "spent", Unit: "% of independent noise"}, Spread: "quartiles of the meters",
	}
	for _, of := range stats.Runs(rows, func(r PredictionRow) float64 { return r.Eta }) {
		c := chart.Curve{Name: "eta " + short(of[0].Eta), Style: chart.Numbered(len(p.Curves))}
		p.Names = nil
		for k, r := range of {
			if share := 100 * r.Epsilon / r.SameError; !math.IsNaN(share) && !math.IsInf(share, 0) {
				c.Add(float64(k), share, r.Shares.Times(100))
			}
			p.Names = append(p.Names, short(r.Alpha))
		}
		p.Curves = append(p.Curves, c)
	}
	return chart.Page([][]chart.Panel{{p}})
}

// perReading is the axis of epsilons.
var perReading = chart.Axis{Name: "epsilon", Unit: "per unit of the reading"}

func short(epsilon float64) string { return strconv.FormatFloat(epsilon, 'g', 3, 64) }
