package stats

import (
	"math"
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
