package scalar

import (
	"errors"
	"math"
	"math/big"

	"github.com/geosql/geosql/internal/elementary"
	"github.com/geosql/geosql/mechanism/exact"
)

// noise is two-sided geometric noise on the integers, without bounds, or a staircase.
type noise struct {
	exact.DiscreteLaplace
	rate   float64    // per step, or of a staircase's width
	stairs *staircase // nil for geometric noise
}

// scale returns the scale of the noise, in steps. That of a staircase is its expected distance from 0, which may be next to
// nothing.
func (n noise) scale() float64 {
	if n.stairs != nil {
		return max(n.stairs.mean, 1e-6)
	}
	return 1 / n.rate
}

// minRate keeps the noise below some 2^80 steps, which add reaches in moderate time. A
// rate so small is a mistake: one reading is below 2^50 steps.
var minRate = new(big.Rat).SetFloat64(0x1p-70)

var errTooFine = errors.New("epsilon is too small for steps this fine")

// newNoise returns noise at the largest rate that is a float64 and not above perStep.
func newNoise(perStep *big.Rat) (n noise, err error) {
	if perStep.Cmp(minRate) < 0 {
		return n, errTooFine
	}
	return noiseAt(perStep)
}

// noiseAt is newNoise for a rate that the caller has checked.
func noiseAt(perStep *big.Rat) (n noise, err error) {
	if n.rate, err = exact.RateFloor(perStep); err != nil {
		return n, err
	}
	n.DiscreteLaplace, err = exact.NewDiscreteLaplace(n.rate)
	return n, err
}

// far is where add stops trusting an int64 draw, which saturates. A saturated draw must
// not be added to a secret: the sum would show it.
const far = 1 << 62

// add returns z plus noise.
//
// Given |N| >= far, the excess |N|-far is geometric with the same q, whatever the
// sign: the law has no memory. So the excess of a far draw, saturated or not, is
// dropped and drawn afresh. With the rates that newNoise admits this takes at most some
// 2^8 rounds on average; to overflow 128 bits would take 2^65.
func (n noise) add(src *exact.Source, z int128) int128 {
	if n.stairs != nil {
		return z.add(n.stairs.draw(src, n))
	}
	k := n.Draw(src)
	if -far < k && k < far {
		return z.add(fromInt64(k))
	}
	sum := fromInt64(far)
	for {
		excess := n.drawGeometric(src)
		if excess < far {
			sum = sum.add(fromInt64(excess))
			break
		}
		sum = sum.add(fromInt64(far))
	}
	if k < 0 {
		sum = sum.neg()
	}
	return z.add(sum)
}

// drawCount returns a number of rows plus noise, or one where that is less.
func (n noise) drawCount(src *exact.Source, rows int64) *big.Int {
	count := n.add(src, fromInt64(min(rows, maxCount))).big()
	if count.Sign() <= 0 {
		count.SetInt64(1)
	}
	return count
}

// drawGeometric draws k >= 0 with probability (1-q) q^k: two-sided noise given that it
// is not negative.
func (n noise) drawGeometric(src *exact.Source) int64 {
	for {
		if k := n.Draw(src); k >= 0 {
			return k
		}
	}
}

// quantile returns the least k with P(|N| <= k) >= p, 0 < p < 1, where
// P(|N| <= k) = 1 - 2q^(k+1)/(1+q).
func (n noise) quantile(p float64) float64 {
	if n.stairs != nil {
		return n.stairs.quantile(n.rate, p)
	}
	// k+1 >= ln(2 / ((1+q)(1-p))) / rate; log1p and expm1 keep the digits when
	// p or rate is tiny.
	return max(0, math.Ceil((-elementary.Log1p(-p)-elementary.Log1p(elementary.Expm1(-n.rate)/2))/n.rate)-1)
}

// atLeast returns P(N >= k) for a whole number k.
func (n noise) atLeast(k float64) float64 {
	switch {
	case n.stairs != nil && k > 0:
		return n.stairs.atLeast(n.rate, k)
	case n.stairs != nil:
		return 1 - n.stairs.atLeast(n.rate, 1-k)
	case k > 0:
		return elementary.Exp(-n.rate*k) / (1 + elementary.Exp(-n.rate))
	}
	return 1 - elementary.Exp(n.rate*(k-1))/(1+elementary.Exp(-n.rate))
}

// between returns P(i <= N <= j) for whole numbers i and j.
func (n noise) between(i, j float64) float64 {
	if i > j {
		return 0
	}
	if j < 0 {
		i, j = -j, -i
	}
	if i > 0 && n.stairs == nil {
		return n.atLeast(i) * -elementary.Expm1(-n.rate*(j-i+1))
	}
	return n.atLeast(i) - n.atLeast(j+1)
}

// leastWithin returns the least P(|N - a| <= room) over the real numbers a, |a| <= shift.
//
// While a grows from 0 to shift, the whole numbers from a-room to a+room lose the lowest
// and gain a new highest one in turn, if room is 1 or so at least. A loss is followed by the
// gain of a less likely number. So the least is reached just after the last loss, or at 0
// without one.
func (n noise) leastWithin(room, shift float64) float64 {
	lost := math.Ceil(shift-room) - 1
	if lost < -room {
		return n.between(math.Ceil(-room), math.Floor(room))
	}
	return n.between(lost+1, lost+math.Floor(2*room))
}
