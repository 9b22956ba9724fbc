package cli

import (
	"fmt"
	"math"
	"os"
	"time"

	"github.com/geosql/geosql/internal/printable"
)

// A TerminalLine is a line of the terminal that is rewritten to show progress. A nil
// TerminalLine, for output without a terminal, shows nothing.
type TerminalLine struct{ next time.Time }

// NewTerminalLine returns the line, or nil if standard error is not a terminal that can rewrite it.
func NewTerminalLine() *TerminalLine {
	if !Obeys(os.Stderr) {
		return nil
	}
	return &TerminalLine{}
}

// due reports whether the line should be rewritten: several times a second at most.
func (l *TerminalLine) due() bool { return l != nil && !time.Now().Before(l.next) }

// Show rewrites the line if it is due.
func (l *TerminalLine) Show(format string, args ...any) {
	if l.due() {
		l.next = time.Now().Add(200 * time.Millisecond)
		fmt.Fprint(os.Stderr, "\r\x1b[K"+printable.Text(fmt.Sprintf(format, args...)))
	}
}

// Steps returns a function that shows the step of some work and the share of it that is done. A step begins with share 0.
func (l *TerminalLine) Steps() func(doing string, share float64) {
	var begun time.Time
	return func(doing string, share float64) {
		left := time.Duration(0)
		if share == 0 {
			begun = time.Now()
		} else {
			left = TimeLeft(begun, share)
		}
		l.Show("%s: %s", doing, ShareAndRest(share, left))
	}
}

// Clear removes the line.
func (l *TerminalLine) Clear() {
	if l != nil {
		fmt.Fprint(os.Stderr, "\r\x1b[K")
	}
}

// ShareAndRest formats the share of some work that is done and, unless it is 0, the
// estimated time for the rest.
func ShareAndRest(share float64, left time.Duration) string {
	percent := fmt.Sprintf("%.0f %%", 100*share)
	switch {
	case left == 0:
		return percent
	case left < 100*time.Second:
		return fmt.Sprintf("%s, about %.0f s left", percent, math.Ceil(left.Seconds()))
	case left < 100*time.Minute:
		return fmt.Sprintf("%s, about %.0f min left", percent, left.Minutes())
	default:
		return fmt.Sprintf("%s, about %.0f h left", percent, left.Hours())
	}
}

// TimeLeft estimates the time for the rest of some work, after a share of it.
func TimeLeft(begun time.Time, share float64) time.Duration {
	return time.Duration(float64(time.Since(begun)) * (1 - share) / max(share, 0.001))
}

// Pace says how long some work took, and how many things a second were done.
func Pace(n int64, things string, took time.Duration) string {
	seconds := took.Seconds()
	return fmt.Sprintf("%.1f s, %.0f %s/s", seconds, float64(n)/max(seconds, 0.001), things)
}

// Size says how large files are together. A missing one has no size.
func Size(names ...string) string {
	size := 0.0
	for _, name := range names {
		if info, err := os.Stat(name); err == nil {
			size += float64(info.Size())
		}
	}
	if size < 1e6 {
		return fmt.Sprintf("%.0f kB", math.Ceil(size/1e3))
	}
	return fmt.Sprintf("%.0f MB", size/1e6)
}
