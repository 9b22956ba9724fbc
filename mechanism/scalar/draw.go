package scalar

import (
	"errors"
	"math"

	"github.com/geosql/geosql/mechanism/exact"
)

// Draw returns a released answer to q over the readings in a. Each call is one release
// and costs one charge. A released value is the float64 nearest to its decimal: a value
// of the universe, a multiple of gcd(lo, step) for a sum, a whole number up to 2^53 for
// a count.
func (q *Query) Draw(src *exact.Source, a *Accumulator) float64 {
	z := q.answer(a).add(q.drawNoise(src))
	return q.lattice.number(q.lattice.clamp(z))
}

// far is where drawNoise stops trusting an int64 draw, which saturates. A saturated draw
// must not be added to a secret: the sum would show it.
const far = 1 << 62

// drawNoise returns the noise in lattice steps.
//
// Given |N| >= far, the excess |N|-far is geometric with the same q, whatever the
// sign: the law has no memory. So the excess of a far draw, saturated or not, is
// dropped and drawn afresh. With the rates that NewQuery admits this takes at most some
// 2^8 rounds on average; to overflow 128 bits would take 2^65.
func (q *Query) drawNoise(src *exact.Source) int128 {
	k := q.noise.Draw(src)
	if -far < k && k < far {
		return fromInt64(k)
	}
	n := fromInt64(far)
	for {
		excess := q.drawGeometric(src)
		if excess < far {
			n = n.add(fromInt64(excess))
			break
		}
		n = n.add(fromInt64(far))
	}
	if k < 0 {
		return n.neg()
	}
	return n
}

// drawGeometric draws k >= 0 with probability (1-q) q^k: two-sided noise given that it
// is not negative.
func (q *Query) drawGeometric(src *exact.Source) int64 {
	for {
		if k := q.noise.Draw(src); k >= 0 {
			return k
		}
	}
}

// Radius returns the smallest r such that the release is within r of the true answer
// with probability at least p, 0 < p < 1. It is in the universe's unit, or in rows for a
// count. The true answer is that of the readings as moved to the universe's grid. An
// average need not lie on the grid, and gets half a step more.
//
// It comes from P(|N| <= k) = 1 - 2q^(k+1)/(1+q). Clamping only moves a release
// closer to the true answer, so p is a lower bound for answers near the ends.
func (q *Query) Radius(p float64) (float64, error) {
	if !(p > 0 && p < 1) {
		return 0, errors.New("p is not between 0 and 1")
	}
	// k+1 >= ln(2 / ((1+q)(1-p))) / rate; log1p and expm1 keep the digits when
	// p or rate is tiny.
	k := max(0, math.Ceil((-math.Log1p(-p)-math.Log1p(math.Expm1(-q.rate)/2))/q.rate)-1)
	l := q.lattice
	if q.agg == Count || q.agg == Sum {
		return k * float64(l.step) / l.scale, nil
	}
	n := float64(q.universe.last)
	if q.agg == Avg {
		return min(2*k+1, 2*n) * float64(l.step) / (2 * l.scale), nil
	}
	return min(k, n) * float64(l.step) / l.scale, nil
}
