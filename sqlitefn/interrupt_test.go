package sqlitefn

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/sqlite"
)

// A panic of a long computation is an error of the statement, like that of any other
// function, and not the end of the process.
func TestPanicOfLongWork(t *testing.T) {
	conn := memory(t)
	s := newSession(conn, options{})
	for _, p := range []any{"planted", errors.New("planted")} {
		name := "panics"
		if err := conn.Register(sqlite.Library{Scalars: []sqlite.Scalar{{Name: name, Args: []int{0}, Call: func(*sqlite.Call) error {
			return s.untilInterrupted(func(context.Context) error { panic(p) })
		}}}}); err != nil {
			t.Fatal(err)
		}
		if err := conn.Exec("SELECT panics()"); err == nil || !strings.Contains(err.Error(), "geosql internal error: planted") {
			t.Errorf("a panic is %v", err)
		}
	}
}
