package cli

import "testing"

func TestNearest(t *testing.T) {
	names := []string{"import", "budget", "cost", "release", "demo", "help", "version"}
	for word, want := range map[string]string{
		"relase":   "release",
		"realese":  "release",
		"Release":  "release",
		"rel":      "release",
		"bugdet":   "budget",
		"budgets":  "budget",
		"imprt":    "import",
		"cots":     "cost",
		"c":        "",
		"ledger":   "",
		"readings": "",
		"":         "",
	} {
		if got := Nearest(word, names); got != want {
			t.Errorf("nearest to %q is %q, want %q", word, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "abc", 0}, {"abc", "abd", 1}, {"abc", "ab", 1},
		{"abc", "xabc", 1}, {"abcd", "acbd", 1}, {"kitten", "sitting", 3}, {"größe", "grösse", 2}, {"ca", "abc", 3},
	} {
		if got, back := distance(c.a, c.b), distance(c.b, c.a); got != c.want || back != c.want {
			t.Errorf("from %q to %q: %d, back %d; want %d", c.a, c.b, got, back, c.want)
		}
	}
}
