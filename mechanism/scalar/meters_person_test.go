package scalar

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
)

// errorsOf returns the median and the 95th percentile of how far 16,000 answers are from the truth. The ratio of two of
// them has a standard error of a fiftieth or less.
func errorsOf(q *Query, a *Accumulator, truth float64) (median, most95 float64) {
	src := exact.NewSource(nil)
	errs := make([]float64, 16_000)
	for i := range errs {
		errs[i] = math.Abs(q.Draw(src, a) - truth)
	}
	return quantileOf(errs, 0.5), quantileOf(errs, 0.95)
}

// One number of each home in July costs it epsilon once. Of its half hours under dh each costs, so that for the same charge
// epsilon is divided by 1,488.
func TestMeterPersonsAreAccurate(t *testing.T) {
	u := universe(t, 0, 10, 0.001)
	homes := map[string]Total{}
	rows := new(Accumulator)
	perRow := queryOfKnownRows(t, Sum, u, budget.DH, rational("1/1488"))
	forEachMeterReading(t, func(meter, time, kwh string) {
		if strings.HasPrefix(time, "2013-07-") {
			k := wattHours(t, kwh)
			total := homes[meter]
			total.Add(k)
			homes[meter] = total
			perRow.AddIndex(rows, k)
		}
	})
	const truth = 20748.121
	months := make([]float64, 0, len(homes))
	whole := totals(t, u, 0, 2000)
	for _, total := range homes {
		months = append(months, whole.Value(whole.IndexOf(total)))
	}
	slices.Sort(months)
	sums, squares := 0., 0.
	for _, x := range months {
		sums, squares = sums+x, squares+x*x
	}
	mean := sums / float64(len(months))
	if math.Abs(sums-truth) > 1e-6 || len(months) != 53 {
		t.Fatalf("%d homes have used %v kWh, want 53 and %v", len(months), sums, truth)
	}
	median, most95 := errorsOf(perRow, rows, truth)
	t.Logf("a record of each half hour, 1/1488: the sum %v is off by %.0f, 95 %% by %.0f kWh", truth, median, most95)
	for _, c := range []struct {
		agg            Aggregate
		epsilon        string
		hi             float64
		truth          float64
		median, most95 float64
	}{
		{Sum, "1", 1000, truth, 900, 3800}, {Sum, "5", 1200, truth, 200, 850},
		{Avg, "1", 1000, mean, 17, 75}, {Avg, "5", 1200, mean, 4, 16},
		{Median, "1", 1000, months[len(months)/2], 45, 210}, {StdDev, "5", 1200, math.Sqrt(squares/53 - mean*mean), 25, 80},
	} {
		of := totals(t, u, 0, c.hi)
		q, a := queryOfKnownRows(t, c.agg, of.Universe, budget.DH, rational(c.epsilon)), new(Accumulator)
		for _, total := range homes {
			q.AddIndex(a, of.IndexOf(total))
		}
		median, most95 := errorsOf(q, a, c.truth)
		t.Logf("%v of homes, 0..%v, epsilon %s: %.3f is off by %.2f, 95 %% by %.2f kWh", c.agg, c.hi, c.epsilon, c.truth, median, most95)
		if median > c.median || most95 > c.most95 {
			t.Errorf("%v of homes, 0..%v, epsilon %s: off by %.2f, 95 %% by %.2f kWh, not %v and %v", c.agg, c.hi, c.epsilon, median, most95, c.median, c.most95)
		}
	}
}

// Where it is known which rows there are, answers under dh are better than where that is secret: home-days in July at
// epsilon 1, and sums of 1,623 readings from 10 to 20 and from 100 to 110.
func TestMetersOfKnownRowsAreMoreAccurate(t *testing.T) {
	homeDays := make(map[string]int64)
	forEachMeterReading(t, func(meter, time, kwh string) {
		if strings.HasPrefix(time, "2013-07-") {
			homeDays[meter+time[:len("2013-07-01")]] += wattHours(t, kwh)
		}
	})
	days := slices.Collect(func(yield func(int64) bool) {
		for _, wh := range homeDays {
			if !yield(wh) {
				return
			}
		}
	})
	for _, c := range []struct {
		agg        Aggregate
		lo, hi     float64
		index      func(wh int64) int64
		times, p95 float64 // better than these in the median, and in 95 of 100: 7 standard errors away, and more
	}{
		{Sum, 10, 20, func(wh int64) int64 { return wh % 10001 }, 1.7, 1.7},
		{Sum, 100, 110, func(wh int64) int64 { return wh % 10001 }, 9, 9},
		{Avg, 0, 200, func(wh int64) int64 { return wh }, 1.35, 1.1},
		{Variance, 0, 200, func(wh int64) int64 { return wh }, 1.3, 1.1},
		{StdDev, 0, 200, func(wh int64) int64 { return wh }, 1.25, 1.1},
	} {
		u := universe(t, c.lo, c.hi, 0.001)
		secret, known := query(t, c.agg, u, budget.DH, rational("1")), queryOfKnownRows(t, c.agg, u, budget.DH, rational("1"))
		a, b := new(Accumulator), new(Accumulator)
		exactly := queryOfKnownRows(t, c.agg, u, budget.DH, rational("9000000"))
		for _, wh := range days {
			secret.AddIndex(a, c.index(wh))
			known.AddIndex(b, c.index(wh))
		}
		truth := exactly.Draw(exact.NewSource(nil), b)
		wasMedian, was95 := errorsOf(secret, a, truth)
		median, most95 := errorsOf(known, b, truth)
		what := fmt.Sprintf("%v of %d home-days in %v..%v", c.agg, len(days), c.lo, c.hi)
		t.Logf("%s: %.4f / %.4f where the number is secret, %.4f / %.4f where it is known: %.2f and %.2f times better", what, wasMedian, was95, median, most95, wasMedian/median, was95/most95)
		if wasMedian/median < c.times || was95/most95 < c.p95 {
			t.Errorf("%s: %.2f and %.2f times better, not %v and %v", what, wasMedian/median, was95/most95, c.times, c.p95)
		}
	}
}
