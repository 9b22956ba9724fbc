package lbs

import (
	"io"
	"math"
	"slices"

	"github.com/geosql/geosql/internal/study/chart"
	"github.com/geosql/geosql/internal/study/stats"
)

// Figure draws, as SVG, the cost of a POI of interest against the confidence, with a line for
// each level: as measured, and if POIs were spread evenly (figure 5.11 of the thesis). The
// rows are those of a Run.
func Figure(rows []Row) (io.WriterTo, error) {
	confidence := chart.Axis{Name: "confidence", Unit: chart.Percent}
	measured := chart.Panel{
		Title: "Overhead", X: confidence, Y: chart.Axis{Name: "fetched", Unit: "rows for one of interest"},
		Spread: "quartiles of the users",
	}
	areas := chart.Panel{Title: "Area of retrieval", X: confidence, Y: chart.Axis{Name: "area", Unit: "areas of interest"}}
	for _, r := range rows {
		if r.Radius == Lattice && !math.IsNaN(r.Overhead) {
			addPoint(&measured, r, r.Overhead, r.UserOverheads)
			addPoint(&areas, r, r.AreaRatio, stats.NewQuartiles(nil))
		}
	}
	return chart.Page([][]chart.Panel{{measured, areas}})
}

// addPoint adds a point to the curve of a row's level, with its quartiles if there are any.
func addPoint(p *chart.Panel, r Row, y float64, around stats.Quartiles) {
	name := chart.LevelName(r.Level)
	at := slices.IndexFunc(p.Curves, func(c chart.Curve) bool { return c.Name == name })
	if at < 0 {
		at = len(p.Curves)
		p.Curves = append(p.Curves, chart.Curve{Name: name, Style: chart.Numbered(at)})
	}
	p.Curves[at].Add(100*r.Confidence, y, around)
}
