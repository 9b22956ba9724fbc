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
