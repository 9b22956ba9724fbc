package markov

import (
	"math"
	"strings"
	"testing"

	"github.com/geosql/geosql/mechanism/planar"
	"pgregory.net/rapid"
)

func TestGridShapes(t *testing.T) {
	for name, want := range map[string][2]int{
		"one cell": {1, 1}, "column": {1, 23}, "row": {19, 1}, "two by two": {2, 2}, "town": {7, 9},
	} {
		g := grids[name]
		if w, h := g.Size(); w != want[0] || h != want[1] || g.Len() != w*h {
			t.Errorf("%s is %d x %d", name, w, h)
		}
	}
}

// Every lattice point of the domain is in the cell with the nearest centre, cells
// are numbered row by row, and those of the border are needed.
func TestIndexIsNearestCentre(t *testing.T) {
	for name, g := range grids {
		low, high := g.domain.Extent()
		rapid.Check(t, func(t *rapid.T) {
			c := planar.Cell{
				I: rapid.Int64Range(low.I, high.I).Draw(t, "i"),
				J: rapid.Int64Range(low.J, high.J).Draw(t, "j"),
			}
			lat, lon := g.domain.Location(c)
			if g.domain.Outside(lat, lon) || g.domain.Cell(lat, lon) != c {
				t.Skip("between the box and the rectangle that holds it")
			}
			i := g.Index(lat, lon)
			centre := g.Centre(i)
			if d := max(c.I-centre.I, centre.I-c.I, c.J-centre.J, centre.J-c.J); 2*d > g.k {
				t.Fatalf("%s: %v is in cell %d, whose centre is %v", name, c, i, centre)
			}
		})
		south, north := g.Centre(0), g.Centre(g.Len()-1)
		for _, gap := range []int64{low.I - south.I, low.J - south.J, north.I - high.I, north.J - high.J} {
			if 2*max(gap, -gap) > g.k {
				t.Errorf("%s: centres from %v to %v for points from %v to %v", name, south, north, low, high)
			}
		}
		if w, _ := g.Size(); w > 1 && g.Centre(1) != (planar.Cell{I: south.I + g.Refinement(), J: south.J}) {
			t.Errorf("%s: cell 1 is at %v", name, g.Centre(1))
		}
	}
}

// Locations anywhere have a cell, those beyond the box one of the border, and an
// invalid location breaks nothing.
func TestIndexBeyond(t *testing.T) {
	g := grids["town"]
	w, h := g.Size()
	for _, c := range []struct {
		lat, lon    float64
		column, row int
	}{
		{-90, -180, -1, 0}, {39, 116, 0, 0}, {39, 117, w - 1, 0}, {41, 116, 0, h - 1}, {41, 117, w - 1, h - 1},
		{90, 116, 0, h - 1},
	} {
		i := g.Index(c.lat, c.lon)
		if c.column >= 0 && i%w != c.column || i/w != c.row {
			t.Errorf("%v %v is in cell %d", c.lat, c.lon, i)
		}
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300} {
		if i := g.Index(v, v); i < 0 || i >= g.Len() {
			t.Errorf("%v is in cell %d", v, i)
		}
	}
}

func TestNearest(t *testing.T) {
	for k := int64(1); k <= 7; k++ {
		for i := int64(-50); i <= 50; i++ {
			want := int64(math.Floor(float64(i)/float64(k) + 0.5))
			if got := nearest(i, k); got != want {
				t.Errorf("%d/%d rounds to %d, want %d", i, k, got, want)
			}
		}
	}
}

func TestDegree(t *testing.T) {
	for name, g := range grids {
		for i := range g.Len() {
			n := 0
			for j := range g.Len() {
				if adjacent(g, i, j) {
					n++
				}
			}
			if g.degree(i) != n {
				t.Errorf("%s: cell %d has degree %d, want %d", name, i, g.degree(i), n)
			}
		}
	}
}

func TestNewGridRefuses(t *testing.T) {
	fine := must(planar.NewDomain("fine", 39.9, 116.35, 40, 116.45, 0.1))
	for _, c := range []struct {
		d     *planar.Domain
		cellM float64
		want  string
	}{
		{town, 0, "cell_m must be a positive"},
		{town, -10, "cell_m must be a positive"},
		{town, math.NaN(), "cell_m must be a positive"},
		{town, math.Inf(1), "cell_m must be a positive"},
		{town, 5e-324, "cell_m must be a whole multiple"},
		{town, 5, "cell_m must be a whole multiple"},
		{town, 15, "cell_m must be a whole multiple"},
		{town, 1000.0001, "cell_m must be a whole multiple"},
		{town, 20_000, "cell_m 20000 exceeds the box"},
		{town, math.MaxFloat64, "exceeds the box"},
		{fine, 1, "cell_m 1 makes a grid of"},
	} {
		_, err := NewGrid(c.d, c.cellM)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v of %v: error %v", c.cellM, c.d.Step(), err)
		}
	}
	for _, cellM := range []float64{0.3 * 100, 30.000000000000004, 12.3} {
		g, err := NewGrid(fine, cellM)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(float64(g.Refinement())-10*cellM) > 1e-6 {
			t.Errorf("%v is %d steps", cellM, g.Refinement())
		}
	}
}
