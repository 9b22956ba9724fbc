package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/geosql/geosql/internal/decimal"
)

// page has the tables, each between a line that begins it and a line that ends it.
const page = "docs/benchmarks.md"

func marks(name string) (begin, end string) {
	return "<!-- " + name + ": made by go run ./internal/benchmarks " + name + " -write -->\n", "<!-- end of " + name + " -->\n"
}

// filled returns a page in which text stands in the place of that name.
func filled(in, name, text string) (string, error) {
	begin, end := marks(name)
	before, rest, ok := strings.Cut(in, begin)
	_, after, ended := strings.Cut(rest, end)
	if !ok || !ended {
		return "", fmt.Errorf("%s has no lines %q and %q", page, begin, end)
	}
	return before + begin + "\n" + strings.TrimRight(text, "\n") + "\n\n" + end + after, nil
}

// fill writes text into the page.
func fill(name, text string) error {
	old, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	changed, err := filled(string(old), name, text)
	if err != nil {
		return err
	}
	return os.WriteFile(page, []byte(changed), 0o644)
}

// duration writes seconds with two or three digits that count.
func duration(seconds float64) string {
	switch {
	case seconds < 1e-6:
		return digits(seconds*1e9) + " ns"
	case seconds < 1e-3:
		return digits(seconds*1e6) + " µs"
	case seconds < 1:
		return digits(seconds*1e3) + " ms"
	case seconds < 120:
		return digits(seconds) + " s"
	default:
		return digits(seconds/60) + " min"
	}
}

func digits(x float64) string {
	if x < 9.95 {
		return fmt.Sprintf("%.2g", x)
	}
	return fmt.Sprintf("%.0f", x)
}

func megabytes(n int64) string { return fmt.Sprintf("%.0f MB", float64(n)/1e6) }

// rate writes how many there are in a second.
func rate(perSecond float64) string {
	switch {
	case perSecond >= 1e8:
		return decimal.Grouped(int(perSecond/1e6+0.5)) + " million"
	case perSecond >= 1e6:
		return fmt.Sprintf("%.3g million", perSecond/1e6)
	default:
		return decimal.Grouped(int(perSecond+500) / 1000 * 1000)
	}
}
