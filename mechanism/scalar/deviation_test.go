package scalar

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/mechanism/exact"
)

// Whatever the records are, the deviation of the releases of their average holds as much as it
// says, by enumeration of both noises.
func TestMeanDeviationHoldsForAllRecords(t *testing.T) {
	for _, c := range trials.Some(t, 2, []struct {
		last float64
		rows int64
		eps  string
	}{{1, 1, "1"}, {1, 20, "2"}, {20, 1, "5"}, {20, 3, "2"}, {20, 30, "4"}}...) {
		u := universe(t, 0, c.last, 1)
		q := query(t, Avg, u, budget.DH, rational(c.eps))
		v := q.law.(*recordsMean)
		window := int64(16 / v.sum.rate)
		if v.sum.stairs != nil {
			window *= v.sum.stairs.width
		}
		for _, p := range []float64{0.01, 0.5, 0.95, 0.999} {
			d := q.Deviation(p)
			for i := range int64(9) {
				total := u.last * c.rows * i / 8 // of the readings
				truth, covered := float64(total)/float64(c.rows), 0.
				for k := -int64(16 / v.count.rate); k <= int64(16/v.count.rate); k++ {
					divisor := max(1, c.rows+k)
					for j := -window; j <= window; j++ {
						num := big.NewInt(divisor*u.last + 2*total - c.rows*u.last + j)
						scale := c.last / v.times(float64(divisor))
						r := Release{Value: u.quotient(num, big.NewInt(2*divisor), scale), Readings: float64(divisor)}
						if math.Abs(r.Value-truth) <= d(r)+1e-11 {
							covered += v.count.mass(k) * v.sum.mass(j)
						}
					}
				}
				if covered < p-1e-6 {
					t.Errorf("%d records in %v at %s, average %v: %v of the answers are within, not %v", c.rows, u, c.eps, truth, covered, p)
				}
			}
		}
	}
}

// Releases are within their deviations as often as these say: between p - 0.01 and p + 0.03
// where answers are fine-grained, wherever the readings are, but for averages whose distance
// from an end is about the noise. 100,000 draws a case; a false alarm has a probability below
// e^-20 = 2.1e-9 by Hoeffding's inequality, as in TestRadiusCoversDraws.
func TestDeviationCoversDraws(t *testing.T) {
	const draws = 100_000
	src := exact.NewSource(nil)
	fine := universe(t, 0, 10, 0.001)
	for _, c := range trials.Some(t, 4, []struct {
		agg    Aggregate
		metric budget.Metric
		eps    string
		rows   int64
		level  float64 // of the readings
	}{
		{Value, budget.D1, "20", 1, 4}, {Sum, budget.D1, "1", 1000, 9}, {Median, budget.DInf, "20", 7, 5},
		{Avg, budget.D1, "0.1", 100, 5}, {Avg, budget.DInf, "20", 100, 5},
		{Avg, budget.ND1, "1", 100, 5}, {Avg, budget.DH, "1", 100, 7}, {Avg, budget.DH, "1", 100, 9.2},
		{Median, budget.D1, "20", 1, 5}, // which is noised
		{Avg, budget.DH, "1", 1000, 5}, {Avg, budget.DH, "1", 1000, 0.4}, {Avg, budget.ND1, "1", 1000, 3}, {Avg, budget.DH, "0.2", 1000, 5},
	}...) {
		q := query(t, c.agg, fine, c.metric, rational(c.eps))
		a := q.withAverage(c.rows, func(*Universe) float64 { return c.level })
		truth := float64(a.sum.lo) / 1000
		if c.agg != Sum {
			truth /= float64(c.rows)
		}
		releases := make([]Release, draws)
		for i := range releases {
			releases[i] = q.Release(src, a)
		}
		for _, p := range []float64{0.5, 0.9, 0.95, 0.99} {
			d := q.Deviation(p)
			within := 0
			for _, r := range releases {
				if math.Abs(r.Value-truth) <= d(r)+1e-9 {
					within++
				}
			}
			if share := float64(within) / draws; share < p-0.01 || share > p+0.03 {
				t.Errorf("%v of %d rows of %v under %v at %s: %v of the releases are within, not %v", c.agg, c.rows, c.level, c.metric, c.eps, share, p)
			}
		}
	}
}

// Where it does not depend on draws, the deviation is the radius.
func TestDeviationIsTheRadius(t *testing.T) {
	u := universe(t, -3, 7, 0.5)
	for _, c := range []struct {
		agg    Aggregate
		u      *Universe
		metric budget.Metric
		rows   int64
	}{
		{Value, u, budget.D1, 1}, {Count, nil, budget.D1, 1}, {Sum, u, budget.DH, 1}, {Max, u, budget.DInf, 1},
		{Avg, u, budget.D1, 40}, {Avg, u, budget.DInf, 40},
	} {
		q := query(t, c.agg, c.u, c.metric, rational("0.3"))
		r, err := q.Radius(0.9, c.rows)
		if err != nil {
			t.Fatal(err)
		}
		if d := q.Deviation(0.9); d(Release{Value: 2, Readings: float64(c.rows)}) != r {
			t.Errorf("%v under %v: %v, not %v", c.agg, c.metric, d(Release{Value: 2, Readings: float64(c.rows)}), r)
		}
	}
	for _, m := range []budget.Metric{budget.D1, budget.DInf} {
		q := query(t, Avg, u, m, rational("0.3"))
		if d := q.Deviation(0.9); d(q.Release(exact.NewSource(nil), new(Accumulator))) != 0 {
			t.Errorf("under %v the answer without readings has noise", m)
		}
	}
	for _, q := range []*Query{
		query(t, Variance, u, budget.DH, rational("1")), query(t, StdDev, u, budget.DH, rational("1")),
		query(t, Median, u, budget.D1, rational("1")), query(t, Min, u, budget.ND1, rational("1")), query(t, Max, u, budget.DH, rational("1")),
	} {
		a := collect(q, slices.Repeat([]float64{1}, 100))
		if d := q.Deviation(0.9)(q.Release(exact.NewSource(nil), a)); !math.IsNaN(d) {
			t.Errorf("%T under %v: the deviation is %v", q.law, q.metric, d)
		}
	}
}

// The divisor of an average of records is the noisy number of readings, and not the true one:
// at epsilon 0.1 it is the same in tanh(0.025) = 0.025 of the draws. More than 100 of 1,000 has
// a probability of e^(-1000 KL(0.1, 0.025)) < 1e-29.
func TestReleaseTellsTheNoisyCountOnly(t *testing.T) {
	src := exact.NewSource(nil)
	for _, m := range []budget.Metric{budget.ND1, budget.DH} {
		q := query(t, Avg, universe(t, 0, 10, 1), m, rational("0.1"))
		a := q.withAverage(1000, func(*Universe) float64 { return 3 })
		same, law := 0, map[int64]int{}
		for range 1000 {
			r := q.Release(src, a)
			if r.Readings == 1000 {
				same++
			}
			law[int64(r.Readings)-1000]++
		}
		if same > 100 || len(law) < 20 {
			t.Errorf("%v: the true number in %d of the draws, and %d different ones", m, same, len(law))
		}
	}
}
