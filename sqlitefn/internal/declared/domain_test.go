package declared

import (
	"context"
	"errors"
	"testing"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

// An interrupt ends the computation of a region, which the session then does not have.
func TestRegionIsInterrupted(t *testing.T) {
	conn, err := sqlite.Open(":memory:", sqlite.ReadWrite|sqlite.Create)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	s := frame.NewSession(conn, nil, frame.Options{})
	d := DomainRow{"d", 40, 116, 40.1, 116.1, 1, "POLYGON((116 40, 116.1 40, 116 40.1, 116 40))"}
	whole, err := d.WithoutRegion()
	if err != nil {
		t.Fatal(err)
	}
	var during, after error
	if err := conn.Register(sqlite.Library{Scalars: []sqlite.Scalar{{Name: "declares", Args: []int{0}, Call: func(*sqlite.Call) error {
		during = s.Interruptibly(func(ctx context.Context) error {
			conn.Interrupt()
			<-ctx.Done()
			_, err := whole.WithRegion(ctx, d.Region)
			return err
		})
		_, after = BuildDomain(s, d)
		return nil
	}}}}); err != nil {
		t.Fatal(err)
	}
	if err := conn.Exec("SELECT declares()"); err == nil {
		t.Error("the statement is not interrupted")
	}
	for _, err := range []error{during, after} {
		var e *sqlite.Error
		if !errors.As(err, &e) || e.Code != frame.CodeInterrupt {
			t.Errorf("interrupted: %v", err)
		}
	}
	if len(domains.Entries(s)) != 0 {
		t.Error("a region that was not computed is kept")
	}
	if _, err := BuildDomain(s, d); err != nil {
		t.Errorf("after the statement: %v", err)
	}
}
