package census

import (
	"context"

	"github.com/geosql/geosql/mechanism/density"
	"github.com/geosql/geosql/mechanism/planar"
)

// Rings around workplaces, by the distance of homes. The edges of buckets are edges of rings; the last one has all that is beyond.
const (
	rings    = 240
	ringSize = MetresPerMile / 2
)

// ring returns the ring of a distance.
func ring(metres float64) int { return min(int(metres/ringSize), rings-1) }

// recover estimates the histogram of true commutes from the number of released homes in each ring. Workplaces are not released.
func (s *Study) recover(ctx context.Context, epsilon float64, released []int64) (estimate [len(Buckets)]float64, err error) {
	law, err := density.Rings(planar.LaplaceLaw.Plane(epsilon), ringSize, rings)
	if err != nil {
		return estimate, err
	}
	homes, err := law.Population(ctx, s.weights(), released)
	for k, n := range homes {
		var in histogram
		in.add((float64(k)+0.5)*ringSize, 1)
		for bucket, one := range in {
			estimate[bucket] += float64(one) * n
		}
	}
	return estimate, err
}

// mostPairs bounds the pairs of places and workplaces that weights visits.
const mostPairs = 1 << 20

// weights returns how many jobs there would be in each ring if homes were spread evenly over all places: where these are, and where
// people work, is public.
func (s *Study) weights() []float64 {
	jobs := map[Place]int64{}
	var work []Place
	for _, part := range s.parts {
		for _, c := range part {
			if _, met := jobs[c.Work]; !met {
				work = append(work, c.Work)
			}
			jobs[c.Work] += c.Jobs
		}
	}
	weights := make([]float64, rings)
	every := 1 + len(work)*len(s.Places)/mostPairs
	k := 0
	for _, at := range work {
		for _, home := range s.Places {
			if k++; k%every == 0 {
				weights[ring(planar.Distance(home.Lat, home.Lon, at.Lat, at.Lon))] += float64(jobs[at])
			}
		}
	}
	return weights
}
