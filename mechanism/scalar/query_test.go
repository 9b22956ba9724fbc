package scalar

import (
	"math/big"
	"strings"
	"testing"

	"github.com/geosql/geosql/budget"
)

func TestQueryErrors(t *testing.T) {
	u := universe(t, 0, 10, 0.001)
	one := big.NewRat(1, 1)
	for _, c := range []struct {
		agg    Aggregate
		u      *Universe
		metric budget.Metric
		eps    *big.Rat
		want   string
	}{
		{Sum, u, budget.D1, new(big.Rat), "epsilon must be above 0"},
		{Sum, u, budget.D1, big.NewRat(-1, 10), "epsilon must be above 0"},
		{Sum, u, budget.D1, rational("9000001"), "epsilon must be at most 9000000"},
		{Sum, u, budget.D1, rational("1e-20"), "epsilon is too small"},
		{Sum, u, budget.D1, rational("1e-400"), "epsilon is too small"},
		{Sum, u, budget.DInf, one, "metric dinf: sum has no finite sensitivity"},
		{Value, u, budget.ND1, one, "metric nd1: value takes no metric"},
		{Count, nil, budget.DH, one, "metric dh: count takes no metric"},
		{Avg, u, budget.Metric(9), one, "metric Metric(9) is unknown"},
		{Count, u, budget.D1, one, "universe: count takes none"},
		{Avg, nil, budget.D1, one, "universe: avg needs one"},
		{StdDev, u, budget.ND1, one, "metric nd1: stddev is released under d1 and dh only"},
		{Histogram(3), u, budget.DH, one, "metric dh: histogram takes no metric"},
	} {
		_, err := NewQuery(c.agg, c.u, c.metric, c.eps)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v under %v: %v, want %q", c.agg, c.metric, err, c.want)
		}
	}
	for p, want := range map[string]string{"-0.1": "p is not in 0..100", "100.1": "p is not in 0..100", "1e-30": "p has more than 17 decimals"} {
		if a, err := Percentile(rational(p)); err == nil || err.Error() != want {
			t.Errorf("percentile %s: %v, %v, want %q", p, a, err, want)
		}
	}
}

func TestWhatAQueryCharges(t *testing.T) {
	u := universe(t, 0, 10, 0.001)
	for _, c := range []struct {
		agg    Aggregate
		metric budget.Metric
		perRow bool
		unit   budget.Unit
	}{
		{Value, budget.D1, false, "kWh"},
		{Count, budget.D1, true, budget.Record},
		{Sum, budget.D1, false, "kWh"},
		{Sum, budget.ND1, true, budget.Record},
		{Avg, budget.DH, true, budget.Record},
		{Max, budget.DInf, false, "kWh"},
	} {
		of := u
		if c.agg == Count {
			of = nil
		}
		q := query(t, c.agg, of, c.metric, big.NewRat(1, 10))
		if q.PerRow() != c.perRow || q.Price().Unit != c.unit {
			t.Errorf("%v under %v: per row %v, unit %s", c.agg, c.metric, q.PerRow(), q.Price().Unit)
		}
	}
}

func TestAggregateNames(t *testing.T) {
	for _, a := range []Aggregate{Value, Count, Sum, Avg, Min, Max, Median, Variance, StdDev} {
		for _, prefix := range []string{"", "dx_"} {
			if got, err := ParseAggregate(prefix + a.String()); err != nil || got != a {
				t.Errorf("ParseAggregate(%q) = %v, %v", prefix+a.String(), got, err)
			}
		}
	}
	for _, s := range []string{"", "dx_", "dx_dx_sum", "total", "Sum"} {
		if a, err := ParseAggregate(s); err == nil {
			t.Errorf("ParseAggregate(%q) = %v", s, a)
		}
	}
}

// The rate is epsilon*step/Delta rounded down, by less than one part in 2^52.
func TestRateIsRoundedDown(t *testing.T) {
	tenths, evens := universe(t, -1, 10, 0.1), universe(t, 4, 10, 2)
	eps := rational("0.3")
	for _, c := range []struct {
		agg    Aggregate
		u      *Universe
		metric budget.Metric
		want   *big.Rat
	}{
		{Count, nil, budget.D1, rational("0.3")},
		{Value, tenths, budget.D1, rational("0.03")},
		{Sum, tenths, budget.D1, rational("0.03")},
		{Sum, tenths, budget.ND1, big.NewRat(3, 1100)},
		{Sum, evens, budget.D1, rational("0.6")},
		{Sum, evens, budget.DH, rational("0.06")},
		{Median, evens, budget.ND1, rational("0.1")},
		{Median, evens, budget.DH, rational("0.3")}, // of scores: half of it per rank
	} {
		q := query(t, c.agg, c.u, c.metric, eps)
		slack := new(big.Rat).Sub(c.want, new(big.Rat).SetFloat64(q.noised().noise.rate))
		if most := new(big.Rat).Mul(c.want, new(big.Rat).SetFloat64(0x1p-52)); slack.Sign() < 0 || slack.Cmp(most) > 0 {
			t.Errorf("%v under %v: rate %v, want %v from below", c.agg, c.metric, q.noised().noise.rate, c.want)
		}
	}
}

func TestResetKeepsMemoryOnly(t *testing.T) {
	q := query(t, Median, universe(t, 0, 10, 1), budget.D1, big.NewRat(1, 1))
	var a Accumulator
	for _, x := range []float64{3, 1, 2} {
		q.Add(&a, x)
	}
	kept := cap(a.indices)
	q.Reset(&a)
	if a.rows != 0 || len(a.indices) != 0 || cap(a.indices) != kept {
		t.Errorf("after Reset: %+v of capacity %d", a, cap(a.indices))
	}
	if got := q.answer(&a); got != (int128{}) {
		t.Errorf("after Reset the answer is index %v", got.big())
	}
}
