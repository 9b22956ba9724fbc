package lbs

import (
	"io"
	"math"

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
			level := chart.LevelName(r.Level)
			measured.Curve(level).Add(100*r.Confidence, r.Overhead, r.UserOverheads)
			areas.Curve(level).Add(100*r.Confidence, r.AreaRatio, stats.NewQuartiles(nil))
		}
	}
	return chart.Page([][]chart.Panel{{measured, areas}})
}
