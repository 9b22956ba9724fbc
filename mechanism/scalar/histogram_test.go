package scalar

import (
	"encoding/json"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/mechanism/exact"
)

func histogramOf(t fataler, u *Universe, eps string, bins int64) *histogram {
	t.Helper()
	return query(t, Histogram(bins), u, budget.D1, rational(eps)).law.(*histogram)
}

// collect returns the counts of a database, NULL left out.
func (h *histogram) collect(db []float64) *Accumulator {
	a := new(Accumulator)
	for _, x := range db {
		if !math.IsNaN(x) {
			h.add(a, h.universe.Index(x))
		}
	}
	return a
}

// Bins are runs of all values, in order, with lengths that differ by one at most.
func TestBinsCutTheUniverse(t *testing.T) {
	for values := int64(2); values <= 40; values++ {
		u := universe(t, -3, float64(values)-4, 1)
		for bins := int64(1); bins <= values; bins++ {
			h := histogramOf(t, u, "1", bins)
			shortest, longest, next := values, int64(0), int64(0)
			for b := range bins {
				first, last := h.bins.First(b), h.bins.First(b+1)-1
				if first != next || last < first {
					t.Fatalf("%d values, %d bins: bin %d is %d..%d", values, bins, b, first, last)
				}
				for k := first; k <= last; k++ {
					if h.bins.Of(k) != b {
						t.Fatalf("%d values, %d bins: value %d is in bin %d, not %d", values, bins, k, h.bins.Of(k), b)
					}
				}
				shortest, longest, next = min(shortest, last-first+1), max(longest, last-first+1), last+1
			}
			if next != values || longest-shortest > 1 {
				t.Fatalf("%d values, %d bins: %d to %d long, %d in all", values, bins, shortest, longest, next)
			}
		}
	}
	wide := histogramOf(t, universe(t, 0, 1<<40-1, 1), "1", MaxBins)
	for b := range int64(MaxBins) {
		if wide.bins.Of(wide.bins.First(b)) != b || wide.bins.Of(wide.bins.First(b+1)-1) != b {
			t.Fatalf("bin %d of the widest universe", b)
		}
	}
}

// histogramLoss returns the largest ln(P(z|x)/P(z|y)) over all answers z with noise of that
// rate: bins are independent, so it is the sum of each bin's largest.
func histogramLoss(rate float64, x, y []int64) float64 {
	sum := 0.
	for i := range x {
		p := noisedLaw(outcome{fromInt64(x[i]), binned}, rate, 1)
		q := noisedLaw(outcome{fromInt64(y[i]), binned}, rate, 1)
		worst := math.Inf(-1)
		for z := -int64(window); z <= window; z++ {
			worst = max(worst, math.Log(p[z]/q[z]))
		}
		sum += worst
	}
	return sum
}

// Between all databases of up to three rows, with records added, removed and replaced, a
// histogram spends at most epsilon for each record in which they differ, by enumeration and in
// rationals, and all of it for some. With all of epsilon as the rate of each bin it does not.
func TestHistogramKeepsItsEpsilon(t *testing.T) {
	for _, bounds := range tinyUniverses {
		u := universe(t, bounds.lo, bounds.hi, bounds.step)
		dbs := databases(u)
		d := distanceOf(u, tinyCase{agg: Median, metric: budget.DH})
		for bins := int64(1); bins <= u.last+1; bins++ {
			for _, e := range trials.Some(t, 1, tinyEpsilons...) {
				h, eps := histogramOf(t, u, e, bins), rational(e)
				of := make([][]int64, len(dbs))
				for i, db := range dbs {
					of[i] = h.without(db)
				}
				spent := func(rate float64) (worst float64, over bool) {
					losses := map[[2][4]int64]float64{} // by the counts, which are few
					for i, x := range dbs {
						for j, y := range dbs {
							records := d.units(x, y)
							if records == 0 {
								continue
							}
							a, b := of[i], of[j]
							var key [2][4]int64
							copy(key[0][:], a)
							copy(key[1][:], b)
							if _, known := losses[key]; !known {
								losses[key] = histogramLoss(rate, a, b)
							}
							bound := new(big.Rat).Mul(eps, new(big.Rat).SetInt64(records))
							all, _ := bound.Float64()
							worst = max(worst, losses[key]/all)
							moves := int64(0)
							for i := range a {
								moves += max(a[i]-b[i], b[i]-a[i])
							}
							cost := new(big.Rat).SetFloat64(rate)
							over = over || cost.Mul(cost, new(big.Rat).SetInt64(moves)).Cmp(bound) > 0
						}
					}
					return worst, over
				}
				want := 1.
				if bins == 1 { // no record changes two bins
					want = 0.5
				}
				if worst, over := spent(h.noise.rate); over || math.Abs(worst-want) > 1e-9 {
					t.Fatalf("%v, %d bins, epsilon %s: spends %v of it", u, bins, e, worst)
				}
				if worst, over := spent(2 * h.noise.rate); bins > 1 && (!over || worst < 1.9) {
					t.Fatalf("%v, %d bins, epsilon %s: a rate of epsilon is not caught, %v", u, bins, e, worst)
				}
			}
		}
	}
}

// without returns the counts of a database without noise.
func (h *histogram) without(db []float64) []int64 {
	counts := make([]int64, h.bins.Len())
	copy(counts, h.collect(db).counts)
	return counts
}

// Draws of three bins follow the product of their laws: 100,000 draws, each bin cut off at -5 and 5,
// with a false alarm below 1e-10 (Chernoff). Twice the rate is caught.
func TestHistogramFollowsItsLaw(t *testing.T) {
	const draws = 100_000
	cut := func(key, z int64) int64 { return key*11 + min(max(z, -5), 5) + 5 }
	u := universe(t, 0, 4, 1)
	db := []float64{0, 1, 1, 4, 9, 3, 3}
	h := histogramOf(t, u, "2", 3)
	want := map[int64]float64{0: 1}
	for _, n := range h.without(db) {
		next := map[int64]float64{}
		for z, p := range noisedLaw(outcome{fromInt64(n), binned}, 1, 1) {
			for key, q := range want {
				next[cut(key, z)] += p * q
			}
		}
		want = next
	}
	src := exact.NewSource(nil)
	check := func(drawn *histogram) error {
		c, got := drawn.collect(db), map[int64]int{}
		for range draws {
			key := int64(0)
			for _, n := range drawn.drawCounts(src, c) {
				key = cut(key, n)
			}
			got[key]++
		}
		return fits(got, want, draws, 1e-10)
	}
	if err := check(h); err != nil {
		t.Error(err)
	}
	if check(histogramOf(t, u, "4", 3)) == nil {
		t.Error("twice the rate is not caught")
	}
}

// Without noise to speak of, the counts are those of the readings, and the ends of the bins
// print as the decimals that they are.
func TestHistogramPrints(t *testing.T) {
	src := exact.NewSource(nil)
	for _, c := range []struct {
		lo, hi, step float64
		bins         int64
		db           []float64
		want         string
	}{
		{0, 10, 1, 1, nil, `[{"lo":0,"hi":10,"count":0}]`},
		{0, 1, 1, 2, []float64{0, 0.4, 0.5, 3}, `[{"lo":0,"hi":0,"count":2},{"lo":1,"hi":1,"count":2}]`},
		{-0.3, 1.1, 0.1, 4, []float64{-5, -0.1, 0, 0.3, 1e300, 1.1, 0.8},
			`[{"lo":-0.3,"hi":-0.1,"count":2},{"lo":0,"hi":0.3,"count":2},{"lo":0.4,"hi":0.7,"count":0},{"lo":0.8,"hi":1.1,"count":3}]`},
		{1e14, 1e14 + 1, 1, 1, []float64{1}, `[{"lo":100000000000000,"hi":100000000000001,"count":1}]`},
	} {
		h := histogramOf(t, universe(t, c.lo, c.hi, c.step), "1000", c.bins)
		text := h.draw(src, h.collect(c.db)).JSON
		if text != c.want || !json.Valid([]byte(text)) {
			t.Errorf("%s, want %s", text, c.want)
		}
	}
}

func TestHistogramRefuses(t *testing.T) {
	u, wide := universe(t, 0, 3, 1), universe(t, 0, 1e6, 1)
	for _, c := range []struct {
		u     *Universe
		eps   string
		bins  int64
		names string
	}{
		{u, "1", 0, "bins must be from 1 to 10000"}, {u, "1", -1, "bins must"}, {u, "1", 5, "bins must be at most 4, the number of values of universe"},
		{wide, "1", MaxBins + 1, "bins must be from 1 to 10000"},
		{u, "0", 2, "epsilon"}, {u, "9000001", 2, "epsilon"}, {u, "1e-30", 2, "epsilon is too small"},
	} {
		if _, err := NewQuery(Histogram(c.bins), c.u, budget.D1, rational(c.eps)); err == nil || !strings.Contains(err.Error(), c.names) {
			t.Errorf("epsilon %s, %d bins: %v", c.eps, c.bins, err)
		}
	}
	if p := query(t, Histogram(2), u, budget.D1, rational("0.25")).Price(); p.Unit != budget.Record || p.Amount.Float64() != 0.25 {
		t.Errorf("price %v", p)
	}
}
