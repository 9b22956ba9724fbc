package session

import (
	"io"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/sqlite"
)

// FuzzStatementReader splits any script. The parts are the script again, and all but the last end where SQLite finds complete
// statements.
func FuzzStatementReader(f *testing.F) {
	for _, script := range []string{"", ";", "SELECT 1;\nSELECT 2", "SELECT ';\n';\n", "CREATE TRIGGER a AFTER INSERT ON t BEGIN\nSELECT 1;\nEND;\nSELECT 2;\n", "-- ;\n/* ;\n*/;\n", "SELECT \"a;\n", "\n\n;\r\n;", "[;\n];\n`;\n`"} {
		f.Add(script)
	}
	f.Fuzz(func(t *testing.T, script string) {
		r := NewStatementReader(strings.NewReader(script))
		var parts []string
		for {
			part, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil || part == "" {
				t.Fatalf("%q: %q, %v", script, part, err)
			}
			parts = append(parts, part)
		}
		if got := strings.Join(parts, ""); got != script {
			t.Errorf("%q becomes %q", script, parts)
		}
		for i, part := range parts {
			if i < len(parts)-1 && !strings.ContainsAny(script, "$:@#\ufeff\x00") && !sqlite.Complete(part) { // it knows neither Tcl's variables nor NUL
				t.Errorf("%q is split after %q", script, part)
			}
		}
	})
}
