// Package moment parses times, given as seconds or milliseconds since 1970 or as ISO 8601 text in UTC. Times
// are rounded to microseconds.
package moment

import (
	"errors"
	"math"
	"time"
)

var (
	// ErrForm is the error of a text that is not a time.
	ErrForm = errors.New("must be seconds or milliseconds since 1970 or a time like 2026-03-01T12:00:00Z")
	// ErrFar is the error of a number that is neither seconds nor milliseconds within 1e11 seconds of 1970.
	ErrFar = errors.New("is too far from 1970, in seconds and in milliseconds")
)

// Milliseconds is the size from which on a number counts milliseconds: March 1973. As seconds it is in the year 5138.
const Milliseconds = 1e11

// Number returns the time of a finite number, seconds or milliseconds after 1970.
func Number(x float64) (time.Time, error) {
	unit := 1e6 // microseconds
	switch size := math.Abs(x); {
	case size >= 1000*Milliseconds:
		return time.Time{}, ErrFar
	case size >= Milliseconds:
		unit = 1e3
	}
	return time.UnixMicro(int64(math.Round(x * unit))).UTC(), nil
}

// UnixUnit returns the unit, seconds or milliseconds, in which a number is a time between 1973 and 2286, or "".
func UnixUnit(x float64) string {
	const least, end = Milliseconds / 1000, 1e10 // seconds
	switch {
	case least <= x && x < end:
		return "seconds"
	case 1000*least <= x && x < 1000*end:
		return "milliseconds"
	}
	return ""
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
