package exact

import "math"

// BernoulliExpRatio returns true with probability e^-(rate*num/den) exactly;
// for num = 0 it is always true and reads no bit. rate is taken as the rational
// that it is, positive and finite, and den >= 1.
func (s *Source) BernoulliExpRatio(rate float64, num, den uint64) bool {
	if num == 0 {
		return true
	}
	// Two conversions, quotient and product are rounded, each by 2^-53 relative
	// at most, the divisor's to 1/(1-2^-53): x is known to within 5 units of
	// 2^-53, less than 2^-50 of it. The quotient, from 2^-64 to 2^64, is normal;
	// a product which underflows is off by far less than any margin, and one
	// which overflows decides nothing.
	x := rate * (float64(num) / float64(den))
	w := s.Uint32()
	if answer, decided := enclose32(w).exceeds(x, x); decided && !s.certify {
		return answer
	}
	return resume(s, w, 32, x, x, ratio{rate, num, den})
}

// LaplaceTest returns true with probability F(t) exactly, where
//
//	t = c - rate*sqrt(i^2+j^2),
//	F(t) = e^t/2 for t <= 0 and 1 - e^-t/2 for t >= 0,
//
// is the distribution function of the standard Laplace law. It tests whether a
// distance is at most a threshold plus Laplace noise, without drawing the noise. rate
// and c are taken as the rationals that they are, finite, rate positive.
//
// Neither ln F nor ln(1-F(t)) = ln F(-t) has a slope beyond ±1: for t <= 0 it is
// 1, for t >= 0 it is (e^-t/2)/(1 - e^-t/2) <= 1. So for two points the
// probabilities of an outcome differ by a factor of at most e^(rate*d), where d is
// the difference of their distances to the origin: by the triangle inequality, at
// most the distance between them.
//
// A Laplace variate is a fair sign times E, so F(t) is the average of P(E <= t)
// and P(-E <= t).
func (s *Source) LaplaceTest(rate, c float64, i, j int64) bool {
	// As in PlanarLaplace.exponent the product is off by at most 4 units of 2^-53, and
	// the difference adds 1 of at most scale.
	fi, fj := float64(i), float64(j)
	euclid := rate * math.Sqrt(fi*fi+fj*fj)
	t, scale := c-euclid, math.Abs(c)+euclid
	negative := s.Bool()
	if negative { // -E <= t when E >= -t
		t = -t
	}
	w := s.Uint32()
	exceeds, decided := enclose32(w).exceeds(t, scale)
	if !decided || s.certify {
		exceeds = resume(s, w, 32, t, scale, overshoot{rate, c, i, j, negative})
	}
	return exceeds == negative
}

// resume reports whether E > x, given the first n <= 32 bits of U. approx is x to within
// scale*2^-49. p becomes an interface, which allocates, only where 64 bits do not decide.
func resume[P probability](s *Source, w uint32, n int, approx, scale float64, p P) bool {
	if _, decided := enclose(w, n).exceeds(approx, scale); decided {
		return newUniform(s, uint64(w), uint(n)).below(p)
	}
	word := s.lengthen(w, n)
	if answer, decided := enclose64(word).exceeds(approx, scale); decided && !s.certify {
		return answer
	}
	return newUniform(s, word, 64).below(p)
}
