package exact

import (
	"fmt"
	"math"
)

// A PlanarLaplace is the planar Laplace law on the lattice of integers,
//
//	P(i, j) ~ e^(-rate*sqrt(i^2+j^2)).
//
// It is made by [NewPlanarLaplace], immutable, and safe for concurrent use with a [Source]
// per goroutine.
type PlanarLaplace struct {
	rate float64
	axis DiscreteLaplace // of the proposals
}

// NewPlanarLaplace returns the law with the given rate, which must be positive and finite. It
// is drawn by proposals of a lower rate: proposal > 0 and proposal*sqrt 2 <= rate, the nearer
// the better. Both are taken as the rational numbers that they are.
func NewPlanarLaplace(rate, proposal float64) (PlanarLaplace, error) {
	if !(rate > 0) || math.IsInf(rate, 1) {
		return PlanarLaplace{}, fmt.Errorf("rate %v is not positive and finite", rate)
	}
	axis, err := NewDiscreteLaplace(proposal)
	return PlanarLaplace{rate, axis}, err
}

// Draw returns an exact sample.
//
// Two independent discrete Laplace variates of rate a propose (i, j) with probability
// proportional to exp(-a*(|i|+|j|)); accepting with probability
//
//	exp(-(rate*sqrt(i^2+j^2) - a*(|i|+|j|)))
//
// leaves the product, which is the law wanted. It is a probability because
// |i|+|j| <= sqrt 2 * sqrt(i^2+j^2) and a*sqrt 2 <= rate. About pi/4 of the proposals are
// accepted where a is hardly less than that. A rejected proposal is discarded whole.
func (l *PlanarLaplace) Draw(s *Source) (i, j int64) {
	for {
		if i, j, accepted := l.propose(s); accepted {
			return i, j
		}
	}
}

// A proposal takes one word: axisBits for each magnitude, a sign for each, and acceptBits. Where
// they do not decide, more are read. Fewer bits for the magnitudes would often be too few on
// fine lattices; 8 bits leave one acceptance in a hundred open.
const (
	axisBits   = 27
	acceptBits = 8
)

// byteEnclosures has enclose(w, acceptBits) for every w.
var byteEnclosures = func() (table [1 << acceptBits]enclosure) {
	for w := range table {
		table[w] = enclose(uint32(w), acceptBits)
	}
	return table
}()

// propose draws a proposal and reports whether it is accepted.
func (l *PlanarLaplace) propose(s *Source) (i, j int64, accepted bool) {
	word := s.Uint64()
	wi, wj := uint32(word>>(64-axisBits)), uint32(word>>(64-2*axisBits))&(1<<axisBits-1)
	w := uint32(word) & (1<<acceptBits - 1)
	i, iDecided := enclose(wi, axisBits).quotient(l.axis.offset, l.axis.inverse)
	j, jDecided := enclose(wj, axisBits).quotient(l.axis.offset, l.axis.inverse)
	x, scale := l.exponent(i, j)
	accepted, decided := byteEnclosures[w].exceeds(x, scale)
	if !(iDecided && jDecided && decided) || s.certify {
		i = l.axis.from(s, wi, axisBits, laplaceTail)
		j = l.axis.from(s, wj, axisBits, laplaceTail)
		accepted = l.accept(s, w, acceptBits, i, j)
	}
	return signed(i, word>>(acceptBits+1)), signed(j, word>>acceptBits), accepted
}

// signed returns k, or -k if the last bit is set.
func signed(k int64, bits uint64) int64 {
	mask := -int64(bits & 1) // a branch would be taken every other time
	return k ^ mask - mask
}

// accept accepts a proposal with probability e^-x exactly, where
//
//	x = rate*sqrt(i^2+j^2) - a*(|i|+|j|),
//
// given the first n <= 32 bits of U.
func (l *PlanarLaplace) accept(s *Source, w uint32, n int, i, j int64) bool {
	x, scale := l.exponent(i, j)
	if answer, decided := enclose(w, n).exceeds(x, scale); decided && !s.certify {
		return answer
	}
	return resume(s, w, n, x, scale, excess{l.rate, l.axis.rate, i, j})
}

// exponent returns x to within scale*2^-49.
func (l *PlanarLaplace) exponent(i, j int64) (x, scale float64) {
	// In units of 2^-53, the root is off by at most 3, its product by 4, the
	// other product, which is not larger, by 3, and the difference adds 1: x
	// is known to within 2^-50 euclid. Underflow is far below any margin, and
	// overflow decides nothing.
	a := l.axis.rate
	fi, fj := math.Abs(float64(i)), math.Abs(float64(j))
	euclid := l.rate * math.Sqrt(fi*fi+fj*fj)
	x = euclid - a*(fi+fj)
	return x, euclid
}
