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
	s := newSession(conn, functions, options{})
	for _, p := range []any{"planted", errors.New("planted")} {
		name := "panics"
		if err := conn.Register(sqlite.Library{Scalars: []sqlite.Scalar{{Name: name, Args: []int{0}, Call: func(*sqlite.Call) error {
			return s.runInterruptible(func(context.Context) error { panic(p) })
		}}}}); err != nil {
			t.Fatal(err)
		}
		if err := conn.Exec("SELECT panics()"); err == nil || !strings.Contains(err.Error(), "geosql internal error: planted") {
			t.Errorf("a panic is %v", err)
		}
	}
}

// An interrupt ends the computation of a region, which the session then does not have.
func TestRegionIsInterrupted(t *testing.T) {
	conn := memory(t)
	s := newSession(conn, functions, options{})
	d := declaredDomain{"d", 40, 116, 40.1, 116.1, 1, "POLYGON((116 40, 116.1 40, 116 40.1, 116 40))"}
	whole, err := d.withoutRegion()
	if err != nil {
		t.Fatal(err)
	}
	var during, after error
	if err := conn.Register(sqlite.Library{Scalars: []sqlite.Scalar{{Name: "declares", Args: []int{0}, Call: func(*sqlite.Call) error {
		during = s.runInterruptible(func(ctx context.Context) error {
			conn.Interrupt()
			<-ctx.Done()
			_, err := whole.WithRegion(ctx, d.region)
			return err
		})
		_, after = s.buildDomain(d)
		return nil
	}}}}); err != nil {
		t.Fatal(err)
	}
	if err := conn.Exec("SELECT declares()"); err == nil {
		t.Error("the statement is not interrupted")
	}
	for _, err := range []error{during, after} {
		var e *sqlite.Error
		if !errors.As(err, &e) || e.Code != codeInterrupt {
			t.Errorf("interrupted: %v", err)
		}
	}
	if len(domains.entries(s)) != 0 {
		t.Error("a region that was not computed is kept")
	}
	if _, err := s.buildDomain(d); err != nil {
		t.Errorf("after the statement: %v", err)
	}
}
