package planar

import "math"

const (
	// maxKappa is the over-stretching beyond which a box is refused.
	maxKappa = 0.10

	// projectionError bounds, in metres, how far the float64 image of a
	// location in a box, taken in steps times the step, lies from the
	// exact one. Angles of up to 360 degrees carry 3e-14 degrees of rounding
	// and each of some twenty operations on numbers up to 1 adds at most one
	// part in 2^53, times a diameter of 1.3e7 m: a few times 1e-8 m. TestFilters
	// proves the bound, with fused operations too. Against 50-digit arithmetic
	// the error is below 1e-8 m (TestProjectionGolden).
	projectionError = 1e-7
)

// fitTo sets the frame's diameter for a box and returns
//
//	reach  radius in metres of the disc about the frame's centre that holds the
//	       box,
//	kappa  such that, for all points p, q of the box,
//	       |F(p) - F(q)| <= (1+kappa) * geodesic distance(p, q),
//	       F being the exact projection.
//
// Proof. Let a and b be the ellipsoid's semi-axes, m = sphereScale, and m1 its
// value at a pole, so that 1 <= m <= m1 everywhere. Lengths on the sphere are in
// radians.
//
//  1. The box lies in the spherical cap c <= c0, the largest c over its four
//     corners: cos c = sin chi0*sin chi + cos chi0*cos chi*cos l falls as |l|
//     grows to 180 degrees, so the largest c over a parallel is at the sides; on
//     a side it is A*cos(chi - t) with A >= 0 and |t| <= 90 degrees (the box is
//     at most 180 degrees wide, so cos l >= 0), hence |chi - t| <= 180 degrees,
//     and the smallest value over an interval of chi is at one of its ends.
//  2. The great circle from the centre to a point of the box is on the
//     ellipsoid a curve no longer than c0*a, because m >= 1: the closed geodesic
//     ball B of radius c0*a about the centre contains the box.
//  3. The Gaussian curvature (1 - e^2*sin^2 phi)^2/b^2 is positive and at most
//     1/b^2. By Klingenberg the injectivity radius is then at least pi*b, and by
//     Whitehead a ball of radius below pi*b/2 is strongly convex (Cheeger and
//     Ebin, Comparison Theorems in Riemannian Geometry, theorems 5.9 and 5.14): a
//     shortest geodesic between two points of B stays in B. The radius is
//     checked below.
//  4. A curve that starts in the centre and is no longer than c0*a on the
//     ellipsoid is no longer than c0*m1 on the sphere. So B lies in the cap
//     c <= c1 = c0*m1.
//  5. In this cap k <= kmax, the largest m over its latitudes divided by
//     cos^2(c1/2), times diameter/2a; a shortest geodesic between points of the
//     box has an image no longer than kmax times its length, and the distance
//     in the plane is no longer than that.
//
// Over the cap the scale also is at least kmin, the smallest m over its
// latitudes times diameter/2a. The diameter makes kmin*kmax = 1.
func (f *frame) fitTo(corners [4][2]float64) (reach, kappa float64) {
	c0 := 0.0
	for _, p := range corners {
		x, y := f.project(p[0], p[1])
		c0 = max(c0, f.angle(math.Sqrt(float64(x*x)+float64(y*y))))
	}
	if c0*equatorialRadius >= 90*polarRadius {
		return math.Inf(1), math.Inf(1)
	}
	c1 := c0 * sphereScale(1)
	low, high := f.scaleRange(c1)
	_, cos1 := sincos(c1 / 2)
	spread := math.Sqrt(high/low) / cos1
	f.diameter = 2 * equatorialRadius / (low * spread)
	sin, cos := sincos(c0 / 2)
	return f.diameter * (sin / cos), spread - 1
}

// scaleRange returns the smallest and the largest sphereScale over the cap of
// angular radius c about the centre. It grows with the latitude's modulus.
func (f *frame) scaleRange(c float64) (low, high float64) {
	at := func(chi float64) float64 {
		sinPhi, _ := sincos(latitude(sincos(chi)))
		return sphereScale(sinPhi)
	}
	chi := math.Abs(f.chi0)
	return at(max(0, chi-c)), at(min(90, chi+c))
}

// minScale returns the smallest point scale over the disc of radius r metres
// about the frame's centre. A disc is convex, so points of it that are s metres
// apart in the frame are at most s/minScale(r) metres apart on the ellipsoid.
func (f *frame) minScale(r float64) float64 {
	low, _ := f.scaleRange(f.angle(r))
	return f.diameter / (2 * equatorialRadius) * low
}
