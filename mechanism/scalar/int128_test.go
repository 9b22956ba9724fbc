package scalar

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/geosql/geosql/mechanism/nearest"
)

func drawInt128(t *rapid.T, label string) int128 {
	word := rapid.OneOf(rapid.Uint64(), rapid.SampledFrom([]uint64{0, 1, math.MaxInt64, 1 << 63, math.MaxUint64}))
	// Sums of two stay inside 128 bits.
	return int128{int64(word.Draw(t, label+" high")) >> 1, word.Draw(t, label+" low")}
}

func TestInt128MatchesBig(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawInt128(t, "a"), drawInt128(t, "b")
		if got, want := a.add(b).big(), new(big.Int).Add(a.big(), b.big()); got.Cmp(want) != 0 {
			t.Fatalf("%v + %v = %v, want %v", a, b, got, want)
		}
		if got, want := a.neg().big(), new(big.Int).Neg(a.big()); got.Cmp(want) != 0 {
			t.Fatalf("-%v = %v, want %v", a, got, want)
		}
		if got, want := a.less(b), a.big().Cmp(b.big()) < 0; got != want {
			t.Fatalf("%v < %v is %v", a, b, got)
		}
		if v, ok := a.int64(); ok != a.big().IsInt64() || ok && v != a.big().Int64() {
			t.Fatalf("%v is %d, %v", a, v, ok)
		}
		v := rapid.Int64().Draw(t, "v")
		if fromInt64(v).big().Cmp(big.NewInt(v)) != 0 {
			t.Fatalf("%d becomes %v", v, fromInt64(v))
		}
	})
}

func TestUint128MatchesBig(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := uint128{rapid.Uint64Range(0, 1<<39).Draw(t, "high"), rapid.Uint64().Draw(t, "low")}
		k := rapid.Uint64().Draw(t, "k")
		want := new(big.Int).Add(v.big(), new(big.Int).SetUint64(k))
		if got := v.add(k).big(); got.Cmp(want) != 0 {
			t.Fatalf("%v + %d = %v, want %v", v, k, got, want)
		}
		m := rapid.Uint64Range(0, 1<<23).Draw(t, "m")
		want.Mul(v.big(), new(big.Int).SetUint64(m))
		if got := v.times(m).big(); got.Cmp(want) != 0 {
			t.Fatalf("%v * %d = %v, want %v", v, m, got, want)
		}
	})
}

func TestNumberIsTheNearestFloat64(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := lattice{
			step:  rapid.Int64Range(1, nearest.MaxQuanta).Draw(t, "step"),
			scale: math.Pow10(rapid.IntRange(0, nearest.MaxDecimals).Draw(t, "decimals")),
		}
		z := rapid.OneOf(
			rapid.Custom(func(t *rapid.T) int128 { return drawInt128(t, "wide") }),
			rapid.Custom(func(t *rapid.T) int128 { return fromInt64(rapid.Int64().Draw(t, "z")) }),
			rapid.Custom(func(t *rapid.T) int128 {
				return fromInt64(1<<52/l.step + rapid.Int64Range(-2, 2).Draw(t, "near the limit"))
			}),
		).Draw(t, "z")
		quanta := new(big.Int).Mul(z.big(), big.NewInt(l.step))
		want, _ := new(big.Rat).SetFrac(quanta, integer(l.scale)).Float64()
		if got := l.number(z); got != want {
			t.Fatalf("%v at %v is %v, want %v", l, z.big(), got, want)
		}
	})
}
