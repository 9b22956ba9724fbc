package scalar

import (
	"fmt"
	"math"
	"math/big"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/elementary"
	"github.com/geosql/geosql/mechanism/exact"
)

// The spread of readings.
var (
	Variance Aggregate = spread{"variance", false}
	StdDev   Aggregate = spread{"stddev", true}
)

// A spread is a variance or its root.
type spread struct {
	name string
	root bool
}

func (s spread) String() string    { return s.name }
func (spread) TakesUniverse() bool { return true }

func (s spread) law(at setting) (law, error) {
	switch at.metric {
	case budget.D1:
		return newVariance(spreading{at, s})
	case budget.DH:
		return newRecordsVariance(spreading{at, s})
	}
	return nil, fmt.Errorf("metric %v: %s is released under d1 and dh only", at.metric, s)
}

// spreading is embedded by the laws of variances. These are noisy sums, one of squares at least, divided by
// how many readings there are. All noise is on integers; the answer is a function of the drawn integers, of the universe,
// and of the number m of readings where that is public.
//
// Let k be the index of a reading, n the index of hi, and y = 2k-n: the reading in half steps from the middle of the
// universe, |y| <= n.
type spreading struct {
	setting
	of spread
}

func (spreading) add(a *Accumulator, k int64) {
	a.sum = a.sum.add(uint64(k))
	a.squares = a.squares.addSquare(uint64(k))
}

func (spreading) standIn() Release { return zero }

// limit returns the largest answer of readings in the universe: ((hi-lo)/2)^2, or its root.
func (v *spreading) limit() *big.Rat {
	half := new(big.Rat).SetFrac(big.NewInt(v.universe.width()), new(big.Int).Lsh(v.universe.one(), 1))
	if v.of.root {
		return half
	}
	return half.Mul(half, half)
}

// answer returns the answer of a variance in quarters of a squared step, with noise of a scale in the unit squared: moved
// into the range that the universe allows, and rounded.
func (v *spreading) answer(quarters *big.Rat, scale float64) float64 {
	n := new(big.Rat).SetInt64(v.universe.last)
	if n.Mul(n, n); quarters.Cmp(n) > 0 {
		quarters = n
	}
	if quarters.Sign() < 0 {
		quarters = new(big.Rat)
	}
	half := new(big.Rat).Quo(v.universe.Step(), big.NewRat(2, 1))
	x := quarters.Mul(quarters, half.Mul(half, half))
	if v.of.root {
		// Noise that is small against x moves its root by 1/(2*root) of that, and other noise by about its own root.
		square, _ := x.Float64()
		root := math.Sqrt(square)
		x.SetFloat64(root)
		scale = min(scale/(2*root), math.Sqrt(scale)/2)
	}
	limit, _ := v.limit().Float64()
	return min(rounded(x.Num(), x.Denom(), min(scale, limit)), limit)
}

// inUnit returns quarters of a squared step in the unit squared.
func (v *spreading) inUnit(quarters float64) float64 {
	step, _ := v.universe.Step().Float64()
	return quarters * (step * step / 4)
}

// A variance is that of a public number of readings.
//
// # Privacy
//
// The positions of NULL are public under d1, and m is the same in both databases. P is the sum of the k^2, Q that of the
// (n-k)^2. A reading that moves from k to k+1 moves them by 2k+1 and -(2(n-k)-1): by 2n together, wherever it is. So
// readings that move by D steps in all move P and Q by at most 2nD together. Each has independent noise at a rate of
// epsilon*step/(2n), which spends epsilon*step*D: epsilon per unit.
//
// Both sums of the y follow: sum y^2 = 2(P+Q) - n^2 m, and sum y = (P-Q)/n.
//
// # Accuracy
//
// Let N and M be the noises of P and Q, r their rate, and a the true average of the y/n, |a| <= 1. Before it is moved into
// its range, the answer is off by, in quarters of a squared step,
//
//	2/m*L - ((N-M)/(n*m))^2,  L = (1-a)*N + (1+a)*M.
//
// N and M are drawn by inversion, so that they lie within one of independent Laplace variates X and Y of rate r
// (exact.DiscreteLaplace: the offset there is below r). So L is within 2 of (1-a)*X + (1+a)*Y. For b = 1-|a|, c = 1+|a|,
//
//	P(|(1-a)*X + (1+a)*Y| > 2x/r) = (c^2*e^(-2x/c) - b^2*e^(-2x/b))/(c^2-b^2) <= e^-x:
//
// as b+c = 2, that is c^2*(1-e^(-x*b/c)) >= b^2*(1-e^(-x*c/b)), which holds because (1-e^(-x*t))/t falls with t, and b/c <=
// c/b. So the worst readings are all at one end. The square is small against 2/m*L unless m*epsilon*(hi-lo) is small: it
// takes a thousandth of 1-p, by P(|X-Y| > z/r) = (1+z/2)*e^-z <= e^(-z/2).
type variance struct {
	spreading
	noise noise // of P and of Q
}

func newVariance(s spreading) (law, error) {
	perStep := new(big.Rat).Mul(s.epsilon, s.universe.Step())
	n, err := newNoise(perStep.Quo(perStep, big.NewRat(2*s.universe.last, 1)))
	return &variance{s, n}, err
}

func (v *variance) draw(src *exact.Source, a *Accumulator) Release {
	if a.rows == 0 {
		return Release{Readings: math.Inf(1)}
	}
	p, q := v.universe.squares(a)
	p.Add(p, v.noise.add(src, int128{}).big())
	q.Add(q, v.noise.add(src, int128{}).big())
	rows := float64(a.rows)
	return Release{Value: v.answer(v.quarters(p, q, a.rows), v.scale(rows)), Readings: rows}
}

// quarters returns the variance of m readings, in quarters of a squared step, from P and Q.
func (v *variance) quarters(p, q *big.Int, m int64) *big.Rat {
	n, rows := big.NewInt(v.universe.last), big.NewInt(m)
	mean := new(big.Rat).SetFrac(new(big.Int).Sub(p, q), new(big.Int).Mul(n, rows)) // of the y
	sum := new(big.Int).Add(p, q)
	x := new(big.Rat).SetFrac(sum.Lsh(sum, 1), rows)
	x.Sub(x, new(big.Rat).SetInt(n.Mul(n, n)))
	return x.Sub(x, mean.Mul(mean, mean))
}

// squares returns P and Q.
func (u *Universe) squares(a *Accumulator) (squares, opposite *big.Int) {
	squares, n := a.squares.big(), big.NewInt(u.last)
	opposite = new(big.Int).Mul(n, big.NewInt(a.rows))
	opposite.Sub(opposite, new(big.Int).Lsh(a.sum.times(1).big(), 1))
	return squares, opposite.Add(opposite.Mul(opposite, n), squares)
}

// scale returns the scale of the noise of a variance of m readings, in the unit squared: (hi-lo)/(epsilon*m), that of
// readings around the middle.
func (v *variance) scale(m float64) float64 { return v.inUnit(2 / float64(v.noise.rate*m)) }

// radius takes an unknown number of readings for one. That of a root is as (s-t)^2 <= |s^2-t^2|.
func (v *variance) radius(p float64, rows int64) (float64, error) {
	limit, _ := v.limit().Float64()
	r, rounding := v.distance(p, float64(max(1, rows)))
	if v.of.root {
		r = math.Sqrt(r)
	}
	return min(r+rounding, limit), nil
}

// distance returns the distance within which a variance of m readings is of the true one with probability p at least,
// whatever the readings are, and how far rounding moves an answer, a variance or a root.
func (v *variance) distance(p, m float64) (r, rounding float64) {
	n, rate, x := float64(v.universe.last), v.noise.rate, -elementary.Log1p(-p)
	l := 2 * ((x+0.00101)/rate + 1)
	d := (2*(x+6.91)/rate + 2) / float64(n*m)
	rounding = v.scale(m)
	if v.of.root {
		rounding = math.Sqrt(rounding) / 2
	}
	return v.inUnit(float64(2/m*l) + float64(d*d)), float64(roundoff * rounding)
}

// A recordsVariance is that of records. Their number is secret, or known.
//
// # Privacy
//
// A is the sum of the y, B that of the y^2. A third of epsilon is for each of m, A and B: m has noise at a rate of epsilon/3,
// A at epsilon/(3n), B at epsilon/(3n^2), drawn independently, and their losses add up.
//   - A record more or less moves m by 1, A by n and B by n^2 at most: epsilon in all.
//   - A record that is replaced leaves m, moves A by 2n at most, and B by n^2 at most, since
//     both squares are in 0..n^2: 2/3 + 1/3 of epsilon.
//
// Where m is known, A has noise at a rate of 4*epsilon/(9n) and B at 4*epsilon/(9n^2). A record that is replaced moves A by
// d = |y - y'| and B by d*|y + y'|, and d + |y + y'| = 2*max(|y|, |y'|) <= 2n. With d = u*n that spends at most
// epsilon*4/9*u*(1 + (2-u)), which is epsilon at its largest, at u = 3/2. Two halves of epsilon would allow less, since the
// worst moves of A and of B are different ones.
//
// A is not centred again at a noisy average: that would cost as much once more.
type recordsVariance struct {
	spreading
	count, sum, squares noise // of m, where it is secret, A and B
}

func newRecordsVariance(s spreading) (_ law, err error) {
	v := &recordsVariance{spreading: s}
	n := new(big.Rat).SetInt64(s.universe.last)
	rate := new(big.Rat).Mul(s.epsilon, big.NewRat(4, 9))
	if s.secretRows() {
		rate.Quo(s.epsilon, big.NewRat(3, 1))
		if v.count, err = newNoise(rate); err != nil {
			return nil, err
		}
	}
	if v.sum, err = newNoise(rate.Quo(rate, n)); err != nil {
		return nil, err
	}
	v.squares, err = newNoise(rate.Quo(rate, n))
	return v, err
}

func (v *recordsVariance) draw(src *exact.Source, a *Accumulator) Release {
	if a.rows == 0 && !v.secretRows() {
		return zero
	}
	quarters, count := v.drawExactly(src, a)
	divisor, _ := new(big.Float).SetInt(count).Float64()
	// The scale is that of the squares alone, which is no larger than with the noise of the sum.
	return Release{Value: v.answer(quarters, v.inUnit(1/float64(v.squares.rate*divisor))), Readings: 1}
}

// drawExactly returns a variance in quarters of a squared step, and the number of readings that it was divided by.
func (v *recordsVariance) drawExactly(src *exact.Source, a *Accumulator) (quarters *big.Rat, count *big.Int) {
	u := v.universe
	if count = big.NewInt(a.rows); v.secretRows() {
		count = v.count.drawCount(src, a.rows)
	}
	sum := v.sum.add(src, u.offset(a)).big()
	noise := v.squares.add(src, int128{}).big()
	quarters = new(big.Rat).SetFrac(noise.Add(noise, u.offsetSquares(a)), count)
	average := new(big.Rat).SetFrac(sum, count)
	return quarters.Sub(quarters, average.Mul(average, average)), count
}

// offsetSquares returns B, which is 2(P+Q) - n^2*m.
func (u *Universe) offsetSquares(a *Accumulator) *big.Int {
	squares, opposite := u.squares(a)
	b := squares.Lsh(squares.Add(squares, opposite), 1)
	n := big.NewInt(u.last)
	return b.Sub(b, n.Mul(n, n).Mul(n, big.NewInt(a.rows)))
}

func (v *recordsVariance) radius(float64, int64) (float64, error) {
	return 0, fmt.Errorf("how far a %v is off depends on the readings under %v", v.of, v.metric)
}
