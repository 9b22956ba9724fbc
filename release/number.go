package release

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/internal/decimal"
	"github.com/geosql/geosql/internal/printable"
)

// number parses a decimal number, rounded to the nearest float64.
func number(text []byte) (x float64, ok bool) {
	if x, ok := decimal.Real(text); ok {
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

// appendDegrees appends a released coordinate, rounded to 7 decimals, which a text all has.
func appendDegrees(to *dataset.Column, degrees float64) {
	units := int64(math.RoundToEven(degrees * unitsPerDegree))
	if to.Kind() == dataset.Real {
		to.AppendReal(float64(units) / unitsPerDegree)
		return
	}
	to.AppendFunc(func(text []byte) []byte {
		if units < 0 {
			return decimal.AppendFixed(append(text, '-'), uint64(-units))
		}
		return decimal.AppendFixed(text, uint64(units))
	})
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
