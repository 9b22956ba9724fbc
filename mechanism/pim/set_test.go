package pim

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/geosql/geosql/budget"
)

// R40, the example of section 3.1; in floating point 0.4 + 0.3 + 0.2 < 0.9.
func TestLocationSetOfThePaper(t *testing.T) {
	prior := []float64{.3, .4, .05, .2, .03, .02}
	for _, c := range []struct {
		delta budget.Amount
		least int
		want  []int
	}{
		{budget.One / 10, 1, []int{0, 1, 3}},
		{budget.One / 20, 1, []int{0, 1, 2, 3}},
		{0, 1, []int{0, 1, 2, 3, 4, 5}},
		{budget.One - 1, 1, []int{1}},
		{budget.One / 10, 5, []int{0, 1, 2, 3, 4}},
		{budget.One / 10, 50, []int{0, 1, 2, 3, 4, 5}},
	} {
		var s selection
		if got := s.locationSet(prior, c.delta, c.least); !slices.Equal(got, c.want) {
			t.Errorf("delta %v, at least %d: %v, not %v", c.delta, c.least, got, c.want)
		}
	}
	if naive := prior[1] + prior[0] + prior[3]; naive >= 1-.1 {
		t.Errorf("%v would not have caught a sum of floats", naive)
	}
}

// Cells of probability 0 are possible locations only for a minimum size.
func TestLocationSetLeavesOutTheImpossible(t *testing.T) {
	var s selection
	prior := []float64{0, .5, 0, .5}
	if got := s.locationSet(prior, 0, 1); !slices.Equal(got, []int{1, 3}) {
		t.Errorf("%v", got)
	}
	if got := s.locationSet(prior, 0, 3); !slices.Equal(got, []int{0, 1, 3}) {
		t.Errorf("%v", got)
	}
}

func TestLocationSetIsTheSmallest(t *testing.T) {
	var s selection // one for all: nothing of an earlier use may remain
	rapid.Check(t, func(t *rapid.T) {
		// Few different values, for ties.
		quanta := rapid.SliceOfN(rapid.IntRange(0, 9), 1, 60).Draw(t, "quanta")
		delta := budget.Amount(rapid.Int64Range(0, int64(budget.One)-1).Draw(t, "delta"))
		prior := make([]float64, len(quanta))
		total := 0
		for k, q := range quanta {
			prior[k] = float64(q) * probability
			total += q
		}
		order := make([]int, len(quanta))
		for k := range order {
			order[k] = k
		}
		slices.SortStableFunc(order, func(a, b int) int { return quanta[b] - quanta[a] })
		sum, size := 0, 0
		for budget.Amount(sum)*budget.One < budget.Amount(total)*(budget.One-delta) {
			sum += quanta[order[size]]
			size++
		}
		want := slices.Sorted(slices.Values(order[:size]))
		if got := s.locationSet(prior, delta, 0); !slices.Equal(got, want) {
			t.Fatalf("%v of %v: %v, not %v", delta, quanta, got, want)
		}
	})
}

// Classes are in the order of their numbers of quanta, without a gap between two.
func TestLevels(t *testing.T) {
	for k := range levels {
		if least := leastOf(k); level(least) != k || k > 0 && level(least-1) != k-1 {
			t.Errorf("class %d begins with %d, whose class is %d", k, least, level(least))
		}
	}
	if got := level(math.MaxUint64); got != levels-1 {
		t.Errorf("the last class is %d", got)
	}
}

func TestSurrogateIsTheNearest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width, height := rapid.IntRange(1, 12).Draw(t, "width"), rapid.IntRange(1, 12).Draw(t, "height")
		s := surrogacy{width: width, height: height}
		for range 2 { // the second time in used memory
			set := rapid.SliceOfNDistinct(rapid.IntRange(0, width*height-1), 1, min(6, width*height), rapid.ID).Draw(t, "set")
			slices.Sort(set)
			s.update(set)
			for cell := range width * height {
				if want := nearestOf(set, cell, width); s.of(cell) != want {
					t.Fatalf("set %v, width %d: surrogate of %d is %d, not %d", set, width, cell, s.of(cell), want)
				}
			}
		}
	})
}

// nearestOf is definition 3.2, of equals the westernmost, then the southernmost.
func nearestOf(set []int, cell, width int) (nearest int) {
	least := math.MaxInt
	for x := range width {
		for _, c := range set {
			if dx, dy := c%width-cell%width, c/width-cell/width; c%width == x && dx*dx+dy*dy < least {
				nearest, least = c, dx*dx+dy*dy
			}
		}
	}
	return nearest
}
