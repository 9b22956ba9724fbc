package release

import (
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/release/internal/report"
)

// A survey counts the locations of a pair of columns, for the report.
type survey struct {
	released *report.Grid
	raw      *report.Grid
	moves    *report.Moves
	outside  int64         // raw locations outside the domain's box or region
	points   map[int]int64 // released locations by bin, for an estimate of the population
}

// newSurveys returns a survey for each pair of columns, with histograms that suit the noise.
func newSurveys(s *Spec, noise planar.Accuracy) []survey {
	all := make([]survey, len(s.Lat))
	for k := range all {
		all[k] = survey{report.NewGrid(s.Box), report.NewGrid(s.Box), report.NewMoves(noise), 0, map[int]int64{}}
	}
	return all
}

// compare counts a location and its released one, for the owner's section of the report.
func (s *survey) compare(at location, zlat, zlon float64) {
	s.raw.Add(at.lat, at.lon)
	s.moves.Add(planar.Distance(at.lat, at.lon, zlat, zlon))
}

func (s *survey) merge(other *survey) {
	s.released.Merge(other.released)
	s.raw.Merge(other.raw)
	s.moves.Merge(other.moves)
	s.outside += other.outside
	for bin, n := range other.points {
		s.points[bin] += n
	}
}
