package exact_test

import (
	"io"
	"math"
	"math/big"
	"testing"

	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/mechanism/exact"
)

// misplacedCoin places U next to a probability, as close as so many bits allow,
// and returns the first number of bits at which toss is wrong, or 0.
func misplacedCoin(p *big.Float, toss func(s *exact.Source) bool) int {
	for _, bits := range []int{32, 64, 96, 128, 256, 1600} {
		below := leadingBits(p, bits)
		above := new(big.Int).Add(below, big.NewInt(1))
		if below.Sign() == 0 || above.BitLen() > bits {
			continue // U would be 0 or 1
		}
		head := make([]byte, bits/8)
		if !toss(script(below.FillBytes(head), zeros)) || toss(script(above.FillBytes(head), zeros)) {
			return bits
		}
	}
	return 0
}

func TestBernoulliExpRatioBoundaries(t *testing.T) {
	for _, c := range []struct {
		rate     float64
		num, den uint64
	}{
		{1e-30, 1, 1},
		{1, 1, 1},
		{1000, 1, 1},
		{1, 4, 3},
		{0.00693, 12345, 7},
		{0.1, 1<<60 + 1, 1<<60 - 1},
		{1e-15, 1<<53 + 1, 1}, // not a float64
		{1e-18, math.MaxUint64, 1},
		{1e21, 1, math.MaxUint64},
		{1, math.MaxUint64, math.MaxUint64 - 1},
		{30, 100, 3},
	} {
		x := new(big.Rat).SetFrac(new(big.Int).SetUint64(c.num), new(big.Int).SetUint64(c.den))
		p := oracleExp(x.Mul(x, new(big.Rat).SetFloat64(c.rate)))
		toss := func(s *exact.Source) bool { return s.BernoulliExpRatio(c.rate, c.num, c.den) }
		if bits := misplacedCoin(p, toss); bits > 0 {
			t.Errorf("%+v: %d bits of e^-x are taken for the wrong side", c, bits)
		}
	}
}

// TestBernoulliExpRatioBoundariesNotice plants exponents which are rounded on
// the way to exact arithmetic, and a comparison in float64.
func TestBernoulliExpRatioBoundariesNotice(t *testing.T) {
	const rate, num, den = 0.7, 1<<54 + 1, 1<<53 - 1
	x := new(big.Rat).Mul(new(big.Rat).SetFloat64(rate), big.NewRat(num, den))
	numerator, divisor := float64(uint64(num)), float64(uint64(den))
	for name, toss := range map[string]func(s *exact.Source) bool{
		"product rounded":   func(s *exact.Source) bool { return s.BernoulliExpRatio(rate*(numerator/divisor), 1, 1) },
		"numerator rounded": func(s *exact.Source) bool { return s.BernoulliExpRatio(rate, uint64(numerator), den) },
		"integer quotient":  func(s *exact.Source) bool { return s.BernoulliExpRatio(rate, num/den, 1) },
		"comparison in float64": func(s *exact.Source) bool {
			return (float64(s.Uint64())+0.5)*0x1p-64 < math.Exp(-rate*(numerator/divisor))
		},
	} {
		if misplacedCoin(oracleExp(x), toss) == 0 {
			t.Errorf("%s not noticed", name)
		}
	}
}

// oracleL2 is e^-x for x = rate*sqrt(i^2+j^2) - a*(|i|+|j|).
func oracleL2(rate, a float64, i, j int64) *big.Float {
	bi, bj := big.NewInt(i), big.NewInt(j)
	manhattan := new(big.Int).Add(new(big.Int).Abs(bi), new(big.Int).Abs(bj))
	squares := new(big.Int).Add(new(big.Int).Mul(bi, bi), new(big.Int).Mul(bj, bj))
	root := bigFloat().SetInt(squares)
	root.Sqrt(root)
	x := root.Mul(root, bigFloat().SetFloat64(rate))
	linear := bigFloat().SetInt(manhattan)
	x.Sub(x, linear.Mul(linear, bigFloat().SetFloat64(a)))
	r, _ := x.Rat(nil)
	return oracleExp(r)
}

func TestBernoulliExpL2Boundaries(t *testing.T) {
	const half = math.Sqrt2 / 2
	for _, c := range []struct {
		rate, a float64
		i, j    int64
	}{
		{1, half * (1 - 0x1p-50), 1, 0},
		{1, half * (1 - 0x1p-50), 1, 1},             // cancels almost completely
		{1, half * (1 - 0x1p-41), 1 << 40, 1 << 40}, // x < 1 from terms of 10^12
		{0.00693, 0.0049, -300, 200},
		{0.00693, 0.0049, 12345, -54321},
		{1e-15, 0.7e-15, 1 << 50, 3},
		{1e-18, 0.7e-18, math.MinInt64, math.MaxInt64}, // i^2+j^2 beyond int64
		{1e-18, 0, math.MinInt64, math.MinInt64},
		{300, 200, 2, -1},
		{1e-300, 0.7e-300, 5, 6}, // e^-x is 1 as far as 1600 bits show
	} {
		p := oracleL2(c.rate, c.a, c.i, c.j)
		toss := func(s *exact.Source) bool { return s.BernoulliExpL2(c.rate, c.a, c.i, c.j) }
		if bits := misplacedCoin(p, toss); bits > 0 {
			t.Errorf("%+v: %d bits of e^-x are taken for the wrong side", c, bits)
		}
	}
}

func TestBernoulliExpL2AtOrigin(t *testing.T) {
	s := exact.NewSource(pseudorandom(1))
	for range 1000 {
		if !s.BernoulliExpL2(1, 0.7, 0, 0) {
			t.Fatal("e^-0 is not certain")
		}
	}
}

// oracleOvershoot is e^-max(0, t) for t = c - rate*sqrt(i^2+j^2), or for -t.
func oracleOvershoot(rate, c float64, i, j int64, negated bool) *big.Float {
	bi, bj := big.NewInt(i), big.NewInt(j)
	root := bigFloat().SetInt(new(big.Int).Add(new(big.Int).Mul(bi, bi), new(big.Int).Mul(bj, bj)))
	root.Sqrt(root)
	t := bigFloat().SetFloat64(c)
	t.Sub(t, root.Mul(root, bigFloat().SetFloat64(rate)))
	if negated {
		t.Neg(t)
	}
	if t.Sign() < 0 {
		return bigFloat().SetInt64(1)
	}
	r, _ := t.Rat(nil)
	return oracleExp(r)
}

// The two halves of the test, one for each sign of the Laplace variate, change
// their answer exactly where they should.
func TestLaplaceTestBoundaries(t *testing.T) {
	for _, c := range []struct {
		rate, c float64
		i, j    int64
	}{
		{1, 2, 1, 0},
		{1, 1, 1, 0}, // t = 0
		{1, 0, 3, 4},
		{1, -2, 0, 0},
		{0.00693, 2.0118, -300, 200},
		{0.00693, 2.0118, 1, 1},
		{1, math.Sqrt2, 1, 1}, // |t| < 2^-52
		{0x1p-40, 0x1.6a09e667f3bcdp+0, 1 << 40, 1 << 40}, // the same far out
		{1e-15, 1e-3, 1 << 50, 3},
		{1e-18, 20, math.MinInt64, math.MaxInt64},
		{300, 700, 2, -1},
		{1e-300, 1e-299, 5, 6}, // one half in a half as far as 1600 bits show
	} {
		for _, negative := range []bool{false, true} {
			p := oracleOvershoot(c.rate, c.c, c.i, c.j, negative)
			exceeds := func(s *exact.Source) bool {
				return s.NextBit(negative).LaplaceTest(c.rate, c.c, c.i, c.j) == negative
			}
			if bits := misplacedCoin(p, exceeds); bits > 0 {
				t.Errorf("%+v, negative %v: %d bits are taken for the wrong side", c, negative, bits)
			}
		}
	}
}

// TestLaplaceTestBoundariesNotice plants a test decided in float64.
func TestLaplaceTestBoundariesNotice(t *testing.T) {
	const rate, c, i, j = 0.00693, 2.0118, -300, 200 // t = -0.49
	naive := func(s *exact.Source) bool {
		return (float64(s.Uint64())+0.5)*0x1p-64 < math.Exp(c-rate*math.Hypot(i, j))
	}
	if misplacedCoin(oracleOvershoot(rate, c, i, j, true), naive) == 0 {
		t.Error("a comparison in float64 was not noticed")
	}
}

// Far inside the threshold the test passes, far outside it fails, but for an
// event of probability below e^-10000.
func TestLaplaceTestFar(t *testing.T) {
	s := exact.NewSource(pseudorandom(1))
	for range 100 {
		if !s.LaplaceTest(1, 20_000, 6_000, -8_000) || s.LaplaceTest(1, 0, 6_000, -8_000) {
			t.Fatal("an event of probability e^-10000 happened")
		}
		if s.LaplaceTest(math.MaxFloat64, 1, math.MaxInt64, math.MinInt64) {
			t.Fatal("an event of probability e^-(10^327) happened")
		}
	}
}

func TestBernoulliExpHuge(t *testing.T) {
	s := exact.NewSource(pseudorandom(1))
	if s.BernoulliExpRatio(math.MaxFloat64, math.MaxUint64, 1) || s.BernoulliExpRatio(math.MaxFloat64, 1, math.MaxUint64) {
		t.Error("an event of probability e^-(10^288) happened")
	}
	if s.BernoulliExpL2(math.MaxFloat64, 0, math.MaxInt64, 1) {
		t.Error("an event of probability e^-(10^327) happened")
	}
}

// quotient is the probability p/q, computed as asked.
type quotient struct{ p, q int64 }

func (r quotient) Bounds(prec uint) (lo, hi *big.Rat) {
	unit := new(big.Int).Lsh(big.NewInt(1), prec)
	floor := new(big.Int).Mul(unit, big.NewInt(r.p))
	floor.Quo(floor, big.NewInt(r.q))
	lo = new(big.Rat).SetFrac(floor, unit)
	return lo, new(big.Rat).Add(lo, new(big.Rat).SetFrac(big.NewInt(1), unit))
}

func isBelow(s *exact.Source, low, high float64, p exact.Probability) bool {
	u := s.Uniform()
	return u.Below(low, high, p)
}

// Close bounds, wide ones and none at all decide the same on the same bits.
func TestUniformBoundaries(t *testing.T) {
	for _, r := range trials.Some(t, 2, []quotient{{1, 3}, {2, 3}, {1, 1<<40 + 1}, {1 << 40, 1<<40 + 1}, {355, 1131}, {1, 7_000_000_007}}...) {
		near := float64(r.p) / float64(r.q)
		p := bigFloat().Quo(bigFloat().SetInt64(r.p), bigFloat().SetInt64(r.q))
		for _, slack := range []float64{0x1p-50, 0x1p-20, 0.5, 1} {
			toss := func(s *exact.Source) bool { return isBelow(s, near*(1-slack), near*(1+slack), r) }
			if bits := misplacedCoin(p, toss); bits > 0 {
				t.Errorf("%v with bounds %v apart: %d bits are taken for the wrong side", r, slack, bits)
			}
			checkAgreement(t, 20_000, func() io.Reader { return newHostile(1, uint32(near*0x1p32)) }, toss)
		}
	}
}

// TestUniformBoundariesNotice plants an upper bound below the probability.
func TestUniformBoundariesNotice(t *testing.T) {
	toss := func(s *exact.Source) bool { return isBelow(s, 0.3333333, 0.3333333, quotient{1, 3}) }
	if misplacedCoin(bigFloat().Quo(bigFloat().SetInt64(1), bigFloat().SetInt64(3)), toss) == 0 {
		t.Error("a bound on the wrong side was not noticed")
	}
}

func TestUniformOfCertainties(t *testing.T) {
	s := exact.NewSource(pseudorandom(1))
	for range 1000 {
		if !isBelow(s, 0, 1, quotient{1, 1}) || isBelow(s, 0, 1, quotient{0, 1}) {
			t.Fatal("a certainty is not certain")
		}
	}
}

func TestBernoulliAllocates(t *testing.T) {
	s := exact.NewSource(nil)
	third := &quotient{1, 3}
	if n := testing.AllocsPerRun(10_000, func() { isBelow(s, 0.333333333, 0.333333334, third) }); n != 0 {
		t.Errorf("Uniform: %v allocations", n)
	}
	if n := testing.AllocsPerRun(10_000, func() { s.BernoulliExpRatio(0.00693, 300, 7) }); n != 0 {
		t.Errorf("BernoulliExpRatio: %v allocations", n)
	}
	if n := testing.AllocsPerRun(10_000, func() { s.BernoulliExpL2(0.00693, 0.0049, 100, -70) }); n != 0 {
		t.Errorf("BernoulliExpL2: %v allocations", n)
	}
	if n := testing.AllocsPerRun(10_000, func() { s.LaplaceTest(0.00693, 2.01, 100, -70) }); n != 0 {
		t.Errorf("LaplaceTest: %v allocations", n)
	}
}
