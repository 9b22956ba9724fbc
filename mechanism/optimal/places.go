package optimal

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/planar"
)

// places are lattice points of a domain: the secrets of a mechanism, or its outputs. They
// are public.
type places struct {
	domain *planar.Domain
	cells  []planar.Cell // from the south-west row by row, none twice
}

// compareCells compares cells in the order of places.
func compareCells(a, b planar.Cell) int {
	return cmp.Or(cmp.Compare(a.J, b.J), cmp.Compare(a.I, b.I))
}

// has reports whether a lattice point is one of the places.
func (p places) has(c planar.Cell) bool {
	_, found := slices.BinarySearchFunc(p.cells, c, compareCells)
	return found
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

// matrix returns the distances from all places to others, times scale.
func (p places) matrix(to places, distance func(a, b planar.Cell) float64, scale float64) Matrix {
	m := NewMatrix(len(p.cells), len(to.cells))
	for x, a := range p.cells {
		for z, b := range to.cells {
			m[x][z] = distance(a, b) * scale
		}
	}
	return m
}

// manhattan returns the metric of a town with streets in the two directions of the
// lattice, east and north at the middle of the box: |di| + |dj| steps between places that
// are di and dj steps apart, in metres of the frame, rounded down by less than one part in
// 2^48. Numbers of steps are exact, and two products are off by a factor of at most
// 1+2^-52, so that no distance is too long, and all processors answer alike. These
// distances are not lower bounds of geodesics.
func (p places) manhattan() Matrix {
	return p.matrix(p, manhattanDistance, p.domain.Step()*underRounding)
}

// The distances that epsilon is per are those of the frame over 1+kappa, rounded
// down, in metres.
//
// # Privacy
//
// The frame stretches no geodesic between points of the domain's box by more than
// 1+kappa, and [planar.Domain.Rate] of one per metre is at most step/(1+kappa). The
// differences of two indices are exact in a float64; two squares, their sum, the root and
// two products are off by a factor of at most 1+2^-50. A distance below underRounding times
// the computed number is therefore no longer than the geodesic between the two places. (A
// place that rounding put up to half a cell beyond the box represents locations in it,
// which are at most half a cell's diagonal away: this is part of the diagonal that comes
// with every epsilon per metre.)
//
// A built mechanism stays below by underBuilt, so that one that was built where sines and
// cosines round differently passes here. One that is below by underForeign was built for
// other places.
const (
	underRounding = 1 - 0x1p-49
	underBuilt    = 1 - 0x1p-40
	underForeign  = 1 - 0x1p-38
)

// privacy returns a metric in metres that is nowhere above the geodesics between the
// places, as proved above.
func (p places) privacy() Matrix { return p.lowerBounds(underBuilt) }

// lowerBounds returns lower bounds of the geodesics: the distances computed in float64
// times under, which is at most underRounding.
func (p places) lowerBounds(under float64) Matrix {
	return p.matrix(p, planar.Cell.Distance, p.domain.Rate(budget.One)*under)
}

// belowGeodesics reports whether the distances between all places are certified lower
// bounds of the geodesics, as proved above: a mechanism private per metre of such a metric is
// private per metre along the ellipsoid.
func (p places) belowGeodesics(distances Matrix) bool {
	return distances.isBoundedBy(p.lowerBounds(underRounding))
}

// supports reports whether the distances are lower bounds of the geodesics between these
// places, and not between other ones.
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

// A vertex is a point of the frame, in steps of the lattice.
type vertex struct{ x, y float64 }

// farthest returns an upper bound of the distance in the frame, in metres, from a location
// of the domain to its nearest place: the maximum over the rectangle of the lattice that
// contains the box. In the rectangle's part of a place's Voronoi cell, a convex polygon,
// the distance from the place is convex, hence largest at a vertex.
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
			dx, dy := v.x-float64(place.I), v.y-float64(place.J)
			most = max(most, float64(dx*dx)+float64(dy*dy))
		}
	}
	return math.Sqrt(most) * p.domain.Step()
}

// nearer returns the part of a convex polygon that is not nearer to b than to a
// (Sutherland, Hodgman, Reentrant Polygon Clipping, 1974).
func nearer(polygon []vertex, a, b planar.Cell) []vertex {
	dx, dy := float64(b.I-a.I), float64(b.J-a.J)
	mx, my := float64(a.I)+dx/2, float64(a.J)+dy/2
	beyond := func(v vertex) float64 { return float64((v.x-mx)*dx) + float64((v.y-my)*dy) }
	var cut []vertex
	for i, v := range polygon {
		next := polygon[(i+1)%len(polygon)]
		f, g := beyond(v), beyond(next)
		if f <= 0 {
			cut = append(cut, v)
		}
		if f < 0 && g > 0 || f > 0 && g < 0 {
			t := f / (f - g)
			cut = append(cut, vertex{v.x + float64(t*(next.x-v.x)), v.y + float64(t*(next.y-v.y))})
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

// checkAdmitted returns an error that names a lattice point outside the domain's region, if
// there is one. The noun names the points.
func (p places) checkAdmitted(noun string) error {
	for x, c := range p.cells {
		if p.domain.Admissible(c) != c {
			return fmt.Errorf("%s %s lies outside the region of domain '%s'", noun, p.wkt(x), p.domain.Name())
		}
	}
	return nil
}

// wkt returns a place as it is released.
func (p places) wkt(x int) string { return wkt(p.domain, p.cells[x]) }

// wkt returns a lattice point as it is released: WKT with coordinates of 7 decimals.
func wkt(d *planar.Domain, c planar.Cell) string {
	lat, lon := d.Location(c)
	return fmt.Sprintf("POINT(%.7f %.7f)", lon, lat)
}
