package scalar

import "math"

// Under d1, a percentile is either noised or drawn by score, whichever has the smaller
// expected error, summed over two reference cases: m readings that lie evenly over the
// whole universe, and over the eighth of it in its middle. Noise does not care where the
// readings are; the score gains where many lie around the percentile, and loses half of
// epsilon where hardly any do. The number of readings, epsilon, the universe and p decide,
// which are public; the readings do not.
var referenceSpreads = [...]float64{1, 1. / 8}

// prefersScore reports whether the percentile of m readings is better drawn by score.
func (q *Query) prefersScore(m int) bool {
	if m == 0 {
		return false // lo, noised
	}
	noised, scored := 0.0, 0.0
	for _, spread := range referenceSpreads {
		noised += q.noisedError(m, spread)
		scored += q.scoredError(m, spread)
	}
	return scored < noised
}

// reference returns the percentile of a reference case, how far above it was before it was
// moved to the universe's grid, and how far apart neighbouring readings are, in steps.
func (q *Query) reference(m int, spread float64) (percentile int64, moved, gap float64) {
	last := float64(q.universe.last)
	gap = spread * last / float64(m)
	middle := float64(q.below(m)) + 0.5 - float64(m)/2 // in gaps from the middle reading
	at := last/2 + middle*gap
	return int64(math.Round(at)), at - math.Round(at), gap
}

// noisedError returns the expected error of the truncated geometric mechanism in steps:
// on a side with room for n steps, the sum of P(N >= j) = q^j/(1+q) for j up to n.
func (q *Query) noisedError(m int, spread float64) float64 {
	at, _, _ := q.reference(m, spread)
	side := func(room int64) float64 {
		return math.Exp(-q.noise.rate) * math.Expm1(-q.noise.rate*float64(room)) / math.Expm1(-2*q.noise.rate)
	}
	return side(at) + side(q.universe.last-at)
}

// scoredError returns the expected error of a draw by score in steps, to a thousandth or
// so.
func (q *Query) scoredError(m int, spread float64) float64 {
	at, moved, gap := q.reference(m, spread)
	below := q.below(m)
	down, downError := q.side(at, below, -moved, gap)
	up, upError := q.side(q.universe.last-at, m-1-below, moved, gap)
	return (downError + upError) / (down + 1 + up)
}

// side returns the weights on one side of the percentile, where there is room for so many
// steps, and the sum of each weight times its distance. Of the others, the c-th lies at
// offset + c*gap, moved to the grid. It takes one round for each distance at which a
// reading lies.
func (q *Query) side(room int64, others int, offset, gap float64) (weights, moment float64) {
	const enough = 15 // what is left out is below e^-15 of what is not, for each reading
	rate := q.noise.rate / 2
	score := 0.0
	for at := int64(0); at < room && rate*score < enough; {
		passed := int(min(float64(others), (float64(at)+0.5-offset)/gap))
		slope := float64(passed + 1)
		end := room
		if passed < others {
			end = min(room, max(at+1, int64(math.Floor(slope*gap+offset+0.5))))
		}
		n := float64(end - at)
		// The sums of u^j and j*u^j for j = 1..n.
		y := rate * slope
		u := math.Exp(-y)
		sum := u * math.Expm1(-y*n) / math.Expm1(-y)
		first := sum * (n + 1) / 2 // where all weights are about the same
		if y*n > 1e-3 {
			first = (sum - n*math.Exp(-y*(n+1))) / -math.Expm1(-y)
		}
		w := math.Exp(-rate * score)
		weights += w * sum
		moment += w * (float64(at)*sum + first)
		score += slope * n
		at = end
	}
	return weights, moment
}
