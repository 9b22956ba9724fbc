package scalar

import (
	"math"
	"math/big"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/mechanism/exact"
)

func queryOfKnownRows(t fataler, agg Aggregate, u *Universe, m budget.Metric, eps *big.Rat) *Query {
	t.Helper()
	q, err := NewQueryOfKnownRows(agg, u, m, eps)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// spentOverKnownRows returns the largest share of epsilon*distance that a sum, an average or a variance spends between
// databases of up to three rows that have the same rows, by the code's own rates and in rationals.
func spentOverKnownRows(q *Query, eps *big.Rat) (worst *big.Rat) {
	worst = new(big.Rat)
	dbs, d := databases(q.universe), distanceOf(q.universe, tinyCase{agg: Max, metric: q.metric})
	for _, x := range dbs {
		for _, y := range dbs {
			units := d.units(x, y)
			if units == 0 || !sameNulls(x, y) {
				continue
			}
			a, b := collect(q, x), collect(q, y)
			spent := spentByPair(q, a, b)
			bound := new(big.Rat).Mul(eps, d.one)
			if spent.Quo(spent, bound.Mul(bound, new(big.Rat).SetInt64(units))); spent.Cmp(worst) > 0 {
				worst = spent
			}
		}
	}
	return worst
}

// Where it is known which rows there are, all pairs of databases with the same rows keep epsilon. Sums and averages spend all of
// it, and so do variances of universes in which the worst move is possible.
func TestKnownRowsKeepTheirEpsilon(t *testing.T) {
	one := big.NewRat(1, 1)
	for _, bounds := range append(tinyUniverses, struct{ lo, hi, step float64 }{0, 4, 1}) {
		u := universe(t, bounds.lo, bounds.hi, bounds.step)
		for _, e := range trials.Some(t, 1, tinyEpsilons...) {
			for _, c := range []tinyCase{{Sum, budget.ND1}, {Sum, budget.DH}, {Avg, budget.ND1}, {Avg, budget.DH}, {Variance, budget.DH}, {StdDev, budget.DH}} {
				worst := spentOverKnownRows(queryOfKnownRows(t, c.agg, u, c.metric, rational(e)), rational(e))
				share, _ := worst.Float64()
				least := 1 - 1e-9
				if _, spreads := c.agg.(spread); spreads && u.last%4 != 0 {
					least = 0.88 // a move by u = 3/2 is one of 3 steps in 4
				}
				if worst.Cmp(one) > 0 || share < least {
					t.Errorf("%v of %v at %s: spends %v of epsilon", c, u, e, share)
				}
			}
		}
	}
}

// The test above must catch these.
func TestKnownRowsTestCatchesPlantedBugs(t *testing.T) {
	u, eps, one := universe(t, 10, 14, 1), rational("0.5"), big.NewRat(1, 1)
	for name, c := range map[string]struct {
		agg   Aggregate
		plant func(q *Query)
	}{
		"a sum with half of its noise":                {Sum, func(q *Query) { q.noised().noise.rate *= 2 }},
		"an average with the noise of its middle":     {Avg, func(q *Query) { q.law.(*mean).sum.rate *= 2 }},
		"deviations with half of epsilon a half step": {Variance, func(q *Query) { q.records().sum.rate *= 9. / 8 }},
		"squares with half of epsilon":                {Variance, func(q *Query) { q.records().squares.rate *= 9. / 8 }},
		"squares a hundredth too exact":               {Variance, func(q *Query) { q.records().squares.rate *= 1.01 }},
	} {
		q := queryOfKnownRows(t, c.agg, u, budget.DH, eps)
		c.plant(q)
		if spentOverKnownRows(q, eps).Cmp(one) <= 0 {
			t.Errorf("%s: not caught", name)
		}
	}
}

// Draws of an average follow the enumerated law: the sum with its noise, divided by the number of readings. A false alarm has
// a probability below 1e-10 (Chernoff).
func TestAverageOfKnownRowsFollowsItsLaw(t *testing.T) {
	const draws = 100_000
	u, db, src := universe(t, 10, 12, 1), []float64{10, 11, 12, 12}, exact.NewSource(nil)
	q := queryOfKnownRows(t, Avg, u, budget.DH, rational("2"))
	a := collect(q, db)
	law, got, secret := map[int64]float64{}, map[int64]int{}, map[int64]int{}
	for n := int64(-200); n <= 200; n++ {
		law[keyOf(min(max(10+float64(5+n)/4, 10), 12))] += q.law.(*mean).sum.mass(n)
	}
	old := query(t, Avg, u, budget.DH, rational("2"))
	for range draws {
		got[keyOf(q.Draw(src, a))]++
		secret[keyOf(old.Draw(src, a))]++
	}
	if err := fits(got, law, draws, 1e-10); err != nil {
		t.Error(err)
	}
	if fits(secret, law, draws, 1e-10) == nil {
		t.Error("the law of a secret number of readings is not told apart")
	}
}

// With noise of a scale below 1e-6 answers are those of the readings, and without readings, where that is known, lo and 0.
func TestAnswersOverKnownRows(t *testing.T) {
	u, src := universe(t, 10, 20, 0.5), exact.NewSource(nil)
	db := []float64{10, 12.5, 20, 20}
	for _, c := range []struct {
		agg         Aggregate
		metric      budget.Metric
		want, empty float64
	}{
		{Sum, budget.DH, 62.5, 0}, {Sum, budget.ND1, 62.5, 0}, {Avg, budget.DH, 15.625, 10}, {Avg, budget.ND1, 15.625, 10},
		{Variance, budget.DH, 19.921875, 0}, {StdDev, budget.DH, math.Sqrt(19.921875), 0}, {Median, budget.DH, 20, 10}, {Min, budget.DH, 10, 10},
	} {
		q := queryOfKnownRows(t, c.agg, u, c.metric, rational("9000000"))
		if got := q.Draw(src, collect(q, db)); math.Abs(got-c.want) > 1e-3 {
			t.Errorf("%v: %v, want %v", c.agg, got, c.want)
		}
		if got := q.Draw(src, collect(q, nil)); math.Abs(got-c.empty) > 1e-3 && c.agg != Median && c.agg != Min {
			t.Errorf("%v without readings: %v, want %v", c.agg, got, c.empty)
		}
		if q.Price().Unit != budget.Record || !q.PerRow() {
			t.Errorf("%v costs %v", c.agg, q.Price())
		}
	}
}

// Answers lie within the stated radius as often as stated, and the radius is that of the universe's width.
func TestRadiusOverKnownRows(t *testing.T) {
	const draws = 20_000
	src := exact.NewSource(nil)
	for _, c := range []struct{ lo, hi float64 }{{10, 20}, {100, 110}, {-3, 7}} {
		u := universe(t, c.lo, c.hi, 0.5)
		for _, agg := range []Aggregate{Sum, Avg} {
			for _, m := range []budget.Metric{budget.DH, budget.ND1} {
				q := queryOfKnownRows(t, agg, u, m, rational("1"))
				db := []float64{c.lo, c.lo + 5, c.lo + 5, c.hi}
				truth := 2*c.lo + c.hi + c.lo + 10
				radius, err := q.Radius(0.9, 4)
				if err != nil {
					t.Fatal(err)
				}
				if agg == Avg {
					truth /= 4
				}
				a, within := collect(q, db), 0
				for range draws {
					if math.Abs(q.Draw(src, a)-truth) <= radius {
						within++
					}
				}
				if share := float64(within) / draws; share < 0.88 { // 9 standard deviations
					t.Errorf("%v of %v under %v: within %v in %v of draws", agg, u, m, radius, share)
				}
				if want := 23.; agg == Sum && math.Abs(radius-want) > 0.5 { // 10 * ln 10
					t.Errorf("sum of %v: radius %v, want %v", u, radius, want)
				}
				if d := q.Deviation(0.9)(Release{Value: c.lo, Readings: 4}); agg == Avg && d > radius {
					t.Errorf("an answer deviates by %v, its radius is %v", d, radius)
				}
			}
		}
	}
}
