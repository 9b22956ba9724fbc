package cip

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// exponentOfDifference returns e such that |a - b| < 2^e.
func exponentOfDifference(a, b *big.Float) int {
	d := newFloat(10_000).Sub(a, b)
	if d.Sign() == 0 {
		return math.MinInt
	}
	return d.MantExp(nil)
}

func parse(t failer, digits string) *big.Float {
	x, _, err := big.ParseFloat(digits, 10, 300, big.ToNearestEven)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// Digits are those of mpmath 1.3 with 70.
func TestElementaryFunctions(t *testing.T) {
	const bits = 200
	for x, want := range map[float64]string{
		1:            "0.3678794411714423215955237701614608674458111310317678345078368016974615",
		33.25:        "0.000000000000003628344178047044634547183880785582824719966967563499987113021301265228",
		0.0009765625: "0.9990239141819756622347117896103294303192020807785251855101678865957983",
		0:            "1",
	} {
		if e := exponentOfDifference(bigExp(big.NewFloat(x), bits), parse(t, want)); e > -bits {
			t.Errorf("exp(-%v) is off by 2^%d", x, e)
		}
	}
	pi := bigPi(bits + 40)
	if e := exponentOfDifference(pi, parse(t, "3.141592653589793238462643383279502884197169399375105820974944592307816")); e > -228 {
		t.Errorf("pi is off by 2^%d", e)
	}
	for y, want := range map[*big.Rat]string{
		big.NewRat(1, 7):     "0.4338837391175581204757683328483587546099907277874598764445473035322033",
		big.NewRat(1, 1<<40): "0.000000000002857261873568671252053390261287568122819163246886884943548529052043236",
		big.NewRat(1, 2):     "1",
		big.NewRat(1, 6):     "0.5",
		new(big.Rat):         "0",
	} {
		digits := parse(t, want)
		if e := exponentOfDifference(bigSinPi(y, pi, bits), digits); e > digits.MantExp(nil)-bits {
			t.Errorf("sin(pi*%v) is off by 2^%d", y, e)
		}
	}
}

// With more bits they agree to all that was promised for fewer.
func TestMoreBitsChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bits := uint(rapid.IntRange(20, 2000).Draw(t, "bits"))
		more := bits + uint(rapid.IntRange(64, 500).Draw(t, "more"))
		x := big.NewFloat(math.Exp(rapid.Float64Range(-30, 9).Draw(t, "ln x")))
		if e := exponentOfDifference(bigExp(x, bits), bigExp(x, more)); e > -int(bits) {
			t.Errorf("exp(-%v): 2^%d", x, e)
		}
		low, high := bigPi(bits), bigPi(more)
		if e := exponentOfDifference(low, high); e > 2-int(bits) {
			t.Errorf("pi: 2^%d", e)
		}
		y := new(big.Rat).SetFloat64(rapid.Float64Range(0, 0.5).Draw(t, "y"))
		a, b := bigSinPi(y, bigPi(bits+32), bits), bigSinPi(y, bigPi(more+32), more)
		if e := exponentOfDifference(a, b); e > b.MantExp(nil)-int(bits) {
			t.Errorf("sin(pi*%v): 2^%d", y, e)
		}
	})
}

// The correlations are those of package math, for times that make it fit.
func TestCorrelations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, times, _ := drawTrace(t)
		table := newKernel(&p, times).tableAt(p.LengthScale)
		if err := table.refine(t.Context(), 128); err != nil {
			t.Fatal(err)
		}
		for i := range times {
			for j := range times {
				dt, want := times[i]-times[j], 0.0
				switch p.Kernel {
				case RBF:
					want = math.Exp(-dt * dt / (2 * p.LengthScale * p.LengthScale))
				case Exponential:
					want = math.Exp(-math.Abs(dt) / p.LengthScale)
				case Periodic:
					sine := math.Sin(math.Pi*dt/p.Period) / p.LengthScale
					want = math.Exp(-2 * sine * sine)
				}
				if got := table.correlation64(i, j); math.Abs(got-want) > 1e-12 {
					t.Fatalf("%v and %v: %v, not %v", times[i], times[j], got, want)
				}
			}
		}
	})
}

// Gaps between times that are far apart are exact, and the same gap is found again.
func TestGapsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Float64Range(-1e20, 1e20).Draw(t, "a"), rapid.Float64Range(-1e-3, 1e20).Draw(t, "b")
		want := new(big.Rat).Sub(new(big.Rat).SetFloat64(a), new(big.Rat).SetFloat64(b))
		if got := gapBetween(a, b).rat(); got.Cmp(want) != 0 {
			t.Fatalf("%v - %v is off", a, b)
		}
	})
	if k := newKernel(&Policy{Kernel: RBF}, seq(100)); len(k.gaps) != 99 {
		t.Errorf("%d gaps", len(k.gaps))
	}
}
