package optimal

import (
	"fmt"
	"io"

	"github.com/geosql/geosql/internal/study/chart"
	"github.com/geosql/geosql/internal/study/track"
	"github.com/geosql/geosql/mechanism/optimal"
)

// Spanner draws, as SVG, figure 6.1 of the thesis: the places, and the spanner of a dilation.
// The unit has the given length in metres.
func (s *Study) Spanner(dilation, metres float64) (io.WriterTo, error) {
	fixes := make([]track.Fix, len(s.places))
	for k, p := range s.places {
		fixes[k] = onGlobe((p.X-s.places[0].X)*metres, (p.Y-s.places[0].Y)*metres)
	}
	edges, _ := optimal.Spanner(s.d, dilation)
	m := chart.NewMap(fmt.Sprintf("%d places and a spanner of dilation %v", len(fixes), dilation), fixes[0])
	name := fmt.Sprintf("%d edges", len(edges))
	for _, e := range edges {
		if err := m.Line(name, []track.Fix{fixes[e.A], fixes[e.B]}, chart.Grey); err != nil {
			return nil, err
		}
		name = ""
	}
	if err := m.Discs("places", fixes, chart.Blue, 2); err != nil {
		return nil, err
	}
	return m.Draw(), nil
}

// onGlobe maps a point of the plane to where the equator meets the zero meridian, for a map.
// There degrees have these lengths, in metres.
func onGlobe(east, north float64) track.Fix {
	return track.Fix{Lat: north / 110_574, Lon: east / 111_320}
}
