package exact

import (
	"errors"
	"fmt"
	"math"
)

// A DiscreteGaussian is the law on the integers
//
//	P(k) = e^(-rate k^2)/S,  S = sum of e^(-rate j^2) over all integers j,
//
// the discrete Gaussian of Canonne, Kamath and Steinke (2020) with
// sigma^2 = 1/(2 rate). It is made by [NewDiscreteGaussian], immutable, and safe for
// concurrent use with a [Source] per goroutine.
//
// Moving the integer that it is added to by d changes the law by a Rényi divergence of
// at most order*rate*d^2, for every order a > 1 (their proposition 5). Proof: for a shift
// by d, completing the square in
//
//	a (k-d)^2 + (1-a) k^2 = (k - a d)^2 - a(a-1) d^2
//
// turns e^((a-1) D_a), the sum of P(k-d)^a P(k)^(1-a), into e^(a(a-1) rate d^2) times the
// sum of e^(-rate (k-c)^2) over k for c = a d, divided by S. By Poisson's summation
// formula that sum is a constant times the sum of e^(-(pi n)^2/rate) cos(2 pi n c) over
// all integers n, which is largest where c is an integer, and is S there.
type DiscreteGaussian struct {
	rate     float64
	proposal DiscreteLaplace

	// sqrt(rate) and a/(2 sqrt(rate)), rounded: they decide nothing on their own.
	root, middle float64
}

// minGaussianRate bounds the rates from below, and with it the probability that a proposal
// is moved to ±MaxInt64: that takes some 2^32 leading zeros of U.
const minGaussianRate = 0x1p-64

// NewDiscreteGaussian returns the law with the given rate, 1/(2 sigma^2), which must be
// finite and at least 2^-64. It is taken as the rational number that it is; see
// [RateFloor].
func NewDiscreteGaussian(rate float64) (DiscreteGaussian, error) {
	if math.IsNaN(rate) || math.IsInf(rate, 1) || rate <= 0 {
		return DiscreteGaussian{}, fmt.Errorf("rate %v is not positive and finite", rate)
	}
	if rate < minGaussianRate {
		return DiscreteGaussian{}, errors.New("rate is below 2^-64")
	}
	root := math.Sqrt(rate)
	a := math.Sqrt2 * root // 1/sigma. Any other number has the same law, with more proposals.
	proposal, err := NewDiscreteLaplace(a)
	return DiscreteGaussian{rate: rate, proposal: proposal, root: root, middle: a / (2 * root)}, err
}

// Draw returns an exact sample.
//
// A discrete Laplace variate of rate a proposes k with probability proportional to
// e^(-a|k|). It is accepted with probability e^-x, where
//
//	x = rate k^2 - a|k| + a^2/(4 rate) = (2 rate |k| - a)^2/(4 rate) >= 0,
//
// which leaves the law wanted: algorithm 3 of Canonne, Kamath and Steinke, with 1/a in
// place of their integer t. 3 in 4 proposals are accepted if sigma is large. A rejected
// proposal is discarded whole and depends on no secret.
func (g DiscreteGaussian) Draw(s *Source) int64 {
	for {
		if k := g.proposal.Draw(s); g.accept(s, k) {
			return k
		}
	}
}

// accept returns true with probability e^-x.
func (g DiscreteGaussian) accept(s *Source, k int64) bool {
	// x = (root |k| - middle)^2. In units of 2^-53 of scale's root, the first product is off
	// by at most 3, middle by 2, and the difference adds 1: their errors and the square's
	// leave x within 9 units of scale. Overflow decides nothing.
	magnitude := max(k, -k)
	far := g.root * float64(magnitude)
	difference, sum := far-g.middle, far+g.middle
	x, scale := difference*difference, sum*sum
	w := s.Uint32()
	if answer, decided := enclose32(w).exceeds(x, scale); decided && !s.certify {
		return answer
	}
	return resume(s, w, 32, x, scale, square{g.rate, g.proposal.rate, uint64(magnitude)})
}
