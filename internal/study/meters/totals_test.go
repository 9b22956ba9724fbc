package meters

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/geosql/geosql/internal/study/stats"
	"github.com/geosql/geosql/mechanism/scalar"
)

// totalsOf runs that part of a study.
func totalsOf(t *testing.T, s *Study, meters ...Meter) (rows []TotalRow) {
	t.Helper()
	if err := s.Totals(t.Context(), meters, func(r TotalRow) error {
		rows = append(rows, r)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return rows
}

// at reads a time.
func at(t *testing.T, text string, value float64) Reading {
	t.Helper()
	x, err := time.Parse("2006-01-02 15:04", text)
	if err != nil {
		t.Fatal(err)
	}
	return Reading{x.UnixMicro(), value}
}

// Sums over the ends of days, months, years and of 1970's beginning; with so large an
// epsilon they are exact.
func TestTotals(t *testing.T) {
	s := brief(t, 1e6)
	s.Universe = universe(t, 0, 5, 0.001)
	rows := totalsOf(t, newStudy(t, s),
		Meter{"a", []Reading{
			at(t, "1969-12-31 23:59", 1), at(t, "1970-01-01 00:00", 2), at(t, "1970-01-01 23:59", 0.25),
			at(t, "2013-01-31 23:30", 7), at(t, "2013-02-01 00:00", 0), at(t, "2014-02-01 00:00", 0.0015),
		}},
		Meter{"b", []Reading{at(t, "2013-01-31 00:00", 0.3), at(t, "2013-01-31 23:30", 0.1)}},
	)
	exact := Errors{Within: 1}
	total := 1 + 2 + 0.25 + 5 + 0 + 0.002 + 0.3 + 0.1
	want := []TotalRow{
		{OneMeter, "day", 1e6, 6, 1, total / 6, exact, 0, 0, stats.Quartiles{}},
		{OneMeter, "month", 1e6, 6, 1, total / 6, exact, 0, 0, stats.Quartiles{}},
		{District, "day", 1e6, 5, 1, total / 5, exact, 0, 0, stats.Quartiles{}},
		{District, "month", 1e6, 5, 1, total / 5, exact, 0, 0, stats.Quartiles{}},
	}
	for k, r := range rows {
		if math.Abs(r.MeanSum-want[k].MeanSum) > 1e-12 {
			t.Errorf("mean sum %v, not %v", r.MeanSum, want[k].MeanSum)
		}
		if r.MeanSum = want[k].MeanSum; r != want[k] {
			t.Errorf("%+v, not %+v", r, want[k])
		}
	}
	if len(rows) != 4 {
		t.Errorf("%d rows", len(rows))
	}
}

// Nothing but zeros has no relative errors; the absolute ones stand.
func TestTotalsOfNothing(t *testing.T) {
	r := totalsOf(t, newStudy(t, brief(t, 0.01)), meter("a", 0, 0))[0]
	if r.Zeros != 1 || !math.IsNaN(r.RelativeMedian) || !math.IsNaN(r.RelativeP95) || r.MeanSum != 0 {
		t.Errorf("%+v", r)
	}
	if err := newStudy(t, brief(t, 1)).Totals(t.Context(), nil, nil); err == nil {
		t.Error("totals of no readings")
	}
}

// sums is the expectation for releases of a sum z of whole steps, the noise of rate
// epsilon per step being clamped at 0: their mean error, and the share within radius.
func sums(z int, epsilon float64, radius float64) (mean, within float64) {
	q := math.Exp(-epsilon)
	for n := -2000; n <= 2000; n++ { // e^-400 beyond that
		p := (1 - q) / (1 + q) * math.Pow(q, math.Abs(float64(n)))
		d := math.Abs(float64(max(0, z+n) - z))
		mean += p * d
		if d <= radius {
			within += p
		}
	}
	return mean, within
}

// checkTotal compares rows about releases of z with their expectations. A share of n
// releases is off by hoeffding(1, n) at most. An error above 200/epsilon has probability
// e^-200 for each release, and the errors up to there have a variance below
// 2/epsilon^2; by Bernstein their mean strays by 0.1/epsilon with probability below
// 2 exp(-n 0.005/(2+200*0.1/3)), 4e-10 for n = 40,000.
func checkTotal(r TotalRow, z int, epsilon float64, n int) error {
	mean, within := sums(z, epsilon, r.Errors.Radius)
	if math.Abs(r.Errors.Mean-mean) > 0.1/epsilon {
		return fmt.Errorf("mean error %v, not %v", r.Errors.Mean, mean)
	}
	if math.Abs(r.Errors.Within-within) > hoeffding(1, n) {
		return fmt.Errorf("%v are within %v, not %v", r.Errors.Within, r.Errors.Radius, within)
	}
	if within < Confidence {
		return fmt.Errorf("%v of all are within %v, less than promised", within, r.Errors.Radius)
	}
	return nil
}

// Errors are those of enumeration, and a mechanism of another epsilon is found out.
func TestTotalErrors(t *testing.T) {
	const repeat = 40_000
	for _, z := range []int{1, 4, 30} { // the clamp at 0 matters less and less
		epsilons := []float64{0.2, 0.5, 1}
		s := brief(t, epsilons...)
		s.Universe, s.Repeat = universe(t, 0, 30, 1), repeat
		rows := totalsOf(t, newStudy(t, s), meter("a", float64(z)))
		for k, epsilon := range epsilons {
			r := rows[k]
			if err := checkTotal(r, z, epsilon, repeat); err != nil {
				t.Errorf("%d, epsilon %v: %v", z, epsilon, err)
			}
			if r.RelativeMedian > r.RelativeP95 || r.RelativeP95 != r.Errors.P95/float64(z) {
				t.Errorf("%+v", r)
			}
			for _, wrong := range []float64{0.7, 1.5} {
				if err := checkTotal(r, z, wrong*epsilon, repeat); err == nil {
					t.Errorf("%d: epsilon %v passes for %v", z, epsilon, wrong*epsilon)
				}
			}
		}
	}
}

// The true sum is exact, for universes below 0 and finer than their lower end, too.
func TestSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lo := rapid.Int64Range(-5000, 5000).Draw(t, "lo")
		u, err := scalar.NewUniverse("test", float64(lo)/1000, float64(lo+10_000)/1000, 0.01, "kWh")
		if err != nil {
			t.Fatal(err)
		}
		want := new(big.Int)
		var readings []Reading
		for _, k := range rapid.SliceOfN(rapid.Int64Range(0, 1000), 1, 40).Draw(t, "indices") {
			readings = append(readings, Reading{0, u.Value(k)})
			want.Add(want, big.NewInt(lo+10*k))
		}
		nearest, _ := new(big.Rat).SetFrac(want, big.NewInt(1000)).Float64()
		if got := sum(u, readings); got != nearest {
			t.Fatalf("%v, not %v", got, nearest)
		}
	})
}

// Groups are runs of the same number: none is lost, and none is torn.
func TestGroups(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m Meter
		for _, x := range rapid.SliceOf(rapid.Int64Range(-50, 50)).Draw(t, "times") {
			m.Readings = append(m.Readings, Reading{T: x})
		}
		sortByTime(m.Readings)
		number := func(t int64) int64 { return floor(t, 7) }
		var all []Reading
		last := int64(math.MinInt64)
		for _, g := range groups([]Meter{m}, number) {
			first := number(g[0].T)
			if first <= last || slices.ContainsFunc(g, func(r Reading) bool { return number(r.T) != first }) {
				t.Fatalf("group %v after %d", g, last)
			}
			last = first
			all = append(all, g...)
		}
		if !slices.Equal(all, m.Readings) {
			t.Fatalf("%v, not %v", all, m.Readings)
		}
	})
}
