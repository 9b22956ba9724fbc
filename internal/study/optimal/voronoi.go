package optimal

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/integrate/quad"
)

// A voronoi diagram is represented by the ends of the boundaries of its cells.
type voronoi struct {
	vertices   []point
	directions []float64 // of unbounded edges, in radians
	neighbours [][]int   // for each place, those of the adjacent cells
}

type point struct{ x, y float64 }

// newVoronoi returns the diagram of places. The boundary between p and q is the part of the
// line of points equally near to both that no other place is nearer to.
func newVoronoi(places []Place) *voronoi {
	v := &voronoi{neighbours: make([][]int, len(places))}
	for i, p := range places {
		for j, q := range places[:i] {
			dx, dy := q.X-p.X, q.Y-p.Y
			length := math.Hypot(dx, dy)
			ux, uy := -dy/length, dx/length // the line is (p+q)/2 + t u
			lo, hi := math.Inf(-1), math.Inf(1)
			for k, o := range places {
				if k == i || k == j { // slope and room are 0, up to rounding errors
					continue
				}
				ox, oy := o.X-p.X, o.Y-p.Y
				slope, room := ux*ox+uy*oy, (ox*(ox-dx)+oy*(oy-dy))/2
				switch { // t slope <= room
				case slope > 0:
					hi = min(hi, room/slope)
				case slope < 0:
					lo = max(lo, room/slope)
				case room < 0:
					hi = math.Inf(-1)
				}
			}
			if lo < hi {
				v.neighbours[i] = append(v.neighbours[i], j)
				v.neighbours[j] = append(v.neighbours[j], i)
				v.addEnd(p, q, ux, uy, hi)
				v.addEnd(p, q, -ux, -uy, -lo)
			}
		}
	}
	return v
}

// addEnd adds the end, at t, of the boundary between p and q.
func (v *voronoi) addEnd(p, q Place, ux, uy, t float64) {
	if math.IsInf(t, 1) {
		v.directions = append(v.directions, math.Atan2(uy, ux))
		return
	}
	v.vertices = append(v.vertices, point{p.X + (q.X-p.X)/2 + t*ux, p.Y + (q.Y-p.Y)/2 + t*uy})
}

const (
	// minSectors is the least number of sectors.
	minSectors = 32

	// nearest is how near a cut comes to the direction of an unbounded edge, in radians.
	// Cuts become denser towards it.
	nearest = 1e-9

	// narrow is the width, in radians, below which a sector is due to rounding errors.
	narrow = 1e-13
)

// integrate calls ray with directions from a place, and the share of the circle that each
// represents. The circle is cut at the directions of the ends of all boundaries: between cuts
// a ray passes through the same cells.
func (v *voronoi) integrate(from Place, ray func(cos, sin, weight float64)) {
	var cuts []float64
	for _, a := range v.directions { // where the way to the boundary grows without bound
		for off := 2 * math.Pi / minSectors; off > nearest; off /= 4 {
			cuts = append(cuts, a-off, a+off)
		}
		cuts = append(cuts, a)
	}
	for k := range minSectors {
		cuts = append(cuts, math.Pi*(2*float64(k)/minSectors-1))
	}
	for _, w := range v.vertices {
		cuts = append(cuts, math.Atan2(w.y-from.Y, w.x-from.X))
	}
	for k, a := range cuts {
		cuts[k] = math.Remainder(a, 2*math.Pi)
	}
	slices.Sort(cuts)
	const nodes = 12 // of a rule that is exact for polynomials of degree up to 23
	var angles, weights [nodes]float64
	begin := cuts[0]
	for _, end := range append(cuts[1:], cuts[0]+2*math.Pi) {
		if end-begin < narrow {
			continue
		}
		quad.Legendre{}.FixedLocations(angles[:], weights[:], begin, end)
		for n, angle := range angles {
			sin, cos := math.Sincos(angle)
			ray(cos, sin, weights[n]/(2*math.Pi))
		}
		begin = end
	}
}
