package bound

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestCollisionsOfGenerators(t *testing.T) {
	const n = 400_000
	inverse := func(u, rate float64) int64 { // of a geometric law with two sides
		if u < 0.5 {
			return int64(math.Log(2*u) / rate)
		}
		return -int64(math.Log(2*(1-u)) / rate)
	}
	for _, c := range []struct {
		name string
		rate float64
		draw func(r *rand.Rand) int64
		want bool
	}{
		{"geometric, narrow", 0.3, func(r *rand.Rand) int64 { return geometric(r, 0.3) }, false},
		{"geometric", 1e-4, func(r *rand.Rand) int64 { return geometric(r, 1e-4) }, false},
		{"geometric, wide", 1e-12, func(r *rand.Rand) int64 { return geometric(r, 1e-12) }, false},
		{"uniform", 0, func(r *rand.Rand) int64 { return r.Int64N(1000) - 500 }, false},
		{"clamped", 0.01, func(r *rand.Rand) int64 { return max(-50, min(120, geometric(r, 0.01))) }, false},
		{"16 bits of a uniform", 1e-6, func(r *rand.Rand) int64 {
			return inverse((float64(r.IntN(1<<16))+0.5)/(1<<16), 1e-6)
		}, true},
		{"31 bits of a uniform", 1e-11, func(r *rand.Rand) int64 {
			return inverse((float64(r.IntN(1<<31))+0.5)/(1<<31), 1e-11)
		}, true},
		{"a number drawn again once in ten thousand times", 1e-9, again(), true},
	} {
		r := rand.New(rand.NewPCG(9, 10))
		values := make([]int64, n)
		for k := range values {
			values[k] = c.draw(r)
		}
		got, suspicious := Collisions(values, c.rate, 1e-9)
		t.Logf("%s: %+v", c.name, got)
		if suspicious != c.want {
			t.Errorf("%s: %+v, suspicious is %v", c.name, got, suspicious)
		}
	}
	if _, suspicious := Collisions(nil, 0.1, 1e-9); suspicious {
		t.Error("no draws are suspicious")
	}
}

func again() func(r *rand.Rand) int64 {
	var last int64
	return func(r *rand.Rand) int64 {
		if r.IntN(10_000) > 0 {
			last = geometric(r, 1e-9)
		}
		return last
	}
}

// Among the laws on a block that change by a factor of at most exp(rate) from one value to the
// next, none has more equal pairs on average than Expected says, and a geometric one has as many.
func TestNoSmoothLawHasMoreEqualPairs(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range 2000 {
		size, rate := 1+r.IntN(12), r.ExpFloat64()
		sharp := r.IntN(2) == 0
		walk := 0.0
		sum, squares := 0.0, 0.0
		for k := range size {
			if k > 0 {
				step := rate * (2*r.Float64() - 1)
				if sharp {
					step = rate
				}
				walk += step
			}
			w := math.Exp(walk)
			sum, squares = sum+w, squares+w*w
		}
		most := repeats([]int64{-100, 0, 0, 100}, rate, int64(size)).Expected
		got := squares / sum / sum
		if got > most*(1+1e-12) || sharp && got < most*(1-1e-12) {
			t.Errorf("%d values at %v: %v, and at most %v", size, rate, got, most)
		}
	}
}

// A law that is allowed shows itself at 1/100 at most once in a hundred times: 13 of 300 have a
// probability below 1e-6.
func TestCollisionsHoldTheirLevel(t *testing.T) {
	found := 0
	for k := range 300 {
		r := rand.New(rand.NewPCG(13, uint64(k)))
		values := make([]int64, 500)
		for i := range values {
			values[i] = geometric(r, 0.05)
		}
		if _, suspicious := Collisions(values, 0.05, 0.01); suspicious {
			found++
		}
	}
	if found > exceptions(300, 0.01) {
		t.Errorf("%d of 300 are suspicious", found)
	}
}
