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
	w := s.Uint32()
	if k, decided := enclose32(w).quotient(v.offset, v.inverse); decided && !s.certify {
		return k
	}
	return v.resume(s, w, tail)
}

// resume continues draw from the first 32 bits of U.
func (v inversion) resume(s *Source, w uint32, tail tailFunc) int64 {
	if _, decided := enclose32(w).quotient(v.offset, v.inverse); decided {
		return v.search(newUniform(s, uint64(w), 32), tail)
	}
	word := uint64(w)<<32 | uint64(s.Uint32())
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
