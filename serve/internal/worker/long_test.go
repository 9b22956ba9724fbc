package worker

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/fuzz/fuzztest"
)

// Empty statements are left out in one go.
func TestEmptyStatements(t *testing.T) {
	fuzztest.Limit(t, time.Minute)
	s, err := NewSession(Config{Path: newFile(t), Database: "homes", User: "ann"}, nil, &remote{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	empty := strings.Repeat(" ;", 1<<20)
	for _, sql := range []string{empty, "SELECT 1;" + empty, empty + "SELECT 1", "SELECT 1;" + empty + "SELECT 2"} {
		n := 0
		for rest := sql; rest != ""; n++ {
			st, behind, err := s.Prepare(context.Background(), rest, nil)
			if err != nil {
				t.Fatal(err)
			}
			if rest = behind; st == nil {
				break
			}
			st.Close()
		}
		if want := strings.Count(sql, "SELECT"); n != want {
			t.Errorf("%d statements, want %d", n, want)
		}
	}
}
