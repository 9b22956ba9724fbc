package lbs

import (
	"image/color"
	"io"
	"math"
	"slices"

	"gonum.org/v1/plot/plotter"

	"github.com/geosql/geosql/study/chart"
)

// Figure draws, as SVG, the cost of a POI of interest against the confidence, with a line for
// each level: as measured, and if POIs were spread evenly (figure 5.11 of the thesis). The
// rows are those of a Run.
func Figure(rows []Row) (io.WriterTo, error) {
	measured := chart.Panel{Title: "Overhead", X: "confidence", Y: "rows for one of interest", Left: 1}
	areas := chart.Panel{Title: "Area of retrieval", X: "confidence", Y: "areas of interest", Left: 1}
	for _, r := range rows {
		if r.Radius == Lattice && !math.IsNaN(r.Overhead) {
			addPoint(&measured, r, r.Overhead)
			addPoint(&areas, r, r.AreaRatio)
		}
	}
	top := max(chart.Top(measured.Curves), chart.Top(areas.Curves))
	for _, p := range []*chart.Panel{&measured, &areas} {
		p.Left, p.Right, p.Top = p.Left-axisMargin, p.Right+axisMargin, top
	}
	return chart.Page([][]chart.Panel{{measured, areas}})
}

// colours are those of the levels, in their order.
var colours = []color.Color{chart.Blue, chart.Red, chart.Green, chart.Sky, chart.Grey, color.Black}

// addPoint adds a point to the curve of a row's level.
func addPoint(p *chart.Panel, r Row, y float64) {
	name := chart.LevelName(r.Level)
	at := slices.IndexFunc(p.Curves, func(c chart.Curve) bool { return c.Name == name })
	if at < 0 {
		at = len(p.Curves)
		p.Curves = append(p.Curves, chart.Curve{Name: name, Colour: colours[at%len(colours)]})
	}
	p.Curves[at].Points = append(p.Curves[at].Points, plotter.XY{X: r.Confidence, Y: y})
	p.Left, p.Right = min(p.Left, r.Confidence), max(p.Right, r.Confidence)
}

// axisMargin is how far the horizontal axes extend beyond their first and last points.
const axisMargin = 0.01
