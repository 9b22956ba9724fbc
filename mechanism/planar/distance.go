package planar

import (
	"math"
	"math/bits"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geo"
)

// Distance returns the distance between two locations in degrees, in metres along the
// ellipsoid, to good approximation: Pythagoras with the radii of curvature at the middle
// latitude. In latitudes below 60 degrees it is off by less than 2e-5 of distances up to
// 100 km, and 1e-3 up to 500 km. Others are those along a sphere, off by less than 1 %.
func Distance(lat1, lon1, lat2, lon2 float64) float64 {
	middle := (lat1 + lat2) / 2
	sin, cos := math.Sincos(middle * radiansPerDegree)
	w2 := 1 - float64(eccentricity2*sin*sin)
	normal := equatorialRadius / math.Sqrt(w2)
	meridional := normal * (1 - eccentricity2) / w2
	north := (lat2 - lat1) * radiansPerDegree * meridional
	east := lon2 - lon1
	if math.Abs(east) > 180 { // a remainder takes as long as the rest
		east = math.Remainder(east, 360)
	}
	east = east * radiansPerDegree * normal * cos
	if d := math.Hypot(north, east); d < 500e3 && math.Abs(middle) < 60 {
		return d
	}
	d := geo.DistanceHaversine(orb.Point{lon1, lat1}, orb.Point{lon2, lat2})
	if math.IsNaN(d) { // the haversine of antipodes has been rounded to above 1
		d = math.Pi * orb.EarthRadius
	}
	return d
}

// Distance returns the distance between two lattice points, in steps. The conversions
// keep the products from being fused with the sum, so that all processors answer alike.
func (c Cell) Distance(o Cell) float64 {
	di, dj := float64(c.I-o.I), float64(c.J-o.J)
	return math.Sqrt(float64(di*di) + float64(dj*dj))
}

// A SquaredDistance is the exact square of a distance in steps. It takes 128 bits:
// saturated points are up to 2^41 steps apart.
type SquaredDistance struct{ hi, lo uint64 }

// farthest exceeds every distance.
var farthest = SquaredDistance{math.MaxUint64, math.MaxUint64}

// SquaredDistance returns the square of the distance between two lattice points.
func (c Cell) SquaredDistance(o Cell) SquaredDistance {
	ihi, ilo := bits.Mul64(magnitude(c.I-o.I), magnitude(c.I-o.I))
	jhi, jlo := bits.Mul64(magnitude(c.J-o.J), magnitude(c.J-o.J))
	lo, carry := bits.Add64(ilo, jlo, 0)
	hi, _ := bits.Add64(ihi, jhi, carry)
	return SquaredDistance{hi, lo}
}

func magnitude(x int64) uint64 { return uint64(max(x, -x)) }

// Less reports whether d < o.
func (d SquaredDistance) Less(o SquaredDistance) bool {
	return d.hi < o.hi || d.hi == o.hi && d.lo < o.lo
}
