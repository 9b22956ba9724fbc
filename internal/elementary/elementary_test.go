package elementary

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// functions are all of them: a range of arguments, how far they may be off there in units in the last
// place, how far they are off by arithmetic in 160 bits, and a hash of their results.
var functions = []struct {
	name  string
	f     func(float64) float64
	at    func(*rand.Rand) float64
	units float64
	off   func(x, y float64) *big.Float
	hash  uint64
}{
	{"Exp", Exp, func(r *rand.Rand) float64 { return float64(1400*r.Float64()) - 700 }, 2, offExp, 0xfc2896dde30e6e5a},
	{"Exp", Exp, near0, 2, offExp, 0xf1ffda8696cc318f},
	{"Expm1", Expm1, near0, 4, offExpm1, 0x9ab568eccd561efc},
	{"Log", Log, func(r *rand.Rand) float64 { return math.Ldexp(r.Float64(), r.IntN(2000)-1000) }, 2, offLog, 0x93f6497e0f5c8d9c},
	{"Log", Log, func(r *rand.Rand) float64 { return 0.3 + 2*r.Float64() }, 2, offLog, 0x7eed0453207ed804},
	{"Log1p", Log1p, func(r *rand.Rand) float64 { return max(-0.999, near0(r)) }, 3, offLog1p, 0xff9a3ca8bdb8bcfc},
}

// near0 returns a number of any size up to 8 either way.
func near0(r *rand.Rand) float64 { return math.Ldexp(2*r.Float64()-1, 3-r.IntN(70)) }

func number(x float64) *big.Float { return new(big.Float).SetPrec(160).SetFloat64(x) }

// exp is e^x by Taylor's series of a small part of x.
func exp(x float64) *big.Float {
	y := number(math.Ldexp(x, -16))
	sum, term := number(1), number(1)
	for k := 1.0; k < 30; k++ {
		term.Quo(term.Mul(term, y), number(k))
		sum.Add(sum, term)
	}
	for range 16 {
		sum.Mul(sum, sum)
	}
	return sum
}

func offExp(x, y float64) *big.Float { return new(big.Float).Sub(exp(x), number(y)) }

func offExpm1(x, y float64) *big.Float { return new(big.Float).Sub(offExp(x, y), number(1)) }

// A logarithm y of x is off by ln(x*e^-y), which is about x*e^-y - 1.
func offLog(x, y float64) *big.Float {
	product := exp(-y)
	return product.Sub(product.Mul(product, number(x)), number(1))
}

func offLog1p(x, y float64) *big.Float {
	product := exp(-y)
	return product.Sub(product.Mul(product, new(big.Float).Add(number(x), number(1))), number(1))
}

func TestAccuracy(t *testing.T) {
	for _, c := range functions {
		r := rand.New(rand.NewPCG(25, 1))
		worst := 0.0
		for range 4000 {
			x := c.at(r)
			y := c.f(x)
			off, _ := c.off(x, y).Float64()
			size := math.Abs(y)
			worst = max(worst, math.Abs(off)/(math.Nextafter(size, math.Inf(1))-size))
		}
		t.Logf("%s is within %.2f units in the last place", c.name, worst)
		if worst > c.units {
			t.Errorf("%s is off by %.2f units in the last place, which should be at most %v", c.name, worst, c.units)
		}
	}
}

// The hashes are the same on every platform, or it is this test that says so.
func TestSameEverywhere(t *testing.T) {
	for _, c := range functions {
		r := rand.New(rand.NewPCG(25, 2))
		all := fnv.New64a()
		for range 100_000 {
			binary.Write(all, binary.LittleEndian, math.Float64bits(c.f(c.at(r))))
		}
		if got := all.Sum64(); got != c.hash {
			t.Errorf("%s: the hash of what it returns is %#x, not %#x", c.name, got, c.hash)
		}
	}
}

func TestExtremes(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		name    string
		f       func(float64) float64
		x, want float64
	}{
		{"Exp", Exp, 0, 1}, {"Exp", Exp, -inf, 0}, {"Exp", Exp, inf, inf}, {"Exp", Exp, 1000, inf}, {"Exp", Exp, -745.13, 0x1p-1074}, {"Exp", Exp, nan, nan},
		{"Exp", Exp, 709.9, inf}, {"Exp", Exp, -1e300, 0},
		{"Expm1", Expm1, 0, 0}, {"Expm1", Expm1, -inf, -1}, {"Expm1", Expm1, inf, inf}, {"Expm1", Expm1, nan, nan}, {"Expm1", Expm1, 0x1p-1074, 0x1p-1074},
		{"Log", Log, 1, 0}, {"Log", Log, 0, -inf}, {"Log", Log, inf, inf}, {"Log", Log, -1, nan}, {"Log", Log, nan, nan}, {"Log", Log, 2, math.Ln2}, {"Log", Log, 0x1p-1074, -1074 * math.Ln2},
		{"Log1p", Log1p, 0, 0}, {"Log1p", Log1p, -1, -inf}, {"Log1p", Log1p, -2, nan}, {"Log1p", Log1p, inf, inf}, {"Log1p", Log1p, nan, nan}, {"Log1p", Log1p, 0x1p-1074, 0x1p-1074},
		{"Log1p", Log1p, math.MaxFloat64, 1024 * math.Ln2},
	} {
		if got := c.f(c.x); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%s(%v) = %v, want %v", c.name, c.x, got, c.want)
		}
	}
}
