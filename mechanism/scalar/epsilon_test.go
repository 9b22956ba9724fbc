package scalar

import (
	"math/big"
	"strings"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/trials"
)

// The radius at the epsilon for it is at most the one asked for, and that at the decimal
// below is more.
func TestEpsilonFor(t *testing.T) {
	u := universe(t, -20, 30, 0.01)
	least, below := budget.Amount(1).Rat(), big.NewRat(99999, 100000)
	for _, c := range trials.Some(t, 2, []struct {
		agg    Aggregate
		u      *Universe
		metric budget.Metric
		rows   int64
	}{
		{Value, u, budget.D1, 0}, {Count, nil, budget.D1, 0}, {Sum, u, budget.D1, 0}, {Sum, u, budget.ND1, 0}, {Sum, u, budget.DH, 0},
		{Max, u, budget.DInf, 0}, {Median, u, budget.DInf, 0},
		{Avg, u, budget.D1, 0}, {Avg, u, budget.D1, 200}, {Avg, u, budget.DInf, 200}, {Avg, u, budget.ND1, 200}, {Avg, u, budget.DH, 7},
	}...) {
		at := func(eps *big.Rat) (*Query, error) { return NewQuery(c.agg, c.u, c.metric, eps) }
		for _, radius := range []float64{0.003, 4, 49.9} {
			for _, p := range []float64{0.01, 0.95} {
				eps, err := EpsilonFor(radius, p, c.rows, at)
				if err != nil {
					t.Fatal(err)
				}
				r, err := query(t, c.agg, c.u, c.metric, eps).Radius(p, c.rows)
				if err != nil || r > radius {
					t.Errorf("%v under %v: the radius at the epsilon for %v is %v, %v", c.agg, c.metric, radius, r, err)
				}
				if eps.Cmp(least) == 0 {
					continue
				}
				lower, err := query(t, c.agg, c.u, c.metric, eps.Mul(eps, below)).Radius(p, c.rows)
				if err != nil || lower <= radius {
					t.Errorf("%v under %v: the radius below the epsilon for %v is %v, %v", c.agg, c.metric, radius, lower, err)
				}
			}
		}
	}
}

// Arguments that Radius refuses are refused, and so is a radius that no epsilon has.
func TestEpsilonForRefuses(t *testing.T) {
	u, tiny := universe(t, 0, 10, 0.1), universe(t, 0, 1e-8, 1e-10)
	for _, c := range []struct {
		agg       Aggregate
		u         *Universe
		metric    budget.Metric
		radius, p float64
		want      string
	}{
		{Sum, u, budget.DInf, 1, 0.5, "no finite sensitivity"},
		{Median, u, budget.DH, 1, 0.5, "depends on the readings; dx_rank_radius"},
		{Median, u, budget.D1, 1, 0.5, "depends on the readings"},
		{Variance, u, budget.DH, 1, 0.5, "depends on the readings"},
		{Avg, u, budget.DH, 1, 0.5, "rows must be given"},
		{Sum, u, budget.D1, 1, 1, "p is not between 0 and 1"},
		{Sum, u, budget.D1, 1, 0, "p is not between 0 and 1"},
		{Sum, u, budget.D1, 0, 0.5, "radius must be above 0"},
		{Sum, u, budget.D1, -1, 0.5, "radius must be above 0"},
		{Sum, tiny, budget.D1, 1e-10, 0.95, "radius must be at least 3.329e-07: no epsilon up to 9000000 allows less"},
	} {
		eps, err := EpsilonFor(c.radius, c.p, 0, func(eps *big.Rat) (*Query, error) { return NewQuery(c.agg, c.u, c.metric, eps) })
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v under %v: %v, %v; want %s", c.agg, c.metric, eps, err, c.want)
		}
	}
}
