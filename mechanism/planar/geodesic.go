package planar

import (
	"math"
	"sync"

	"github.com/geosql/geosql/mechanism/nearest"
)

// secondEccentricity2 is e'^2 = e^2/(1-e^2).
const secondEccentricity2 = eccentricity2 / (1 - eccentricity2)

// Geodesic returns the length in metres of the shortest line between two locations along
// the WGS 84 ellipsoid, to a micrometre. Locations are in degrees, latitudes within 90 and
// longitudes within 180.
//
// The method is that of Karney (Algorithms for geodesics, J. Geodesy 2013, sections 2 to 4):
// a geodesic is a great circle on the auxiliary sphere, and the longitude at which it meets
// the second latitude grows with its first azimuth. The azimuth is found by bisection, which
// converges for all points, antipodes included, and the two integrals by quadrature.
func Geodesic(lat1, lon1, lat2, lon2 float64) float64 {
	lat1, lat2 = flush(lat1), flush(lat2)
	// By symmetry the first point can be the one farther from the equator, in the south,
	// and the second one to the east of it.
	if math.Abs(lat1) < math.Abs(lat2) {
		lat1, lat2 = lat2, lat1
	}
	if lat1 > 0 {
		lat1, lat2 = -lat1, -lat2
	}
	lon := math.Abs(nearest.Wrap(lon2-lon1)) * radiansPerDegree
	from, to := newReduced(lat1), newReduced(lat2)
	switch {
	case lat1 == 0 && lon <= (1-flattening)*math.Pi:
		return equatorialRadius * lon
	case lon == 0 || lat1 == -90:
		return newArc(from, to, 0, 1).length() // along a meridian
	case lon == math.Pi:
		return newArc(from, to, 0, -1).length() // over the south pole
	}
	// Azimuths are counted from the east, where they have to be the most precise.
	low, high := -math.Pi/2, math.Pi/2
	for {
		middle := low + float64((high-low)/2)
		south, east := math.Sincos(middle)
		a := newArc(from, to, east, -south)
		if middle == low || middle == high {
			return a.length()
		}
		if a.longitude() < lon {
			low = middle
		} else {
			high = middle
		}
	}
}

// flush returns 0 for a latitude within a ten-millionth of a metre of the equator: squares of
// its sine would underflow.
func flush(lat float64) float64 {
	if math.Abs(lat) < 1e-12 {
		return 0
	}
	return lat
}

// A reduced is a reduced latitude beta, tan beta = (1-f) tan phi.
type reduced struct{ sin, cos float64 }

// newReduced returns the reduced latitude of a latitude in degrees. The southern side of
// the equator has a sine of -0, so that lines from there start at an angle of -pi or 0.
func newReduced(lat float64) reduced {
	cos, sin := math.Sincos((90 - math.Abs(lat)) * radiansPerDegree)
	if math.Abs(lat) < 45 {
		sin, cos = math.Sincos(math.Abs(lat) * radiansPerDegree)
	}
	sin *= 1 - flattening
	norm := math.Hypot(sin, cos)
	if lat <= 0 {
		sin = -sin
	}
	return reduced{sin / norm, cos / norm}
}

// An arc is the great circle on the auxiliary sphere that leaves a latitude at an azimuth,
// given by its sine and cosine, up to where it reaches another latitude on its way north (Karney, section 2 and figure 1).
type arc struct {
	sinAzimuth     float64 // at the equator
	k2             float64
	sigma1, sigma2 float64 // angles along it from where it crosses the equator
	omega          float64 // difference of longitudes on the sphere
}

func newArc(from, to reduced, sin1, cos1 float64) arc {
	sin0 := sin1 * from.cos
	cos0 := math.Hypot(cos1, sin1*from.sin)
	// Equation 45, with the difference of squares that loses the fewest digits.
	more := (from.sin - to.sin) * (from.sin + to.sin)
	if from.cos < -from.sin {
		more = (to.cos - from.cos) * (to.cos + from.cos)
	}
	cos2 := math.Sqrt(max(0, float64(cos1*cos1*from.cos*from.cos)+more))
	a := arc{
		sinAzimuth: sin0, k2: secondEccentricity2 * cos0 * cos0,
		sigma1: math.Atan2(from.sin, cos1*from.cos), sigma2: math.Atan2(to.sin, cos2),
	}
	a.omega = math.Atan2(sin0*math.Sin(a.sigma2), math.Cos(a.sigma2)) - math.Atan2(sin0*math.Sin(a.sigma1), math.Cos(a.sigma1))
	return a
}

// longitude returns the difference of longitudes on the ellipsoid: equation 8.
func (a arc) longitude() float64 {
	return a.omega - float64(flattening*a.sinAzimuth*a.integrate(func(stretch float64) float64 {
		return (2 - flattening) / (1 + float64((1-flattening)*stretch))
	}))
}

// length returns the length on the ellipsoid in metres: equation 7.
func (a arc) length() float64 {
	return polarRadius * a.integrate(func(stretch float64) float64 { return stretch })
}

// integrate returns the integral along the arc of a function of sqrt(1 + k^2 sin^2 sigma).
func (a arc) integrate(f func(stretch float64) float64) float64 {
	middle, half := float64((a.sigma1+a.sigma2)/2), (a.sigma2-a.sigma1)/2
	sum := 0.0
	for _, n := range gauss() {
		sin := math.Sin(middle + float64(half*n.at))
		sum += float64(n.weight * f(math.Sqrt(1+float64(a.k2*sin*sin))))
	}
	return half * sum
}

// Over half a turn, the longest arc, the error of the rule is below rounding, since k^2 is below
// 0.007.
var gauss = sync.OnceValue(func() []node { return legendre(16) })
