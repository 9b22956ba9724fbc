package docs

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Every cell of the table of platforms says that nothing ran, or names a test or target that exists.
func TestPlatformsPointToWhatIsThere(t *testing.T) {
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	tests, rows := testNames(t), tablesOf(t, "platforms.md")[""]
	for _, row := range rows[1:] { // the first one names each platform
		if len(row) != len(rows[0]) || len(row) < 5 {
			t.Errorf("%d cells, not %d: %s", len(row), len(rows[0]), row)
		}
		for _, cell := range row[1:] {
			names := quoted.FindAllStringSubmatch(cell, -1)
			if len(names) == 0 && !saysWhy.MatchString(cell) {
				t.Errorf("%s: %q names nothing that shows it", row[0], cell)
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
}

// saysWhy matches cells that name no test.
var saysWhy = regexp.MustCompile(`^(not run|not run to the end|not built|none|as .*|by (all|their) tests)$`)
