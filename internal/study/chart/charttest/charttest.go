// Package charttest looks into figures, for tests.
package charttest

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
)

// svg returns a figure as text.
func svg(t *testing.T, figure io.WriterTo) string {
	t.Helper()
	var text strings.Builder
	if _, err := figure.WriteTo(&text); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// Texts parses a figure and returns the contents of its text elements.
func Texts(t *testing.T, figure io.WriterTo) (texts []string) {
	t.Helper()
	text := svg(t, figure)
	if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
		t.Error("the figure holds a coordinate that is no number")
	}
	f, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range f.labels {
		texts = append(texts, l.text)
	}
	return texts
}

// Discs returns how many filled discs of a radius a figure has.
func Discs(t *testing.T, figure io.WriterTo, radius float64) int {
	t.Helper()
	disc := regexp.MustCompile(fmt.Sprintf(`A%v,%v [^"]*"(?: style="fill:#[^"]*")? +/>`, radius, radius))
	return len(disc.FindAllString(svg(t, figure), -1))
}

// Hold fails the test unless each wanted text is in a figure the given number of times.
func Hold(t *testing.T, texts []string, times int, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		n := 0
		for _, text := range texts {
			if text == want {
				n++
			}
		}
		if n != times {
			t.Errorf("%q is there %d times, not %d, in %q", want, n, times, texts)
		}
	}
}
