package release

import (
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
	s.moves.Add(planar.Distance(at.lat, at.lon, zlat, zlon))
}

func (s *survey) merge(other *survey) {
	s.released.Merge(other.released)
	s.raw.Merge(other.raw)
	s.moves.Merge(other.moves)
	s.outside += other.outside
}
