package main

import (
	"fmt"
	"math"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/geosql/geosql/internal/printable"
)

// A terminalLine is a line of the terminal that is written again and again. A nil
// one, where there is no terminal, shows nothing.
type terminalLine struct{ next time.Time }

func newTerminalLine() *terminalLine {
	if !term.IsTerminal(int(os.Stderr.Fd())) {
		return nil
	}
	return &terminalLine{}
}

// due reports whether the line should be renewed: several times a second at most.
func (l *terminalLine) due() bool { return l != nil && !time.Now().Before(l.next) }

// show renews the line if it is due.
func (l *terminalLine) show(format string, args ...any) {
	if l.due() {
		l.next = time.Now().Add(200 * time.Millisecond)
		fmt.Fprint(os.Stderr, "\r\x1b[K"+printable.Text(fmt.Sprintf(format, args...)))
	}
}

// clear removes the line.
func (l *terminalLine) clear() {
	if l != nil {
		fmt.Fprint(os.Stderr, "\r\x1b[K")
	}
}

// shareAndRest says how much of some work is done and, unless 0, about how long the
// rest takes.
func shareAndRest(share float64, left time.Duration) string {
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

// timeLeft is about how long the rest of some work takes, of which a share is done.
func timeLeft(begun time.Time, share float64) time.Duration {
	return time.Duration(float64(time.Since(begun)) * (1 - share) / max(share, 0.001))
}
