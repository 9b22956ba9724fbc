package keeper

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/fuzz/fuzztest"
)

// compileAll compiles the statements of a text and returns the number of bytes that allocates.
func (s *session) compileAll(sql string) float64 {
	s.t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for rest := sql; rest != ""; {
		st, behind, err := s.Compile(context.Background(), rest, nil)
		if err != nil {
			s.t.Fatal(describe(err))
		}
		if rest = behind; st != nil {
			st.Close()
		}
	}
	runtime.ReadMemStats(&after)
	return float64(after.TotalAlloc - before.TotalAlloc)
}

// A worker gets each statement once, without those behind it.
func TestManyStatements(t *testing.T) {
	fuzztest.Limit(t, time.Minute)
	s := newSite(t, nil)
	x := s.session()
	text := strings.Repeat("SELECT 1 /* "+strings.Repeat("a", 1000)+" */;", 500)
	if once, twice := x.compileAll(text), x.compileAll(text+text); twice > 2.5*once {
		t.Errorf("%.0f bytes for a text, and %.0f for one twice as long", once, twice)
	}
	// Nothing is nothing, however long.
	if n := x.compileAll(strings.Repeat(";", 16<<20)); n > 1<<20 {
		t.Errorf("16 MB of semicolons take %.0f bytes", n)
	}
}

// The position of an error is in the whole text. The observer is told of its failed statement only.
func TestErrorBehindEmptyStatements(t *testing.T) {
	s := newSite(t, nil)
	x := s.session()
	e := x.wantError("42703", ";; -- é\n; SELECT absent; SELECT 1")
	if e.Position != 18 {
		t.Errorf("the position is %d", e.Position)
	}
	if got := s.events.last().SQL; got != " SELECT absent" {
		t.Errorf("the observer is told of %q", got)
	}
	x.wantError("54000", "SELECT "+strings.Repeat("1+", 500_000)+"1")
}
