package release

import (
	"math"

	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/release/internal/report"
)

// A survey counts the locations of a pair of columns for the report.
type survey struct {
	released *report.Grid
	raw      *report.Grid
	moves    *report.Moves
	outside  int64 // of the domain's box or region, before they were drawn
}

// newSurveys returns a survey for every pair of columns, whose histograms suit the noise.
func newSurveys(s *Spec, noise planar.Accuracy) []survey {
	all := make([]survey, len(s.Lat))
	for k := range all {
		all[k] = survey{report.NewGrid(s.Box), report.NewGrid(s.Box), report.NewMoves(noise), 0}
	}
	return all
}

// compare counts what the owner's section of the report shows.
func (s *survey) compare(at place, zlat, zlon float64) {
	s.raw.Add(at.lat, at.lon)
	s.moves.Add(distance(at.lat, at.lon, zlat, zlon))
}

func (s *survey) merge(other *survey) {
	s.released.Merge(other.released)
	s.raw.Merge(other.raw)
	s.moves.Merge(other.moves)
	s.outside += other.outside
}

// distance is that of two locations in metres, on the sphere of the Earth's mean radius:
// within half a percent of the one along the ellipsoid, for a histogram. Near ones are
// taken to lie in a plane that keeps lengths along their middle parallel, which is wrong
// by less than e^2/6 of it for a difference e of longitudes: the terms of the haversine
// formula of the next order.
func distance(lat1, lon1, lat2, lon2 float64) float64 {
	const degree, radius, near = math.Pi / 180, 6371008.8, 0.02
	north, east := (lat2-lat1)*degree, (lon2-lon1)*degree
	if max(math.Abs(north), math.Abs(east)) < near {
		east *= cosine((lat1 + lat2) / 2 * degree)
		return radius * math.Sqrt(north*north+east*east)
	}
	north, east = math.Sin(north/2), math.Sin(east/2)
	h := north*north + math.Cos(lat1*degree)*math.Cos(lat2*degree)*east*east
	return 2 * radius * math.Asin(math.Sqrt(min(h, 1)))
}

// cosine is that of a latitude in radians: its series, which goes on with x^14/14!, less
// than 1e-8, a millimetre of a near distance.
func cosine(x float64) float64 {
	w := x * x
	return 1 - w*(1./2)*(1-w*(1./12)*(1-w*(1./30)*(1-w*(1./56)*(1-w*(1./90)*(1-w*(1./132))))))
}
