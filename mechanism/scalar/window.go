package scalar

import (
	"math"
	"math/big"

	"github.com/geosql/geosql/mechanism/exact"
)

// half returns h of the window around a percentile of m readings, m > 0: those of the h ranks on either side of it, sqrt(10 m/(epsilon
// (hi-lo))) in all or so, but as many on one side as on the other. Where readings lie evenly over the universe, the window
// is then about as wide as a draw by score.
func (l *scored) half(m int) int {
	before := l.below(m)
	h := math.Sqrt(2.5 * float64(m) / l.times(l.universe.hi-l.universe.lo))
	return int(min(h, float64(before), float64(m-1-before)))
}

// drawWindow returns the index of the mean of a window with noise, rounded to the grid.
//
// # Privacy
//
// The window has the readings of ranks k-h..k+h, k the rank of the percentile. Both are functions of m, epsilon, the universe
// and p, which are the same for any two databases at a finite distance under d1. Readings in the order of size are no farther
// apart than in any other, sum |x_(i) - y_(i)| <= sum |x_i - y_i|: wherever two pairs cross, to swap their ends
// makes the sum no larger. So readings that move by d in all, D = d/step steps, move the sum of the
// window by D at most, however many readings it has. Noise on that sum at a rate of epsilon*step
// spends epsilon*step*D = epsilon*d. The answer is a function of the noisy sum and of 2h+1, which is public.
func (l *scored) drawWindow(src *exact.Source, a *Accumulator) int128 {
	sorted := a.sorted(l.universe)
	k, h := l.below(len(sorted)), l.half(len(sorted))
	var sum uint128
	for _, x := range sorted[k-h : k+h+1] {
		sum = sum.add(uint64(x))
	}
	// floor(noisy/(2h+1) + 1/2)
	readings := big.NewInt(int64(2*h + 1))
	noisy := l.noise.add(src, sum.times(1)).big()
	noisy.Lsh(noisy, 1).Add(noisy, readings)
	noisy.Div(noisy, readings.Lsh(readings, 1))
	switch {
	case noisy.Sign() < 0:
		return l.low
	case noisy.Cmp(big.NewInt(l.universe.last)) > 0:
		return l.high
	}
	return fromInt64(noisy.Int64())
}
