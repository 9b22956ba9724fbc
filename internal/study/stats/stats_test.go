package stats

import (
	"math"
	"slices"
	"testing"
)

func TestQuantile(t *testing.T) {
	if x := Quantile(nil, 0.5); !math.IsNaN(x) {
		t.Errorf("of nothing: %v", x)
	}
	values := []float64{1, 2, 2, 7}
	for _, c := range []struct{ p, want float64 }{{0, 1}, {0.25, 1}, {0.26, 2}, {0.75, 2}, {0.9, 7}, {1, 7}} {
		if x := Quantile(values, c.p); x != c.want {
			t.Errorf("p = %v: %v, want %v", c.p, x, c.want)
		}
	}
}

func TestQuartiles(t *testing.T) {
	values := []float64{7, math.NaN(), 2, 1, 2}
	if q := NewQuartiles(values).Times(10); q != (Quartiles{10, 20}) || values[0] != 7 {
		t.Errorf("%v of %v", q, values)
	}
	if q := NewQuartiles([]float64{math.NaN()}); !math.IsNaN(q.Low) || !math.IsNaN(q.High) {
		t.Errorf("of nothing: %v", q)
	}
}

func TestRuns(t *testing.T) {
	tens := func(x int) int { return x / 10 }
	if got, want := Runs([]int{11, 12, 25, 13, 30, 31}, tens), [][]int{{11, 12}, {25}, {13}, {30, 31}}; !slices.EqualFunc(got, want, slices.Equal[[]int]) {
		t.Errorf("%v, not %v", got, want)
	}
	if got := Runs(nil, tens); got != nil {
		t.Errorf("of nothing: %v", got)
	}
}
