package release

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/internal/printable"
)

// powers holds the powers of ten by which plainNumber divides integers of at most 15
// digits. All of them are exact as float64.
var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// number parses a decimal number, rounded to the nearest float64.
func number(text []byte) (x float64, ok bool) {
	if x, ok := plainNumber(text); ok {
		return x, true
	}
	text = bytes.Trim(text, " \t")
	if bytes.ContainsFunc(text, func(r rune) bool {
		return (r < '0' || r > '9') && r != '.' && r != '-' && r != '+' && r != 'e' && r != 'E'
	}) {
		return 0, false // ParseFloat would also take hexadecimal numbers, Inf and NaN
	}
	x, err := strconv.ParseFloat(string(text), 64)
	return x, err == nil || errors.Is(err, strconv.ErrRange)
}

// plainNumber parses a number of at most 15 digits without an exponent, and does not
// allocate. The digits and the power of ten are exact as float64, so that one division
// rounds once (Clinger, How to Read Floating Point Numbers Accurately (1990)).
func plainNumber(text []byte) (x float64, ok bool) {
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

// appendDegrees appends a released coordinate with its 7 decimals.
func appendDegrees(b []byte, degrees float64) []byte {
	units := int64(math.RoundToEven(degrees * 1e7))
	if units < 0 {
		b, units = append(b, '-'), -units
	}
	whole, rest := uint32(units)/1e7, uint32(units)%1e7 // 32 bits hold 180 degrees
	b = strconv.AppendUint(b, uint64(whole), 10)
	b = append(b, ".0000000"...)
	for at := 1; at <= 7; at++ {
		b[len(b)-at] = byte('0' + rest%10)
		rest /= 10
	}
	return b
}

// coordinate parses a latitude or a longitude of at most limit degrees.
func coordinate(text []byte, name string, limit float64) (float64, error) {
	x, ok := number(text)
	switch {
	case !ok:
		return 0, fmt.Errorf("column %s: %s is not a number", printable.Text(name), quote(text))
	case len(text) > dataset.LongestSecret: // the ends of batches would reveal it
		return 0, fmt.Errorf("column %s: the number has %d bytes, which is more than %d", printable.Text(name), len(text), dataset.LongestSecret)
	case math.Abs(x) > limit:
		return 0, &rangeError{name, string(text), limit}
	}
	return x, nil
}

// A rangeError reports a coordinate beyond its limit.
type rangeError struct {
	column, text string
	limit        float64
}

func (e *rangeError) Error() string {
	return fmt.Sprintf("column %s: %s is beyond %v degrees", printable.Text(e.column), e.text, e.limit)
}

// quote formats text for messages: quoted, on one line, and shortened.
func quote(text []byte) string {
	const most = 40
	if len(text) > most {
		return strconv.Quote(string(text[:most])) + ".."
	}
	return strconv.Quote(string(text))
}
