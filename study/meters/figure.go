package meters

import (
	"image/color"
	"io"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot/plotter"

	"github.com/geosql/geosql/study/chart"
)

// Figure draws, as SVG, figure 4.4 of the thesis: a signature and its releases, one below the
// other. The argument value names what is metered.
func (e Example) Figure(value string) (io.WriterTo, error) {
	truth := chart.Curve{Name: "reported", Colour: color.Black, Points: e.points(e.Reports)}
	page := [][]chart.Panel{{{
		Title: "Signature", X: "seconds", Y: value,
		Curves: []chart.Curve{{Name: "signal", Colour: chart.Grey, Plain: true, Points: e.signal()}, truth},
	}}}
	truth.Dashed, truth.Colour = true, chart.Grey
	for k, epsilon := range e.Epsilons {
		released := chart.Curve{Name: "released", Colour: chart.Blue, Points: e.points(e.Released[k])}
		page = append(page, []chart.Panel{{
			Title: "Released, epsilon " + short(epsilon), X: "seconds", Y: value,
			Curves: []chart.Curve{truth, released},
		}})
	}
	for _, line := range page {
		line[0].Right = e.seconds(e.Start + int64(len(e.Reports))*e.Period)
	}
	return chart.Page(page)
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

// axisMargin is how far a horizontal axis extends beyond its first and last places.
const axisMargin = 0.2

// Recognition draws, as SVG, the shares that are recognised against epsilon. The rows are those
// of Signatures.
func Recognition(rows []SignatureRow) (io.WriterTo, error) {
	p := chart.Panel{Title: "Recognised", X: "epsilon", Y: "per cent", Left: -axisMargin, Top: 100, Curves: []chart.Curve{
		{Name: "signature", Colour: chart.Blue}, {Name: "device", Colour: chart.Green},
		{Name: "device, signature unknown", Colour: chart.Grey, Dashed: true},
	}}
	for k, r := range rows {
		name := "true"
		if r.Epsilon > 0 {
			name = short(r.Epsilon)
		}
		p.Names = append(p.Names, name)
		for j, share := range []float64{r.Window, r.Device, r.Unseen} {
			p.Curves[j].Points = append(p.Curves[j].Points, plotter.XY{X: float64(k), Y: 100 * share})
		}
	}
	p.Right = float64(len(rows)-1) + axisMargin
	return chart.Page([][]chart.Panel{{p}})
}

// RelativeErrors draws, as SVG, the errors of sums against epsilon, in per cent of the sums,
// with a line of plots for each scope. The rows are those of Totals.
func RelativeErrors(rows []TotalRow) (io.WriterTo, error) {
	var page [][]chart.Panel
	for k := 0; k < len(rows); {
		of := rows[k:]
		if n := slices.IndexFunc(of, func(r TotalRow) bool { return r.Scope != of[0].Scope || r.Span != of[0].Span }); n > 0 {
			of = of[:n]
		}
		if k == 0 || rows[k-1].Scope != of[0].Scope {
			page = append(page, nil)
		}
		line := &page[len(page)-1]
		*line = append(*line, relativeErrors(of))
		k += len(of)
	}
	return chart.Page(page)
}

// relativeErrors returns the plot of one scope and span.
func relativeErrors(rows []TotalRow) chart.Panel {
	p := chart.Panel{
		Title: "Error of sums: " + rows[0].Scope + ", " + rows[0].Span, X: "epsilon", Y: "per cent of the sum",
		Left: -axisMargin, Right: float64(len(rows)-1) + axisMargin,
		Curves: []chart.Curve{
			{Name: "median", Colour: chart.Blue}, {Name: "95 % below", Colour: chart.Sky},
			{Name: "95 % radius, of the mean", Colour: color.Black, Dashed: true},
		},
	}
	for k, r := range rows {
		p.Names = append(p.Names, short(r.Epsilon))
		for j, share := range []float64{r.RelativeMedian, r.RelativeP95, r.Errors.Radius / r.MeanSum} {
			if !math.IsNaN(share) && !math.IsInf(share, 0) {
				p.Curves[j].Points = append(p.Curves[j].Points, plotter.XY{X: float64(k), Y: 100 * share})
			}
		}
	}
	return p
}

// Predicted draws, as SVG, what predictions spend against independent noise of the same mean
// error. The rows are those of Predictions.
func Predicted(rows []PredictionRow) (io.WriterTo, error) {
	p := chart.Panel{Title: "Spent, with predictions", X: "alpha", Y: "per cent of independent noise", Left: -axisMargin}
	colours := []color.Color{chart.Blue, chart.Green, chart.Sky, chart.Grey, color.Black}
	for len(rows) > 0 {
		eta := rows[0].Eta
		c := chart.Curve{Name: "eta " + short(eta), Colour: colours[len(p.Curves)%len(colours)]}
		p.Names = nil
		for len(rows) > 0 && rows[0].Eta == eta {
			share := 100 * rows[0].Epsilon / rows[0].SameError
			if !math.IsNaN(share) && !math.IsInf(share, 0) {
				c.Points = append(c.Points, plotter.XY{X: float64(len(p.Names)), Y: share})
			}
			p.Names = append(p.Names, short(rows[0].Alpha))
			rows = rows[1:]
		}
		p.Right = float64(len(p.Names)-1) + axisMargin
		p.Curves = append(p.Curves, c)
	}
	return chart.Page([][]chart.Panel{{p}})
}

func short(epsilon float64) string { return strconv.FormatFloat(epsilon, 'g', 3, 64) }
