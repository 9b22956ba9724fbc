package planar

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/geosql/geosql/mechanism/nearest"
)

// Extent bounds the lattice points of all locations, and the edges of the box reach
// it: on boxes small and large, over the equator, at a pole and across the
// antimeridian.
func TestExtent(t *testing.T) {
	const samples = 2000
	rapid.Check(t, func(t *rapid.T) {
		south := rapid.Float64Range(-90, 89).Draw(t, "south")
		north := min(90, south+rapid.Float64Range(0.01, 60).Draw(t, "height"))
		west := rapid.Float64Range(-180, 180).Draw(t, "west")
		east := nearest.Wrap(west + rapid.Float64Range(0.01, 180).Draw(t, "width"))
		step := rapid.SampledFrom([]float64{1, 100, 2000}).Draw(t, "step")
		d, err := NewDomain("x", south, west, north, east, step)
		if err != nil {
			t.Skip(err)
		}
		low, high := d.Extent()
		at := Cell{math.MaxInt64, math.MaxInt64}
		to := Cell{math.MinInt64, math.MinInt64}
		visit := func(lat, dlon float64) {
			c := d.Cell(lat, nearest.Wrap(d.frame.lon0+dlon))
			at = Cell{min(at.I, c.I), min(at.J, c.J)}
			to = Cell{max(to.I, c.I), max(to.J, c.J)}
		}
		lat := func(u float64) float64 { return south + u*(north-south) }
		dlon := func(u float64) float64 { return d.box.Half * (2*u - 1) }
		for k := range samples + 1 {
			u := float64(k) / samples
			visit(lat(u), dlon(0))
			visit(lat(u), dlon(1))
			visit(lat(0), dlon(u))
			visit(lat(1), dlon(u))
			visit(lat(u), dlon(math.Mod(u*math.Phi*samples, 1))) // the inside
		}
		if at.I < low.I || at.J < low.J || to.I > high.I || to.J > high.J {
			t.Fatalf("%v: from %v to %v is beyond %v and %v", d, at, to, low, high)
		}
		// Between samples the edges bulge by less than their length over the samples
		// squared; halves of a step may round either way.
		slack := int64(2 + 2e7/(samples*samples*step))
		if at.I-low.I > slack || at.J-low.J > slack || high.I-to.I > slack || high.J-to.J > slack {
			t.Fatalf("%v: from %v to %v does not reach %v and %v", d, at, to, low, high)
		}
	})
}

// A box about the equator is widest where neither a corner nor a middle of an edge
// is: on the latitude opposite to its centre's.
func TestExtentAboutTheEquator(t *testing.T) {
	d := mustDomain(t, -15, 0, 25, 30, 10)
	_, high := d.Extent()
	for _, lat := range []float64{-15, 0, 5, 25} {
		if c := d.Cell(lat, 30); !(c.I < high.I) {
			t.Errorf("latitude %v reaches column %d, and no other goes beyond", lat, c.I)
		}
	}
	if c := d.Cell(-5, 30); c.I != high.I {
		t.Errorf("latitude -5 reaches column %d of %d", c.I, high.I)
	}
}
