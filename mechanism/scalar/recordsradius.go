package scalar

import (
	"fmt"
	"math"
)

// How far an average of m >= 1 records is off, under nd1 and dh. All of this is in half steps
// from the middle of the universe, which reaches from -n to n.
//
// Let y = Y/m be the true average, N and M the noises of Y and m, and D = max(1, m+M) the
// number that is divided by. Before it is moved into the universe, the answer is off by
//
//	(Y+N)/D - y = (N - y*(D-m))/D.
//
// Then it is rounded, which moves it by c/D at most, c being a 2000th of N's scale (see digits.go).
//
// The law does not change if all readings are mirrored at the middle, so let y >= 0. Moving
// the answer into the universe helps where an end of it is at most r from y:
//
//   - If y < n-r, neither end is. The answer is within r if |N - y*(D-m)| <= r*D - c. Given D,
//     that is the less likely the larger y is, but for the steps of N, which
//     [noise.leastWithin] allows for. So y = n-r is the worst.
//   - If y >= |n-r|, the end n is, and with it all answers above y. The answer is within r
//     if N >= y*(D-m) - r*D + c. Given D, that is the least likely at y = n if D > m, and at
//     y = |n-r| if D < m.
//   - If y < r-n, both ends are, and with them all answers.
//
// The sums over the law of D of the first two probabilities are lower bounds whatever the
// readings are. Readings whose average is just over r from an end meet the first, but for
// those steps. The second is the lesser one only if the noise is as large as the universe.
//
// An answer z whose D is known tells more. The law of N - y*M does not depend on m, and |D-m|
// is at most |M|, with the same sign. Let Q(y) be the p-quantile of |N - y*M|, which grows
// with y. So with probability p at least, the true average is one of the y for which
// D*|z-y| <= Q(y) + c, whatever the readings and m are; moving z into the universe only takes it
// nearer to y. All of these y are within r of z if r is (Q(min(n, |z|+r)) + c)/D, or more.

// radius returns, in the unit, the least distance that holds for the worst readings, as said above.
func (v *recordsMean) radius(p float64, m int64) (float64, error) {
	if m == 0 {
		return 0, fmt.Errorf("rows must be given: the accuracy of an average under %v depends on how many there are", v.metric)
	}
	r := leastFor(p, 2*float64(v.universe.last), func(r float64) float64 { return v.within(r, m) })
	return v.inUnit(r), nil
}

// rounding returns c.
func (v *recordsMean) rounding() float64 { return float64(roundoff * v.sum.scale()) }

// spread returns Q(y) + c.
func (v *recordsMean) spread(p, y float64) float64 {
	return v.rounding() + leastFor(p, math.MaxFloat64, func(room float64) float64 {
		return v.overCounts(math.Inf(-1), func(from, to float64) float64 {
			return v.sum.leastWithin(room, y*max(-from, to))
		})
	})
}

// inUnit returns a distance of half steps in the unit, and hi-lo if that is less.
func (v *recordsMean) inUnit(halfSteps float64) float64 {
	u := v.universe
	return min(halfSteps/2*float64(u.stride), float64(u.width())) / u.scale
}

// within returns a lower bound of the probability that an average of m records is within
// r half steps of the true one, whatever the readings are; 0 <= r < 2n.
func (v *recordsMean) within(r float64, m int64) float64 {
	n, rows, c := float64(v.universe.last), float64(m), v.rounding()
	least := func(count float64) float64 { // convex, so that a run has its largest at an end
		y := n
		if count < 0 {
			y = math.Abs(n - r)
		}
		return float64(y*count) - float64(r*(rows+count)) + c
	}
	oneSided := v.overCounts(1-rows, func(from, to float64) float64 {
		return v.sum.atLeast(math.Ceil(max(least(from), least(to))))
	})
	if r >= n {
		return oneSided
	}
	return min(oneSided, v.overCounts(1-rows, func(from, to float64) float64 {
		return v.sum.leastWithin(float64(r*(rows+from))-c, (n-r)*max(-from, to))
	}))
}

// overCounts returns the expectation over M of a probability given M. It asks for the
// probability over a run of values of M at a time, at most 1/64 of the noise's scale,
// where a lower bound for the run is wanted. Values of M below lowest count as lowest.
func (v *recordsMean) overCounts(lowest float64, probability func(from, to float64) float64) float64 {
	run := max(1, math.Floor(1/(64*v.count.rate)))
	most := math.Ceil(40 / v.count.rate) // |M| is more with probability e^-40
	sum, from := 0., -most
	if lowest >= from {
		sum = v.count.atLeast(-lowest) * probability(lowest, lowest)
		from = lowest + 1
	}
	for ; from <= most; from += run {
		to := from + run - 1
		sum += float64(v.count.between(from, to) * probability(from, to))
	}
	return sum
}

// leastFor returns an x for which a probability that grows with x, to 1 at most, is p or
// more. It exceeds the least such x by 1e-9 of it at most.
func leastFor(p, most float64, probability func(x float64) float64) float64 {
	if probability(0) >= p {
		return 0
	}
	// Of two positive numbers the larger one has the larger bits.
	low, high := uint64(0), math.Float64bits(most)
	for high-low > 1<<20 {
		middle := low + (high-low)/2
		if probability(math.Float64frombits(middle)) >= p {
			high = middle
		} else {
			low = middle
		}
	}
	return math.Float64frombits(high)
}
