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

// The conformal latitude chi maps the ellipsoid onto a sphere without
// distorting angles; longitudes are unchanged. With the isometric latitude
// psi = artanh(sin phi) - e*artanh(e*sin phi) it is sin chi = tanh psi (Snyder,
// Map Projections: A Working Manual, USGS 1395, equation 3-1). The addition
// theorems of sinh and cosh, with t = tanh(e*artanh(e*sin phi)), turn this into
//
//	sin chi = (sin phi - t) / (1 - t*sin phi)
//	cos chi = cos phi * sqrt(1 - t^2) / (1 - t*sin phi)
//
// which loses no digits anywhere, the poles included. conformal returns the two
// numerators and their denominator, norm, by which a projection need not divide.
func conformal(sinPhi, cosPhi float64) (up, out, norm float64) {
	t := conformalShift(sinPhi)
	return sinPhi - t, cosPhi * math.Sqrt(1-float64(t*t)), 1 - float64(t*sinPhi)
}

// shiftSeries holds t[k] of tanh(e*artanh(e*s)) = sum_k t[k]*s^(2k+1). That
// function of s solves (1 - e^2*s^2)*t' = e^2*(1 - t^2), t(0) = 0, which gives
//
//	(2k+1)*t[k] = e^2 * ((2k-1)*t[k-1] - sum_{i+j=k-1} t[i]*t[j]),  t[0] = e^2.
//
// t[k] is below e^(2k+2)/(2k+1), so the terms left out sum to less than 5e-17.
var shiftSeries = func() (t [6]float64) {
	t[0] = eccentricity2
	for k := 1; k < len(t); k++ {
		sum := float64(2*k-1) * t[k-1]
		for i := range k {
			sum -= float64(t[i] * t[k-1-i])
		}
		t[k] = eccentricity2 * sum / float64(2*k+1)
	}
	return t
}()

// conformalShift returns tanh(e*artanh(e*s)) for |s| <= 1.
func conformalShift(s float64) float64 {
	w, t := s*s, &shiftSeries
	return float64(s * (t[0] + float64(w*(t[1]+float64(w*(t[2]+float64(w*(t[3]+float64(w*(t[4]+float64(w*t[5])))))))))))
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

// latitude returns, in degrees, the latitude whose conformal latitude is the
// angle of the unit vector (out, up), out >= 0. Clenshaw's recurrence sums the
// series without further trigonometry.
func latitude(up, out float64) float64 {
	sin2, twiceCos2 := 2*up*out, 2*(out-up)*(out+up)
	var y, next float64
	for k := latitudeSeriesLen - 1; k >= 0; k-- {
		y, next = (latitudeSeries[k]-next)+float64(twiceCos2*y), y
	}
	return bearing(out, up) + float64(y*sin2*degreesPerRadian)
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
	t := conformalShift(sinPhi)
	return math.Sqrt((1-float64(eccentricity2*sinPhi*sinPhi))*(1-float64(t*t))) / (1 - float64(t*sinPhi))
}
