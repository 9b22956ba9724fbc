package optimal

import (
	"cmp"
	"image/color"
	"io"
	"slices"
	"strconv"

	"gonum.org/v1/plot/plotter"

	"github.com/geosql/geosql/study/chart"
)

// newCurve returns the curve of a mechanism, without points.
func newCurve(mechanism string) chart.Curve {
	colour := map[string]color.Color{
		Optimal: chart.Blue, PlanarGeometric: color.Black, Exponential: chart.Grey,
	}[mechanism]
	return chart.Curve{Name: mechanism, Colour: colour, Dashed: mechanism != Optimal}
}

// OverEpsilon draws, as SVG, figure 6.4 of the thesis: the quality loss of the mechanisms
// against epsilon, which doubles from each position to the next. The rows are those of a
// Sweep.
func OverEpsilon(unit string, rows []Row) (io.WriterTo, error) {
	p := chart.Panel{Title: "Quality loss", X: "epsilon per " + unit, Y: unit, Left: -axisMargin}
	for _, r := range rows {
		at := slices.IndexFunc(p.Curves, func(c chart.Curve) bool { return c.Name == r.Mechanism })
		if at < 0 {
			at = len(p.Curves)
			p.Curves = append(p.Curves, newCurve(r.Mechanism))
		}
		if r.Solved != nil {
			p.Names = append(p.Names, strconv.FormatFloat(r.Epsilon, 'g', 3, 64))
		}
		p.Curves[at].Points = append(p.Curves[at].Points, plotter.XY{X: float64(len(p.Names) - 1), Y: r.Loss})
	}
	p.Right = float64(len(p.Names)-1) + axisMargin
	return chart.Page([][]chart.Panel{{p}})
}

// OverDilation draws, as SVG, figure 6.5 of the thesis: the quality loss of the optimal
// mechanism and the number of its constraints against the dilation. The rows are those of a
// Run.
func OverDilation(unit string, rows []Row) (io.WriterTo, error) {
	loss := chart.Panel{Title: "Quality loss", X: "dilation", Y: unit, Curves: []chart.Curve{newCurve(Optimal)}}
	constraints := chart.Panel{Title: "Constraints", X: "dilation", Y: "thousands", Curves: []chart.Curve{newCurve(Optimal)}}
	solved := slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return r.Solved == nil })
	slices.SortFunc(solved, func(a, b Row) int { return cmp.Compare(a.Solved.Dilation, b.Solved.Dilation) })
	for _, r := range solved {
		c := &loss.Curves[0]
		c.Points = append(c.Points, plotter.XY{X: r.Solved.Dilation, Y: r.Loss})
		c = &constraints.Curves[0]
		c.Points = append(c.Points, plotter.XY{X: r.Solved.Dilation, Y: float64(r.Solved.Constraints) / 1000})
	}
	for _, p := range []*chart.Panel{&loss, &constraints} {
		p.Left, p.Right = solved[0].Solved.Dilation-axisMargin/2, solved[len(solved)-1].Solved.Dilation+axisMargin/2
	}
	return chart.Page([][]chart.Panel{{loss, constraints}})
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
