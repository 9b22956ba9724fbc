package predictive

import (
	"github.com/geosql/geosql/internal/study/track"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/mechanism/smooth"
	"github.com/geosql/geosql/mechanism/trace"
)

// A course is a run of the independent mechanism. Estimates of its positions have smaller errors than its reports.
type course struct {
	projection planar.Projection
	truth      []track.Fix
	released   []smooth.Point
}

// add adds a report, at a location in degrees.
func (c *course) add(x track.Fix, q trace.Point, lat, lon float64) {
	p := smooth.Point{T: float64(q.T) / 1e6, Epsilon: q.Spent.Float64()}
	p.X, p.Y = c.projection.Metres(lat, lon)
	c.truth, c.released = append(c.truth, x), append(c.released, p)
}

// errors returns how far estimates of so many points are from the truth, in metres, added up: of each point from those up to it,
// and from all.
func (c *course) errors() (filtered, smoothed float64, points int) {
	all := smooth.Course(c.released)
	for i, x := range c.truth {
		filtered += c.errorOf(x, smooth.Last(c.released[:i+1]))
		smoothed += c.errorOf(x, all[i])
	}
	return filtered, smoothed, len(c.truth)
}

func (c *course) errorOf(x track.Fix, at smooth.Position) float64 {
	lat, lon := c.projection.Location(at.X, at.Y)
	return planar.Distance(x.Lat, x.Lon, lat, lon)
}
