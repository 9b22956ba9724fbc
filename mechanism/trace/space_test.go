package trace

import (
	"math"
	"math/big"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/mechanism/scalar"
	"pgregory.net/rapid"
)

// R1: the quantile of the continuous planar Laplace law; ln 10 for its counterpart.
func TestNoiseQuantiles(t *testing.T) {
	near(t, "the plane's", NewPlane(beijing).NoiseQuantile(), must(planar.LaplaceLaw.Plane(1).Radius(.9)), 1e-14)
	near(t, "the line's", 1-math.Exp(-meter.NoiseQuantile()), .9, 1e-15)
}

// A rate never exceeds the one that its epsilon pays for, and is less than 2^-48 of it
// below: eps*step on the line, eps*step/(1+kappa) on the plane.
func TestRatesAreBelowTheirEpsilon(t *testing.T) {
	plane := NewPlane(beijing)
	stretch := new(big.Rat).SetFloat64(beijing.Kappa())
	stretch.Add(stretch, big.NewRat(1, 1))
	tiny := NewLine(must(scalar.NewUniverse("tiny", 0, 1e-20, 1e-22, "u")))
	wide := NewLine(must(scalar.NewUniverse("wide", 0, 9e14, 3e14, "u")))
	for _, c := range []struct {
		space Space
		step  *big.Rat
	}{
		{plane, new(big.Rat).Quo(big.NewRat(10, 1), stretch)},
		{meter, big.NewRat(1, 1000)},
		{tiny, tiny.universe.Step()},
		{wide, big.NewRat(3e14, 1)},
	} {
		rapid.Check(t, func(t *rapid.T) {
			eps := budget.Amount(rapid.Int64Range(1, int64(budget.Max)).Draw(t, "epsilon"))
			most := new(big.Rat).Mul(eps.Rat(), c.step)
			rate := new(big.Rat).SetFloat64(c.space.Rate(eps))
			least := new(big.Rat).Mul(most, new(big.Rat).SetFloat64(1-0x1p-48))
			if rate.Cmp(most) > 0 || rate.Cmp(least) < 0 {
				t.Fatalf("%v per step for an epsilon of %v", c.space.Rate(eps), eps)
			}
		})
	}
}

func TestLine(t *testing.T) {
	l := NewLine(must(scalar.NewUniverse("offset", -2, 8, 2.5, "kWh")))
	if l.Unit() != "kWh" || l.Step() != 2.5 {
		t.Errorf("%v, %v", l.Unit(), l.Step())
	}
	for x, want := range map[float64]float64{-2: -2, 100: 8, -100: -2, 4: 3, 4.3: 5.5} {
		if got := l.Value(l.Cell(x)); got != want {
			t.Errorf("%v is moved to %v", x, got)
		}
	}
	for x, want := range map[float64]int64{-1e300: 0, math.Inf(1): 4, 1.4: 1, 0.5: 0, 1.5: 2, math.NaN(): 0} {
		if got := l.Nearest(x, 7); got != (Cell{I: want}) {
			t.Errorf("the cell nearest to %v is %v", x, got)
		}
	}
}

func TestPlane(t *testing.T) {
	p := NewPlane(beijing)
	if p.Unit() != budget.Metre || p.Step() != 10 {
		t.Errorf("%v, %v", p.Unit(), p.Step())
	}
	x := p.Cell(39.9087, 116.3975)
	lat, lon := p.Location(x)
	if p.Cell(lat, lon) != x || math.Abs(lat-39.9087) > 1e-4 || math.Abs(lon-116.3975) > 1e-4 {
		t.Errorf("%v %v", lat, lon)
	}
	if got := p.Nearest(1e300, math.Inf(-1)); got != (Cell{maxIndex, -maxIndex}) {
		t.Errorf("%v", got)
	}
	for _, far := range [][2]float64{{1e300, -1e300}, {0, 0}, {math.NaN(), 5}} {
		z := fourCells.Nearest(far[0], far[1])
		if again := fourCells.Nearest(float64(z.I), float64(z.J)); again != z {
			t.Errorf("%v is not in the region", z)
		}
	}
}

// Noise too strong for the lattice ends up on its border.
func TestDrawSaturates(t *testing.T) {
	src := exact.NewSource(nil)
	wide := NewLine(must(scalar.NewUniverse("wide", 0, 1e12, 1, "u")))
	for range 100 {
		for _, x := range []Cell{{}, {I: wide.universe.Last()}} {
			if z := wide.Draw(src, 1, x); z.I < 0 || z.I > wide.universe.Last() || z.J != 0 {
				t.Fatalf("%v", z)
			}
		}
		if z := NewPlane(beijing).Draw(src, 1, Cell{-maxIndex, maxIndex}); !z.bounded() {
			t.Fatalf("%v", z)
		}
	}
}

func TestDrawNeedsEpsilon(t *testing.T) {
	for name, s := range spaces {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: the secret is reported", name)
				}
			}()
			s.Draw(exact.NewSource(nil), 0, Cell{I: 1})
		}()
	}
}
