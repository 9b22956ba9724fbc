package nearest

import "math"

// Bounds of the values of a universe.
const (
	// MaxQuanta bounds values in quanta. A decimal of at most 15 digits
	// survives the round trip through float64, so every value of a universe is a
	// float64 of its own that prints as its decimal. Twice as many
	// quanta stay below 2^53, where integers are exact in float64.
	MaxQuanta = 1_000_000_000_000_000
	// MaxDecimals bounds the decimals of a quantum: 10^22 is the last power of
	// ten that float64 holds exactly.
	MaxDecimals = 22
)

// Steps are the decimals First, First+Stride, .., with the indices 0 to Last. They are in quanta, and Scale quanta make 1. It is a
// power of ten.
type Steps struct {
	First, Stride, Last int64
	Scale               float64
}

// StepsOf returns the steps from lo to hi, as the decimals that people wrote, in the largest quanta that have lo and
// step as multiples. It reports false if they need more than 22 decimals or 15 digits.
func StepsOf(lo, hi, step float64) (Steps, bool) {
	scale := 1.0
	for range MaxDecimals + 1 {
		first, a := quanta(lo, scale)
		last, b := quanta(hi, scale)
		stride, c := quanta(step, scale)
		if a && b && c && stride > 0 {
			return Steps{first, stride, (last - first) / stride, scale}, true
		}
		scale *= 10
	}
	return Steps{}, false
}

// quanta returns a decimal in quanta. It reports false if it is not a whole number of them, or one of more than 15
// digits. Two decimals of 15 digits are two float64s, so comparing these compares the decimals.
func quanta(x, scale float64) (n int64, ok bool) {
	y := math.Round(x * scale)
	return int64(y), math.Abs(y) < MaxQuanta && y/scale == x
}

// End returns the last value, in quanta.
func (s Steps) End() int64 { return s.First + s.Last*s.Stride }

// Value returns the float64 nearest to the decimal of index k: both operands are exact, so the division rounds once.
func (s Steps) Value(k int64) float64 { return float64(s.First+k*s.Stride) / s.Scale }

// Midpoint returns the float64 nearest to the decimal halfway between the values
// of indices k-1 and k. Both operands of the division are exact.
func (s Steps) Midpoint(k int64) float64 {
	return float64(2*s.First+(2*k-1)*s.Stride) / (2 * s.Scale)
}

// Index returns the index of the value nearest to x, that of the first or last if x is outside,
// and the higher of two equally near ones. x is taken as the decimal that people wrote:
// 0.0005 is halfway between 0 and 0.001 although no float64 is.
//
// Precisely, Index(x) counts the midpoints between neighbouring values whose nearest
// float64 is at most x, which is obviously monotone. A value lies half a step, at least
// half a quantum, from the midpoints beside it, and float64s below MaxQuanta are less
// than a quarter of a quantum apart. So rounding to float64 keeps the order of values and
// midpoints strict, and Index(Value(k)) = k.
func (s Steps) Index(x float64) int64 {
	switch {
	case !(x > s.Value(0)): // or NaN, which no caller passes
		return 0
	case x >= s.Value(s.Last):
		return s.Last
	}
	return s.IndexFrom(x, int64((x-s.Value(0))/(float64(s.Stride)/s.Scale)+0.5))
}

// IndexFrom returns Index(x), and takes the less time the nearer a guess is.
func (s Steps) IndexFrom(x float64, guess int64) int64 {
	k := min(guess, s.Last)
	for k > 0 && x < s.Midpoint(k) {
		k--
	}
	for k < s.Last && x >= s.Midpoint(k+1) {
		k++
	}
	return k
}
