package optimal

import (
	"cmp"
	"fmt"
	"math"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/planar"
)

// places are lattice points of a domain that a mechanism takes for secrets and
// outputs. All of it is public.
type places struct {
	domain *planar.Domain
	cells  []planar.Cell // from the south-west row by row, none twice
}

// compareCells compares cells by the order of places.
func compareCells(a, b planar.Cell) int {
	return cmp.Or(cmp.Compare(a.J, b.J), cmp.Compare(a.I, b.I))
}

// nearest returns the number of the place nearest to a lattice point in the frame, the
// first of equally near ones. Integers compare exactly, so that ties are where they are
// said to be.
func (p places) nearest(c planar.Cell) int {
	best, least := 0, c.SquaredDistance(p.cells[0])
	for i, place := range p.cells[1:] {
		if d := c.SquaredDistance(place); d.Less(least) {
			best, least = i+1, d
		}
	}
	return best
}

// manhattanDistance returns |di| + |dj| for two lattice points that are di and dj steps
// apart. It is exact.
func manhattanDistance(a, b planar.Cell) float64 {
	return float64(max(a.I-b.I, b.I-a.I) + max(a.J-b.J, b.J-a.J))
}

// matrix is of the distances of all places, times scale.
func (p places) matrix(distance func(a, b planar.Cell) float64, scale float64) Matrix {
	m := NewMatrix(len(p.cells))
	for x, a := range p.cells {
		for z, b := range p.cells[:x] {
			d := distance(a, b) * scale
			m[x][z], m[z][x] = d, d
		}
	}
	return m
}

// quality is what is lost when one place is reported for another: metres in the
// frame.
func (p places) quality() Matrix { return p.matrix(planar.Cell.Distance, p.domain.Step()) }

// manhattan is the metric of a town whose streets run in the two directions of the
// lattice, east and north at the middle of the box: |di| + |dj| steps between places
// that are di and dj steps apart, in metres in the frame, rounded down by less than one
// part in 2^48. Numbers of steps are exact; the two products that follow are off by a
// factor of at most 1+2^-52, so that none is above what is said here, and all
// processors answer alike. These distances are no lower bounds of geodesics.
func (p places) manhattan() Matrix { return p.matrix(manhattanDistance, p.domain.Step()*underRounding) }

// The distances that epsilon is per are those of the frame over 1+kappa, rounded
// down, in metres.
//
// # Privacy
//
// The frame stretches no geodesic between points of the domain's box by more than
// 1+kappa, and [planar.Domain.Rate] of one per metre is at most step/(1+kappa). The
// differences of two indices are exact in a float64; two squares, their sum, the root
// and the two products that follow are off by a factor of at most 1+2^-50. What is
// below underRounding times the computed number is therefore no longer than the
// geodesic between the two places. (A place that the border's rounding put up to half
// a cell beyond the box stands for locations in it, which are at most half a cell's
// diagonal away: that is in the diagonal which every epsilon per metre comes with.)
//
// What is built stays below by underBuilt, so that a mechanism that was built where
// sines and cosines round otherwise passes here; what is below by underForeign was
// built for other places.
const (
	underRounding = 1 - 0x1p-49
	underBuilt    = 1 - 0x1p-40
	underForeign  = 1 - 0x1p-38
)

// privacy is a metric in metres that is nowhere above the geodesics between the
// places, as is proved above.
func (p places) privacy() Matrix { return p.lowerBounds(underBuilt) }

// lowerBounds are distances of which the geodesics are at least under times the
// float64 computation, for an under of at most underRounding.
func (p places) lowerBounds(under float64) Matrix {
	return p.matrix(planar.Cell.Distance, p.domain.Rate(budget.One)*under)
}

// belowGeodesics reports whether distances, of which there are as many as of the
// places, are certified lower bounds of the geodesics between them, as is proved above:
// what is private per metre of such a metric is so per metre along the ellipsoid.
func (p places) belowGeodesics(distances Matrix) bool {
	return distances.isBoundedBy(p.lowerBounds(underRounding))
}

// supports reports whether distances are lower bounds of the geodesics between the
// places, and not those of other places.
func (p places) supports(distances Matrix) bool {
	return p.belowGeodesics(distances) && p.lowerBounds(underForeign).isBoundedBy(distances)
}

func (m Matrix) isBoundedBy(bounds Matrix) bool {
	for x, row := range m {
		for z, d := range row {
			if !(d <= bounds[x][z]) {
				return false
			}
		}
	}
	return true
}

// vertex is a point of the frame, in steps of the lattice.
type vertex struct{ x, y float64 }

// farthest is how far in the frame, in metres, a location of the domain lies from its
// nearest place at the most: an upper bound, of all in the rectangle of the lattice
// that holds the box. In the rectangle's share of a place's Voronoi cell, a convex
// polygon, the distance from the place is convex, hence largest at a vertex.
func (p places) farthest() float64 {
	low, high := p.domain.Extent()
	w, s, e, n := float64(low.I), float64(low.J), float64(high.I), float64(high.J)
	most := 0.0
	for _, place := range p.cells {
		polygon := []vertex{{w, s}, {e, s}, {e, n}, {w, n}}
		for _, other := range p.cells {
			if other != place {
				polygon = nearer(polygon, place, other)
			}
		}
		for _, v := range polygon {
			most = max(most, math.Hypot(v.x-float64(place.I), v.y-float64(place.J)))
		}
	}
	return most * p.domain.Step()
}

// nearer cuts off a convex polygon what is nearer to b than to a (Sutherland,
// Hodgman, Reentrant Polygon Clipping, 1974).
func nearer(polygon []vertex, a, b planar.Cell) []vertex {
	dx, dy := float64(b.I-a.I), float64(b.J-a.J)
	mx, my := float64(a.I)+dx/2, float64(a.J)+dy/2
	beyond := func(v vertex) float64 { return (v.x-mx)*dx + (v.y-my)*dy }
	var cut []vertex
	for i, v := range polygon {
		next := polygon[(i+1)%len(polygon)]
		f, g := beyond(v), beyond(next)
		if f <= 0 {
			cut = append(cut, v)
		}
		if f < 0 && g > 0 || f > 0 && g < 0 {
			t := f / (f - g)
			cut = append(cut, vertex{v.x + t*(next.x-v.x), v.y + t*(next.y-v.y)})
		}
	}
	return cut
}

// inOrder reports whether the places are in order, none twice, and within the domain.
func (p places) inOrder() bool {
	low, high := p.domain.Extent()
	for _, c := range p.cells {
		if c.I < low.I || c.I > high.I || c.J < low.J || c.J > high.J {
			return false
		}
	}
	for i := range p.cells[1:] {
		if compareCells(p.cells[i], p.cells[i+1]) >= 0 {
			return false
		}
	}
	return true
}

// checkAdmitted says which place the domain's region does not admit.
func (p places) checkAdmitted() error {
	for x, c := range p.cells {
		if p.domain.Admissible(c) != c {
			return fmt.Errorf("place %s lies outside the region of domain '%s'", p.wkt(x), p.domain.Name())
		}
	}
	return nil
}

// wkt returns a place as releases show it.
func (p places) wkt(x int) string { return wkt(p.domain, p.cells[x]) }

// wkt returns a lattice point as releases show it: WKT, with coordinates of 7 decimals.
func wkt(d *planar.Domain, c planar.Cell) string {
	lat, lon := d.Location(c)
	return fmt.Sprintf("POINT(%.7f %.7f)", lon, lat)
}
