package scalar

import (
	"errors"
	"fmt"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
)

// Draw returns a released answer to q over the readings in a. Each call is one release
// and costs one charge. A released value is the float64 nearest to its decimal: a value
// of the universe, a multiple of gcd(lo, step) for a sum, a whole number up to 2^53 for
// a count; for an average, to a number from lo to hi.
func (q *Query) Draw(src *exact.Source, a *Accumulator) float64 { return q.Release(src, a).Value }

// Radius returns the smallest r such that the release is within r of the true answer
// with probability at least p, 0 < p < 1. It is in the universe's unit, or in rows for a
// count. The true answer is that of the readings as moved to the universe's grid. It
// returns an error for a percentile under d1, nd1 and dh, whose error depends on the
// readings, and for variances.
//
// That of an average depends on how many readings there are, rows; 0 means that nobody
// says. Then it is that of a single reading under d1 and dinf, which is the largest, and an
// error under nd1 and dh. Under these it is that of the worst readings.
//
// Clamping only moves a release closer to the true answer, so p is a lower bound for
// answers near the ends.
func (q *Query) Radius(p float64, rows int64) (float64, error) {
	if !(p > 0 && p < 1) {
		return 0, errors.New("p is not between 0 and 1")
	}
	if q.mean != nil {
		if rows == 0 && q.mean.records {
			return 0, fmt.Errorf("rows must be given: the accuracy of an average under %v depends on how many there are", q.metric)
		}
		return q.mean.radius(p, max(1, rows)), nil
	}
	if q.variance != nil {
		return 0, fmt.Errorf("how far a %v is off depends on the readings", q.agg)
	}
	if q.scored {
		const data = "how far a percentile is off under metric %v depends on the readings"
		if q.metric == budget.DH {
			return 0, fmt.Errorf(data+"; dx_rank_radius(p, epsilon, universe) tells how many ranks", q.metric)
		}
		return 0, fmt.Errorf(data, q.metric)
	}
	k, l := q.noise.quantile(p), q.lattice
	if q.agg == Count || q.agg == Sum {
		return k * float64(l.step) / l.scale, nil
	}
	return min(k, float64(q.universe.last)) * float64(l.step) / l.scale, nil
}
