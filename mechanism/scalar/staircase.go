package scalar

import (
	"math"
	"math/big"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/elementary"
	"github.com/geosql/geosql/mechanism/exact"
)

// A staircase is noise for a number that a record moves by up to a width D, at a rate for that move. With b = e^-rate,
//
//	P(N = i) = P(N = -i),  P(N = i+D) = b*P(N = i) for i >= 0,
//
// and among 0, .., D-1 the first few, the inner ones, are alike, and all others less likely by b. Of all noise that
// keeps the rate, one with the right number of inner ones has the least expected distance from 0. (Geng and Viswanath, The
// optimal mechanism in differential privacy, 2014; section 5 for integers.) Discrete Laplace noise has a rate for each step, and so keeps
// more than that: a move of d costs d/D of the rate, where here each move may cost all of it.
//
// # Privacy
//
// P falls with |i|, and by b over D steps. For numbers i and j, |i| >= |j|, that are at most k*D apart, |i| <= |j|+k*D, so that
// P(N = i) >= P(N = |j|+k*D) = b^k*P(N = j). So a record costs the rate, and k records cost k times the rate, also if they are of
// one account, or one value k times.
type staircase struct {
	width, inner int64
	outer        float64 // b, and next to it 1-b
	rest         float64
	weight       float64           // of 0, .., D-1 if an inner one weighs 1
	chance       exact.Probability // of an inner one
	mean         float64           // the expected distance from 0
}

// leastStairs is the least rate for staircases: there they have a 25th less error than Laplace noise, and below it less.
var leastStairs = big.NewRat(1, 1)

// newRecordNoise returns noise for a number that a record moves by at most a width, at a rate for that move: a staircase where that
// gains something, but not under nd1, where a smaller move spends less.
func (s setting) newRecordNoise(rate *big.Rat, width int64) (noise, error) {
	if s.metric != budget.DH || width == 1 || rate.Cmp(leastStairs) < 0 {
		return newNoise(new(big.Rat).Quo(rate, new(big.Rat).SetInt64(width)))
	}
	n, err := newNoise(rate)
	if err != nil {
		return n, err
	}
	best := int64(float64(width) / (1 + elementary.Exp(n.rate/2))) // or one more
	n.stairs = newStaircase(n.rate, width, max(1, best))
	if other := newStaircase(n.rate, width, best+1); other.mean < n.stairs.mean {
		n.stairs = other
	}
	return n, nil
}

func newStaircase(rate float64, width, inner int64) *staircase {
	s := &staircase{width: width, inner: inner, outer: elementary.Exp(-rate), rest: -elementary.Expm1(-rate)}
	all, few := float64(width), float64(inner)
	s.weight = few + float64(s.outer*(all-few))
	s.chance = innerChance{new(big.Rat).SetFloat64(rate), big.NewRat(inner, 1), big.NewRat(width-inner, 1)}
	// The mean of one side is that of the beginning of a stair and that of the place on it. Both sides have 0.
	first := float64(few * (few - 1) / 2)
	place := first + float64(s.outer*(float64(all*(all-1)/2)-first))
	s.mean = 2 * (float64(all*s.weight)*s.outer/s.rest + place) / (float64(2*s.weight) - s.rest)
	return s
}

// innerChance is inner/(inner + outer*e^-rate).
type innerChance struct{ rate, inner, outer *big.Rat }

// Bounds has no more than 2^53 of the distance between bounds of e^-rate.
func (c innerChance) Bounds(prec uint) (lo, hi *big.Rat) {
	share := func(b *big.Rat) *big.Rat {
		b.Add(b.Mul(b, c.outer), c.inner)
		return b.Quo(c.inner, b)
	}
	low, high := exact.ExpBounds(c.rate, prec+53)
	return share(high), share(low)
}

// draw returns the noise. A stair is geometric, the place on it one of the inner ones or of the others, all alike. The sign is fair;
// of 0 and -0 only one counts.
func (s *staircase) draw(src *exact.Source, stairs noise) int128 {
	const slack = 1e-13 // elementary.Exp is within two units in the last place, and three operations round
	near := float64(s.inner) / s.weight
	for {
		stair, u := stairs.drawGeometric(src), src.Uniform()
		var place uint64
		if u.Below(near-slack, near+slack, s.chance) {
			place = src.Below(uint64(s.inner))
		} else {
			place = uint64(s.inner) + src.Below(uint64(s.width-s.inner))
		}
		n := uint128{lo: uint64(stair)}.times(uint64(s.width)).add(fromInt64(int64(place)))
		switch negative := src.Bool(); {
		case !negative:
			return n
		case n != int128{}:
			return n.neg()
		}
	}
}

// atLeast returns P(N >= k) for a whole number k above 0.
func (s *staircase) atLeast(rate, k float64) float64 {
	stair := math.Floor(k / float64(s.width))
	place := k - float64(stair*float64(s.width))
	beyond := float64(s.outer * (float64(s.width) - max(place, float64(s.inner)))) // the weight of the places from this one on
	beyond += max(0, float64(s.inner)-place)
	return elementary.Exp(-rate*stair) * (float64(beyond*s.rest) + float64(s.outer*s.weight)) / (float64(2*s.weight) - s.rest)
}

// quantile returns the least k with P(|N| <= k) >= p, 0 < p < 1.
func (s *staircase) quantile(rate, p float64) float64 {
	stairs := 2 + math.Ceil(-elementary.Log1p(-p)/rate) // P(|N| >= i*D) is at most 2*e^(-rate*i)
	return float64(search(int64(stairs)*s.width, func(k int64) bool { return 2*s.atLeast(rate, float64(k+1)) <= 1-p }))
}
