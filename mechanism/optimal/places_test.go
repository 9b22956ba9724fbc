package optimal

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/geosql/geosql/mechanism/planar"
	"pgregory.net/rapid"
)

// anyPlaces draws places of a domain, few enough steps apart for ties.
func anyPlaces(t *rapid.T, d *planar.Domain) places {
	low, high := d.Extent()
	cell := rapid.Custom(func(t *rapid.T) planar.Cell {
		return planar.Cell{I: rapid.Int64Range(low.I, high.I).Draw(t, "i"), J: rapid.Int64Range(low.J, high.J).Draw(t, "j")}
	})
	cells := rapid.SliceOfNDistinct(cell, 2, 12, rapid.ID).Draw(t, "places")
	slices.SortFunc(cells, compareCells)
	return places{d, cells}
}

func smallDomain(t testing.TB) *planar.Domain {
	t.Helper()
	d, err := planar.NewDomain("small", 40, 116, 40.01, 116.02, 50) // some 34 x 23 points
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The nearest place is the first of the least exact distance.
func TestNearestPlace(t *testing.T) {
	d := smallDomain(t)
	low, high := d.Extent()
	rapid.Check(t, func(t *rapid.T) {
		p := anyPlaces(t, d)
		for i := low.I; i <= high.I; i++ {
			for j := low.J; j <= high.J; j++ {
				best, least := 0, int64(math.MaxInt64)
				for k, c := range p.cells {
					if s := (c.I-i)*(c.I-i) + (c.J-j)*(c.J-j); s < least {
						best, least = k, s
					}
				}
				if got := p.nearest(planar.Cell{I: i, J: j}); got != best {
					t.Fatalf("%d %d is nearest to place %d, want %d of %v", i, j, got, best, p.cells)
				}
			}
		}
	})
}

// A distance in float64 is off by less than underRounding leaves room for.
func TestUnderRounding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		index := rapid.Int64Range(-1<<40, 1<<40)
		a := planar.Cell{I: index.Draw(t, "a.I"), J: index.Draw(t, "a.J")}
		b := planar.Cell{I: index.Draw(t, "b.I"), J: index.Draw(t, "b.J")}
		di, dj := big.NewInt(a.I-b.I), big.NewInt(a.J-b.J)
		want := new(big.Int).Add(di.Mul(di, di), dj.Mul(dj, dj))
		const precision = 200
		exact := new(big.Float).SetPrec(precision).SetInt(want)
		exact.Sqrt(exact)
		if under := new(big.Float).SetPrec(precision).SetFloat64(a.Distance(b) * underRounding); want.Sign() > 0 && under.Cmp(exact) >= 0 {
			t.Fatalf("%v is not below %v", under, exact)
		}
	})
}

// No lattice point is farther from its place than the farthest, and some corner of
// the rectangle, or some point near a corner of a Voronoi cell, is that far.
func TestFarthest(t *testing.T) {
	d := smallDomain(t)
	low, high := d.Extent()
	rapid.Check(t, func(t *rapid.T) {
		p := anyPlaces(t, d)
		most := 0.0
		for i := low.I; i <= high.I; i++ {
			for j := low.J; j <= high.J; j++ {
				c := planar.Cell{I: i, J: j}
				most = max(most, c.Distance(p.cells[p.nearest(c)])*d.Step())
			}
		}
		const rounding = 1e-6
		if got := p.farthest(); got < most-rounding || got > most+d.Step()*math.Sqrt2 {
			t.Fatalf("farthest %v m, of lattice points %v m, from %v", got, most, p.cells)
		}
	})
}

// A built mechanism passes; one a little longer or of other places does not.
func TestSupports(t *testing.T) {
	d := smallDomain(t)
	rapid.Check(t, func(t *rapid.T) {
		p := anyPlaces(t, d)
		for under, want := range map[float64]bool{underBuilt: true, underRounding: true, 1: false, 1 - 0x1p-30: false} {
			if got := p.supports(p.lowerBounds(under)); got != want {
				t.Fatalf("distances under by a factor of %v: %v, want %v", under, got, want)
			}
		}
	})
}

// Lower bounds are told from metrics with one longer distance.
func TestBelowGeodesics(t *testing.T) {
	d := smallDomain(t)
	rapid.Check(t, func(t *rapid.T) {
		p := anyPlaces(t, d)
		m := p.lowerBounds(underRounding)
		if !p.belowGeodesics(m) || !p.belowGeodesics(p.matrix(p, planar.Cell.Distance, 0.5)) || p.belowGeodesics(QualityEuclid.losses(p, p)) || p.belowGeodesics(p.manhattan()) {
			t.Fatal("lower bounds are not told from longer distances")
		}
		x := rapid.IntRange(1, len(m)-1).Draw(t, "x")
		z := rapid.IntRange(0, x-1).Draw(t, "z")
		m[x][z] = math.Nextafter(m[x][z], math.Inf(1))
		if p.belowGeodesics(m) {
			t.Fatal("a distance that is longer by the least there is passes")
		}
		m[x][z] = math.NaN()
		if p.belowGeodesics(m) {
			t.Fatal("no number passes")
		}
	})
}

// manhattan distances are at most steps times the step, exactly, and hardly less; they
// are a metric that is nowhere shorter than Euclid's.
func TestManhattan(t *testing.T) {
	d, err := planar.NewDomain("odd", 40, 116, 41, 117, 0.1) // a step that is no binary fraction
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		p := anyPlaces(t, d)
		m := p.manhattan()
		for x, a := range p.cells {
			for z, b := range p.cells {
				want := new(big.Rat).SetFloat64(d.Step())
				want.Mul(want, new(big.Rat).SetInt64(max(a.I-b.I, b.I-a.I)+max(a.J-b.J, b.J-a.J)))
				got := new(big.Rat).SetFloat64(m[x][z])
				if got.Cmp(want) > 0 {
					t.Fatalf("%v is above %v", got, want)
				}
				if want.Mul(want, big.NewRat(1<<48-1, 1<<48)); got.Cmp(want) < 0 {
					t.Fatalf("%v is far below %v", got, want)
				}
				if m[x][z] < p.privacy()[x][z] {
					t.Fatalf("shorter than the straight line between %v and %v", a, b)
				}
			}
		}
		if err := m.checkMetric("distance", len(m)); err != nil {
			t.Fatal(err)
		}
	})
}

// A detour is found exactly where one is planted.
func TestDetour(t *testing.T) {
	d := smallDomain(t)
	rapid.Check(t, func(t *rapid.T) {
		m := anyPlaces(t, d).manhattan()
		if x, y, z, found := m.detour(); found {
			t.Fatalf("%d %d %d", x, y, z)
		}
		if len(m) == 2 {
			return
		}
		z := rapid.IntRange(2, len(m)-1).Draw(t, "z")
		m[0][z] = (m[0][1] + m[1][z]) * (1 + 2*triangleTolerance)
		m[z][0] = m[0][z]
		x, via, to, found := m.detour()
		if !found || m[x][to] <= m[x][via]+m[via][to] || min(x, to) != 0 || max(x, to) != z {
			t.Fatalf("from %d by way of %d to %d, %v: want 0 to %d", x, via, to, found, z)
		}
	})
}
