package scalar

import (
	"math"
	"math/big"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/mechanism/exact"
)

// records returns the law of a variance under dh.
func (q *Query) records() *recordsVariance { return q.law.(*recordsVariance) }

// spentOnVariance returns the cost of a variance between two databases by the code's own rates and sums: the losses of
// all noises, in rationals.
func (q *Query) spentOnVariance(x, y *Accumulator) *big.Rat {
	u, total := q.universe, new(big.Rat)
	lose := func(n noise, a, b *big.Int) {
		steps := new(big.Rat).SetInt(new(big.Int).Abs(new(big.Int).Sub(a, b)))
		total.Add(total, steps.Mul(steps, new(big.Rat).SetFloat64(n.rate)))
	}
	switch v := q.law.(type) {
	case *variance:
		xp, xq := u.squares(x)
		yp, yq := u.squares(y)
		lose(v.noise, xp, yp)
		lose(v.noise, xq, yq)
	case *recordsVariance:
		if v.secretRows() {
			lose(v.count, big.NewInt(x.rows), big.NewInt(y.rows))
		}
		lose(v.sum, u.offset(x).big(), u.offset(y).big())
		lose(v.squares, u.offsetSquares(x), u.offsetSquares(y))
	}
	return total
}

// worstVariance returns the largest share of epsilon*distance that is spent between
// databases of up to three rows, and whether any spends more than all, exactly.
func worstVariance(t *testing.T, q *Query, eps *big.Rat) (worst float64, over bool) {
	dbs := databases(q.universe)
	d := distanceOf(q.universe, tinyCase{agg: Variance, metric: q.metric})
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
			if units == 0 || !q.perRecord() && !sameNulls(x, y) {
				continue
			}
			bound := new(big.Rat).Mul(eps, d.one)
			bound.Mul(bound, new(big.Rat).SetInt64(units))
			spent := q.spentOnVariance(of(x), of(y))
			over = over || spent.Cmp(bound) > 0
			share, _ := spent.Quo(spent, bound).Float64()
			worst = max(worst, share)
		}
	}
	return worst, over
}

// Between all databases of up to three rows, with records added, removed, replaced and moved,
// a variance spends no more than epsilon times the distance, in rationals, and under d1 all of it
// wherever readings move.
func TestVarianceKeepsItsEpsilon(t *testing.T) {
	for _, bounds := range tinyUniverses {
		u := universe(t, bounds.lo, bounds.hi, bounds.step)
		for _, m := range []budget.Metric{budget.D1, budget.DH} {
			for _, e := range trials.Some(t, 1, tinyEpsilons...) {
				worst, over := worstVariance(t, query(t, Variance, u, m, rational(e)), rational(e))
				if over || worst < 0.49 || m == budget.D1 && worst < 1-1e-9 {
					t.Fatalf("%v under %v at %s: spends %v of epsilon", u, m, e, worst)
				}
			}
		}
	}
	u := universe(t, 0, 3, 1)
	for name, bug := range map[string]struct {
		metric budget.Metric
		plant  func(law)
	}{
		"half of epsilon for each of three": {budget.DH, func(v law) {
			v.(*recordsVariance).count.rate *= 1.5
			v.(*recordsVariance).sum.rate *= 1.5
			v.(*recordsVariance).squares.rate *= 1.5
		}},
		"squares with the rate of the sum": {budget.DH, func(v law) { v.(*recordsVariance).squares.rate = v.(*recordsVariance).sum.rate }},
		"the number of readings is public": {budget.DH, func(v law) { v.(*recordsVariance).count.rate *= 1e9 }},
		"each sum moves by n a step":       {budget.D1, func(v law) { v.(*variance).noise.rate *= 2 }},
		"rate rounded up":                  {budget.D1, func(v law) { v.(*variance).noise.rate = math.Nextafter(v.(*variance).noise.rate, 1) }},
	} {
		q := query(t, Variance, u, bug.metric, rational("1"))
		bug.plant(q.law)
		if worst, over := worstVariance(t, q, rational("1")); !over {
			t.Errorf("%s: not caught, %v", name, worst)
		}
	}
}

// Draws follow the law of their noises, by enumeration: 100,000 draws a case, with a
// false alarm below 1e-10 (Chernoff). Without noise on the squares it is caught.
func TestVarianceFollowsItsLaw(t *testing.T) {
	const draws = 100_000
	src := exact.NewSource(nil)
	u := universe(t, 0, 2, 1)
	for _, m := range trials.Some(t, 1, budget.D1, budget.DH) {
		q, quiet := query(t, Variance, u, m, rational("6")), query(t, Variance, u, m, rational("1000"))
		var without law
		switch v := q.law.(type) {
		case *variance:
			without = &variance{v.spreading, quiet.law.(*variance).noise}
		case *recordsVariance:
			without = &recordsVariance{v.spreading, v.count, v.sum, quiet.records().squares}
		}
		for _, db := range [][]float64{{0, 1, 2, 2}, {}} {
			a := collect(q, db)
			law := q.lawOfVariance(db)
			got, planted := map[int64]int{}, map[int64]int{}
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

// lawOfVariance returns the probability of each variance of readings of 0, 1 and 2 at epsilon 6, by the definition, but for
// less than 1e-9 of each of the noises.
func (q *Query) lawOfVariance(db []float64) map[int64]float64 {
	law := map[int64]float64{}
	window := func(rate float64) int64 { return int64(21 / rate) }
	// answer has a variance, with noise of a scale.
	answer := func(x, scale *big.Rat, p float64) {
		if x.Sign() < 0 {
			x = new(big.Rat)
		} else if x.Cmp(big.NewRat(1, 1)) > 0 {
			x = big.NewRat(1, 1)
		}
		value, _ := digitsOf(x, scale, big.NewRat(1, 1)).Float64()
		law[keyOf(min(value, 1))] += p
	}
	rows := int64(len(db))
	if !q.perRecord() {
		if rows == 0 {
			return map[int64]float64{0: 1}
		}
		var up, down int64 // of a reading of x, x^2 and (2-x)^2
		for _, x := range db {
			up, down = up+int64(x*x), down+int64((2-x)*(2-x))
		}
		const rate = 6. / 4
		for i := -window(rate); i <= window(rate); i++ {
			for j := -window(rate); j <= window(rate); j++ {
				// With y = x-1: y^2 is (x^2+(2-x)^2)/2 - 1, and y is (x^2-(2-x)^2)/4.
				x := big.NewRat(up+i+down+j, 2*rows)
				mean := big.NewRat(up+i-down-j, 4*rows)
				x.Sub(x, mean.Mul(mean, mean))
				answer(x.Sub(x, big.NewRat(1, 1)), big.NewRat(2, 6*rows), geometricMass(rate, i)*geometricMass(rate, j))
			}
		}
		return law
	}
	var a, b int64 // in half steps from 1
	for _, x := range db {
		y := 2*int64(x) - 2
		a, b = a+y, b+y*y
	}
	for k := -window(2); k <= window(2); k++ {
		c := max(1, rows+k)
		for i := -window(1); i <= window(1); i++ {
			for j := -window(0.5); j <= window(0.5); j++ {
				x, mean := big.NewRat(b+j, 4*c), big.NewRat(a+i, 2*c)
				p := geometricMass(2, k) * geometricMass(1, i) * geometricMass(0.5, j)
				answer(x.Sub(x, mean.Mul(mean, mean)), big.NewRat(3, 6*c), p) // the scale is 3/4*2^2/(epsilon*c)
			}
		}
	}
	return law
}

// Whatever the readings are, radius and deviation of a variance and of its root hold as much as they say, by enumeration of
// both noises.
func TestVarianceRadiusHoldsForAllReadings(t *testing.T) {
	for _, c := range trials.Some(t, 2, []struct {
		last float64
		rows int64
		eps  string
	}{{1, 1, "1"}, {1, 20, "0.8"}, {10, 1, "10"}, {10, 3, "8"}, {10, 40, "6"}, {20, 300, "12"}}...) {
		u := universe(t, 0, c.last, 1)
		n := u.last
		for _, agg := range []Aggregate{Variance, StdDev} {
			q := query(t, agg, u, budget.D1, rational(c.eps))
			v := q.law.(*variance)
			for _, at := range [][2]int64{{n, n}, {0, n}, {n / 2, n / 2}, {0, 0}, {n, n - 1}, {n / 4, n}} { // two values, in turn
				a, truth := alternating(q, at, c.rows, 2)
				squares, opposite := u.squares(a)
				ps := []float64{0.01, 0.5, 0.95, 0.999}
				var radius [4]float64
				var deviation [4]Deviation
				for i, p := range ps {
					var err error
					if radius[i], err = q.Radius(p, c.rows); err != nil {
						t.Fatal(err)
					}
					deviation[i] = q.Deviation(p)
				}
				var within, told [4]float64
				for i := -int64(16 / v.noise.rate); i <= int64(16/v.noise.rate); i++ {
					for j := -int64(16 / v.noise.rate); j <= int64(16/v.noise.rate); j++ {
						x := v.quarters(new(big.Int).Add(squares, big.NewInt(i)), new(big.Int).Add(opposite, big.NewInt(j)), c.rows)
						r := Release{Value: v.answer(x, v.scale(float64(c.rows))), Readings: float64(c.rows)}
						mass := geometricMass(v.noise.rate, i) * geometricMass(v.noise.rate, j)
						for k := range ps {
							if math.Abs(r.Value-truth) <= radius[k]+1e-11 {
								within[k] += mass
							}
							if math.Abs(r.Value-truth) <= deviation[k](r)+1e-11 {
								told[k] += mass
							}
						}
					}
				}
				for k, p := range ps {
					if min(within[k], told[k]) < p-1e-6 {
						t.Errorf("%v of %d of %v in 0..%v at %s: %v and %v are within, not %v", agg, c.rows, at, c.last, c.eps, within[k], told[k], p)
					}
				}
			}
		}
	}
}

// alternating returns rows with the second value once in so many, and the first otherwise, with their variance or its
// root.
func alternating(q *Query, at [2]int64, rows, every int64) (a *Accumulator, truth float64) {
	a = new(Accumulator)
	for i := range rows {
		q.AddIndex(a, at[whole(i%every == 1)])
	}
	share := float64((rows+every-2)/every) / float64(rows)
	step, _ := q.universe.Step().Float64()
	distance := step * float64(at[1]-at[0])
	if truth = share * (1 - share) * distance * distance; q.law.(*variance).of.root {
		truth = math.Sqrt(truth)
	}
	return a, truth
}

// Where nearly all readings are at one end, the radius of a variance holds as much as it says, and that of a root little more. 100,000 draws; false alarms as in TestDeviationCoversDraws.
func TestVarianceRadiusIsTight(t *testing.T) {
	const draws, rows = 100_000, 3000
	src := exact.NewSource(nil)
	u := universe(t, 0, 10, 0.001)
	for _, agg := range trials.Some(t, 1, Variance, StdDev) {
		q := query(t, agg, u, budget.D1, rational("1"))
		a, truth := alternating(q, [2]int64{0, u.last}, rows, 100)
		releases := make([]Release, draws)
		for i := range releases {
			releases[i] = q.Release(src, a)
		}
		for _, p := range []float64{0.5, 0.9, 0.99} {
			d := q.Deviation(p)
			within := 0
			for _, r := range releases {
				if math.Abs(r.Value-truth) <= d(r) {
					within++
				}
			}
			most := map[Aggregate]float64{Variance: p + 0.02, StdDev: p + 0.03}[agg]
			if share := float64(within) / draws; share < p-0.01 || share > most {
				t.Errorf("%v: %v are within, not %v", agg, share, p)
			}
		}
	}
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
