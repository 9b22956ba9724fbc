package sqlitefn

import (
	"errors"
	"testing"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/mechanism/optimal"
	"github.com/geosql/geosql/mechanism/planar"
)

// An interrupt ends a solution with SQLite's error; without one it goes on.
func TestBuildIsInterrupted(t *testing.T) {
	conn, err := sqlite.Open(":memory:", sqlite.ReadWrite|sqlite.Create)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	g := &buildGroup{session: newSession(conn, options{}), weights: map[planar.Cell]float64{}, epsilon: 0.001, dilation: 1}
	d, err := planar.NewDomain("small", 40, 116, 40.01, 116.02, 50)
	if err != nil {
		t.Fatal(err)
	}
	p := optimal.Places{Domain: d}
	for i := range int64(9) {
		c := planar.Cell{I: 3 * (i % 3), J: 3 * (i / 3)}
		p.Cells, g.weights[c] = append(p.Cells, c), 1
	}
	var before, after error
	if err := conn.Register(sqlite.Library{Scalars: []sqlite.Scalar{{Name: "both", Args: []int{0}, Call: func(*sqlite.Call) error {
		_, before = g.solve(p)
		conn.Interrupt()
		_, after = g.solve(p)
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
	var e *sqlite.Error
	if !errors.As(after, &e) || e.Code != codeInterrupt {
		t.Errorf("after: %v", after)
	}
	if _, err := g.solve(p); err != nil {
		t.Errorf("after the statement: %v", err)
	}
}
