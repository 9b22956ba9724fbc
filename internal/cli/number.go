package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/geosql/geosql/internal/moment"
)

// TrimBlanks removes the blanks and tabs around a number.
func TrimBlanks(s string) string { return strings.Trim(s, " \t") }

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

// Instant parses a time, given as seconds since 1970 or as ISO 8601 in UTC, and returns it in
// microseconds.
func Instant(text string) (int64, error) {
	t, err := parseTime(TrimBlanks(text))
	if err != nil {
		return 0, fmt.Errorf("time %q %w", text, err)
	}
	return t.UnixMicro(), nil
}

func parseTime(text string) (time.Time, error) {
	if seconds, err := Number(text); err == nil {
		return moment.Seconds(seconds)
	}
	return moment.Parse(text)
}
