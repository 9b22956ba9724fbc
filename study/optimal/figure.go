package optimal

import (
	"image/color"
	"io"
	"maps"
	"slices"
	"strconv"

	"gonum.org/v1/plot/plotter"

	"github.com/geosql/geosql/study/chart"
	"github.com/geosql/geosql/study/stats"
)

// curve returns the curve of a mechanism: a point for each user, and a line through the medians.
func curve(mechanism string, users plotter.XYs) chart.Curve {
	colour := map[string]color.Color{
		Optimal: chart.Blue, PlanarGeometric: color.Black, Exponential: chart.Grey,
	}[mechanism]
	c := chart.Curve{Name: mechanism, Colour: colour, Dashed: mechanism != Optimal, Cloud: users}
	at := map[float64][]float64{}
	for _, p := range users {
		at[p.X] = append(at[p.X], p.Y)
	}
	for _, x := range slices.Sorted(maps.Keys(at)) {
		slices.Sort(at[x])
		c.Points = append(c.Points, plotter.XY{X: x, Y: stats.Quantile(at[x], 0.5)})
	}
	return c
}

// OverEpsilon draws, as SVG, figure 6.4 of the thesis: the quality loss of the mechanisms
// against epsilon, which doubles from each position to the next, for each user and in the
// median. The rows are those of Run, then of Sweep, user by user with the same settings. The
// optimal mechanism is drawn at the first dilation.
func OverEpsilon(unit string, rows []Row) (io.WriterTo, error) {
	var epsilons []float64
	for _, r := range rows {
		epsilons = append(epsilons, r.Epsilon)
	}
	slices.Sort(epsilons)
	epsilons = slices.Compact(epsilons)
	p := chart.Panel{
		Title: "Quality loss", X: "epsilon per " + unit, Y: unit,
		Left: -axisMargin, Right: float64(len(epsilons)-1) + axisMargin,
	}
	for _, epsilon := range epsilons {
		p.Names = append(p.Names, strconv.FormatFloat(epsilon, 'g', 3, 64))
	}
	for _, mechanism := range []string{Optimal, PlanarGeometric, Exponential} {
		var users plotter.XYs
		for _, r := range rows {
			first := r.Solved == nil || r.Solved.Dilation == rows[0].Solved.Dilation
			if r.Mechanism == mechanism && first {
				users = append(users, plotter.XY{X: float64(slices.Index(epsilons, r.Epsilon)), Y: r.Loss})
			}
		}
		p.Curves = append(p.Curves, curve(mechanism, users))
	}
	return chart.Page([][]chart.Panel{{p}})
}

// OverDilation draws, as SVG, figure 6.5 of the thesis: the quality loss of the optimal
// mechanism and the number of its constraints against the dilation, for each user and in the
// median. The rows are those of OverEpsilon, of which it draws those of Run.
func OverDilation(unit string, rows []Row) (io.WriterTo, error) {
	var losses, constraints plotter.XYs
	for _, r := range rows {
		if r.Solved != nil && r.Epsilon == rows[0].Epsilon {
			losses = append(losses, plotter.XY{X: r.Solved.Dilation, Y: r.Loss})
			constraints = append(constraints, plotter.XY{X: r.Solved.Dilation, Y: float64(r.Solved.Constraints) / 1000})
		}
	}
	loss, count := curve(Optimal, losses), curve(Optimal, constraints)
	left, right := loss.Points[0].X-axisMargin/2, loss.Points[len(loss.Points)-1].X+axisMargin/2
	return chart.Page([][]chart.Panel{{
		{Title: "Quality loss", X: "dilation", Y: unit, Left: left, Right: right, Curves: []chart.Curve{loss}},
		{Title: "Constraints", X: "dilation", Y: "thousands", Left: left, Right: right, Curves: []chart.Curve{count}},
	}})
}

// OverPriors draws, as SVG, figure 6.3 of the thesis: the adversary's error under each prior,
// with a box for each mechanism over all users. The rows are those of Adversary, user by
// user, with the same priors for each.
func OverPriors(unit string, rows []AdversaryRow) (io.WriterTo, error) {
	p := chart.Panel{Title: "Adversary's error", Y: unit}
	for _, r := range rows {
		group := slices.Index(p.Names, r.Prior)
		if group < 0 {
			group = len(p.Names)
			p.Names = append(p.Names, r.Prior)
		}
		at := slices.IndexFunc(p.Boxes, func(b chart.Box) bool { return b.Name == r.Mechanism })
		if at < 0 {
			at = len(p.Boxes)
			p.Boxes = append(p.Boxes, chart.Box{Name: r.Mechanism, Colour: boxColours[r.Mechanism]})
		}
		b := &p.Boxes[at]
		if group == len(b.Groups) {
			b.Groups = append(b.Groups, nil)
		}
		b.Groups[group] = append(b.Groups[group], r.AdversaryError)
	}
	p.Left, p.Right = -0.5, float64(len(p.Names))-0.5
	return chart.Page([][]chart.Panel{{p}})
}

// boxColours are light enough for a median to show.
var boxColours = map[string]color.Color{Optimal: chart.Sky, MostPrivate: chart.Yellow, PlanarLaplace: chart.Grey}

// axisMargin is how far a horizontal axis extends beyond its first and last places.
const axisMargin = 0.2
