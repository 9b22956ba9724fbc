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
	for _, r := range rows {
		at := slices.IndexFunc(panels, func(p chart.Panel) bool { return p.Title == r.Family })
		if at < 0 {
			at = len(panels)
			panels = append(panels, chart.Panel{
				Title: r.Family,
				X:     chart.Axis{Name: "variance of the noise", Unit: "squared units"}, Y: chart.Axis{Name: "loss", Unit: "nats"},
				Curves: []chart.Curve{{Name: "independent", Style: chart.Black, Plain: true}},
			})
		}
		addRow(&panels[at], r)
	}
	for k := range panels {
		p := &panels[k]
		for _, c := range p.Curves {
			slices.SortFunc(c.Points, func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) })
		}
		p.Curves = append(p.Curves[1:], p.Curves[0]) // above the others
	}
	return panels
}

// addRow adds a row to the curve of its length scale, and to that of independent
// points, which is the upper envelope where length scales have different worst sets.
func addRow(p *chart.Panel, r Row) {
	name := fmt.Sprintf("l = %g", r.LengthScale)
	at := slices.IndexFunc(p.Curves, func(c chart.Curve) bool { return c.Name == name })
	if at < 0 {
		at = len(p.Curves)
		p.Curves = append(p.Curves, chart.Curve{Name: name, Style: chart.Numbered(at - 1)})
	}
	p.Curves[at].Points = append(p.Curves[at].Points, plotter.XY{X: r.Sigma2, Y: r.Loss.Loss})

	independent := &p.Curves[0]
	for k := range independent.Points {
		if xy := &independent.Points[k]; xy.X == r.Sigma2 {
			xy.Y = max(xy.Y, r.Loss.Independent)
			return
		}
	}
	independent.Points = append(independent.Points, plotter.XY{X: r.Sigma2, Y: r.Loss.Independent})
}
