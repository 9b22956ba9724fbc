package markov

import (
	"math"
	"slices"

	"github.com/paulmach/orb"
)

// Outline returns the union of different cells as polygons, in the order of longitude and
// latitude in degrees, as GeoJSON (RFC 7946) has it: outer rings counter-clockwise, holes
// clockwise. Two polygons, or two rings of one, have at most corners in common. Every corner
// of a cell on the boundary is a vertex.
//
// Longitudes are within 180 degrees of the middle of the domain. So an area across the
// antimeridian is not torn apart, but has longitudes beyond 180.
func (g *Grid) Outline(cells []int) orb.MultiPolygon {
	o := outliner{grid: g, in: map[int]bool{}, out: map[corner][]corner{}}
	_, o.middle = g.domain.Centre()
	for _, cell := range cells {
		o.in[cell] = true
	}
	var all orb.MultiPolygon
	done := map[int]bool{}
	for _, cell := range cells {
		if !done[cell] {
			all = append(all, o.polygon(o.part(cell, done)))
		}
	}
	return all
}

// A corner of cells is numbered like the cell to the north-east of it, in columns and rows
// from 0 on.
type corner struct{ column, row int }

// An outliner finds the boundary of a set of cells.
type outliner struct {
	grid   *Grid
	middle float64 // longitude of the domain's
	in     map[int]bool

	// The sides of the part at hand that are still to be walked, by the corner where they
	// begin. Cells of the set lie to the left.
	out map[corner][]corner
}

// has reports whether the cell in a column and a row is in the set.
func (o *outliner) has(column, row int) bool {
	return 0 <= column && column < o.grid.width && 0 <= row && row < o.grid.height && o.in[row*o.grid.width+column]
}

// part returns the cells that can be reached from a cell over sides, and notes that they are
// done.
func (o *outliner) part(cell int, done map[int]bool) (part []int) {
	done[cell] = true
	part = []int{cell}
	for k := 0; k < len(part); k++ {
		x, y := part[k]%o.grid.width, part[k]/o.grid.width
		for _, next := range [][2]int{{x, y - 1}, {x + 1, y}, {x, y + 1}, {x - 1, y}} {
			if i := next[1]*o.grid.width + next[0]; o.has(next[0], next[1]) && !done[i] {
				done[i] = true
				part = append(part, i)
			}
		}
	}
	return part
}

// polygon returns the outline of a part.
func (o *outliner) polygon(part []int) (p orb.Polygon) {
	var starts []corner
	side := func(from, to corner) {
		o.out[from] = append(o.out[from], to)
		starts = append(starts, from)
	}
	for _, cell := range part {
		x, y := cell%o.grid.width, cell/o.grid.width
		southWest, southEast := corner{x, y}, corner{x + 1, y}
		northWest, northEast := corner{x, y + 1}, corner{x + 1, y + 1}
		if !o.has(x, y-1) {
			side(southWest, southEast)
		}
		if !o.has(x+1, y) {
			side(southEast, northEast)
		}
		if !o.has(x, y+1) {
			side(northEast, northWest)
		}
		if !o.has(x-1, y) {
			side(northWest, southWest)
		}
	}
	for _, start := range starts {
		o.walk(start, func(ring []corner) {
			if area(ring) > 0 { // a part has one outer ring, which comes first
				p = slices.Insert(p, 0, o.ring(ring))
			} else {
				p = append(p, o.ring(ring))
			}
		})
	}
	return p
}

// walk follows the sides that are left from a corner back to it, and calls found with each ring
// as soon as it comes to a corner again. So rings that meet at a corner become rings of their own.
func (o *outliner) walk(start corner, found func(ring []corner)) {
	path, at := []corner{start}, map[corner]int{start: 0}
	for {
		last := path[len(path)-1]
		sides := o.out[last]
		if len(sides) == 0 { // as many sides end at a corner as begin there: this is the start
			return
		}
		next := sides[0]
		o.out[last] = sides[1:]
		k, again := at[next]
		if !again {
			at[next] = len(path)
			path = append(path, next)
			continue
		}
		found(path[k:])
		for _, c := range path[k+1:] {
			delete(at, c)
		}
		path = path[:k+1]
	}
}

// area returns twice the area of a ring in cells, which is negative if it runs clockwise.
func area(ring []corner) (twice int) {
	last := ring[len(ring)-1]
	for _, c := range ring {
		twice += last.column*c.row - c.column*last.row
		last = c
	}
	return twice
}

// ring returns the closed ring of some corners.
func (o *outliner) ring(corners []corner) orb.Ring {
	ring := make(orb.Ring, 0, len(corners)+1)
	side := float64(o.grid.k)
	for _, c := range corners {
		lat, lon := o.grid.domain.Position(
			(float64(o.grid.west+int64(c.column))-0.5)*side, (float64(o.grid.south+int64(c.row))-0.5)*side)
		ring = append(ring, orb.Point{lon + float64(360*math.Round((o.middle-lon)/360)), lat})
	}
	return append(ring, ring[0])
}
