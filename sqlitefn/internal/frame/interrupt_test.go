package frame

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
	conn, err := sqlite.Open(":memory:", sqlite.ReadWrite|sqlite.Create)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	s := NewSession(conn, nil, Options{})
	for _, p := range []any{"planted", errors.New("planted")} {
		name := "panics"
		if err := conn.Register(sqlite.Library{Scalars: []sqlite.Scalar{{Name: name, Args: []int{0}, Call: func(*sqlite.Call) error {
			return s.Interruptibly(func(context.Context) error { panic(p) })
		}}}}); err != nil {
			t.Fatal(err)
		}
		if err := conn.Exec("SELECT panics()"); err == nil || !strings.Contains(err.Error(), "geosql internal error: planted") {
			t.Errorf("a panic is %v", err)
		}
	}
}
