package exact_test

import (
	"math"
	"testing"

	"github.com/geosql/geosql/mechanism/exact"
)

func TestNewGeometricRefuses(t *testing.T) {
	for _, rate := range []float64{0, math.Copysign(0, -1), -1, math.NaN(), math.Inf(1), math.Inf(-1)} {
		if _, err := exact.NewGeometric(rate); err == nil {
			t.Errorf("rate %v accepted", rate)
		}
	}
}

func TestGeometricBoundaries(t *testing.T) {
	for _, b := range boundaries {
		g := must(exact.NewGeometric(b.rate))
		if bits := misplacedBoundary(oracleGeometricTail(b.rate, b.n), b.n, g.Draw); bits > 0 {
			t.Errorf("rate %g: %d bits of P(k >= %d) are taken for the wrong side", b.rate, bits, b.n)
		}
	}
}

// TestGeometricBoundariesMisfit shows that inversion in float64, which passes
// every statistical test, does not pass this one.
func TestGeometricBoundariesMisfit(t *testing.T) {
	for _, b := range boundaries {
		naive := func(s *exact.Source) int64 {
			u := (float64(s.Uint64()) + 0.5) * 0x1p-64
			return int64(math.Floor(-math.Log(u) / b.rate))
		}
		if misplacedBoundary(oracleGeometricTail(b.rate, b.n), b.n, naive) == 0 {
			t.Errorf("rate %g, n = %d: float64 inversion not noticed", b.rate, b.n)
		}
	}
}

func TestGeometricSaturates(t *testing.T) {
	for _, rate := range []float64{math.SmallestNonzeroFloat64, 1e-300, 1e-30} {
		g := must(exact.NewGeometric(rate))
		s := exact.NewSource(pseudorandom(1))
		for range 20 {
			// Even at 1e-30, P(k < MaxInt64) < 10^-11.
			if k := g.Draw(s); k != math.MaxInt64 {
				t.Errorf("rate %g: %d", rate, k)
			}
		}
	}
}

func TestGeometricHugeRates(t *testing.T) {
	// 2000 leading zeros put k above 1386/rate, and not far above.
	head := make([]byte, 2000/8)
	for _, c := range []struct {
		rate     float64
		min, max int64
	}{{100, 13, 14}, {1200, 1, 1}, {1e6, 0, 0}, {math.MaxFloat64, 0, 0}} {
		g := must(exact.NewGeometric(c.rate))
		if k := g.Draw(script(head, pseudorandom(1))); k < c.min || k > c.max {
			t.Errorf("rate %g: %d", c.rate, k)
		}
	}
}

func TestGeometricAllocates(t *testing.T) {
	for _, rate := range []float64{1e-4, math.Ln2 / 100, 1, 1e6} {
		g := must(exact.NewGeometric(rate))
		s := exact.NewSource(nil)
		if n := testing.AllocsPerRun(10_000, func() { g.Draw(s) }); n != 0 {
			t.Errorf("rate %g: %v allocations per draw", rate, n)
		}
	}
}
