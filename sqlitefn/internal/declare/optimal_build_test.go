package declare

import (
	"context"
	"errors"
	"testing"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/mechanism/optimal"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

// smallGroup is a group with 3 x 3 places of a small domain, some 150 m apart.
func smallGroup(t *testing.T, conn *sqlite.Conn) *buildGroup {
	t.Helper()
	d, err := planar.NewDomain("small", 40, 116, 40.01, 116.02, 50)
	if err != nil {
		t.Fatal(err)
	}
	b := optimal.NewBuilder(d, optimal.Euclid, optimal.QualityEuclid)
	for i := range int64(9) {
		lat, lon := d.Location(planar.Cell{I: 3 * (i % 3), J: 3 * (i / 3)})
		if err := errors.Join(b.Add(lat, lon, 1), b.AddOutput(lat, lon)); err != nil {
			t.Fatal(err)
		}
	}
	return &buildGroup{session: frame.NewSession(conn, nil, frame.Options{}), builder: b, epsilon: 0.001, dilation: 1}
}

func memory(t *testing.T) *sqlite.Conn {
	t.Helper()
	conn, err := sqlite.Open(":memory:", sqlite.ReadWrite|sqlite.Create)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// An interrupt ends a solution with SQLite's error, be it before or after it has begun;
// without one it goes on.
func TestBuildIsInterrupted(t *testing.T) {
	conn := memory(t)
	g := smallGroup(t, conn)
	var before, during, after error
	if err := conn.Register(sqlite.Library{Scalars: []sqlite.Scalar{{Name: "both", Args: []int{0}, Call: func(*sqlite.Call) error {
		_, before = g.build()
		during = g.session.Interruptibly(func(ctx context.Context) error {
			conn.Interrupt()
			<-ctx.Done()
			return ctx.Err()
		})
		_, after = g.build()
		return nil
	}}}}); err != nil {
		t.Fatal(err)
	}
	if err := conn.Exec("SELECT both()"); err == nil {
		t.Error("the statement is not interrupted")
	}
	if before != nil {
		t.Errorf("before: %v", before)
	}
	for _, err := range []error{during, after} {
		var e *sqlite.Error
		if !errors.As(err, &e) || e.Code != frame.CodeInterrupt {
			t.Errorf("interrupted: %v", err)
		}
	}
	if _, err := g.build(); err != nil {
		t.Errorf("after the statement: %v", err)
	}
}
