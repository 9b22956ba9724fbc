package exact

import (
	"fmt"
	"math"
	"math/big"
)

// Splits decides which squares of a quadtree are split into four: PrivTree (Zhang, Xiao and Xie 2016, arXiv:1601.03229) on
// integers. It is made by [NewSplits], immutable, and safe for concurrent use with a [Source] per goroutine.
type Splits struct {
	noise DiscreteLaplace // of rate a
	delta int64
}

// NewSplits returns the law with the largest noise rate a, to within 2^-20 of it, for which a record that is replaced
// changes the probability of no tree by more than a factor of e^spends.
//
// # Privacy
//
// A square at depth t with c records has x = max(c - t*delta, -delta), and is split if x + Z > 0, Z discrete Laplace of rate a,
// with probability p(x). With q = e^-a,
//
//	p(x) = 1 - q^x/(1+q) for x >= 0,  q^(1-x)/(1+q) for x <= 0,
//
// and g(x) = ln(p(x+1)/p(x)) is a up to x = 0 and falls from there. A record that is added adds 1 to the x of squares around
// it, unless they are at the floor before and after. On the way down the others fall by delta at least, from one to the next, and
// none is below -delta, so
//
//   - the probability of a tree grows by a factor of e^K at most, K = g(-delta) + g(0) + g(delta) + .., since a square that
//     is not split has become less likely;
//   - it falls by a factor of e^a at most, by the one square around the record that is not split.
//
// A record that is replaced is added in some squares and removed from others, and where both places lie in a square
// nothing changes: together K + a. The first two terms of K are a each. As ln(1+y) <= y, with Q = q^delta
//
//	g(j*delta) <= (p(x+1)-p(x))/p(x) = Q^j(1-q)/(1+q-Q^j) <= Q^j(1-q)/(1+q-Q),
//	K + a <= 3a + Q(1-q)/((1+q-Q)(1-Q)).
//
// delta is the least integer with Q <= 1/4: a square at the floor is split with probability q*Q/(1+q) < 1/8, which four of
// them do not keep alive. Then the last term is below a/2, so that a = spends/4 will do, and no a above spends/3 does. The
// bound grows with a. It is decided by rationals.
func NewSplits(spends *big.Rat) (*Splits, error) {
	low, err := RateFloor(new(big.Rat).Quo(spends, big.NewRat(4, 1)))
	if err != nil {
		return nil, err
	}
	if low < minSparseRate {
		return nil, fmt.Errorf("rate %v is below 2^-45", low)
	}
	for step := low / 4; step > low*0x1p-22; step /= 2 {
		if _, bound := splitBound(low + step); bound.Cmp(spends) <= 0 {
			low += step
		}
	}
	delta, _ := splitBound(low)
	noise, err := NewDiscreteLaplace(low)
	return &Splits{noise: noise, delta: delta}, err
}

// splitBound returns the least delta for a rate a, or one more, and an upper bound of K + a.
func splitBound(rate float64) (delta int64, bound *big.Rat) {
	const precision = 160 // the rate is at least 2^-45
	a, unit := new(big.Rat).SetFloat64(rate), big.NewRat(1, 1)
	delta = int64(math.Ceil(2 * math.Ln2 / rate))
	qAtLeast, _ := ExpBounds(a, precision)
	var many *big.Rat // Q at most
	for ; ; delta++ {
		x := new(big.Rat).SetInt64(delta)
		if _, many = ExpBounds(x.Mul(x, a), precision); many.Cmp(big.NewRat(1, 4)) <= 0 {
			break
		}
	}
	tail := new(big.Rat).Sub(unit, qAtLeast)
	tail.Mul(tail, many)
	tail.Quo(tail, new(big.Rat).Sub(new(big.Rat).Add(unit, qAtLeast), many))
	tail.Quo(tail, new(big.Rat).Sub(unit, many))
	return delta, tail.Add(tail, a.Mul(a, big.NewRat(3, 1)))
}

// Split draws whether a square at some depth below the root, which is at depth 0, is split.
func (s *Splits) Split(src *Source, count int64, depth int) bool {
	return s.noise.Draw(src) > -max(count-int64(depth)*s.delta, -s.delta)
}
