package markov

import (
	"math"
	"testing"

	"github.com/paulmach/orb"
	orbplanar "github.com/paulmach/orb/planar"
	"pgregory.net/rapid"

	"github.com/geosql/geosql/mechanism/planar"
)

// cellsOf returns the cells of a picture. Its lines run from north to south.
func cellsOf(g *Grid, picture ...string) (cells []int) {
	w, _ := g.Size()
	for k := range picture {
		for column, c := range picture[len(picture)-1-k] {
			if c == '#' {
				cells = append(cells, k*w+column)
			}
		}
	}
	return cells
}

func TestOutlineShapes(t *testing.T) {
	g := grids["town"]
	for name, c := range map[string]struct {
		picture []string
		want    [][]int // corners of the rings of each polygon, the outer ring first
	}{
		"nothing":           {nil, nil},
		"a cell":            {[]string{"#"}, [][]int{{4}}},
		"two apart":         {[]string{"#.#"}, [][]int{{4}, {4}}},
		"two at a corner":   {[]string{"#.", ".#"}, [][]int{{4}, {4}}},
		"a row":             {[]string{"###"}, [][]int{{8}}},
		"a hole":            {[]string{"###", "#.#", "###"}, [][]int{{12, 4}}},
		"an island":         {[]string{"#####", "#...#", "#.#.#", "#...#", "#####"}, [][]int{{20, 12}, {4}}},
		"holes at a corner": {[]string{"####", "#.##", "##.#", "####"}, [][]int{{16, 4, 4}}},
		"hole at the edge":  {[]string{"##.", "#.#", "###"}, [][]int{{12, 4}}},
		"a bay":             {[]string{"###", "#..", "###"}, [][]int{{16}}},
	} {
		outline := g.Outline(cellsOf(g, c.picture...))
		if len(outline) != len(c.want) {
			t.Errorf("%s: %d polygons, not %d", name, len(outline), len(c.want))
			continue
		}
		for k, want := range c.want {
			var got []int
			for _, ring := range outline[k] {
				got = append(got, len(ring)-1)
			}
			if len(got) != len(want) {
				t.Errorf("%s: polygon %d has rings of %v corners, not %v", name, k, got, want)
				continue
			}
			for n := range want {
				if got[n] != want[n] {
					t.Errorf("%s: polygon %d has rings of %v corners, not %v", name, k, got, want)
				}
			}
		}
	}
}

// The polygons contain the centres of the cells and of no other, and are valid: rings are
// closed, outer rings run counter-clockwise and holes clockwise, no ring meets itself, each
// side is used once, and holes lie in their polygons.
func TestOutline(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGrid(t)
		var cells []int
		in := map[int]bool{}
		share := rapid.IntRange(1, 9).Draw(t, "share")
		for cell := range g.Len() {
			if rapid.IntRange(0, 9).Draw(t, "in") < share {
				cells = append(cells, cell)
				in[cell] = true
			}
		}
		outline := g.Outline(cells)
		sides := map[[2]orb.Point]bool{}
		for _, polygon := range outline {
			for k, ring := range polygon {
				if !ring.Closed() || (ring.Orientation() == orb.CCW) != (k == 0) {
					t.Fatalf("ring %d: %v", k, ring)
				}
				seen := map[orb.Point]bool{}
				for n, p := range ring[1:] {
					if seen[p] || sides[[2]orb.Point{ring[n], p}] || sides[[2]orb.Point{p, ring[n]}] {
						t.Fatalf("ring %d comes to %v again", k, p)
					}
					seen[p], sides[[2]orb.Point{ring[n], p}] = true, true
				}
				if hole := ring.Bound(); k > 0 && !inside(polygon[0].Bound(), hole) {
					t.Fatalf("hole %v is not in %v", hole, polygon[0].Bound())
				}
			}
		}
		for cell := range g.Len() {
			if lat, lon := g.domain.Location(g.Centre(cell)); orbplanar.MultiPolygonContains(outline, orb.Point{lon, lat}) != in[cell] {
				t.Fatalf("cell %d: %v", cell, !in[cell])
			}
		}
	})
}

func inside(outer, inner orb.Bound) bool {
	return outer.Contains(inner.Min) && outer.Contains(inner.Max)
}

// A corner is half a cell's diagonal from the centres around it, and an area across the
// antimeridian is in one piece.
func TestOutlineCorners(t *testing.T) {
	d := must(planar.NewDomain("fiji", -18, 179.5, -16, -179.5, 100))
	g := must(NewGrid(d, 5000))
	all := make([]int, g.Len())
	for cell := range all {
		all[cell] = cell
		for _, p := range g.Outline([]int{cell})[0][0] {
			lat, lon := d.Location(g.Centre(cell))
			if x := math.Remainder(p.Lon(), 360); math.Abs(planar.Distance(lat, lon, p.Lat(), x)/2500-math.Sqrt2) > 0.01 {
				t.Fatalf("corner %v of cell %d", p, cell)
			}
		}
	}
	w, h := g.Size()
	whole := g.Outline(all)
	if len(whole) != 1 || len(whole[0]) != 1 || len(whole[0][0]) != 2*(w+h)+1 {
		t.Fatalf("%d polygons", len(whole))
	}
	if b := whole[0][0].Bound(); b.Right()-b.Left() > 1.2 || b.Left() < 179 {
		t.Errorf("from %v to %v", b.Left(), b.Right())
	}
}
