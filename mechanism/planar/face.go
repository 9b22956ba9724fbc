package planar

import "math"

// A face is the set that a ring encloses within the domain's box, boundaries included.
type face struct {
	area      *area
	ring      *ring
	low, high vertex // the box, cut to the bounding box of the ring
}

func (a *area) face(r *ring) *face {
	b := a.domain.box
	west, east := b.West, b.East
	if b.CrossesAntimeridian() {
		west, east = a.domain.frame.lon0-b.Half, a.domain.frame.lon0+b.Half
	}
	return &face{
		area: a, ring: r,
		low:  vertex{max(r.low.x, toUnits(west)), max(r.low.y, toUnits(b.South))},
		high: vertex{min(r.high.x, toUnits(east)), min(r.high.y, toUnits(b.North))},
	}
}

func (f *face) empty() bool { return f.low.x > f.high.x || f.low.y > f.high.y }

// locate returns where the printed coordinates of a lattice point lie: outside if the box
// does not contain them.
func (f *face) locate(c Cell) position {
	p := f.area.domain.print(c)
	v := vertex{unwrap(p.lon, f.area.origin), p.lat}
	if v.x < f.low.x || v.x > f.high.x || v.y < f.low.y || v.y > f.high.y {
		return outside
	}
	return f.ring.locate(v)
}

// edges returns edges that contain the boundary of the face: the ring's, and those sides
// of the box that cut the ring. They may leave the rectangle.
func (f *face) edges() []edge {
	if f.empty() {
		return nil
	}
	edges := f.ring.edges[:len(f.ring.edges):len(f.ring.edges)]
	se, nw := vertex{f.high.x, f.low.y}, vertex{f.low.x, f.high.y}
	for _, side := range [...]struct {
		cuts bool
		edge edge
	}{
		{f.low.x > f.ring.low.x, edge{f.low, nw}},
		{f.low.y > f.ring.low.y, edge{f.low, se}},
		{f.high.x < f.ring.high.x, edge{se, f.high}},
		{f.high.y < f.ring.high.y, edge{nw, f.high}},
	} {
		if side.cuts {
			edges = append(edges, side.edge)
		}
	}
	return edges
}

// A segment is a line in the frame, in steps, that runs upwards: y0 <= y1.
type segment struct{ x0, y0, x1, y1 float64 }

func upward(x0, y0, x1, y1 float64) segment {
	if y0 > y1 {
		return segment{x1, y1, x0, y0}
	}
	return segment{x0, y0, x1, y1}
}

// at returns x at the height y of a segment.
func (g segment) at(y float64) float64 {
	return g.x0 + float64((y-g.y0)/(g.y1-g.y0)*(g.x1-g.x0))
}

// chordTolerance is how far, in steps, an edge's image may be from its chord. A smaller
// one splits long edges into more chords, a greater one brings more lattice points near.
const chordTolerance = 1.0 / 64

// chords appends segments such that every point of the part of an edge within the
// rectangle has an image within chordTolerance of one of them.
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
func (f *face) chords(segments []segment, e edge) []segment {
	from, to, ok := f.cut(e)
	if !ok {
		return segments
	}
	d := f.area.domain
	dlat := float64(e.b.y-e.a.y) / perDegree
	dlon := float64(e.b.x-e.a.x) / perDegree
	length := (to - from) * (math.Abs(dlat) + math.Abs(dlon)) * radiansPerDegree
	n := max(1, math.Ceil(length*math.Sqrt(2.1*d.frame.diameter/(8*chordTolerance*d.step))))
	image := func(t float64) (x, y float64) {
		lat := float64(e.a.y)/perDegree + float64(t*dlat)
		lon := float64(e.a.x)/perDegree + float64(t*dlon)
		return d.grid.project(lat, lon-d.frame.lon0)
	}
	x0, y0 := image(from)
	for k := 1.0; k <= n; k++ {
		x1, y1 := image(from + (to-from)*k/n)
		segments = append(segments, upward(x0, y0, x1, y1))
		x0, y0 = x1, y1
	}
	return segments
}

// cut returns the range of the parameter, 0 at e.a and 1 at e.b, over which an
// edge lies in the rectangle (Liang and Barsky 1984).
func (f *face) cut(e edge) (from, to float64, ok bool) {
	from, to = 0, 1
	for _, axis := range [2]struct{ start, end, low, high int64 }{
		{e.a.x, e.b.x, f.low.x, f.high.x},
		{e.a.y, e.b.y, f.low.y, f.high.y},
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
