package scalar

import (
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/mechanism/exact"
)

// within returns P(|N| <= k), summed outcome by outcome.
func within(rate float64, k int64) float64 {
	sum := geometricMass(rate, 0)
	for n := int64(1); n <= k; n++ {
		sum += 2 * geometricMass(rate, n)
	}
	return sum
}

func TestRadiusIsTheSmallest(t *testing.T) {
	u := universe(t, -100, 100, 0.5)
	for _, eps := range []string{"0.02", "0.1", "1", "5", "50"} {
		q := query(t, Sum, u, budget.D1, rational(eps))
		for _, p := range []float64{1e-9, 0.1, 0.5, 0.9, 0.95, 0.999} {
			r, err := q.Radius(p, 0)
			if err != nil {
				t.Fatal(err)
			}
			k := int64(2 * r)
			if float64(k) != 2*r {
				t.Errorf("epsilon %s: radius %v at %v is off the lattice", eps, r, p)
			}
			if within(q.noised().noise.rate, k) < p-1e-12 {
				t.Errorf("epsilon %s: radius %v covers %v only, not %v", eps, r, within(q.noised().noise.rate, k), p)
			}
			if k > 0 && within(q.noised().noise.rate, k-1) >= p+1e-12 {
				t.Errorf("epsilon %s: radius %v at %v is not the smallest", eps, r, p)
			}
		}
	}
}

func TestRadiusByAggregate(t *testing.T) {
	u := universe(t, 2, 10, 0.1)
	for _, c := range []struct {
		agg    Aggregate
		metric budget.Metric
		eps    string
		p      float64
		want   float64
	}{
		// At q = e^-0.1: 1 - 2q^(k+1)/(1+q) reaches .9 at k = 23, .5 at 7.
		{Value, budget.D1, "1", 0.9, 2.3},
		{Median, budget.DInf, "1", 0.5, 0.7},
		{Avg, budget.D1, "1", 0.5, 0.7 + 1./2000}, // of one reading, and rounded
		{Sum, budget.D1, "1", 0.9, 2.3},           // grain 0.1
		{Sum, budget.ND1, "10", 0.9, 2.3},         // Delta = 10
		{Sum, budget.DH, "2", 0.9, 11.1},          // by TestStaircaseRadius
		{Sum, budget.DH, "10", 0.9, 0},            // of a stair's hundred places 99 are e^-10 times less likely
		{Value, budget.D1, "0.001", 0.9, 8},       // never further than hi - lo
		{Avg, budget.D1, "0.001", 0.9, 8},         // neither is an average
		{Value, budget.D1, "9000000", 0.99, 0},    // no noise worth the name
		{Avg, budget.D1, "9000000", 0.99, 1. / 9000000 / 2000},
	} {
		got, err := query(t, c.agg, u, c.metric, rational(c.eps)).Radius(c.p, 0)
		if err != nil || math.Abs(got-c.want) > c.want*1e-15 {
			t.Errorf("%v under %v at %s: radius %v, %v; want %v", c.agg, c.metric, c.eps, got, err, c.want)
		}
	}
	count := query(t, Count, nil, budget.D1, rational("0.1"))
	if got, err := count.Radius(0.9, 0); err != nil || got != 23 {
		t.Errorf("count: radius %v, %v; want 23 rows", got, err)
	}
}

func TestRadiusOfScoresIsAnError(t *testing.T) {
	u := universe(t, 2, 10, 0.1)
	for metric, want := range map[budget.Metric]string{
		budget.D1: "depends on the readings", budget.ND1: "depends on the readings",
		budget.DH: "depends on the readings; dx_rank_radius(p, epsilon, universe)",
	} {
		for _, agg := range []Aggregate{Min, Median, Max} {
			if r, err := query(t, agg, u, metric, rational("1")).Radius(0.9, 0); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v under %v: radius %v, %v", agg, metric, r, err)
			}
		}
	}
}

func TestRadiusAtTinyRates(t *testing.T) {
	q := query(t, Sum, universe(t, 0, 1, 1), budget.D1, new(big.Rat).SetFloat64(0x1p-60))
	r, err := q.Radius(0.5, 0) // the tail is e^(-rate*r) here
	if want := math.Ln2 * 0x1p60; err != nil || math.Abs(r/want-1) > 1e-12 {
		t.Errorf("radius %v, %v; want %v", r, err, want)
	}
	if r, err := q.Radius(1e-15, 0); err != nil || math.Abs(r/(1e-15*0x1p60)-1) > 1e-2 {
		t.Errorf("radius at 1e-15 is %v, %v; want about %v", r, err, 1e-15*0x1p60)
	}
}

func TestRadiusRefuses(t *testing.T) {
	q := query(t, Count, nil, budget.D1, big.NewRat(1, 1))
	for _, p := range []float64{0, 1, -0.5, 2, math.NaN(), math.Inf(1)} {
		if r, err := q.Radius(p, 0); err == nil {
			t.Errorf("radius at %v is %v", p, r)
		}
	}
}

// Draws are within the radius as often as it says: between p - 0.01 and p + 0.03 where
// answers are fine-grained and readings are the worst that there are. 100,000 draws a case, for one p of four in a short run.
// By Hoeffding's inequality a share is more than 0.01 below a true coverage of p or more,
// or 0.02 above one of p + 0.01 or less, with a probability below e^-20 = 2.1e-9; any of the
// 104 with one below 3e-7. The same holds at the epsilon that is returned for a radius.
func TestRadiusCoversDraws(t *testing.T) {
	fine, signed := universe(t, 0, 10, 0.001), universe(t, -20, 30, 0.001)
	for _, c := range trials.Some(t, 5, []struct {
		agg    Aggregate
		u      *Universe
		metric budget.Metric
		eps    string
		rows   int64
	}{
		{Value, fine, budget.D1, "20", 1},
		{Count, nil, budget.D1, "0.01", 1_000_000},
		{Sum, fine, budget.D1, "1", 1000}, {Sum, signed, budget.ND1, "1", 10}, {Sum, fine, budget.DH, "0.5", 1_000_000},
		{Median, fine, budget.DInf, "20", 7},
		{Avg, fine, budget.D1, "0.1", 100}, {Avg, fine, budget.DInf, "20", 100}, {Avg, signed, budget.DInf, "3", 1000},
		{Avg, fine, budget.ND1, "1", 100}, {Avg, signed, budget.ND1, "1", 1000},
		{Avg, fine, budget.DH, "0.7", 100}, {Avg, signed, budget.DH, "0.2", 1000},
	}...) {
		q := query(t, c.agg, c.u, c.metric, rational(c.eps))
		for _, p := range trials.Some(t, 1, 0.5, 0.9, 0.95, 0.99) {
			r, err := q.Radius(p, c.rows)
			if err != nil {
				t.Fatal(err)
			}
			share := q.shareWithin(r, c.rows)
			if share < p-0.01 || share > p+0.03 {
				t.Errorf("%v of %d rows under %v at %s: %v of the draws are within %v, not %v", c.agg, c.rows, c.metric, c.eps, share, r, p)
			}
			r *= 0.87
			at := func(eps *big.Rat) (*Query, error) { return NewQuery(c.agg, c.u, c.metric, eps) }
			eps, err := EpsilonFor(r, p, c.rows, at)
			if err != nil {
				t.Fatal(err)
			}
			share = query(t, c.agg, c.u, c.metric, eps).shareWithin(r, c.rows)
			if share < p-0.01 || share > p+0.03 {
				t.Errorf("%v of %d rows under %v at the epsilon for %v: %v of the draws are within, not %v", c.agg, c.rows, c.metric, r, share, p)
			}
		}
	}
}

// shareWithin returns how many of 100,000 answers are within r of the true one. Readings are
// in the middle of the universe, where no answer is moved; for an average of records they
// are those that have it just over r below hi.
func (q *Query) shareWithin(r float64, rows int64) float64 {
	const draws = 100_000
	a := q.withAverage(rows, func(u *Universe) float64 {
		if _, records := q.law.(*recordsMean); records {
			return u.hi - r
		}
		return (u.lo + u.hi) / 2
	})
	truth := float64(rows)
	if _, counts := q.law.(*count); !counts {
		truth = q.universe.lo + float64(a.sum.lo)/float64(rows)*(q.universe.hi-q.universe.lo)/float64(q.universe.last)
	}
	if _, sums := q.law.(*sum); sums {
		truth *= float64(rows)
	}
	src, within := exact.NewSource(nil), 0
	for range draws {
		if math.Abs(q.Draw(src, a)-truth) <= r+1e-9 {
			within++
		}
	}
	return float64(within) / draws
}

// withAverage returns so many readings, for a value or median all the same one, whose average
// is the largest below the given one.
func (q *Query) withAverage(rows int64, average func(*Universe) float64) *Accumulator {
	a := &Accumulator{rows: rows}
	u := q.universe
	if u.last == 0 {
		return a
	}
	index := (average(u) - u.lo) / (u.hi - u.lo) * float64(u.last)
	a.sum.lo = uint64(math.Ceil(index*float64(rows))) - 1
	a.index = int64(a.sum.lo) / rows
	switch q.law.(type) {
	case *value, *ranked, *scored:
		a.sum.lo = uint64(a.index * rows)
		a.indices = slices.Repeat([]int64{a.index}, int(rows))
	}
	return a
}
