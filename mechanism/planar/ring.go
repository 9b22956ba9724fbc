package planar

import (
	"cmp"
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

// An edge runs upwards: a.y <= b.y.
type edge struct{ a, b vertex }

// side is -1 when p lies to the west of the line through the edge, 1 to the
// east, 0 on it; for an edge along a parallel, north counts as west.
func (e edge) side(p vertex) int {
	return cmp.Compare((p.x-e.a.x)*(e.b.y-e.a.y), (e.b.x-e.a.x)*(p.y-e.a.y))
}

// holds reports whether a point of the edge's line lies on the edge.
func (e edge) holds(p vertex) bool {
	return e.a.y <= p.y && p.y <= e.b.y && min(e.a.x, e.b.x) <= p.x && p.x <= max(e.a.x, e.b.x)
}

// crosses reports whether two edges cross in a point inside both or share more
// than a point. Edges that only touch do not cross.
func (e edge) crosses(o edge) bool {
	oa, ob := e.side(o.a), e.side(o.b)
	if oa == 0 && ob == 0 {
		return e.overlaps(o)
	}
	return oa*ob < 0 && o.side(e.a)*o.side(e.b) < 0
}

// overlaps is crosses for two edges on one line.
func (e edge) overlaps(o edge) bool {
	if e.a.y != e.b.y {
		return max(e.a.y, o.a.y) < min(e.b.y, o.b.y)
	}
	return max(min(e.a.x, e.b.x), min(o.a.x, o.b.x)) < min(max(e.a.x, e.b.x), max(o.a.x, o.b.x))
}

// A ring is a closed line that does not cross itself, with its edges listed by
// bands of latitude.
type ring struct {
	low, high vertex // corners of the bounding box
	edges     []edge
	bandSize  int64
	bands     [][]edge
}

// A position is where a point lies with respect to a ring.
type position int

const (
	outside position = iota
	onEdge
	inside
)

// newRing converts a ring of WKT. origin is the longitude, in units, about which
// longitudes are unwrapped.
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
	r := &ring{low: vertices[0], high: vertices[0]}
	for i, v := range vertices {
		r.low = vertex{min(r.low.x, v.x), min(r.low.y, v.y)}
		r.high = vertex{max(r.high.x, v.x), max(r.high.y, v.y)}
		a, b := v, vertices[(i+1)%len(vertices)]
		if a.y > b.y {
			a, b = b, a
		}
		r.edges = append(r.edges, edge{a, b})
	}
	if v, crossed := r.selfCrossing(); crossed {
		return nil, fmt.Errorf("wkt has a ring that crosses itself near %v %v",
			float64(v.x)/perDegree, float64(v.y)/perDegree)
	}
	r.fillBands()
	return r, nil
}

// toVertices rounds the points of a closed ring to units, drops repetitions and
// the closing point.
func toVertices(points orb.Ring, origin int64) ([]vertex, error) {
	var vertices []vertex
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

// selfCrossing returns a vertex of an edge that crosses another. It sweeps from
// south to north and compares edges that share a latitude.
func (r *ring) selfCrossing() (vertex, bool) {
	edges := slices.Clone(r.edges)
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Compare(a.a.y, b.a.y) })
	var active []edge
	for _, e := range edges {
		active = slices.DeleteFunc(active, func(o edge) bool { return o.b.y < e.a.y })
		for _, o := range active {
			if e.crosses(o) {
				return e.a, true
			}
		}
		active = append(active, e)
	}
	return vertex{}, false
}

// fillBands lists the edges of every band. With the square root of their number
// for the number of bands, edges that span all bands take O(n^1.5) space.
func (r *ring) fillBands() {
	n := int64(math.Sqrt(float64(len(r.edges))))
	r.bandSize = (r.high.y-r.low.y)/n + 1
	r.bands = make([][]edge, n)
	for _, e := range r.edges {
		for k := r.band(e.a.y); k <= r.band(e.b.y); k++ {
			r.bands[k] = append(r.bands[k], e)
		}
	}
}

func (r *ring) band(y int64) int64 { return (y - r.low.y) / r.bandSize }

// locate counts the edges to the east of p. An edge counts from its southern end
// up to, but without, its northern end, so that a vertex counts once.
func (r *ring) locate(p vertex) position {
	if p.x < r.low.x || p.x > r.high.x || p.y < r.low.y || p.y > r.high.y {
		return outside
	}
	at := outside
	for _, e := range r.bands[r.band(p.y)] {
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
