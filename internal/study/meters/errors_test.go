package meters

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestErrors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Float64Range(0, 10), 1, 50).Draw(t, "errors")
		radius := rapid.SampledFrom(all).Draw(t, "radius")
		got := newErrors(slices.Clone(all), radius)
		var sum, within float64
		p95 := math.Inf(1) // the least that 95 of 100 do not exceed
		for _, x := range all {
			sum += x
			if x <= radius {
				within++
			}
			below := 0
			for _, y := range all {
				if y <= x {
					below++
				}
			}
			if 100*below >= 95*len(all) {
				p95 = min(p95, x)
			}
		}
		n := float64(len(all))
		if math.Abs(got.Mean-sum/n) > 1e-12 || got.P95 != p95 || got.Radius != radius || got.Within != within/n {
			t.Fatalf("%+v of %v", got, all)
		}
	})
}

// A release at the very radius counts as within, whatever the digits, and one that is a
// quantum further does not.
func TestDistance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		truth, radius := rapid.Int64Range(-1e9, 1e9).Draw(t, "truth"), rapid.Int64Range(0, 1e6).Draw(t, "radius")
		decimal := func(n int64) float64 { return float64(n) / 1000 }
		for _, sign := range []int64{-1, 1} {
			if d := distance(decimal(truth+sign*radius), decimal(truth)); d > decimal(radius) || d < decimal(radius)-1e-6 {
				t.Fatalf("%v from %d, not %d", d, truth, radius)
			}
			if d := distance(decimal(truth+sign*(radius+1)), decimal(truth)); d <= decimal(radius) {
				t.Fatalf("%v from %d, not above %d", d, truth, radius)
			}
		}
	})
}
