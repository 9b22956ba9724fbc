package predictive

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/geosql/geosql/internal/study/track"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/mechanism/trace"
)

// An Example is one track and its reports. It contains the truth and is not for publication.
type Example struct {
	Track   *track.Track
	Queries []track.Fix // the query points that were reported
	Reports []track.Fix // the report of each query point
}

// exampleJump is the probability of jumping in the paper's figure 6.
const exampleJump = 0.5

// Example reports a track by the first predictive mechanism of the last manager: of the
// tracks with enough query points, the one of median extent.
func (s *Study) Example(tracks []track.Track) (Example, error) {
	type candidate struct {
		track  *track.Track
		points []track.Fix
		extent float64
	}
	var candidates []candidate
	for _, x := range subjects(tracks) {
		points := sample(x.slow, exampleJump, randomOf(x.User, x.Name, 0))
		if len(points) >= MinPoints {
			candidates = append(candidates, candidate{x.Track, points, extent(points)})
		}
	}
	if len(candidates) == 0 {
		return Example{}, errors.New("no trace has enough query points for a map")
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int { return cmp.Compare(a.extent, b.extent) })
	c := candidates[len(candidates)/2]
	example := Example{Track: c.track}
	_, err := s.run(s.variants[len(s.variants)-1].predictive[0], s.Sources[0], c.points,
		func(_ trace.Plan, x track.Fix, q trace.Point) {
			lat, lon := s.plane.Location(q.Z)
			example.Queries = append(example.Queries, x)
			example.Reports = append(example.Reports, track.Fix{T: x.T, Lat: lat, Lon: lon})
		})
	return example, err
}

// extent returns the largest distance from the first of the points, in metres.
func extent(points []track.Fix) (largest float64) {
	for _, x := range points {
		largest = math.Max(largest, planar.Distance(points[0].Lat, points[0].Lon, x.Lat, x.Lon))
	}
	return largest
}
