package budget

import (
	"math"
	"math/big"
	"sort"

	"github.com/geosql/geosql/internal/elementary"
)

// Delta converts a loss of rho per square metre to epsilon and delta for
// locations that are distance metres apart: if for every order a > 1 the Rényi divergence
// between two worlds is at most a*rho*distance^2, then each event has a probability of at
// most e^epsilon times that in the other world, plus Delta. It is the least delta that
// follows by
//
//	delta = e^((a-1)(a*rho*distance^2 - epsilon))/(a-1) * (1-1/a)^a
//
// from one of the orders (Canonne, Kamath and Steinke, The Discrete Gaussian for
// Differential Privacy, 2020, proposition 12), rounded up. That holds for any sum of
// releases; if all are Gaussian, [GaussDelta] is less. rho, distance and epsilon must be above 0.
//
// With b = a-1, the logarithm is b((1+b)r - epsilon) - b*ln(1+1/b) - ln(1+b) for
// r = rho*distance^2. It is convex: its derivative (1+2b)r - epsilon - ln(1+1/b)
// grows with b. Any b holds, so that the search for the least decides nothing.
func Delta(rho, distance, epsilon float64) float64 {
	r := up(up(rho*distance) * distance)
	low, high := 0x1p-100, 0x1p100
	for range 64 {
		b := math.Sqrt(low * high)
		if float64((1+float64(2*b))*r)-epsilon-elementary.Log1p(1/b) < 0 {
			low = b
		} else {
			high = b
		}
	}
	b := high
	// Of sums and products of a few positive numbers each, rounded.
	const slack = 0x1p-48
	gain, loss := b*(1+b)*r, float64(b*epsilon)+float64(b*elementary.Log1p(1/b))+elementary.Log1p(b)
	exponent := float64(gain*(1+slack)) - float64(loss*(1-slack))
	if !(exponent < 0) { // also if both are too large to be numbers
		return 1
	}
	return min(1, up(elementary.Exp(exponent)*(1+slack)))
}

// Factor returns e^(epsilon*distance), rounded up: with epsilon per metre, how much likelier an answer may be from one of two
// locations that are distance metres apart than from the other. It is infinite beyond the largest float64.
func Factor(epsilon, distance *big.Rat) float64 {
	exponent := new(big.Rat).Mul(epsilon, distance)
	if exponent.Sign() == 0 {
		return 1
	}
	x, exact := exponent.Float64()
	if !exact {
		x = up(x)
	}
	if x > math.Log(math.MaxFloat64) {
		return math.Inf(1)
	}
	return up(up(up(elementary.Exp(x)))) // which is off by 2 units in the last place
}

// up returns the next float64. An operation of IEEE arithmetic is off by less.
func up(x float64) float64 { return math.Nextafter(x, math.Inf(1)) }

// LargestRho returns the largest rho at which [Delta] is at most delta, among the decimals
// of at most six significant digits from 1e-12 to [Max]. So it is at most 1e-5 of itself
// below the largest of all, and it can be charged. It reports false if none is small
// enough.
func LargestRho(epsilon, delta, distance float64) (rho *big.Rat, ok bool) {
	return largestRho(delta, func(rho float64) float64 { return Delta(rho, distance, epsilon) })
}

func largestRho(delta float64, of func(rho float64) float64) (rho *big.Rat, ok bool) {
	k := sort.Search(decimals, func(k int) bool {
		r, _ := decimal(k).Float64()
		return of(r) > delta
	})
	if k == 0 {
		return nil, false
	}
	return decimal(k - 1), true
}
