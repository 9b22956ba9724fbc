// Package elementary has exponentials and logarithms that are the same numbers on every platform.
//
// Package math's are not. Its assembly for amd64 and for arm64 takes different series, and where it
// is Go the compiler may round a product and a sum once instead of twice, as it does for arm64: the
// last bit differs. These functions are for numbers that people compare between machines, such as
// radii. They take two to three times as long, so that code that only guesses stays with math.
//
// The specification of Go lets no compiler fuse a product that is explicitly converted, which is
// why every product here that is added to something is. Square roots, and changes of exponents, are exact
// or correctly rounded everywhere.
package elementary

import "math"

const (
	// ln2High has 32 bits, so that its product with an exponent is exact.
	ln2High = 0xb17217f7p-32
	ln2Low  = math.Ln2 - ln2High

	// small is at least half of ln 2: the rest of an exponent, and where 1+x needs no logarithm of two.
	small = 0.35
)

// Exp returns e^x to within 2 units in the last place, and where it is below 2^-1022 of 2^-1074.
func Exp(x float64) float64 {
	switch {
	case x > 710:
		return math.Inf(1)
	case x < -746:
		return 0
	case math.IsNaN(x):
		return x
	}
	k := math.RoundToEven(x * math.Log2E)
	high, low := x-float64(k*ln2High), k*ln2Low
	rest := high - float64(low)
	lost := (high - rest) - float64(low)
	return math.Ldexp(1+(rest+(curve(rest)+lost)), int(k))
}

// Expm1 returns e^x - 1 to within 4 units in the last place.
func Expm1(x float64) float64 {
	if math.Abs(x) <= small {
		return x + curve(x)
	}
	return Exp(x) - 1
}

// curve returns e^x - 1 - x for |x| <= small. The series leaves out less than 2^-56 of x.
func curve(x float64) float64 {
	sum := 0.0
	for _, c := range inverseFactorials {
		sum = c + float64(x*sum)
	}
	return float64(x * x * sum)
}

// inverseFactorials are 1/14!, 1/13!, .., 1/2!.
var inverseFactorials = [...]float64{
	1. / 87178291200, 1. / 6227020800, 1. / 479001600, 1. / 39916800, 1. / 3628800, 1. / 362880,
	1. / 40320, 1. / 5040, 1. / 720, 1. / 120, 1. / 24, 1. / 6, 1. / 2,
}

// Log returns ln x to within 2 units in the last place.
func Log(x float64) float64 {
	switch {
	case x < 0 || math.IsNaN(x):
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	case math.IsInf(x, 1):
		return x
	}
	fraction, exponent := math.Frexp(x)
	if fraction < math.Sqrt2/2 {
		fraction, exponent = 2*fraction, exponent-1
	}
	f, k := fraction-1, float64(exponent)
	return float64(k*ln2High) + (f - (bend(f) - float64(k*ln2Low)))
}

// Log1p returns ln(1+x) to within 3 units in the last place.
func Log1p(x float64) float64 {
	if math.Abs(x) <= small {
		return x - bend(x)
	}
	u := 1 + x
	if math.IsInf(u, 1) || u <= 0 {
		return Log(u)
	}
	lost := x - (u - 1)
	if math.Abs(x) > 1 {
		lost = 1 - (u - x)
	}
	return Log(u) + lost/u
}

// bend returns f - ln(1+f) for -0.35 <= f <= 0.42. With s = f/(2+f) the logarithm is that of
// (1+s)/(1-s), 2s + 2s^3/3 + 2s^5/5 + .., and 2s = f - f^2/2 + s*f^2/2. The series leaves out
// less than 2^-56 of f.
func bend(f float64) float64 {
	s := f / (2 + f)
	w, square := s*s, float64(f*f/2)
	sum := 0.0
	for k := 25.0; k > 1; k -= 2 {
		sum = float64(w * (2/k + sum))
	}
	return square - float64(s*(square+sum))
}
