package cli

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/geosql/geosql/internal/moment"
)

// TrimBlanks removes the blanks and tabs around a number.
func TrimBlanks(s string) string { return strings.Trim(s, " \t") }

// WholeTo returns a parser of a whole number above 0, for a flag.
func WholeTo(to *int64) func(text string) error {
	return func(text string) (err error) {
		if *to, err = strconv.ParseInt(text, 10, 64); err != nil || *to < 1 {
			err = errors.New("it must be a whole number above 0")
		}
		return err
	}
}

// Level parses a number, or the logarithm of a number above 0, such as ln4.
func Level(text string) (float64, error) {
	digits, isLog := strings.CutPrefix(TrimBlanks(text), "ln")
	x, err := Number(digits)
	if err != nil || isLog && x <= 0 {
		return 0, fmt.Errorf("%q is not like 1.386 or ln4", text)
	}
	if isLog {
		x = math.Log(x)
	}
	return x, nil
}

// Number parses a finite number.
func Number(text string) (float64, error) {
	x, err := strconv.ParseFloat(TrimBlanks(text), 64)
	if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
		return 0, fmt.Errorf("%q is not a number", text)
	}
	return x, nil
}

// Instant parses a time, given as seconds or milliseconds since 1970 or as ISO 8601 in UTC, and returns it in
// microseconds.
func Instant(text string) (int64, error) {
	t, err := parseTime(TrimBlanks(text))
	if err != nil {
		return 0, fmt.Errorf("time %q %w", text, err)
	}
	return t.UnixMicro(), nil
}

func parseTime(text string) (time.Time, error) {
	if x, err := Number(text); err == nil {
		return moment.Number(x)
	}
	return moment.Parse(text)
}

// Rational reads a decimal within the range of a float64, exactly.
func Rational(text string) (*big.Rat, error) {
	if _, err := Number(text); err != nil {
		return nil, err
	}
	x, ok := new(big.Rat).SetString(TrimBlanks(text))
	if !ok {
		return nil, fmt.Errorf("%q is not a decimal number", text)
	}
	return x, nil
}

// RationalLevel reads a decimal, or the logarithm of a decimal, which it rounds down.
func RationalLevel(text string) (*big.Rat, error) {
	x, err := Level(text)
	if err != nil || !strings.HasPrefix(TrimBlanks(text), "ln") {
		return Rational(text)
	}
	units := math.Floor(x*1e12) - 1 // one less, since rounding may have added one
	return new(big.Rat).SetFrac(big.NewInt(int64(units)), big.NewInt(1e12)), nil
}

// FormatRational returns a decimal fraction as text.
func FormatRational(x *big.Rat) string {
	n, exact := x.FloatPrec()
	if !exact {
		n = 15
	}
	return x.FloatString(n)
}
