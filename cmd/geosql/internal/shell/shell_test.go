package shell

import (
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/fuzz/fuzztest"
)

// A statement of many lines is one unit, and read once.
func TestLongUnit(t *testing.T) {
	fuzztest.Limit(t, time.Minute)
	lines := "SELECT length('" + strings.Repeat(";\n", 2<<20) + "') AS n;\n"
	if whole, rest := units(lines); len(whole) != 1 || rest != "" {
		t.Errorf("%d units, and %d bytes are left", len(whole), len(rest))
	}
}
