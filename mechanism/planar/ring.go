package planar

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/paulmach/orb"
)

// Geometry of regions in the plane of longitude and latitude is done in int64
// units of 1e-7 degree, the resolution of printed coordinates. Longitudes span
// at most 360 degrees (3.6e9 units) and latitudes 180 (1.8e9), so that every
// product of a difference of each is below 6.5e18 and fits; products are
// compared, never subtracted.

// A vertex has its longitude in x and its latitude in y.
type vertex struct{ x, y int64 }

// compare orders by latitude, then by longitude.
func (v vertex) compare(o vertex) int { return cmp.Or(cmp.Compare(v.y, o.y), cmp.Compare(v.x, o.x)) }

// An edge runs to the north, along a parallel to the east: a comes before b.
type edge struct{ a, b vertex }

func newEdge(a, b vertex) edge {
	if a.compare(b) > 0 {
		a, b = b, a
	}
	return edge{a, b}
}

// side returns -1 if p lies to the west of the line through the edge, 1 if to the east,
// and 0 if on it. For an edge along a parallel, north counts as west.
func (e edge) side(p vertex) int {
	return cmp.Compare((p.x-e.a.x)*(e.b.y-e.a.y), (e.b.x-e.a.x)*(p.y-e.a.y))
}

// holds reports whether a point of the edge's line lies on the edge.
func (e edge) holds(p vertex) bool { return e.a.compare(p) <= 0 && p.compare(e.b) <= 0 }

// A ring is a closed line that does not cross itself.
type ring struct {
	low, high vertex // corners of the bounding box
	edges     []edge
	slabs     *slabs // nil for few edges
}

// newRing converts a ring of WKT. It does not check whether the ring crosses itself.
// origin is the longitude, in units, about which longitudes are unwrapped.
func newRing(points orb.Ring, origin int64) (*ring, error) {
	if len(points) == 0 {
		return nil, errors.New("wkt has an empty ring")
	}
	if points[0] != points[len(points)-1] {
		return nil, errors.New("wkt has a ring that does not end where it starts")
	}
	vertices, err := toVertices(points, origin)
	if err != nil {
		return nil, err
	}
	if flat(vertices) {
		return nil, errors.New("wkt has a ring without three points that enclose an area")
	}
	r := &ring{low: vertices[0], high: vertices[0], edges: make([]edge, len(vertices))}
	for i, v := range vertices {
		r.low = vertex{min(r.low.x, v.x), min(r.low.y, v.y)}
		r.high = vertex{max(r.high.x, v.x), max(r.high.y, v.y)}
		r.edges[i] = newEdge(v, vertices[(i+1)%len(vertices)])
	}
	return r, nil
}

// toVertices rounds the points of a closed ring to units, and drops repetitions and
// the closing point.
func toVertices(points orb.Ring, origin int64) ([]vertex, error) {
	vertices := make([]vertex, 0, len(points))
	for _, p := range points[:len(points)-1] {
		if !(math.Abs(p.Lon()) <= 180 && math.Abs(p.Lat()) <= 90) {
			return nil, fmt.Errorf("wkt has the point %v %v; a point is a longitude (lon) within 180 "+
				"degrees and a latitude (lat) within 90", p.Lon(), p.Lat())
		}
		v := vertex{unwrap(toUnits(p.Lon()), origin), toUnits(p.Lat())}
		if len(vertices) == 0 || v != vertices[len(vertices)-1] {
			vertices = append(vertices, v)
		}
	}
	if n := len(vertices); n > 1 && vertices[0] == vertices[n-1] {
		vertices = vertices[:n-1]
	}
	return vertices, nil
}

// unwrap brings a longitude, in units, to within 180 degrees of origin.
func unwrap(x, origin int64) int64 {
	const half, full = 180 * perDegree, 360 * perDegree
	switch {
	case x < origin-half:
		return x + full
	case x > origin+half:
		return x - full
	}
	return x
}

// flat reports whether all vertices lie on one line.
func flat(vertices []vertex) bool {
	if len(vertices) < 3 {
		return true
	}
	line := edge{vertices[0], vertices[1]}
	return !slices.ContainsFunc(vertices[2:], func(v vertex) bool { return line.side(v) != 0 })
}

// fewEdges is the number of edges up to which one by one is faster than through slabs.
const fewEdges = 16

// prepare checks that the ring does not cross itself, and prepares locate. Its error may
// be that of the context.
func (r *ring) prepare(ctx context.Context) error {
	at, crossed, err := selfCrossing(ctx, r.edges)
	if err != nil {
		return err
	}
	if crossed {
		return fmt.Errorf("wkt has a ring that crosses itself near %v %v",
			float64(at.x)/perDegree, float64(at.y)/perDegree)
	}
	if len(r.edges) > fewEdges {
		r.slabs, err = newSlabs(ctx, r.edges)
	}
	return err
}

// A position is where a point lies with respect to a ring.
type position int

const (
	outside position = iota
	onEdge
	inside
)

// locate returns where p lies, exactly. The ring must be prepared.
func (r *ring) locate(p vertex) position {
	switch {
	case p.x < r.low.x || p.x > r.high.x || p.y < r.low.y || p.y > r.high.y:
		return outside
	case r.slabs != nil:
		return r.slabs.locate(p)
	}
	return locate(r.edges, p)
}

// locate returns where p lies with respect to the ring of some edges. It counts the edges
// to the east of p. An edge counts from its southern end up to, but not including, its
// northern end, so that a vertex counts once.
func locate(edges []edge, p vertex) position {
	at := outside
	for _, e := range edges {
		side := e.side(p)
		if side == 0 && e.holds(p) {
			return onEdge
		}
		if side < 0 && e.a.y <= p.y && p.y < e.b.y {
			at = inside - at
		}
	}
	return at
}
