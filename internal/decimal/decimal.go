// Package decimal reads and prints numbers as decimals without exponents. Real, Integer and AppendReal take short ones, as
// nearly all cells of data sets are, several times as fast as strconv, and report false for all others.
package decimal

import (
	"math"
	"strconv"
	"strings"
)

// powers holds the powers of ten by which Real divides integers of at most 15 digits. All of
// them are exact as float64.
var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// Real parses a number of at most 15 digits without an exponent. The digits and the power of
// ten are exact as float64, so that one division rounds once, to the nearest float64 (Clinger, How
// to Read Floating Point Numbers Accurately (1990)).
func Real(text []byte) (x float64, ok bool) {
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		text = text[1:]
	}
	if len(text) > 16 {
		return 0, false
	}
	digits, fraction, point := int64(0), 0, -1
	for i, c := range text {
		switch {
		case '0' <= c && c <= '9':
			digits = 10*digits + int64(c-'0')
		case c == '.' && point < 0:
			point = i
		default:
			return 0, false
		}
	}
	n := len(text)
	if point >= 0 {
		n--
		fraction = n - point
	}
	if n == 0 || n > 15 {
		return 0, false
	}
	x = float64(digits) / powers[fraction]
	if negative {
		x = -x
	}
	return x, true
}

// Integer parses an integer of at most 18 digits, which 64 bits always hold.
func Integer(text []byte) (v int64, ok bool) {
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		text = text[1:]
	}
	if len(text) == 0 || len(text) > 18 {
		return 0, false
	}
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		v = 10*v + int64(c-'0')
	}
	if negative {
		v = -v
	}
	return v, true
}

// decimals is how many decimals AppendReal prints at most.
const decimals = 7

// AppendReal appends the shortest decimal that parses as x, if that has at most 7 decimals and 15
// digits, and x is from 1e-6 to 1e8 or their negatives.
//
// x*1e7 may round, but the integer next to it is tried by the division that [Real] does. If that
// yields x, the integer's digits are a decimal of at most 15 digits that parses as x. No other
// decimal of at most 15 digits does, because those are farther apart than float64s there, and so
// the shortest one is this, without zeros at its end.
func AppendReal(out []byte, x float64) (_ []byte, ok bool) {
	size := math.Abs(x)
	if !(size >= 1e-6 && size < 1e8) {
		return out, false
	}
	units := math.RoundToEven(size * powers[decimals])
	if units/powers[decimals] != size {
		return out, false
	}
	if x < 0 {
		out = append(out, '-')
	}
	out = AppendFixed(out, uint64(units))
	end := len(out)
	for out[end-1] == '0' {
		end--
	}
	if out[end-1] == '.' {
		end--
	}
	return out[:end], true
}

// pairs holds the digits of 00 to 99.
var pairs = func() (all [100][2]byte) {
	for i := range all {
		all[i] = [2]byte{byte('0' + i/10), byte('0' + i%10)}
	}
	return all
}()

// AppendFixed appends a number of units of 1e-7 with its 7 decimals.
func AppendFixed(out []byte, units uint64) []byte {
	switch whole := units / 1e7; {
	case whole < 10:
		out = append(out, byte('0'+whole))
	case whole < 100:
		out = append(out, pairs[whole][0], pairs[whole][1])
	default:
		out = strconv.AppendUint(out, whole, 10)
	}
	rest := uint32(units % 1e7)
	a, b, c, d := pairs[rest/1e5], pairs[rest/1e3%100], pairs[rest/10%100], byte('0'+rest%10)
	return append(out, '.', a[0], a[1], b[0], b[1], c[0], c[1], d)
}

// Grouped returns a whole number of at least 0 with its digits in groups of three.
func Grouped(n int) string { return Group(strconv.Itoa(n)) }

// Group returns digits in groups of three.
func Group(digits string) string {
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Format returns the shortest decimal that parses as x, without an exponent.
func Format(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// Round returns x rounded to significant digits.
func Round(x float64, digits int) float64 {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'e', digits-1, 64), 64)
	return rounded
}

// RoundUp returns the least number of so many significant digits that is x or above, for x >= 0, and NaN for NaN.
func RoundUp(x float64, digits int) float64 {
	rounded := Round(x, digits)
	if !(rounded < x) {
		return rounded
	}
	text := strconv.FormatFloat(rounded, 'e', digits-1, 64)
	e := strings.IndexByte(text, 'e')
	mantissa, _ := strconv.Atoi(strings.Replace(text[:e], ".", "", 1))
	exponent, _ := strconv.Atoi(text[e+1:])
	next, _ := strconv.ParseFloat(strconv.Itoa(mantissa+1)+"e"+strconv.Itoa(exponent-digits+1), 64)
	return next
}
