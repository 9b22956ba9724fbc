package moment

import (
	"math"
	"testing"
	"time"
)

// FuzzParse reads texts as times, and agrees with package time on RFC 3339. A time that is written and read again is the same.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"", "2026-03-01", "2026-03-01T12:00:00Z", "2026-03-01 12:00:00.123456789", "2026-03-01T12:00", "2026-02-29", "9999-12-31T23:59:60Z", "0000-01-01", "2026-03-01T12:00:00,5Z", "2026-03-01T12:00:00+01:00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := Parse(text)
		if want, wrong := time.Parse(time.RFC3339Nano, text); wrong == nil && want.Location() == time.UTC && (err != nil || !got.Equal(want)) {
			t.Errorf("%q is %v, %v; want %v", text, got, err, want)
		}
		if err != nil {
			return
		}
		if again, err := Parse(got.Format("2006-01-02T15:04:05.999999999Z")); err != nil || !again.Equal(got) || got.Location() != time.UTC {
			t.Errorf("%q is %v, and becomes %v: %v", text, got, again, err)
		}
	})
}

// FuzzNumber makes times of numbers: the nearest microsecond, or an error.
func FuzzNumber(f *testing.F) {
	for _, x := range []float64{0, -0.5, 1e9, 1e11, -1e11, 1e11 - 1, 1e14, 1e-7, 1772366400.123456, 1772366400123, math.MaxFloat64} {
		f.Add(x)
	}
	f.Fuzz(func(t *testing.T, x float64) {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return // which callers refuse
		}
		at, err := Number(x)
		if far := math.Abs(x) >= 1e14; far != (err != nil) {
			t.Errorf("%v: %v, %v", x, at, err)
		}
		if math.Abs(x) >= 1e11 {
			x /= 1000
		}
		// A float64 of this size is within 2^-13 s of a number of microseconds.
		if got := float64(at.Unix()) + float64(at.Nanosecond())/1e9; err == nil && math.Abs(got-x) > 6e-7+math.Abs(x)*0x1p-52 {
			t.Errorf("%v is %v", x, at)
		}
	})
}
