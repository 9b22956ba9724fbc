package trace

import (
	"context"
	"math"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/mechanism/scalar"
)

// fataler is a *testing.T, a *testing.B or a *rapid.T.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// must unwraps a result which cannot fail in the test at hand.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// beijing is the domain of most tests: some 190 km, steps of 10 m.
var beijing = must(planar.NewDomain("beijing", 39.4, 115.4, 41.1, 117.6, 10))

// fourCells is a plane of 2 by 2 cells, 100 m apart.
var fourCells = NewPlane(must(must(planar.NewDomain("four", 39.99372, 115.99183, 40.00628, 116.00817, 100)).
	WithRegion(context.Background(), "POLYGON((115.9995 39.9995, 116.0017 39.9995, 116.0017 40.0013, 115.9995 40.0013, 115.9995 39.9995))")))

// fourValues is the line 0, 1, 2, 3.
var fourValues = NewLine(must(scalar.NewUniverse("four", 0, 3, 1, "kWh")))

// halves is the line -1, -0.5, 0, 0.5, with steps other than its unit's.
var halves = NewLine(must(scalar.NewUniverse("halves", -1, 0.5, 0.5, "kWh")))

// meter is the line of a smart meter's readings.
var meter = NewLine(must(scalar.NewUniverse("meter", 0, 10, 0.001, "kWh")))

func parse(t fataler, mechanism, text string) Policy {
	t.Helper()
	p, err := ParsePolicy(mechanism, []byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return p
}

func build(t fataler, s Space, mechanism, text string) *Mechanism {
	t.Helper()
	m, err := New(s, parse(t, mechanism, text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return m
}

func plan(t fataler, m *Mechanism, r *Run, at int64) Plan {
	t.Helper()
	p, err := m.Plan(r, at)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// advance draws the next step of a run and adds it.
func advance(t fataler, m *Mechanism, r *Run, src *exact.Source, at int64, x Cell) Point {
	t.Helper()
	q := m.Draw(src, plan(t, m, r, at), x)
	add(t, m, r, q)
	return q
}

func add(t fataler, m *Mechanism, r *Run, q Point) {
	t.Helper()
	if err := m.Add(r, q); err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
}

// easy and hard are the two outcomes of a plan, without a draw.
func easy(p Plan) Point {
	return Point{T: p.T, Z: p.Prediction, Tested: p.Action == Test, Spent: p.EpsTest}
}

func hard(p Plan, z Cell) Point {
	return Point{T: p.T, Z: z, Hard: true, Tested: p.Action == Test, Spent: p.Cost()}
}

const second = 1_000_000 // microseconds

// number returns an epsilon as a float64.
func number(eps budget.Amount) float64 { return eps.Float64() }

// laplaceCDF is the distribution function of the standard Laplace law.
func laplaceCDF(t float64) float64 {
	if t <= 0 {
		return math.Exp(t) / 2
	}
	return 1 - math.Exp(-t)/2
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %.12g, want %.12g", what, got, want)
	}
}
