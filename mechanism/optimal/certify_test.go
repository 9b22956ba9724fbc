package optimal

import (
	"math"
	"math/big"
	"math/bits"
	"testing"

	"github.com/geosql/geosql/mechanism/exact"
)

// TestCertificateIsSharp plants a weight that is off by one.
func TestCertificateIsSharp(t *testing.T) {
	d := Matrix{{0, 1.5}, {1.5, 0}}
	for _, epsilon := range []float64{0.001, 0.4, 3, 20, 40, 60, 1000} {
		c := newCertifier(epsilon, d)
		total := uint64(2) << capacityBits(2)
		high := total / 3 * 2
		whole, part := bits.Mul64(high, c.factors[1])
		least := whole
		if part > 0 {
			least++
		}
		if least == 0 {
			t.Errorf("epsilon %g: a weight of 0 beside %d would do", epsilon, high)
			continue
		}
		// Output 0 has weight high for place 0 and as little as may be for place 1.
		// Output 1 meets its constraints with room to spare for the small epsilons.
		row := func(w uint64) []uint64 { return []uint64{high, total - high, w, total - w} }
		if ratio := float64(total-least) / float64(total-high); math.Log(ratio) > 1.5*epsilon {
			continue
		}
		if err := c.check(row(least), total); err != nil {
			t.Errorf("epsilon %g: %v", epsilon, err)
		}
		if err := c.check(row(least-1), total); err == nil {
			t.Errorf("epsilon %g: a weight one too small was certified", epsilon)
		}
	}
}

// TestFactors compares the factors with bounds of 200 bits: never below, and at most
// 5 units above.
func TestFactors(t *testing.T) {
	for _, epsilon := range []float64{minExponent, 1e-6, 0.1, 1, 10, 44, 45, 1e3, 1e300} {
		f := newCertifier(epsilon, Matrix{{0, 1}, {1, 0}}).factors[1]
		lo, hi := exact.ExpBounds(new(big.Rat).SetFloat64(epsilon), 200)
		unit := new(big.Rat).SetInt(new(big.Int).Lsh(one, 64))
		below, _ := new(big.Rat).Sub(new(big.Rat).SetInt(new(big.Int).SetUint64(f)), hi.Mul(hi, unit)).Float64()
		above, _ := new(big.Rat).Sub(new(big.Rat).SetInt(new(big.Int).SetUint64(f)), lo.Mul(lo, unit)).Float64()
		if below < 0 || above > 5 {
			t.Errorf("epsilon %g: factor %d is %g units above the exponential", epsilon, f, above)
		}
	}
}

func TestRowSums(t *testing.T) {
	c := newCertifier(1, Matrix{{0, 1}, {1, 0}})
	for _, weights := range [][]uint64{
		{50, 50, 50, 49}, {50, 50, 50, 51}, {50, 50, 1 << 63, 1<<63 + 100}, {0, 0, 0, 0},
	} {
		if err := c.check(weights, 100); err != errRow {
			t.Errorf("%d: error %v", weights, err)
		}
	}
	if err := c.check([]uint64{60, 40, 40, 60}, 100); err != nil {
		t.Error(err)
	}
}
