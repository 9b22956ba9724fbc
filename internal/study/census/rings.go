package census

import (
	"context"
	"math"

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

// recover estimates the histogram of true commutes from the number of released homes in each ring.
//
// Noise goes in all directions alike, so that the law of the distance from a workplace to a released home depends on that to
// the true home only, and not on where the two are: it is one matrix for all of them.
func (s *Study) recover(ctx context.Context, epsilon float64, released []int64) (estimate [len(Buckets)]float64, err error) {
	law, err := ringLaw(epsilon)
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

// ringLaw returns the probabilities of rings for a home in each, by the radii of noise that divide it evenly.
func ringLaw(epsilon float64) (density.Matrix, error) {
	const radii = 200
	noise := planar.LaplaceLaw.Plane(epsilon)
	law := make(density.Matrix, rings)
	for k := range law {
		law[k] = make([]float64, rings)
	}
	for i := range radii {
		radius, err := noise.Radius((float64(i) + 0.5) / radii)
		if err != nil {
			return nil, err
		}
		for k, row := range law {
			home, below := (float64(k)+0.5)*ringSize, 0.
			for j := range row {
				within := 1.
				if j < rings-1 {
					within = shareWithin(float64(j+1)*ringSize, home, radius)
				}
				row[j] += (within - below) / radii
				below = within
			}
		}
	}
	return law, nil
}

// shareWithin returns which share of a circle of a radius around a home is within a distance of a point that is so far from the home.
func shareWithin(distance, home, radius float64) float64 {
	cos := (home*home + radius*radius - distance*distance) / (2 * home * radius)
	return math.Acos(min(1, max(-1, cos))) / math.Pi
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
