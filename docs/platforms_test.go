package docs

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Every cell of the table of platforms says that nothing ran, or names what shows that something did and is there.
func TestPlatformsPointToWhatIsThere(t *testing.T) {
	text, err := os.ReadFile("platforms.md")
	if err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	table, _, _ := strings.Cut(string(text), "\n## ")
	tests, platforms := testNames(t), 0
	for n, row := range regexp.MustCompile(`(?m)^\|.*\|$`).FindAllString(table, -1) {
		cells := strings.Split(strings.Trim(row, "|"), "|")
		switch n {
		case 0:
			platforms = len(cells)
			continue
		case 1, 2: // the line under the head, and what each platform was
			continue
		}
		if len(cells) != platforms {
			t.Errorf("%d cells, not %d: %s", len(cells), platforms, row)
		}
		for _, cell := range cells[1:] {
			names := quoted.FindAllStringSubmatch(cell, -1)
			if len(names) == 0 && !saysWhy.MatchString(strings.TrimSpace(cell)) {
				t.Errorf("%s: %q names nothing that shows it", strings.TrimSpace(cells[0]), cell)
			}
			for _, q := range names {
				target, made := strings.CutPrefix(q[1], "make ")
				switch {
				case strings.HasPrefix(q[1], "Test") && !tests[q[1]]:
					t.Errorf("there is no test %s", q[1])
				case made && !regexp.MustCompile(`(?m)^(\S+ )*`+target+`( \S+)*:|^PLATFORMS = .*\b`+target+`\b`).Match(makefile):
					t.Errorf("make has no target %s", target)
				}
			}
		}
	}
	if platforms < 5 {
		t.Errorf("a table of %d columns", platforms)
	}
}

// saysWhy matches cells that name no test.
var saysWhy = regexp.MustCompile(`^(not run|not run to the end|not built|none|as .*|by (all|their) tests)$`)
