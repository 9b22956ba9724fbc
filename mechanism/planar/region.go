package planar

import (
	"errors"
	"math"
)

// WithRegion returns a copy of the domain whose outputs are moved to the nearest
// admissible lattice point: nearest in the frame, of equally near ones the
// southernmost, of these the westernmost. It replaces a region the domain had.
//
// A point is admissible when its printed coordinates lie in the polygon and, to
// 7 decimals, in the box. The polygon is WKT, POLYGON or MULTIPOLYGON, in
// degrees, lon before lat, with edges straight in longitude and latitude, as
// geographic information systems draw them. Its vertices are rounded to 7
// decimals. It is closed: shells and the rims of holes belong to it. Rings may
// touch themselves and each other but not cross themselves. When the box crosses
// the antimeridian, every longitude is taken within 180 degrees of the box's
// centre; otherwise it is taken as written.
//
// Errors say what is wrong with the text, that no lattice point is admissible,
// or that the step is too fine for the region: a boundary of more than 8 million
// steps, hence more than 4 million rows, is refused.
func (d *Domain) WithRegion(wkt string) (*Domain, error) {
	var origin int64
	if d.box.crossesAntimeridian() {
		origin = toUnits(d.frame.lon0)
	}
	polygons, err := parsePolygons(wkt, origin)
	if err != nil {
		return nil, err
	}
	a := &area{domain: d, origin: origin, polygons: polygons}
	if !a.clip() {
		return nil, errNothingAdmissible
	}
	r, err := newRegion(a)
	if err != nil {
		return nil, err
	}
	restricted := *d
	restricted.region = r
	return &restricted, nil
}

// HasRegion reports whether outputs are moved into a region.
func (d *Domain) HasRegion() bool { return d.region != nil }

var errNothingAdmissible = errors.New("wkt has no lattice point of the domain's box in it; " +
	"remember that WKT is lon lat")

// An area is the set of printed coordinates that may be reported: the polygons,
// cut to a rectangle.
type area struct {
	domain    *Domain
	origin    int64
	polygons  []polygon
	low, high vertex // the box, cut to the bounding box of the polygons
}

// clip sets the rectangle and reports whether it is not empty.
func (a *area) clip() bool {
	b := a.domain.box
	west, east := b.west, b.east
	if b.crossesAntimeridian() {
		west, east = a.domain.frame.lon0-b.half, a.domain.frame.lon0+b.half
	}
	low, high := a.polygons[0].shell.low, a.polygons[0].shell.high
	for _, p := range a.polygons[1:] {
		low = vertex{min(low.x, p.shell.low.x), min(low.y, p.shell.low.y)}
		high = vertex{max(high.x, p.shell.high.x), max(high.y, p.shell.high.y)}
	}
	a.low = vertex{max(low.x, toUnits(west)), max(low.y, toUnits(b.south))}
	a.high = vertex{min(high.x, toUnits(east)), min(high.y, toUnits(b.north))}
	return a.low.x <= a.high.x && a.low.y <= a.high.y
}

// contains reports whether a lattice point is admissible.
func (a *area) contains(c Cell) bool {
	p := a.domain.print(c)
	v := vertex{unwrap(p.lon, a.origin), p.lat}
	if v.x < a.low.x || v.x > a.high.x || v.y < a.low.y || v.y > a.high.y {
		return false
	}
	for _, p := range a.polygons {
		if p.contains(v) {
			return true
		}
	}
	return false
}

// boundary returns chords, in steps of the frame, such that every point of the
// area's boundary lies within chordTolerance of one of them.
func (a *area) boundary() []segment {
	se, nw := vertex{a.high.x, a.low.y}, vertex{a.low.x, a.high.y}
	segments := a.chords(nil, edge{a.low, se})
	segments = a.chords(segments, edge{a.low, nw})
	segments = a.chords(segments, edge{se, a.high})
	segments = a.chords(segments, edge{nw, a.high})
	for _, p := range a.polygons {
		for _, r := range append(p.holes[:len(p.holes):len(p.holes)], p.shell) {
			for _, e := range r.edges {
				segments = a.chords(segments, e)
			}
		}
	}
	return segments
}

// chordTolerance is how far, in steps, an edge's image may be from its chord.
const chordTolerance = 0.25

// chords appends the chords of the part of an edge within the rectangle.
//
// Over the cap where the frame is used, c <= 50 degrees, a point that moves
// along an edge at constant speed D radians (its |dlat|+|dlon|) has an image
// whose acceleration is at most 2.1*diameter*D^2. For let P be its unit vector on
// the conformal sphere, v <= 1.007*D the speed and g <= 1.03*D^2 the acceleration
// of P. The image is diameter*w/(1+h), with w the two components of P across the
// axis of the frame, |w| <= 0.77, and h = cos c >= 0.64 the one along it; so its
// acceleration is at most diameter times
//
//	g/1.64 + 2*v^2/1.64^2 + 0.77*g/1.64^2 + 2*0.77*v^2/1.64^3.
//
// A chord over 1/n of the edge deviates by at most an eighth of it over n^2.
func (a *area) chords(segments []segment, e edge) []segment {
	from, to, ok := a.cut(e)
	if !ok {
		return segments
	}
	d := a.domain
	dlat := float64(e.b.y-e.a.y) / perDegree
	dlon := float64(e.b.x-e.a.x) / perDegree
	length := (to - from) * (math.Abs(dlat) + math.Abs(dlon)) * radiansPerDegree
	n := math.Ceil(length * math.Sqrt(2.1*d.frame.diameter/(8*chordTolerance*d.step)))
	image := func(t float64) (x, y float64) {
		lat := float64(e.a.y)/perDegree + t*dlat
		lon := float64(e.a.x)/perDegree + t*dlon
		return d.grid.project(lat, lon-d.frame.lon0)
	}
	x0, y0 := image(from)
	for k := 1.0; k <= max(1, n); k++ {
		x1, y1 := image(from + (to-from)*k/max(1, n))
		segments = append(segments, upward(x0, y0, x1, y1))
		x0, y0 = x1, y1
	}
	return segments
}

// cut returns the range of the parameter, 0 at e.a and 1 at e.b, over which an
// edge lies in the rectangle (Liang and Barsky 1984).
func (a *area) cut(e edge) (from, to float64, ok bool) {
	from, to = 0, 1
	for _, axis := range [2]struct{ start, end, low, high int64 }{
		{e.a.x, e.b.x, a.low.x, a.high.x},
		{e.a.y, e.b.y, a.low.y, a.high.y},
	} {
		enter, leave := axis.low-axis.start, axis.high-axis.start
		move := axis.end - axis.start
		if move < 0 {
			enter, leave = leave, enter
		}
		switch {
		case move != 0:
			from = max(from, float64(enter)/float64(move))
			to = min(to, float64(leave)/float64(move))
		case enter > 0 || leave < 0:
			return 0, 0, false
		}
	}
	return from, to, from <= to
}
