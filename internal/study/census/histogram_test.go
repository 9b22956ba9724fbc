package census

import (
	"math"
	"testing"
)

// The edges of the buckets, which begin with their lower bounds.
func TestHistogramEdges(t *testing.T) {
	for _, c := range []struct {
		miles  float64
		bucket int
	}{
		{0, 0}, {9.999999, 0}, {10, 1}, {24.999999, 1}, {25, 2}, {49.999999, 2}, {50, 3}, {12_000, 3},
	} {
		var h histogram
		h.add(c.miles*MetresPerMile, 7)
		if h[c.bucket] != 7 || h.total() != 7 {
			t.Errorf("%v miles: %v", c.miles, h)
		}
	}
	var h histogram
	h.add(math.Nextafter(16093.44, 0), 1) // 10 miles
	h.add(16093.44, 2)
	if h != (histogram{1, 2}) {
		t.Errorf("%v", h)
	}
}

func TestHistogramMerge(t *testing.T) {
	h := histogram{1, 2, 3, 4}
	h.merge(&histogram{10, 0, 30, 40})
	if h != (histogram{11, 2, 33, 44}) || h.total() != 90 {
		t.Errorf("%v", h)
	}
}
