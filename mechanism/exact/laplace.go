package exact

import (
	"fmt"
	"math"
)

// A DiscreteLaplace is the two-sided geometric law on the integers,
//
//	P(k) = (1-q)/(1+q) q^|k|,  q = e^-rate,
//
// the geometric mechanism of Ghosh, Roughgarden and Sundararajan (2009): moving
// the integer it is added to by d changes no probability by more than a factor
// e^(rate d). It is made by [NewDiscreteLaplace], immutable, and safe for
// concurrent use with a [Source] per goroutine.
type DiscreteLaplace struct {
	rate float64

	// 1/rate and ln(2/(1+q)), rounded: they decide nothing on their own.
	inverse, offset float64
}

// NewDiscreteLaplace returns the law with the given rate, which stands for the
// rational number it is; it must be positive and finite. See [RateFloor].
func NewDiscreteLaplace(rate float64) (DiscreteLaplace, error) {
	if !(rate > 0) || math.IsInf(rate, 1) {
		return DiscreteLaplace{}, fmt.Errorf("rate %v is not positive and finite", rate)
	}
	return DiscreteLaplace{
		rate:    rate,
		inverse: 1 / rate,
		// (1+q)/2 = 1 + expm1(-rate)/2 >= 1/2. In units of 2^-53, 4 places of
		// Expm1 move the logarithm by at most 8, 4 of Log1p by less than 6.
		offset: -math.Log1p(math.Expm1(-rate) / 2),
	}, nil
}

// Draw returns an exact sample. One beyond int64 is moved to the nearest of
// ±MaxInt64 after it is drawn, which is post-processing.
func (d DiscreteLaplace) Draw(s *Source) int64 {
	k := d.magnitude(s)
	if s.Bool() {
		return -k
	}
	return k
}

// magnitude draws |k| by inversion. Its tail is
//
//	P(|k| >= n) = 2 q^n (1-q)/(1+q) / (1-q) = 2 q^n/(1+q)  for n >= 1,
//
// so |k| >= n when U is at most that, or E >= rate n - offset, or
// n <= (E + offset)/rate, with offset = ln(2/(1+q)). The floor of that
// quotient is |k|, at 0 too, since 2 < 1 + 1/q makes offset < rate. The sign
// is fair and has no effect on 0.
func (d DiscreteLaplace) magnitude(s *Source) int64 {
	w := s.Uint32()
	if k, decided := enclose32(w).quotient(d.offset, d.inverse); decided && !s.certify {
		return k
	}
	return d.resume(s, w)
}

// resume continues magnitude from the first 32 bits of U.
func (d DiscreteLaplace) resume(s *Source, w uint32) int64 {
	if _, decided := enclose32(w).quotient(d.offset, d.inverse); decided {
		return d.search(newUniform(s, uint64(w), 32))
	}
	word := uint64(w)<<32 | uint64(s.Uint32())
	if k, decided := enclose64(word).quotient(d.offset, d.inverse); decided && !s.certify {
		return k
	}
	return d.search(newUniform(s, word, 64))
}

// search decides |k| from U alone, to any precision.
func (d DiscreteLaplace) search(u *uniform) int64 {
	guess := uint64(math.MaxInt64)
	if n := (u.exponential() + d.offset) / d.rate; n < math.MaxInt64 {
		guess = uint64(n)
	}
	return lastReached(guess, func(n uint64) bool { return u.below(tail{d.rate, n}) })
}
