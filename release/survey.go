package release

import (
	"math"

	"github.com/geosql/geosql/release/report"
)

// A survey counts the locations of a pair of columns for the report.
type survey struct {
	released *report.Grid
	raw      *report.Grid
	moves    *report.Moves
	outside  int64 // of the domain's box or region, before they were drawn
}

// newSurveys returns a survey for every pair of columns. Epsilon is per metre.
func newSurveys(s *Spec, epsilon float64) []survey {
	all := make([]survey, len(s.Lat))
	for k := range all {
		all[k] = survey{report.NewGrid(s.Box), report.NewGrid(s.Box), report.NewMoves(epsilon), 0}
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
// within half a percent of the one along the ellipsoid, for a histogram.
func distance(lat1, lon1, lat2, lon2 float64) float64 {
	const degree, radius = math.Pi / 180, 6371008.8
	north := math.Sin((lat2 - lat1) * degree / 2)
	east := math.Sin((lon2 - lon1) * degree / 2)
	h := north*north + math.Cos(lat1*degree)*math.Cos(lat2*degree)*east*east
	half := math.Sqrt(min(h, 1))
	if half > 0.01 { // 127 km; below, an arc is its chord but for 2e-5 of it
		half = math.Asin(half)
	}
	return 2 * radius * half
}
