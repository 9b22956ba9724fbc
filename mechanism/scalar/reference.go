package scalar

import (
	"math"

	"github.com/geosql/geosql/internal/elementary"
)

// Where several mechanisms answer a question at the same charge, none is best for all readings. Public facts choose: the one with
// the least worst ratio of its expected error to that of the best one, over readings that are stated here. The
// readings that are asked about have no part in it.
//
// Noise is about as wide wherever the readings are. Scores gain by any factor where many lie
// around the percentile, as around the minimum of readings that crowd near lo. Where hardly any
// do, as around their maximum, they lose by about four at most, but for errors of less than a
// step: 2/epsilon in place of 1/(2 epsilon), which is that of noise at an end of the universe.
// The mean of a window has the error of its noise if readings lie evenly within it. It gains on scores where
// they are few, and loses where they are many, by the root of how many there are.
//
// A sum of errors would nearly be that of the cases in which no mechanism is accurate; hence
// ratios. No choice is right in all cases: among readings near hi, it is the minimum that is
// better noised.

// A reference says where readings lie in a universe that is 0..1.
type reference struct {
	name string
	at   func(q float64) float64 // the quantile q, 0 < q < 1
}

var references = [...]reference{
	{"even", func(q float64) float64 { return q }},
	{"near lo", func(q float64) float64 { return q / 32 }},
	{"near hi", func(q float64) float64 { return (31 + q) / 32 }},
	{"lognormal", func(q float64) float64 { return min(1, elementary.Exp(normal(q))/128) }},
}

// normal returns the quantile q of the normal distribution to within 0.0005 (Abramowitz and Stegun, Handbook of Mathematical
// Functions, 1964, 26.2.23).
func normal(q float64) float64 {
	t := math.Sqrt(-2 * elementary.Log(min(q, 1-q)))
	above := 2.515517 + float64(t*(0.802853+float64(t*0.010328)))
	below := 1 + float64(t*(1.432788+float64(t*(0.189269+float64(t*0.001308)))))
	return math.Copysign(t-above/below, q-0.5)
}

// leastError is the least expected error that counts, in steps: answers on a grid with less are hardly ever off.
const leastError = 0.1

// leastWorst returns the mechanism with the least worst ratio of its error to the least one of a case, and the first of equal
// ones. Each case has the errors of all mechanisms.
func leastWorst(cases [][]float64) (best int) {
	worst := make([]float64, len(cases[0]))
	for _, errs := range cases {
		for i, r := range ratios(errs) {
			worst[i] = max(worst[i], r)
		}
	}
	for i, r := range worst {
		if r < worst[best] {
			best = i
		}
	}
	return best
}

// ratios returns the ratio of each error to the least one.
func ratios(errs []float64) []float64 {
	all, least := make([]float64, len(errs)), math.Inf(1)
	for i, e := range errs {
		all[i] = max(e, leastError)
		least = min(least, all[i])
	}
	for i := range all {
		all[i] /= least
	}
	return all
}

// A sample is m readings of a reference over a universe of the indices 0..last.
type sample struct {
	of   reference
	m    int
	last int64
}

// place returns where the reading with so many before it is, in steps.
func (s sample) place(before int) float64 {
	return float64(float64(s.last) * s.of.at((float64(before)+0.5)/float64(s.m)))
}

// value returns its place on the grid.
func (s sample) value(before int) float64 { return math.Round(s.place(before)) }

// noisedError returns the expected error of a noisy mean that is rounded and moved into the universe: of the readings of the h ranks
// on either side of that with so many before it, and its own, with noise at a rate on their sum.
//
// With q = e^-rate and w = 2h+1, the noise moves a whole mean by j values or more with probability s' q^(wj), s' = q^-h/(1+q), on
// either side, which adds up to s = s' q^w/(1-q^w) of it. A mean that is n+f from the reading, |f| <= 1/2, turns the two into
// s q^(-wf) and s q^(wf); noise that goes back past the reading counts twice, and noise past the ends of the universe not at all. For
// h = 0 it is exact.
func (s sample) noisedError(rate float64, before, h int) float64 {
	at := s.value(before)
	mean := s.mean(before, h)
	off := math.Abs(mean - at)
	n := math.Round(off)
	each := min(rate*float64(2*h+1), 700)
	scale := elementary.Exp(-min(rate, 700)*float64(h+1)) / ((1 + elementary.Exp(-rate)) * -elementary.Expm1(-each))
	fraction := elementary.Expm1(each*(off-n)) - elementary.Expm1(-each*(off-n))
	back := 2 * elementary.Expm1(-each*off)
	stopped := elementary.Expm1(-each*mean) + elementary.Expm1(-each*(float64(s.last)-mean))
	return n + float64(scale*(fraction+back-stopped))
}

// mean returns the mean of the readings, or if there are more than 33 of those in the middle of as many equal parts.
func (s sample) mean(before, h int) float64 {
	n := min(h, 16)
	sum := 0.0
	for i := -n; i <= n; i++ {
		sum += s.value(before + i*(2*h+1)/(2*n+1))
	}
	return sum / float64(2*n+1)
}

// A ranking is a draw by score of the reading of a sample with so many before it.
type ranking struct {
	sample
	before int
	rate   float64
	ranks  bool // whether scores count ranks, or add up moves
}

// expectedError returns the expected distance of a draw from the reading with so many before it, which is the one that is aimed at
// or the last. It is right to within a few hundredths of it.
func (r ranking) expectedError(before int) float64 {
	at, target := r.value(r.before), r.value(before)
	down, downError := r.side(-1, at, target)
	up, upError := r.side(1, at, target)
	return (downError + math.Abs(target-at) + upError) / (down + 1 + up)
}

// side returns the weights of the values on one side of the reading at a place, and the sum of each times its distance from a
// target. It passes a sixteenth of the readings so far at a time, as if they lay evenly.
func (r ranking) side(sign int, at, target float64) (weights, distances float64) {
	const enough = 43 // the 2^40 values that are left out weigh e^-15 of the others at most
	end, others := 0.0, r.before
	if sign > 0 {
		end, others = float64(r.last), r.m-1-r.before
	}
	score := 0.0
	for passed := 1; at != end && r.rate*score < enough; {
		several, next := 1, end
		if left := others + 1 - passed; left > 0 {
			several = min(left, max(1, passed/16))
			next = r.value(r.before + sign*(passed+several-1))
		}
		if n := math.Abs(next - at); n > 0 {
			slope := float64(passed) + float64(float64(several-1)/2)
			if r.ranks {
				score, slope = float64(passed), float64(several-1)/n
			}
			sum, first := series(r.rate*slope, n)
			w := elementary.Exp(-r.rate * score)
			weights += float64(w * sum)
			// The target is at an end of the stretch, or outside it.
			away := (at - target) * float64(sign)
			distances += float64(w * math.Abs(float64(away*sum)+first))
			score += float64(slope * n)
		}
		at = next
		passed += several
	}
	return weights, distances
}

// series returns the sums of u^j and j*u^j for j = 1..n, u = e^-y.
func series(y, n float64) (sum, first float64) {
	if y == 0 {
		return n, n * (n + 1) / 2
	}
	sum = elementary.Exp(-y) * elementary.Expm1(-y*n) / elementary.Expm1(-y)
	if y*n <= 1e-3 { // all weights are about the same
		return sum, sum * (n + 1) / 2
	}
	return sum, (sum - float64(n*elementary.Exp(-y*(n+1)))) / -elementary.Expm1(-y)
}
