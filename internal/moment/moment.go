// Package moment parses times, given as seconds since 1970 or as ISO 8601 text in UTC. Times
// are rounded to microseconds.
package moment

import (
	"errors"
	"math"
	"time"
)

var (
	// ErrForm is the error of a text that is not a time.
	ErrForm = errors.New("must be seconds since 1970 or a time like 2026-03-01T12:00:00Z")
	// ErrFar is the error of a time more than 2^40 seconds from 1970.
	ErrFar = errors.New("is too far from 1970")
)

// Seconds returns the time that is a finite number of seconds after 1970.
func Seconds(x float64) (time.Time, error) {
	if math.Abs(x) > 1<<40 {
		return time.Time{}, ErrFar
	}
	return time.UnixMicro(int64(math.Round(x * 1e6))).UTC(), nil
}

// Parse parses ISO 8601 text: a date, or a date and a time of day with or without seconds,
// a fraction and a Z.
func Parse(text string) (time.Time, error) {
	for _, layout := range []string{"2006-01-02T15:04:05Z", "2006-01-02T15:04:05", time.DateTime,
		"2006-01-02T15:04Z", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, ErrForm
}
