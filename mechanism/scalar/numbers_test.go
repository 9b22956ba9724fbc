package scalar

import (
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/golden"
)

// Radii, digits of answers, and errors that decide between mechanisms, are the same to the last bit on every platform.
func TestNumbers(t *testing.T) {
	var n golden.Numbers
	for _, r := range [][3]float64{{0, 10, 0.001}, {-40, 60, 0.5}} {
		u, err := NewUniverse("u", r[0], r[1], r[2], "kWh")
		if err != nil {
			t.Fatal(err)
		}
		for _, metric := range []budget.Metric{budget.D1, budget.ND1, budget.DH, budget.DInf} {
			for _, agg := range []Aggregate{Value, Count, Sum, Avg, Variance, StdDev, Min, Median, Max} {
				for _, eps := range []*big.Rat{big.NewRat(1, 50), big.NewRat(7, 10), big.NewRat(3, 1), big.NewRat(30, 1)} {
					of := u
					if agg == Count {
						of = nil
					}
					q, err := NewQuery(agg, of, metric, eps)
					if err != nil {
						continue
					}
					var radii []float64
					for _, p := range []float64{0.5, 0.999} {
						for _, rows := range []int64{1, 3000} {
							if agg == Avg && (metric == budget.ND1 || metric == budget.DH) && (p == 0.5 || rows == 1) {
								continue // one is enough of those that take long
							}
							if r, err := q.Radius(p, rows); err == nil {
								radii = append(radii, r)
							}
						}
					}
					if l := q.scored(); l != nil && metric == budget.D1 {
						for _, m := range []int{1, 10, 500} {
							radii = append(radii, slices.Concat(l.errors(m)...)...)
						}
					}
					n.Add(fmt.Sprintf("%v..%v/%v %v %v %s", r[0], r[1], r[2], metric, agg, eps), radii...)
				}
			}
		}
		for _, p := range []float64{0.5, 0.95} {
			for _, agg := range []Aggregate{Median, Max} {
				rank, err := RankRadius(agg, p, big.NewRat(10, 3), u)
				if err != nil {
					t.Fatal(err)
				}
				n.Add(fmt.Sprintf("%v..%v/%v ranks of %v %v", r[0], r[1], r[2], agg, p), float64(rank))
			}
		}
	}
	for _, scale := range []float64{1e-9, 0.0123, 0.999, 40, 7e5} {
		n.Add(fmt.Sprintf("rounded for %v", scale), rounded(big.NewInt(-123456789012345), big.NewInt(7919), scale))
	}
	curve, err := ParseCurve(`{"m":1000,"lo":-3,"hi":10,"step":0.000001,"epsilon":0.3,"edges":[0,7,100,333,700,991,1000],"sums":[-3,7000001,311111111,1000000000,999999999,123456789]}`)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []float64{1, 13.7, 61, 99.9} {
		at, _ := curve.Percentile(p)
		mean, _ := curve.Mean(p, 100)
		n.Add(fmt.Sprintf("curve at %v", p), at, mean, curve.Share(p/10-1))
	}
	n.Check(t, "testdata/numbers.txt")
}
