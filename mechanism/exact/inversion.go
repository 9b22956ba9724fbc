package exact

import (
	"fmt"
	"math"
)

// An inversion draws k = floor((E + offset)/rate) for a standard exponential
// variate E = -ln U: a k >= 0 with the tail
//
//	P(k >= n) = e^(offset - rate n)  for n >= 1,
//
// since U is at most that when E >= rate n - offset, or n <= (E + offset)/rate.
type inversion struct {
	rate float64

	// 1/rate and the offset, rounded: they decide nothing on their own.
	inverse, offset float64
}

// newInversion checks the rate; for offset see quotient.
func newInversion(rate, offset float64) (inversion, error) {
	if !(rate > 0) || math.IsInf(rate, 1) {
		return inversion{}, fmt.Errorf("rate %v is not positive and finite", rate)
	}
	return inversion{rate: rate, inverse: 1 / rate, offset: offset}, nil
}

// A tailFunc returns the probability P(k >= n), n >= 1, of an inversion with the
// given rate.
type tailFunc func(rate float64, n uint64) probability

// draw returns k, or MaxInt64 if that is less.
func (v inversion) draw(s *Source, tail tailFunc) int64 {
	return v.from(s, s.Uint32(), 32, tail)
}

// from is draw for a U whose first n <= 32 bits are w.
func (v inversion) from(s *Source, w uint32, n int, tail tailFunc) int64 {
	if k, decided := enclose(w, n).quotient(v.offset, v.inverse); decided && !s.certify {
		return k
	}
	return v.resume(s, w, n, tail)
}

// resume continues from, where float64 does not decide or may not.
func (v inversion) resume(s *Source, w uint32, n int, tail tailFunc) int64 {
	if _, decided := enclose(w, n).quotient(v.offset, v.inverse); decided {
		return v.search(newUniform(s, uint64(w), uint(n)), tail)
	}
	word := s.lengthen(w, n)
	if k, decided := enclose64(word).quotient(v.offset, v.inverse); decided && !s.certify {
		return k
	}
	return v.search(newUniform(s, word, 64), tail)
}

// search decides k from U alone, to any precision.
func (v inversion) search(u *uniform, tail tailFunc) int64 {
	guess := uint64(math.MaxInt64)
	if n := (u.exponential() + v.offset) / v.rate; n < math.MaxInt64 {
		guess = uint64(n)
	}
	return lastReached(guess, func(n uint64) bool { return u.below(tail(v.rate, n)) })
}
