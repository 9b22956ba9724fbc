package scalar

import (
	"math"

	"github.com/geosql/geosql/internal/elementary"
)

// Under d1, a percentile is either noised or drawn by score, whichever has the smaller worst
// ratio of its expected error to that of the other, over three reference cases: m readings that
// lie evenly over the whole universe, over the 32nd of it at lo, and over the 32nd at hi. The
// number of readings, epsilon, the universe and p decide, which are public; the readings do
// not.
//
// Noise is about as wide wherever the readings are. Scores gain by any factor where many lie
// around the percentile, as around the minimum of readings that crowd near lo. Where hardly any
// do, as around their maximum, they lose by about four at most, but for errors of less than a
// step: 2/epsilon in place of 1/(2 epsilon), which is that of noise at an end of the universe.
// A sum of errors would nearly be that of the cases in which neither is accurate; hence
// ratios. No choice is right in all cases: among readings near hi, it is the minimum that is
// better noised.
var referenceCases = [...]span{{0, 1}, {0, 1. / 32}, {31. / 32, 1}}

// A span is a part of the universe, which is 0..1, over which readings lie evenly.
type span struct{ from, to float64 }

// prefersScore reports whether the percentile of m readings is better drawn by score.
func (l *scored) prefersScore(m int) bool {
	if m == 0 {
		return false // lo, noised
	}
	scored, noised := 0.0, 0.0 // the largest ratios
	for _, c := range referenceCases {
		byScore, byNoise := l.scoredError(m, c), l.noisedError(m, c)
		scored = max(scored, byScore/byNoise)
		noised = max(noised, byNoise/byScore)
	}
	return scored < noised // false if both errors underflow, as 0/0 is not a number
}

// reference returns the percentile of a reference case, how far above it was before it was
// moved to the universe's grid, and how far apart neighbouring readings are, in steps.
func (l *scored) reference(m int, c span) (percentile int64, moved, gap float64) {
	last := float64(l.universe.last)
	gap = (c.to - c.from) * last / float64(m)
	at := float64(c.from*last) + float64((float64(l.below(m))+0.5)*gap)
	return int64(math.Round(at)), at - math.Round(at), gap
}

// noisedError returns the expected error of the truncated geometric mechanism in steps:
// on a side with room for n steps, the sum of P(N >= j) = q^j/(1+q) for j up to n.
func (l *scored) noisedError(m int, c span) float64 {
	at, _, _ := l.reference(m, c)
	side := func(room int64) float64 {
		return elementary.Exp(-l.noise.rate) * elementary.Expm1(-l.noise.rate*float64(room)) / elementary.Expm1(-2*l.noise.rate)
	}
	return side(at) + side(l.universe.last-at)
}

// scoredError returns the expected error of a draw by score in steps, to a thousandth or
// so.
func (l *scored) scoredError(m int, c span) float64 {
	at, moved, gap := l.reference(m, c)
	below := l.below(m)
	down, downError := l.side(at, below, -moved, gap)
	up, upError := l.side(l.universe.last-at, m-1-below, moved, gap)
	return (downError + upError) / (down + 1 + up)
}

// side returns the weights on one side of the percentile, where there is room for so many
// steps, and the sum of each weight times its distance. Of the others, the c-th lies at
// offset + c*gap, moved to the grid. It takes one round for each distance at which a
// reading lies.
func (l *scored) side(room int64, others int, offset, gap float64) (weights, moment float64) {
	const enough = 15 // what is left out is below e^-15 of what is not, for each reading
	rate := l.noise.rate / 2
	score := 0.0
	for at := int64(0); at < room && rate*score < enough; {
		passed := int(min(float64(others), (float64(at)+0.5-offset)/gap))
		slope := float64(passed + 1)
		end := room
		if passed < others {
			end = min(room, max(at+1, int64(math.Floor(float64(slope*gap)+offset+0.5))))
		}
		n := float64(end - at)
		// The sums of u^j and j*u^j for j = 1..n.
		y := rate * slope
		u := elementary.Exp(-y)
		sum := u * elementary.Expm1(-y*n) / elementary.Expm1(-y)
		first := sum * (n + 1) / 2 // where all weights are about the same
		if y*n > 1e-3 {
			first = (sum - float64(n*elementary.Exp(-y*(n+1)))) / -elementary.Expm1(-y)
		}
		w := elementary.Exp(-rate * score)
		weights += float64(w * sum)
		moment += float64(w * (float64(float64(at)*sum) + first))
		score += float64(slope * n)
		at = end
	}
	return weights, moment
}
