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
			if i < len(parts)-1 && !sqlite.Complete(part) {
				t.Errorf("%q is split after %q", script, part)
			}
		}
	})
}

// FuzzSplitter compares with what SQLite says about a text, whole and after each of its lines.
func FuzzSplitter(f *testing.F) {
	for _, text := range []string{"EXPLAIN QUERY PLAN CREATE TEMP TRIGGER a BEGIN SELECT 1; END; ", "create temporary trigger a; end /* ; */ ; -- a", "CREATE TRIGGERS; END",
		"EXPLAIN EXPLAIN CREATE TRIGGER;END;", "explain temp trigger;", "/* a\n", "[a;];", "'a''\n;';", "-- a", ";$create trigger;", "é;", "END;CREATE\nTRIGGER a;;end;"} {
		f.Add(text)
	}
	words := strings.Fields("; CREATE TEMP temporary TRIGGER END EXPLAIN QUERY a ' \" ` [ ] -- /* */ - / .")
	f.Fuzz(func(t *testing.T, text string) {
		var plain strings.Builder
		for i := range min(len(text), 100) {
			plain.WriteString(words[int(text[i])%len(words)] + [...]string{" ", "\n", "", " "}[int(text[i])/len(words)%4])
		}
		for _, text := range []string{strings.ReplaceAll(text, "\x00", " "), plain.String()} {
			var s Splitter
			read := 0
			for line := range strings.Lines(text) {
				s.ReadAll(line)
				read += len(line)
				if want := sqlite.Complete(text[:read]); s.Complete() != want {
					t.Errorf("%q is complete: %v, want %v", text[:read], s.Complete(), want)
				}
			}
		}
	})
}
