package scalar

import (
	"math"
	"math/big"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/mechanism/exact"
)

func (q *Query) variance() *variance { return q.law.(*variance) }

// spent returns what a variance spends between two databases by the code's own rates and
// sums: the losses of all noises, in rationals.
func (v *variance) spent(x, y *Accumulator) *big.Rat {
	u := v.universe
	loss := func(n noise, a, b *big.Int) *big.Rat {
		steps := new(big.Rat).SetInt(new(big.Int).Abs(new(big.Int).Sub(a, b)))
		return steps.Mul(steps, new(big.Rat).SetFloat64(n.rate))
	}
	total := loss(v.sum, u.offset(x).big(), u.offset(y).big())
	total.Add(total, loss(v.squares, u.squares(x), u.squares(y)))
	if v.perRecord() {
		total.Add(total, loss(v.count, big.NewInt(x.rows), big.NewInt(y.rows)))
	}
	return total
}

// worstVariance returns the largest share of epsilon*distance that is spent between
// databases of up to three rows, and whether any spends more than all, exactly.
func worstVariance(t *testing.T, q *Query, eps *big.Rat) (worst float64, over bool) {
	v := q.variance()
	dbs := databases(v.universe)
	d := distanceOf(v.universe, tinyCase{agg: Variance, metric: q.metric})
	of := func(db []float64) *Accumulator {
		a := new(Accumulator)
		for _, x := range db {
			if !math.IsNaN(x) {
				q.Add(a, x)
			}
		}
		return a
	}
	for _, x := range dbs {
		for _, y := range dbs {
			units := d.units(x, y)
			if units == 0 || !v.perRecord() && !sameNulls(x, y) {
				continue
			}
			bound := new(big.Rat).Mul(eps, d.one)
			bound.Mul(bound, new(big.Rat).SetInt64(units))
			spent := v.spent(of(x), of(y))
			over = over || spent.Cmp(bound) > 0
			share, _ := spent.Quo(spent, bound).Float64()
			worst = max(worst, share)
		}
	}
	return worst, over
}

// Between all databases of up to three rows, with records added, removed, replaced and moved,
// a variance spends no more than epsilon times the distance, in rationals, and half of it or
// more for some: that the universe of two values wastes half under d1 is its squares, which
// are all alike.
func TestVarianceKeepsItsEpsilon(t *testing.T) {
	for _, bounds := range tinyUniverses {
		u := universe(t, bounds.lo, bounds.hi, bounds.step)
		for _, m := range []budget.Metric{budget.D1, budget.DH} {
			for _, e := range trials.Some(t, 1, tinyEpsilons...) {
				worst, over := worstVariance(t, query(t, Variance, u, m, rational(e)), rational(e))
				if over || worst < 0.49 {
					t.Fatalf("%v under %v at %s: spends %v of epsilon", u, m, e, worst)
				}
			}
		}
	}
	u := universe(t, 0, 3, 1)
	for name, plant := range map[string]func(q *Query){
		"half of epsilon for each of three": func(q *Query) {
			q.variance().count.rate *= 1.5
			q.variance().sum.rate *= 1.5
			q.variance().squares.rate *= 1.5
		},
		"squares with the rate of the sum": func(q *Query) { q.variance().squares.rate = q.variance().sum.rate },
		"the number of readings is public": func(q *Query) { q.variance().count.rate *= 1e9 },
	} {
		q := query(t, Variance, u, budget.DH, rational("1"))
		plant(q)
		if worst, over := worstVariance(t, q, rational("1")); !over {
			t.Errorf("%s: not caught, %v", name, worst)
		}
	}
	q := query(t, Variance, u, budget.D1, rational("1"))
	q.variance().squares.rate *= 2
	if worst, over := worstVariance(t, q, rational("1")); !over {
		t.Errorf("squares with all of epsilon under d1: not caught, %v", worst)
	}
}

// Draws follow the law of the three noises, by enumeration: 100,000 draws a case, with a
// false alarm below 1e-10 (Chernoff). Without noise on the squares it is caught.
func TestVarianceFollowsItsLaw(t *testing.T) {
	const draws = 100_000
	src := exact.NewSource(nil)
	u := universe(t, 0, 2, 1)
	for _, m := range []budget.Metric{budget.D1, budget.DH} {
		for _, db := range [][]float64{{0, 1, 2, 2}, {}} {
			q := query(t, Variance, u, m, rational("6"))
			a := collect(q, db)
			law := q.variance().law(db)
			got, planted := map[int64]int{}, map[int64]int{}
			without := *q.variance()
			without.squares = query(t, Variance, u, m, rational("1000")).variance().squares
			for range draws {
				got[keyOf(q.Draw(src, a))]++
				planted[keyOf(without.draw(src, a).Value)]++
			}
			if err := fits(got, law, draws, 1e-10); err != nil {
				t.Errorf("%v of %v: %v", m, db, err)
			}
			if len(db) > 0 && fits(planted, law, draws, 1e-10) == nil {
				t.Errorf("%v of %v: squares without noise are not caught", m, db)
			}
		}
	}
}

// law returns the probability of each variance of readings of 0, 1 and 2 at epsilon 6, by the definition, but for what is less than 1e-9 likely in one of the noises.
func (v *variance) law(db []float64) map[int64]float64 {
	var a, b int64
	for _, x := range db {
		y := 2*int64(x) - 2
		a, b = a+y, b+y*y
	}
	law := map[int64]float64{}
	if !v.perRecord() && len(db) == 0 {
		return map[int64]float64{0: 1}
	}
	window := func(n noise) int64 { return int64(21 / n.rate) }
	counts := int64(0)
	if v.perRecord() {
		counts = window(v.count)
	}
	for k := -counts; k <= counts; k++ {
		p := 1.
		if v.perRecord() {
			p = geometricMass(v.count.rate, k)
		}
		c := max(1, int64(len(db))+k)
		// The noise of the squares, in the unit squared: 2*2/(epsilon*c) and 3/4*2^2/(epsilon*c), where epsilon is 6.
		scale := map[bool]*big.Rat{false: big.NewRat(4, 6*c), true: big.NewRat(3, 6*c)}[v.perRecord()]
		for i := -window(v.sum); i <= window(v.sum); i++ {
			for j := -window(v.squares); j <= window(v.squares); j++ {
				mean := big.NewRat(a+i, c)
				quarters := big.NewRat(b+j, c)
				quarters.Sub(quarters, mean.Mul(mean, mean))
				if quarters.Sign() < 0 {
					quarters.SetInt64(0)
				} else if quarters.Cmp(big.NewRat(4, 1)) > 0 {
					quarters.SetInt64(4)
				}
				x, _ := digitsOf(quarters.Quo(quarters, big.NewRat(4, 1)), scale, big.NewRat(1, 1)).Float64()
				law[keyOf(min(x, 1))] += p * geometricMass(v.sum.rate, i) * geometricMass(v.squares.rate, j)
			}
		}
	}
	return law
}

// With noise of a scale below 1e-6, answers are the variance and its root.
func TestVarianceIsThatOfTheReadings(t *testing.T) {
	u := universe(t, -5, 5, 0.5)
	readings := []float64{-5, -1.5, 0, 3, 3, 5}
	sum, squares := 0., 0.
	for _, x := range readings {
		sum, squares = sum+x, squares+x*x
	}
	mean := sum / 6
	want := squares/6 - mean*mean
	src := exact.NewSource(nil)
	for _, m := range []budget.Metric{budget.D1, budget.DH} {
		variance, deviation := query(t, Variance, u, m, rational("9000000")), query(t, StdDev, u, m, rational("9000000"))
		if got := variance.Draw(src, collect(variance, readings)); math.Abs(got-want) > 1e-9 {
			t.Errorf("%v: variance %v, want %v", m, got, want)
		}
		if got := deviation.Draw(src, collect(deviation, readings)); math.Abs(got-math.Sqrt(want)) > 1e-9 {
			t.Errorf("%v: deviation %v, want %v", m, got, math.Sqrt(want))
		}
	}
	for _, m := range []budget.Metric{budget.ND1, budget.DInf} {
		if _, err := NewQuery(StdDev, u, m, rational("1")); err == nil {
			t.Errorf("stddev under %v is accepted", m)
		}
	}
}
