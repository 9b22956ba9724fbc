package lbs

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// At the ends of the interval the tails of the binomial distribution have half of the
// probability of missing.
func TestInterval(t *testing.T) {
	for _, c := range []struct{ hits, trials int64 }{
		{0, 1}, {1, 1}, {0, 1000}, {1000, 1000}, {1, 2}, {3, 10}, {990, 1000}, {95, 100}, {99_000, 100_000}, {9_500_000, 10_000_000},
	} {
		for _, miss := range []float64{0.01, 1e-6, 1e-9} {
			low, high := interval(c.hits, c.trials, miss)
			k, n := float64(c.hits), float64(c.trials)
			if share := k / n; !(low <= share && share <= high) {
				t.Errorf("%v: [%v, %v]", c, low, high)
			}
			if c.hits == 0 != (low == 0) || c.hits == c.trials != (high == 1) {
				t.Errorf("%v: [%v, %v]", c, low, high)
			}
			if low > 0 {
				atLeast := 1 - distuv.Binomial{N: n, P: low}.CDF(k-1)
				if math.Abs(atLeast-miss/2) > 1e-3*miss+1e-13 {
					t.Errorf("%v: %v hits or more with probability %v at %v, not %v", c, k, atLeast, low, miss/2)
				}
			}
			if high < 1 {
				atMost := distuv.Binomial{N: n, P: high}.CDF(k)
				if math.Abs(atMost-miss/2) > 1e-3*miss+1e-13 {
					t.Errorf("%v: %v hits or less with probability %v at %v, not %v", c, k, atMost, high, miss/2)
				}
			}
		}
	}
}

func TestProportion(t *testing.T) {
	// Clopper and Pearson's interval for 9 of 10 at 0.99, from tables of F.
	if p := newProportion(9, 10); p.Share != 0.9 || math.Abs(p.Low-0.4557) > 5e-5 || math.Abs(p.High-0.9995) > 5e-5 {
		t.Errorf("%+v", p)
	}
}
