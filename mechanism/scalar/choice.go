package scalar

import (
	"math"
	"math/big"

	"github.com/geosql/geosql/mechanism/exact"
)

// A choice draws a value with probability proportional to exp(-rate*score). One uniform
// chooses the run, another the value within it. Both are compared with probabilities by
// way of float64 and its proved error, and by way of certified bounds of any precision
// where that leaves the comparison open. With 2,000,000 runs that happens once in a
// million draws. Nearly always a draw reads 16 bytes, whatever the scores are.
type choice struct {
	rate   float64
	scores scores
	upTo   []float64 // the weight of all runs up to each
	slack  float64   // twice weightError; tests make it useless

	// The other sides of comparisons are here, so that these allocate nothing.
	share runShare
	part  valueShare
}

// weightError bounds the relative error of run.weight.
const weightError = 0x1p-44

// weight returns the sum of exp(-rate*score) over the run. It is within weightError of
// it, or 0 if the sum is below n e^-99.9, where n is at most 2^62.
//
// The score is converted within 3 parts in 2^53 and the product rounds once more, so the
// exponent is off by less than 2^-51 of it, at most 100*2^-51 < 2^-44.3. Of the series,
// y is within 2^-52, which moves 1-e^-y by no larger part of itself, likewise y*n; Exp and
// Expm1 are within 4 units in the last place, as package exact has it. Together with the
// other operations, that is less than 2^-48.
func (r run) weight(rate float64) float64 {
	x := rate * r.score.float()
	if x > 100 {
		return 0
	}
	w := math.Exp(-x)
	if r.n == 1 {
		return w
	}
	if r.slope == 0 {
		return w * float64(r.n)
	}
	y := rate * float64(r.slope)
	return w * (math.Expm1(-y*float64(r.n)) / math.Expm1(-y))
}

// prepare makes c ready to draw among all values, for a rate of 2^-71 or more, or any rate
// where no slope is above 0. It keeps the memory of c.
//
// Kahan's sum is the sum of its terms, each with a relative error of less than 3*2^-53
// (Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 4.3).
func (c *choice) prepare(rate float64, all scores) {
	*c = choice{rate: rate, scores: all, upTo: c.upTo[:0], slack: 2 * weightError}
	all.restart()
	sum, excess := 0.0, 0.0
	for r, ok := all.next(); ok; r, ok = all.next() {
		term := r.weight(rate) - excess
		next := sum + term
		excess = next - sum - term
		sum = next
		c.upTo = append(c.upTo, sum)
	}
}

// draw returns an exact sample.
//
// The total is at least 1, the weight of a score of 0. So a sum is off by at most
// 2^-44 + 2^-51 of the total, with 2^62 e^-99.9 < 2^-82 for all runs that are taken as 0, and
// its share of the total by at most twice that: less than twice the slack.
func (c *choice) draw(src *exact.Source) int64 {
	u := src.Uniform()
	last := int64(len(c.upTo)) - 1
	total := c.upTo[last]
	i := search(last, func(i int64) bool {
		near := c.upTo[i] / total
		c.share = runShare{c.rate, c.scores, i}
		return u.Below(near-float64(2*c.slack), near+float64(2*c.slack), &c.share)
	})
	c.scores.restart()
	for range i {
		c.scores.next()
	}
	chosen, _ := c.scores.next()
	return chosen.first + chosen.step*c.offset(src, chosen)
}

// offset draws j in 0..n-1 with probability proportional to e^(-rate*slope*j).
func (c *choice) offset(src *exact.Source, r run) int64 {
	if r.slope == 0 {
		return int64(src.Below(uint64(r.n)))
	}
	u := src.Uniform()
	y := c.rate * float64(r.slope)
	all := math.Expm1(-y * float64(r.n))
	return search(r.n-1, func(j int64) bool {
		near := math.Expm1(-y*float64(j+1)) / all // within 2^-47 of it, as in weight
		c.part = valueShare{c.rate, r.slope, j + 1, r.n}
		return u.Below(near*(1-c.slack), near*(1+c.slack), &c.part)
	})
}

// search returns the least i from 0 to n for which f is true; it is for n, which is not
// asked for.
func search(n int64, f func(i int64) bool) int64 {
	lo, hi := int64(0), n
	for lo < hi {
		if mid := lo + (hi-lo)/2; f(mid) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// guard is how many more bits of exponentials are computed than are asked for.
const guard = 192

// expBounds encloses e^(-rate*score) within 2^-(prec+guard).
func expBounds(rate float64, score *big.Int, prec uint) (lo, hi *big.Rat) {
	x := new(big.Rat).SetInt(score)
	return exact.ExpBounds(x.Mul(x, new(big.Rat).SetFloat64(rate)), prec+guard)
}

// seriesBounds encloses 1 - e^(-rate*slope*n).
func seriesBounds(rate float64, slope, n int64, prec uint) (lo, hi *big.Rat) {
	one := big.NewRat(1, 1)
	score := big.NewInt(slope)
	lo, hi = expBounds(rate, score.Mul(score, big.NewInt(n)), prec)
	return hi.Sub(one, hi), lo.Sub(one, lo)
}

// bounds encloses the weight,
//
//	e^-x (1-e^-(yn))/(1-e^-y),  x = rate*score, y = rate*slope,
//
// or n e^-x where y is 0. With d = 2^-(prec+guard), each of the exponentials is known
// within d. As y >= 2^-71, the denominator is above 2^-72, and the quotient is at most n
// <= 2^40. So the quotient is within (2^72 + 2^112) d and the weight within 2^114 d. Where y is
// 0, n <= 2^62.
func (r run) bounds(rate float64, prec uint) (lo, hi *big.Rat) {
	lo, hi = expBounds(rate, r.score.big(), prec)
	if r.slope == 0 {
		n := new(big.Rat).SetInt64(r.n)
		return lo.Mul(lo, n), hi.Mul(hi, n)
	}
	allLow, allHigh := seriesBounds(rate, r.slope, r.n, prec)
	oneLow, oneHigh := seriesBounds(rate, r.slope, 1, prec)
	lo.Mul(lo, allLow).Quo(lo, oneHigh)
	hi.Mul(hi, allHigh).Quo(hi, oneLow)
	return lo, hi
}

// A runShare is the probability of the runs up to one.
type runShare struct {
	rate   float64
	scores scores
	upTo   int64
}

// Bounds sums the bounds of all runs, but for those with an exponent above prec+guard,
// which weigh less than 2^62 e^-(prec+191) < 2^-(prec+200) each and are counted as that.
// There are at most 2^40 runs, as a universe has no more values and no memory so many
// readings. So both sums are within 2^(154-guard-prec) and their quotient, as the total is
// at least 1, within 2^-(prec+36).
func (s *runShare) Bounds(prec uint) (lo, hi *big.Rat) {
	lo, hi = new(big.Rat), new(big.Rat)
	totalLow, totalHigh := new(big.Rat), new(big.Rat)
	light := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), prec+200))
	s.scores.restart()
	i := int64(0)
	for r, ok := s.scores.next(); ok; r, ok = s.scores.next() {
		least, most := new(big.Rat), light
		if s.rate*r.score.float() <= float64(prec+guard) {
			least, most = r.bounds(s.rate, prec)
		}
		totalLow.Add(totalLow, least)
		totalHigh.Add(totalHigh, most)
		if i == s.upTo {
			lo.Set(totalLow)
			hi.Set(totalHigh)
		}
		i++
	}
	return lo.Quo(lo, totalHigh), hi.Quo(hi, totalLow)
}

// A valueShare is the probability that the offset in a run of n values is below upTo,
//
//	(1-e^-(y*upTo))/(1-e^-(yn)),  y = rate*slope.
type valueShare struct {
	rate           float64
	slope, upTo, n int64
}

// Bounds encloses it as closely as in run.bounds.
func (v *valueShare) Bounds(prec uint) (lo, hi *big.Rat) {
	lo, hi = seriesBounds(v.rate, v.slope, v.upTo, prec)
	allLow, allHigh := seriesBounds(v.rate, v.slope, v.n, prec)
	return lo.Quo(lo, allHigh), hi.Quo(hi, allLow)
}
