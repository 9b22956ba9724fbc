package sqlitefn

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/mechanism/optimal"
	"github.com/geosql/geosql/mechanism/planar"
)

// grid is a group with n places of a small domain, 3 in a row, 150 m apart, and its
// places.
func grid(tb testing.TB, conn *sqlite.Conn, n int64) (*buildGroup, optimal.Places) {
	tb.Helper()
	d, err := planar.NewDomain("small", 40, 116, 40.01, 116.02, 50)
	if err != nil {
		tb.Fatal(err)
	}
	g := &buildGroup{session: newSession(conn, options{}), weights: map[planar.Cell]float64{}, given: givenDistances{}, epsilon: 0.001, dilation: 1}
	p := optimal.Places{Domain: d}
	for i := range n {
		c := planar.Cell{I: 3 * (i % 3), J: 3 * (i / 3)}
		p.Cells, g.weights[c] = append(p.Cells, c), 1
	}
	return g, p
}

func memory(tb testing.TB) *sqlite.Conn {
	tb.Helper()
	conn, err := sqlite.Open(":memory:", sqlite.ReadWrite|sqlite.Create)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { conn.Close() })
	return conn
}

// An interrupt ends a solution with SQLite's error, be it before or after it has begun;
// without one it goes on.
func TestBuildIsInterrupted(t *testing.T) {
	conn := memory(t)
	g, p := grid(t, conn, 9)
	var before, during, after error
	if err := conn.Register(sqlite.Library{Scalars: []sqlite.Scalar{{Name: "both", Args: []int{0}, Call: func(*sqlite.Call) error {
		_, before = g.solve(p)
		during = g.session.untilInterrupted(func(ctx context.Context) error {
			conn.Interrupt()
			<-ctx.Done()
			return ctx.Err()
		})
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
	for _, err := range []error{during, after} {
		var e *sqlite.Error
		if !errors.As(err, &e) || e.Code != codeInterrupt {
			t.Errorf("interrupted: %v", err)
		}
	}
	if _, err := g.solve(p); err != nil {
		t.Errorf("after the statement: %v", err)
	}
}

// Whatever is taken for a mechanism can be written and read again, is charged in metres
// only where none of its distances is longer than a certified lower bound, and has
// finite losses.
func FuzzParseOptimal(f *testing.F) {
	conn := memory(f)
	var domain *planar.Domain
	for metric := range placeMetrics {
		g, p := grid(f, conn, 4)
		domain, g.metric = p.Domain, placeMetric(metric)
		for i, from := range p.Cells {
			for j, to := range p.Cells {
				g.given[pair{from, to}] = 500 * math.Abs(float64(i-j))
			}
		}
		o, err := g.solve(p)
		if err != nil {
			f.Fatal(err)
		}
		data, err := o.appendBinary(nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		f.Add(data[:len(data)-1])
	}
	named := func(name string) (*planar.Domain, error) {
		if name != domain.Name() {
			return nil, errors.New("is not declared")
		}
		return domain, nil
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := parseOptimal(data, named)
		if err != nil {
			return
		}
		d := o.mechanism.Privacy()
		if in := o.unit("x"); (in == "m") != o.BelowGeodesics(d) || in != "m" && in != "m:x" {
			t.Errorf("charged in %s for %v", in, d)
		}
		if loss := optimal.Loss(o.weights, o.mechanism.Matrix(), o.losses()); !(loss >= 0 && loss <= maxDistance) {
			t.Errorf("a loss of %v", loss)
		}
		again, err := o.appendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		if p, err := parseOptimal(again, named); err != nil || !p.asksTheSame(o) || !equal(p.mechanism.Privacy(), d) {
			t.Errorf("written and read again: %v", err)
		}
	})
}

// Triples are what JSON has them to be, and nothing else is.
func FuzzTriples(f *testing.F) {
	for _, text := range []string{`[]`, `[[40, 116, 1]]`, "[[40,116,1],\n[41, 1.16e2, 0.5]] ", `[[40, 116, null]]`, `[[1, 2]]`, `[[1, 2, 3] [4, 5, 6]]`, `[,[1, 2, 3]]`, `[[1, 2, 3],]`, `[] []`, `[null]`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		triples, err := parseTriples(text)
		var want [][]*float64
		fine := json.Unmarshal(text, &want) == nil && want != nil && len(want) <= optimal.MaxPlaces &&
			!slices.ContainsFunc(want, func(v []*float64) bool { return len(v) != 3 || slices.Contains(v, nil) })
		if (err == nil) != fine {
			t.Fatalf("%q: %v", text, err)
		}
		if err != nil {
			return
		}
		for i, v := range want {
			for j := range v {
				if *triples[i][j] != *v[j] {
					t.Fatalf("%q: %v", text, *triples[i][j])
				}
			}
		}
	})
}
