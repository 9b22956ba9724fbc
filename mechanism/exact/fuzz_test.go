package exact_test

import (
	"bytes"
	"io"
	"math"
	"math/big"
	"testing"

	"github.com/geosql/geosql/mechanism/exact"
)

// FuzzAgreement looks for bits and parameters on which the float64 path and
// integer arithmetic part.
func FuzzAgreement(f *testing.F) {
	f.Add([]byte{}, 1.0, int64(1), int64(2))
	f.Add(make([]byte, 40), math.Ln2/100, int64(-300), int64(200))
	f.Add([]byte{0x5e, 0x2d, 0x58, 0xd8, 0xb3, 0xbc, 0xdf, 0x1a}, 1e-15, int64(math.MinInt64), int64(math.MaxInt64))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, 1e300, int64(1), int64(1))
	f.Fuzz(func(t *testing.T, bits []byte, rate float64, i, j int64) {
		d, err := exact.NewDiscreteLaplace(rate)
		if err != nil || len(bits) > 4096 {
			t.Skip()
		}
		g := must(exact.NewGeometric(rate))
		entropy := func() io.Reader {
			return io.MultiReader(bytes.NewReader(bits), pseudorandom(1))
		}
		checkAgreement(t, 3, entropy, func(s *exact.Source) [4]int64 {
			draw := [4]int64{d.Draw(s), 0, g.Draw(s), s.RoundedNormal(float64(i)/2, rate)}
			if s.BernoulliExpL2(rate, 0.7*rate, i, j) {
				draw[1] |= 1
			}
			if s.LaplaceTest(rate, 2, i, j) {
				draw[1] |= 2
			}
			if s.BernoulliExpRatio(rate, uint64(i), max(uint64(j), 1)) {
				draw[1] |= 4
			}
			return draw
		})
	})
}

// FuzzExpBounds checks the enclosure against itself at another precision and
// against e^-(x+y) = e^-x e^-y.
func FuzzExpBounds(f *testing.F) {
	f.Add(int64(1), int64(3), int64(2), uint16(64))
	f.Add(int64(math.MaxInt64), int64(1), int64(1), uint16(0))
	f.Add(int64(1), int64(math.MaxInt64), int64(5), uint16(1000))
	f.Fuzz(func(t *testing.T, numerator, denominator, other int64, prec uint16) {
		if numerator < 0 || denominator < 1 || other < 1 || prec > 2000 {
			t.Skip()
		}
		x, y := big.NewRat(numerator, denominator), big.NewRat(other, denominator)
		lo, hi := exact.ExpBounds(x, uint(prec))
		if lo.Cmp(hi) > 0 || new(big.Rat).Sub(hi, lo).Cmp(powerOfTwo(uint(prec))) > 0 {
			t.Fatalf("bounds %v and %v", lo, hi)
		}
		finer, coarser := exact.ExpBounds(x, uint(prec)+50)
		if coarser.Cmp(lo) < 0 || finer.Cmp(hi) > 0 {
			t.Fatal("bounds at two precisions are disjoint")
		}
		ylo, yhi := exact.ExpBounds(y, uint(prec))
		sumlo, sumhi := exact.ExpBounds(new(big.Rat).Add(x, y), uint(prec))
		if new(big.Rat).Mul(lo, ylo).Cmp(sumhi) > 0 || new(big.Rat).Mul(hi, yhi).Cmp(sumlo) < 0 {
			t.Fatal("e^-(x+y) and e^-x e^-y are disjoint")
		}
	})
}
