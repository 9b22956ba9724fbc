package planar

// Near the centre of a frame the projection is a quotient of two power series, and its inverse two
// power series of quotients. They take three fifths of the time of the formulas for everywhere.
//
// With psi the isometric latitude (see conformal), and l the longitude from the centre, let
//
//	u = tanh((psi-psi0)/2), v = tan(l/2).
//
// The frame is the Mercator map, z = psi-psi0 + i*l, followed by an analytic function,
//
//	(y + i*x)/diameter = cos0*T / (1 + sin0*T),  T = tanh(z/2) = (u + i*v) / (1 + i*u*v),
//
// as along the middle meridian T = u gives tan((chi-chi0)/2), and both maps are conformal. So
//
//	(y + i*x)/diameter = cos0*(u + i*v) / ((1 + sin0*u) + i*v*(u + sin0)).
//
// Solved for T and then for z it is, with p = y/diameter, q = x/diameter and r = p^2 + q^2,
//
//	tanh(psi-psi0) = 2*(cos0*p - sin0*r) / (cos0^2 - 2*cos0*sin0*p + (1 + sin0^2)*r)
//	tan l = 2*q / (cos0*(1-r) - 2*sin0*p)
//
// u is a series in the latitude from the centre, which is in turn a series in that hyperbolic
// tangent.
//
// # The remainders of the series
//
// On the sphere u = sin((chi-chi0)/2)/cos((chi+chi0)/2), which is analytic up to twice the distance
// from the centre to the pole; at complex latitudes within cos phi0 of phi0 its modulus is at most
// 0.55*cos phi0/sin(cos phi0 / 2) < 2. The ellipsoid changes that by less than a hundredth. So
// term k is at most 2.1*(delta/cos phi0)^k, and for |delta| <= nearLatitude*cos phi0 the terms from
// the 13th on sum to less than 6e-17. The latitude has its singularities where the hyperbolic
// tangent has a modulus of 1, and differs by less than 4 from phi0 within: the terms left out sum to
// less than 6e-17.
const (
	// nearLatitude bounds the latitude from the centre, in units of cos phi0, and the hyperbolic
	// tangent.
	nearLatitude = 0.05
	// nearLongitude bounds the longitude from the centre, in degrees, and nearTangent its tangent.
	nearLongitude = 3.5
	nearTangent   = 1. / 16
)

// A powerSeries has the coefficients of x^1, x^2, .., x^12.
type powerSeries [12]float64

// at returns the sum of the series. Its terms are added in pairs, for which processors need not wait.
func (c *powerSeries) at(x float64) float64 {
	x2 := x * x
	x4 := x2 * x2
	low := (c[0] + float64(x*c[1])) + float64(x2*(c[2]+float64(x*c[3])))
	middle := (c[4] + float64(x*c[5])) + float64(x2*(c[6]+float64(x*c[7])))
	high := (c[8] + float64(x*c[9])) + float64(x2*(c[10]+float64(x*c[11])))
	return x * (low + float64(x4*(middle+float64(x4*high))))
}

// product returns coefficient k of the product of two series that begin with x^0.
func product(a, b []float64, k int) (sum float64) {
	for i := range k + 1 {
		sum += float64(a[i] * b[k-i])
	}
	return sum
}

// halfTangent returns the series of u in degrees from a latitude. From
//
//	dpsi/dphi = (1-e^2) / ((1 - e^2*sin^2 phi)*cos phi)
//
// follows (1 - e^2*sin^2 phi)*cos phi * u' = (1-e^2)/2 * (1-u^2), which gives one coefficient
// after the other.
func halfTangent(sinPhi, cosPhi float64) (series powerSeries) {
	const n = len(series)
	var sin, cos, square, slope, u [n + 1]float64
	sin[0], cos[0] = sinPhi, cosPhi
	for k := range n {
		sin[k+1], cos[k+1] = cos[k]/float64(k+1), -sin[k]/float64(k+1)
	}
	power := 1.0
	for k := range n {
		square[k] = float64(-eccentricity2 * product(sin[:], sin[:], k))
		if k == 0 {
			square[k]++
		}
		slope[k] = product(square[:], cos[:], k)
		rest := -product(u[:], u[:], k)
		if k == 0 {
			rest++
		}
		rest *= (1 - eccentricity2) / 2
		for i := 1; i <= k; i++ {
			rest -= float64(slope[i] * float64(k+1-i) * u[k+1-i])
		}
		u[k+1] = rest / (float64(k+1) * slope[0])
		power *= radiansPerDegree
		series[k] = u[k+1] * power
	}
	return series
}

// latitudeFrom returns the series of the degrees from a latitude in m = tanh(psi-psi0). It solves
//
//	(1-m^2) * dphi/dm = (1 - e^2*sin^2 phi)*cos phi / (1-e^2).
func latitudeFrom(sinPhi, cosPhi float64) (series powerSeries) {
	const n = len(series)
	var sin, cos, square, slope [n + 1]float64
	sin[0], cos[0] = sinPhi, cosPhi
	for k := range n {
		square[k] = float64(-eccentricity2 * product(sin[:], sin[:], k))
		if k == 0 {
			square[k]++
		}
		slope[k] = product(square[:], cos[:], k) / (1 - eccentricity2)
		if k >= 2 {
			slope[k] += slope[k-2]
		}
		sin[k+1], cos[k+1] = product(cos[:], slope[:], k)/float64(k+1), -product(sin[:], slope[:], k)/float64(k+1)
		series[k] = slope[k] / float64(k+1) * degreesPerRadian
	}
	return series
}

// halfTan returns tan(l/2) for at most nearLongitude degrees. The remainder of the series is less than
// 1e-18.
func halfTan(degrees float64) float64 {
	const (
		r  = radiansPerDegree
		r2 = r * r
	)
	w := degrees * degrees
	return degrees * (r/2 + float64(w*(r*r2/24+float64(w*(r*r2*r2/240+float64(w*(r*r2*r2*r2*17/40320+float64(w*(r*r2*r2*r2*r2*31/725760)))))))))
}

// nearArctan returns the angle, in degrees, of a tangent of at most nearTangent. The remainder of the
// series is less than 1e-16.
func nearArctan(t float64) float64 {
	const d = degreesPerRadian
	w := t * t
	w2 := w * w
	return t * ((d - float64(w*(d/3))) + float64(w2*((d/5-float64(w*(d/7)))+float64(w2*((d/9-float64(w*(d/11)))+float64(w2*(d/13)))))))
}

// nearCentre holds the series of a frame.
type nearCentre struct {
	lat0        float64 // degrees
	most        float64 // degrees of latitude from lat0
	halfTangent powerSeries
	latitude    powerSeries
}

func newNearCentre(lat0 float64) nearCentre {
	sin, cos := sincos(lat0)
	return nearCentre{lat0, nearLatitude * cos * degreesPerRadian, halfTangent(sin, cos), latitudeFrom(sin, cos)}
}
