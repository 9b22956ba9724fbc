package optimal

import (
	"io"
	"maps"
	"slices"
	"strconv"

	"gonum.org/v1/plot/plotter"

	"github.com/geosql/geosql/internal/study/chart"
	"github.com/geosql/geosql/internal/study/stats"
)

// curve returns the curve of a mechanism: a point for each user, a line through the medians, and
// a band from the first quartiles to the third if there are several users.
func curve(mechanism string, users plotter.XYs) chart.Curve {
	style := map[string]chart.Style{Optimal: chart.Blue, PlanarGeometric: chart.Black, Exponential: chart.Grey}[mechanism]
	c := chart.Curve{Name: mechanism, Style: style, Cloud: users}
	at := map[float64][]float64{}
	for _, p := range users {
		at[p.X] = append(at[p.X], p.Y)
	}
	for _, x := range slices.Sorted(maps.Keys(at)) {
		slices.Sort(at[x])
		around := stats.NewQuartiles(at[x])
		if len(at[x]) == 1 {
			around = stats.NewQuartiles(nil)
		}
		c.Add(x, stats.Quantile(at[x], 0.5), around)
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
		Title: "Quality loss", X: chart.Axis{Name: "epsilon", Unit: "1/" + unit}, Y: chart.Axis{Name: "loss", Unit: unit},
		Spread: spread,
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
// median. The rows are those of OverEpsilon; it draws the part of Run.
func OverDilation(unit string, rows []Row) (io.WriterTo, error) {
	var losses, constraints plotter.XYs
	for _, r := range rows {
		if r.Solved != nil && r.Epsilon == rows[0].Epsilon {
			losses = append(losses, plotter.XY{X: r.Solved.Dilation, Y: r.Loss})
			constraints = append(constraints, plotter.XY{X: r.Solved.Dilation, Y: float64(r.Solved.Constraints) / 1000})
		}
	}
	loss, count := curve(Optimal, losses), curve(Optimal, constraints)
	dilation := chart.Axis{Name: "dilation", Unit: "ratio of distances"}
	return chart.Page([][]chart.Panel{{
		{Title: "Quality loss", X: dilation, Y: chart.Axis{Name: "loss", Unit: unit}, Curves: []chart.Curve{loss}, Spread: spread},
		{Title: "Constraints", X: dilation, Y: chart.Axis{Name: "constraints", Unit: "thousands"}, Curves: []chart.Curve{count}, Spread: spread},
	}})
}

// OverPriors draws, as SVG, figure 6.3 of the thesis: the adversary's error under each prior,
// with a box for each mechanism over all users. The rows are those of Adversary, user by
// user, with the same priors for each.
func OverPriors(unit string, rows []AdversaryRow) (io.WriterTo, error) {
	p := chart.Panel{Title: "Adversary's error", X: chart.Axis{Name: "prior of the adversary"}, Y: chart.Axis{Name: "error", Unit: unit}}
	for _, r := range rows {
		group := slices.Index(p.Names, r.Prior)
		if group < 0 {
			group = len(p.Names)
			p.Names = append(p.Names, r.Prior)
		}
		at := slices.IndexFunc(p.Boxes, func(b chart.Box) bool { return b.Name == r.Mechanism })
		if at < 0 {
			at = len(p.Boxes)
			p.Boxes = append(p.Boxes, chart.Box{Name: r.Mechanism, Style: boxStyles[r.Mechanism]})
		}
		b := &p.Boxes[at]
		if group == len(b.Groups) {
			b.Groups = append(b.Groups, nil)
		}
		b.Groups[group] = append(b.Groups[group], r.AdversaryError)
	}
	return chart.Page([][]chart.Panel{{p}})
}

var boxStyles = map[string]chart.Style{Optimal: chart.Blue, MostPrivate: chart.Yellow, PlanarLaplace: chart.Grey}

// spread names the intervals of the curves.
const spread = "quartiles of the users"
