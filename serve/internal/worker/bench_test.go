package worker

import (
	"context"
	"strings"
	"testing"

	"github.com/geosql/geosql/serve/internal/wire"
)

// silent is a client that hears nothing.
type silent struct{}

func (silent) Notice(*wire.Error)       {}
func (silent) Parameter(string, string) {}

// BenchmarkSession opens and closes a session.
func BenchmarkSession(b *testing.B) {
	config := Config{Path: newFile(b), Database: "homes", User: "ann"}
	for b.Loop() {
		s, err := NewSession(config, silent{}, &remote{})
		if err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}

// BenchmarkPrepare compiles a statement: of a public table, of a sealed one, and one that was not seen before.
func BenchmarkPrepare(b *testing.B) {
	s, err := NewSession(Config{Path: newFile(b), Database: "homes", User: "ann"}, silent{}, &remote{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for name, sql := range map[string]string{"public": "SELECT n, x + 1, s FROM plain WHERE n > $1", "sealed": "SELECT home, dx_sum(kwh, 0.1) FROM reading GROUP BY home", "new": "SELECT home, dx_sum(kwh, 0.1) FROM reading GROUP BY home"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if name == "new" {
					clear(s.database.gated)
				}
				st, _, err := s.Prepare(context.Background(), sql, nil)
				if err != nil {
					b.Fatal(err)
				}
				st.Close()
			}
		})
	}
}

// BenchmarkPsql has psql read a million rows of four columns.
func BenchmarkPsql(b *testing.B) {
	s := serve(b, Config{})
	sql := "WITH RECURSIVE w(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM w LIMIT 1000000) SELECT n, n * 0.5, 'some text', n % 2 = 0 FROM w"
	for b.Loop() {
		if _, said, err := s.psql([]string{sql}, "-o", "/dev/null"); err != nil || strings.Contains(said, "ERROR") {
			b.Fatal(said, err)
		}
	}
}
