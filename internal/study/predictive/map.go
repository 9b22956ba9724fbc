package predictive

import (
	"io"

	"github.com/geosql/geosql/internal/study/chart"
	"github.com/geosql/geosql/internal/study/track"
)

// Map draws an example as SVG, like figure 6 of the paper: the original track, the query
// points, and the reports, larger where a report occurs more often. A thin line leads from
// each query point to its report.
func Map(e Example) (io.WriterTo, error) {
	m := chart.NewMap("A trace, its query points and the reports", e.Track.Fixes[0])
	if err := m.Line("original", e.Track.Fixes, chart.Red); err != nil {
		return nil, err
	}
	for k, x := range e.Queries {
		if err := m.Line("", []track.Fix{x, e.Reports[k]}, chart.Grey); err != nil {
			return nil, err
		}
	}
	if err := m.Discs("reported", e.Reports, chart.Yellow, 4); err != nil {
		return nil, err
	}
	if err := m.Discs("query point", e.Queries, chart.Sky, 2); err != nil {
		return nil, err
	}
	return m.Draw(), nil
}
