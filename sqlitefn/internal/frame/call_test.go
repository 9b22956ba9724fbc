package frame

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

// Degrees are printed as strconv prints them, whether they have 7 decimals or more.
func TestAppendDegrees(t *testing.T) {
	check := func(x float64) {
		t.Helper()
		if got, want := string(appendDegrees(nil, x)), strconv.FormatFloat(x, 'f', 7, 64); got != want {
			t.Errorf("%v is printed as %s, want %s", x, got, want)
		}
	}
	r := rand.New(rand.NewPCG(7, 24))
	for range 200_000 {
		units := r.Int64N(3_600_000_001) - 1_800_000_000
		check(float64(units) / 1e7)
		check(float64(units>>r.IntN(31)) / 1e7)
		check((float64(units) + 0.5) / 1e7)
		check(360*r.Float64() - 180)
	}
	for _, x := range []float64{0, math.Copysign(0, -1), 180, -180, 1e-7, -1e-7, 0.5e-7, -0.4e-7, 90, 100, -0.1, 9.9999999, 99.99999999, 1e300} {
		check(x)
	}
}
