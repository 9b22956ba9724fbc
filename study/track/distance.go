package track

import "math"

// The WGS 84 ellipsoid (NIMA TR8350.2, third edition).
const (
	equatorialRadius = 6378137.0 // metres
	flattening       = 1 / 298.257223563
	eccentricity2    = flattening * (2 - flattening)
	radiansPerDegree = math.Pi / 180
)

// Distance returns how far apart two locations in degrees are, in metres along the
// ellipsoid: Pythagoras with the radii of curvature at the middle latitude. In
// latitudes below 60 degrees that is off by less than 2e-5 of distances up to 100
// km, and 1e-3 up to 500 km; beyond these it is good for telling far from near.
func Distance(lat1, lon1, lat2, lon2 float64) float64 {
	sin, cos := math.Sincos((lat1 + lat2) / 2 * radiansPerDegree)
	w2 := 1 - eccentricity2*sin*sin
	normal := equatorialRadius / math.Sqrt(w2)
	meridional := normal * (1 - eccentricity2) / w2
	north := (lat2 - lat1) * radiansPerDegree * meridional
	east := math.Remainder(lon2-lon1, 360) * radiansPerDegree * normal * cos
	return math.Hypot(north, east)
}
