package exact_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/geosql/geosql/mechanism/exact"
)

func TestNewDiscreteLaplaceRefuses(t *testing.T) {
	for _, rate := range []float64{0, math.Copysign(0, -1), -1, math.NaN(), math.Inf(1), math.Inf(-1)} {
		if _, err := exact.NewDiscreteLaplace(rate); err == nil {
			t.Errorf("rate %v accepted", rate)
		}
	}
}

// misplacedBoundary places U as close to tail = P(k >= n), or P(|k| >= n), as so
// many bits allow, on either side, and returns the first number of bits at which
// draw answers for the wrong side, or 0.
func misplacedBoundary(tail *big.Float, n int64, draw func(s *exact.Source) int64) int {
	for _, bits := range []int{32, 64, 96, 128, 192, 256, 1600} {
		below := leadingBits(tail, bits)
		above := new(big.Int).Add(below, big.NewInt(1))
		if below.Sign() == 0 || above.BitLen() > bits {
			continue // U would be 0 or 1
		}
		head := make([]byte, bits/8)
		far := magnitude(draw(script(below.FillBytes(head), zeros)))
		near := magnitude(draw(script(above.FillBytes(head), zeros)))
		if far < n || near >= n || bits == 1600 && (far != n || near != n-1) {
			return bits
		}
	}
	return 0
}

var boundaries = []struct {
	rate float64
	n    int64
}{
	{1e-24, math.MaxInt64},
	{1e-18, 1_000_000_000_000_000_000},
	{1e-15, 12_345_678_901_234},
	{1e-9, 1},
	{1e-9, 7_777_777_777},
	{math.Ln2 / 100, 1},
	{math.Ln2 / 100, 100},
	{math.Ln2 / 100, 9_000},
	{1, 1},
	{1, 2},
	{1, 40},
	{1, 300},
	{7.25, 1},
	{7.25, 9},
	{900, 1},
}

func TestDiscreteLaplaceBoundaries(t *testing.T) {
	for _, b := range boundaries {
		d := must(exact.NewDiscreteLaplace(b.rate))
		if bits := misplacedBoundary(oracleTail(b.rate, b.n), b.n, d.Draw); bits > 0 {
			t.Errorf("rate %g: %d bits of P(|k| >= %d) are taken for the wrong side", b.rate, bits, b.n)
		}
	}
}

// TestDiscreteLaplaceBoundariesMisfit shows that inversion in float64, which
// passes every statistical test, does not pass this one.
func TestDiscreteLaplaceBoundariesMisfit(t *testing.T) {
	for _, b := range boundaries {
		offset := math.Log(2 / (1 + math.Exp(-b.rate)))
		naive := func(s *exact.Source) int64 {
			u := (float64(s.Uint64()) + 0.5) * 0x1p-64
			return int64(math.Floor((offset - math.Log(u)) / b.rate))
		}
		if misplacedBoundary(oracleTail(b.rate, b.n), b.n, naive) == 0 {
			t.Errorf("rate %g, n = %d: float64 inversion not noticed", b.rate, b.n)
		}
	}
}

func TestDiscreteLaplaceSaturates(t *testing.T) {
	for _, rate := range []float64{math.SmallestNonzeroFloat64, 1e-300, 1e-30} {
		d := must(exact.NewDiscreteLaplace(rate))
		s := exact.NewSource(pseudorandom(1))
		for range 20 {
			// Even at 1e-30, P(|k| < MaxInt64) < 10^-11.
			if k := magnitude(d.Draw(s)); k != math.MaxInt64 {
				t.Errorf("rate %g: %d", rate, k)
			}
		}
	}
}

func TestDiscreteLaplaceHugeRates(t *testing.T) {
	// 2000 leading zeros put |k| above 1386/rate, and not far above.
	head := make([]byte, 2000/8)
	for _, c := range []struct {
		rate     float64
		min, max int64
	}{{100, 13, 14}, {1200, 1, 1}, {1e6, 0, 0}, {math.MaxFloat64, 0, 0}} {
		d := must(exact.NewDiscreteLaplace(c.rate))
		if k := magnitude(d.Draw(script(head, pseudorandom(1)))); k < c.min || k > c.max {
			t.Errorf("rate %g: %d", c.rate, k)
		}
	}
}

func TestDiscreteLaplaceAllocates(t *testing.T) {
	for _, rate := range []float64{1e-4, math.Ln2 / 100, 1, 1e6} {
		d := must(exact.NewDiscreteLaplace(rate))
		s := exact.NewSource(nil)
		if n := testing.AllocsPerRun(10_000, func() { d.Draw(s) }); n != 0 {
			t.Errorf("rate %g: %v allocations per draw", rate, n)
		}
	}
}
