package predictive

import (
	"hash/fnv"
	"math/rand/v2"
	"sort"

	"github.com/geosql/geosql/internal/study/track"
	"github.com/geosql/geosql/mechanism/planar"
)

// The paper's users, who query a service below this speed and at these intervals.
const (
	maxSpeed = 15 / 3.6          // metres per second
	brief    = 60 * 1_000_000    // microseconds
	long     = 3_600 * 1_000_000 // microseconds
)

// jitter is the standard deviation of an interval, relative to its length. The paper mentions
// a small Gaussian noise.
const jitter = 0.1

// MinPoints is the least number of query points of a measured track: with fewer, the first
// point, which cannot be predicted, would decide.
const MinPoints = 10

// slow returns the fixes recorded below maxSpeed. The speed at a fix is that from the fix
// before; the first fix has the speed of the second.
func slow(fixes []track.Fix) []track.Fix {
	var selected []track.Fix
	for k := range fixes {
		from := max(k, 1) - 1
		if to := max(k, 1); to < len(fixes) && speed(fixes[from], fixes[to]) < maxSpeed {
			selected = append(selected, fixes[k])
		}
	}
	return selected
}

// speed returns the average speed between two fixes in metres per second.
func speed(from, to track.Fix) float64 {
	return planar.Distance(from.Lat, from.Lon, to.Lat, to.Lon) / (float64(to.T-from.T) * 1e-6)
}

// sample returns the query points among slow fixes, for a user who jumps with probability
// jump.
func sample(slow []track.Fix, jump float64, random *rand.Rand) (points []track.Fix) {
	for len(slow) > 0 {
		points = append(points, slow[0])
		due := slow[0].T + interval(jump, random)
		slow = slow[1:]
		slow = slow[sort.Search(len(slow), func(k int) bool { return slow[k].T >= due }):]
	}
	return points
}

// interval returns a random time until the next query, in microseconds. It uses the same
// number of random numbers whether it jumps or not, so that samples of similar jumps are
// similar.
func interval(jump float64, random *rand.Rand) int64 {
	jumps, deviation := random.Float64() < jump, random.NormFloat64()
	length := float64(brief)
	if jumps {
		length = long
	}
	return int64(length * (1 + jitter*deviation))
}

// randomOf returns the random numbers for the query points of a track.
func randomOf(user, name string, repetition int) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(user + "\x00" + name))
	return rand.New(rand.NewPCG(h.Sum64(), uint64(repetition)))
}
