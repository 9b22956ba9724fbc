package planar

import (
	"math"
	"slices"
)

// A region holds the admissible lattice points of a domain, as strips in the order of
// strip.zKey, and a binary tree over them whose nodes hold the extents of the strips below
// them. The order puts neighbours next to each other, so that the extents of nodes hardly
// overlap, whether the region is one polygon or thousands.
type region struct {
	inputs uint64 // checksum of the strips' inputs
	strips []strip
	leaves int      // number of leaves of leafSize strips each, rounded up to a power of two
	extent []extent // by node: leaves+k is leaf k, and node n has the children 2n and 2n+1
}

// leafSize is the number of strips that are compared one by one.
const leafSize = 16

// An extent is a closed rectangle of lattice points.
type extent struct{ west, south, east, north int32 }

var noExtent = extent{math.MaxInt32, math.MaxInt32, math.MinInt32, math.MinInt32}

func (e extent) union(o extent) extent {
	return extent{min(e.west, o.west), min(e.south, o.south), max(e.east, o.east), max(e.north, o.north)}
}

// newRegion returns the region of at least one strip, in the order of strip.zKey.
func newRegion(strips []strip, inputs uint64) *region {
	r := &region{inputs: inputs, strips: strips, leaves: 1}
	for r.leaves*leafSize < len(strips) {
		r.leaves *= 2
	}
	r.extent = slices.Repeat([]extent{noExtent}, 2*r.leaves)
	for k, s := range strips {
		leaf := &r.extent[r.leaves+k/leafSize]
		*leaf = leaf.union(extent{s.lo, s.row, s.hi, s.row})
	}
	for n := r.leaves - 1; n > 0; n-- {
		r.extent[n] = r.extent[2*n].union(r.extent[2*n+1])
	}
	return r
}

// nearest returns the admissible point nearest to c: of equally near ones, that with the
// least j, and among these the least i.
func (r *region) nearest(c Cell) Cell {
	best := candidate{distance: farthest}
	r.search(1, r.extent[1].distance(c), c, &best)
	return best.cell
}

// A candidate is the best point found so far.
type candidate struct {
	cell     Cell
	distance SquaredDistance
}

// search improves best with the points below a node. Their squared distance from c is at
// least least. It searches the nearer half first, and skips a node if no point of its
// extent is as near as best, which keeps ties.
func (r *region) search(node int, least SquaredDistance, c Cell, best *candidate) {
	if best.distance.Less(least) || best.distance == (SquaredDistance{}) {
		return
	}
	if leaf := node - r.leaves; leaf >= 0 {
		first := leaf * leafSize
		for _, s := range r.strips[first:min(first+leafSize, len(r.strips))] {
			best.improve(c, s.nearest(c))
		}
		return
	}
	near, far := 2*node, 2*node+1
	nearLeast, farLeast := r.extent[near].distance(c), r.extent[far].distance(c)
	if farLeast.Less(nearLeast) {
		near, far, nearLeast, farLeast = far, near, farLeast, nearLeast
	}
	r.search(near, nearLeast, c, best)
	r.search(far, farLeast, c, best)
}

// distance returns the squared distance from c to the nearest point of the extent, or
// farthest if it is empty.
func (e extent) distance(c Cell) SquaredDistance {
	if e == noExtent {
		return farthest
	}
	return c.SquaredDistance(Cell{
		max(int64(e.west), min(c.I, int64(e.east))),
		max(int64(e.south), min(c.J, int64(e.north))),
	})
}

// nearest returns the point of the strip nearest to c.
func (s strip) nearest(c Cell) Cell {
	return Cell{max(int64(s.lo), min(c.I, int64(s.hi))), int64(s.row)}
}

// improve takes p if it is nearer to c than the best so far, or as near and first by j,
// then i.
func (b *candidate) improve(c, p Cell) {
	d := c.SquaredDistance(p)
	tie := d == b.distance && (p.J < b.cell.J || p.J == b.cell.J && p.I < b.cell.I)
	if tie || d.Less(b.distance) {
		*b = candidate{p, d}
	}
}
