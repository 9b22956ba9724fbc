package planar

import "math"

// The WGS 84 ellipsoid (NIMA TR8350.2, third edition).
const (
	equatorialRadius  = 6378137.0 // metres
	flattening        = 1 / 298.257223563
	eccentricity2     = flattening * (2 - flattening)
	polarRadius       = equatorialRadius * (1 - flattening)
	thirdFlattening   = flattening / (2 - flattening)
	radiansPerDegree  = math.Pi / 180
	degreesPerRadian  = 180 / math.Pi
	latitudeSeriesLen = 6
)

var eccentricity = math.Sqrt(eccentricity2)

// The conformal latitude chi maps the ellipsoid onto a sphere without
// distorting angles; longitudes are unchanged. With the isometric latitude
// psi = artanh(sin phi) - e*artanh(e*sin phi) it is sin chi = tanh psi (Snyder,
// Map Projections: A Working Manual, USGS 1395, equation 3-1). The addition
// theorems of sinh and cosh, with t = tanh(e*artanh(e*sin phi)), turn this into
//
//	sin chi = (sin phi - t) / (1 - t*sin phi)
//	cos chi = cos phi * sqrt(1 - t^2) / (1 - t*sin phi)
//
// which loses no digits anywhere, the poles included.
func conformal(sinPhi, cosPhi float64) (sinChi, cosChi float64) {
	t := math.Tanh(eccentricity * math.Atanh(eccentricity*sinPhi))
	d := 1 - t*sinPhi
	return (sinPhi - t) / d, cosPhi * math.Sqrt(1-t*t) / d
}

// latitudeSeries holds b[k] of phi = chi + sum_k b[k]*sin(2(k+1)chi), the
// inverse of conformal, to sixth order in the third flattening n (Karney,
// Transverse Mercator with an accuracy of a few nanometers, J. Geodesy 2011,
// section 2; coefficients as in Karney, On auxiliary latitudes, 2024). The next
// term is below 1e-17 rad.
var latitudeSeries = func() [latitudeSeriesLen]float64 {
	const n = thirdFlattening
	return [...]float64{
		n * (2 + n*(-2.0/3+n*(-2+n*(116.0/45+n*(26.0/45+n*(-2854.0/675)))))),
		n * n * (7.0/3 + n*(-8.0/5+n*(-227.0/45+n*(2704.0/315+n*(2323.0/945))))),
		n * n * n * (56.0/15 + n*(-136.0/35+n*(-1262.0/105+n*(73814.0/2835)))),
		n * n * n * n * (4279.0/630 + n*(-332.0/35+n*(-399572.0/14175))),
		n * n * n * n * n * (4174.0/315 + n*(-144838.0/6237)),
		n * n * n * n * n * n * (601676.0 / 22275),
	}
}()

// latitude returns, in radians, the latitude whose conformal latitude is the
// angle of the vector (adjacent, opposite), adjacent >= 0. Clenshaw's
// recurrence sums the series without further trigonometry.
func latitude(opposite, adjacent float64) float64 {
	norm2 := opposite*opposite + adjacent*adjacent
	sin2 := 2 * opposite * adjacent / norm2
	cos2 := (adjacent - opposite) * (adjacent + opposite) / norm2
	var y, next float64
	for k := latitudeSeriesLen - 1; k >= 0; k-- {
		y, next = latitudeSeries[k]+2*cos2*y-next, y
	}
	return math.Atan2(opposite, adjacent) + y*sin2
}

// sphereScale returns the point scale at geodetic latitude phi (by its sine) of
// the map by conformal latitude onto a sphere of the equatorial radius a,
//
//	m = a*cos chi / (N*cos phi),  N = a/sqrt(1 - e^2*sin^2 phi),
//
// in a form without 0/0 at the poles. It is 1 on the equator and grows with
// |phi|: since d(N*cos phi)/dphi = -M*sin phi and dchi/dphi = M*cos chi /
// (N*cos phi), M the meridional radius of curvature,
//
//	d(ln m)/dphi = (M / (N*cos phi)) * (sin phi - sin chi)
//
// and chi has the sign of phi and the smaller modulus.
func sphereScale(sinPhi float64) float64 {
	t := math.Tanh(eccentricity * math.Atanh(eccentricity*sinPhi))
	return math.Sqrt((1-eccentricity2*sinPhi*sinPhi)*(1-t*t)) / (1 - t*sinPhi)
}
