// Package charttest looks into figures, for tests.
package charttest

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
)

// Texts parses a figure as XML and returns the contents of its text elements.
func Texts(t *testing.T, figure io.WriterTo) (texts []string) {
	t.Helper()
	var svg bytes.Buffer
	if _, err := figure.WriteTo(&svg); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(svg.String(), "NaN") || strings.Contains(svg.String(), "Inf") {
		t.Error("the figure holds a coordinate that is no number")
	}
	d := xml.NewDecoder(&svg)
	inText := false
	for {
		token, err := d.Token()
		if err == io.EOF {
			return texts
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			inText = e.Name.Local == "text"
		case xml.EndElement:
			inText = false
		case xml.CharData:
			if inText {
				texts = append(texts, string(e))
			}
		}
	}
}

// Discs returns how many filled discs of a radius a figure has.
func Discs(t *testing.T, figure io.WriterTo, radius float64) int {
	t.Helper()
	var svg bytes.Buffer
	if _, err := figure.WriteTo(&svg); err != nil {
		t.Fatal(err)
	}
	disc := regexp.MustCompile(fmt.Sprintf(`A%v,%v [^"]*"(?: style="fill:#[^"]*")? +/>`, radius, radius))
	return len(disc.FindAllString(svg.String(), -1))
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
