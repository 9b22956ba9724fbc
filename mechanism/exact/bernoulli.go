package exact

import (
	"math"
	"math/big"
)

// BernoulliExp returns true with probability e^-x exactly, for a rational
// x >= 0; below 0 it is always true.
func (s *Source) BernoulliExp(x *big.Rat) bool {
	if x.Sign() <= 0 {
		return true
	}
	approx := nearly(x)
	w := s.Uint32()
	if answer, decided := enclose32(w).exceeds(approx, approx); decided && !s.certify {
		return answer
	}
	return s.resume(w, approx, approx, rational{x})
}

// BernoulliExpL2 returns true with probability e^-x exactly, where
//
//	x = rate*sqrt(i^2+j^2) - a*(|i|+|j|),
//
// the acceptance test which turns two discrete Laplace laws of rate a into the
// planar law e^(-rate*sqrt(i^2+j^2)) on the lattice. Both numbers stand for
// the rationals they are, rate positive and finite, and 0 <= a*sqrt(2) <= rate
// makes x >= 0 by |i|+|j| <= sqrt(2)*sqrt(i^2+j^2).
func (s *Source) BernoulliExpL2(rate, a float64, i, j int64) bool {
	// In units of 2^-53, the root is off by at most 3, its product by 4, the
	// other product, which is not larger, by 3, and the difference adds 1: x
	// is known to within 2^-50 euclid. Underflow is far below any margin, and
	// overflow decides nothing.
	fi, fj := math.Abs(float64(i)), math.Abs(float64(j))
	euclid := rate * math.Sqrt(fi*fi+fj*fj)
	x := euclid - a*(fi+fj)
	w := s.Uint32()
	if answer, decided := enclose32(w).exceeds(x, euclid); decided && !s.certify {
		return answer
	}
	return s.resume(w, x, euclid, excess{rate, a, i, j})
}

// resume decides E > x from the first 32 bits of U, where approx is x to
// within scale*2^-49.
func (s *Source) resume(w uint32, approx, scale float64, p probability) bool {
	if _, decided := enclose32(w).exceeds(approx, scale); decided {
		return newUniform(s, uint64(w), 32).below(p)
	}
	word := uint64(w)<<32 | uint64(s.Uint32())
	if answer, decided := enclose64(word).exceeds(approx, scale); decided && !s.certify {
		return answer
	}
	return newUniform(s, word, 64).below(p)
}

// nearly returns x to within 3 * 2^-53 of itself, without allocation when
// numerator and denominator are small.
func nearly(x *big.Rat) float64 {
	if x.Num().IsInt64() {
		numerator := float64(x.Num().Int64())
		if x.IsInt() {
			return numerator
		}
		if x.Denom().IsInt64() {
			return numerator / float64(x.Denom().Int64())
		}
	}
	f, _ := x.Float64()
	return f
}
