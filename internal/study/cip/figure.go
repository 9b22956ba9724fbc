package cip

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"gonum.org/v1/plot/plotter"

	"github.com/geosql/geosql/internal/study/chart"
)

// Figure draws, as SVG, figure 2 (a) of the paper: the loss against the variance of the
// noise, with a line for each length scale and a black one for independent points. Each
// family has a panel. The rows are those of a Run.
func Figure(rows []Row) (io.WriterTo, error) {
	return chart.Page([][]chart.Panel{panelsOf(rows)})
}

func panelsOf(rows []Row) (panels []chart.Panel) {
	var independent []chart.Curve // by panel
	for _, r := range rows {
		at := slices.IndexFunc(panels, func(p chart.Panel) bool { return p.Title == r.Family })
		if at < 0 {
			at = len(panels)
			panels = append(panels, chart.Panel{
				Title: r.Family,
				X:     chart.Axis{Name: "variance of the noise", Unit: "squared units"}, Y: chart.Axis{Name: "loss", Unit: "nats"},
			})
			independent = append(independent, chart.Curve{Name: "independent", Style: chart.Black, Plain: true})
		}
		c := panels[at].Curve(fmt.Sprintf("l = %g", r.LengthScale))
		c.Points = append(c.Points, plotter.XY{X: r.Sigma2, Y: r.Loss.Loss})
		addIndependent(&independent[at], r)
	}
	for k := range panels {
		p := &panels[k]
		p.Curves = append(p.Curves, independent[k]) // above the others
		for _, c := range p.Curves {
			slices.SortFunc(c.Points, func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) })
		}
	}
	return panels
}

// addIndependent adds a row to the curve of independent points, which is the upper envelope where length scales have
// different worst sets.
func addIndependent(c *chart.Curve, r Row) {
	at := slices.IndexFunc(c.Points, func(p plotter.XY) bool { return p.X == r.Sigma2 })
	if at < 0 {
		c.Points = append(c.Points, plotter.XY{X: r.Sigma2, Y: r.Loss.Independent})
		return
	}
	c.Points[at].Y = max(c.Points[at].Y, r.Loss.Independent)
}
