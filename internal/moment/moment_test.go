package moment

import (
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"2026-03-01":             noon.Add(-12 * time.Hour),
		"2026-03-01T12:00:00Z":   noon,
		"2026-03-01T12:00:00":    noon,
		"2026-03-01 12:00:00":    noon,
		"2026-03-01T12:00Z":      noon,
		"2026-03-01T12:00":       noon,
		"2026-03-01 12:00":       noon,
		"2026-03-01T12:00:00.5Z": noon.Add(time.Second / 2),
	} {
		if got, err := Parse(text); err != nil || !got.Equal(want) {
			t.Errorf("%s is %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "now", "2026-02-30", "2026-03-01T12", "2026-03-01T12:00:00+01:00", "1e3", " 2026-03-01"} {
		if got, err := Parse(text); err != ErrForm {
			t.Errorf("%q is %v, %v", text, got, err)
		}
	}
}

func TestNumber(t *testing.T) {
	for x, want := range map[float64]int64{0: 0, 1.5: 1_500_000, -1e-6: -1, 4e-7: 0, 1e11 - 1: (1e11 - 1) * 1e6,
		1e11: 1e14, -1e11: -1e14, 1772366400123: 1772366400123000, 1772366400123.5: 1772366400123500} {
		if got, err := Number(x); err != nil || got.UnixMicro() != want {
			t.Errorf("%v is %v, %v, want %d µs", x, got, err, want)
		}
	}
	for _, x := range []float64{1e14, -1e14, 1772366400123456, 1e300} {
		if got, err := Number(x); err != ErrFar {
			t.Errorf("%v is %v, %v", x, got, err)
		}
	}
}
