package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// TrimBlanks removes the blanks and tabs around a number.
func TrimBlanks(s string) string { return strings.Trim(s, " \t") }

// Level reads a number, or the logarithm of one above 0.
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

// Number reads a finite number.
func Number(text string) (float64, error) {
	x, err := strconv.ParseFloat(TrimBlanks(text), 64)
	if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
		return 0, fmt.Errorf("%q is not a number", text)
	}
	return x, nil
}

// Instant reads a time, seconds since 1970 or ISO 8601 in UTC, in microseconds.
func Instant(text string) (int64, error) {
	text = TrimBlanks(text)
	if seconds, err := Number(text); err == nil {
		if math.Abs(seconds) > 1<<40 {
			return 0, fmt.Errorf("time %s is too far from 1970", text)
		}
		return int64(math.Round(seconds * 1e6)), nil
	}
	for _, layout := range []string{"2006-01-02T15:04:05Z", "2006-01-02T15:04:05", time.DateTime, "2006-01-02T15:04", "2006-01-02 15:04"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UnixMicro(), nil
		}
	}
	return 0, fmt.Errorf("%q is no time: seconds since 1970, or like 2026-03-01T12:00:00Z", text)
}
