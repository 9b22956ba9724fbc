package planar

import (
	"errors"
	"math"
	"math/big"
)

// Confidence returns the probability that the continuous planar Laplace mechanism
// reports a point within r metres of the location (thesis, section 5.2.1),
//
//	C(r) = 1 - (1 + eps*r)*exp(-eps*r),
//
// the cdf of the Gamma distribution of shape 2 and rate eps per metre. It is NaN
// unless eps > 0, and 0 for r <= 0.
func Confidence(eps, r float64) float64 {
	switch {
	case !(eps > 0):
		return math.NaN()
	case r <= 0:
		return 0
	}
	return gamma2(min(eps*r, math.MaxFloat64)) // the product may overflow
}

// Radius returns the radius in metres within which the continuous planar Laplace
// mechanism stays with probability p in [0, 1): the inverse of Confidence. It returns
// an error if p is out of range, eps is not positive and finite, or the radius
// overflows.
func Radius(eps, p float64) (float64, error) {
	if !(eps > 0) || math.IsInf(eps, 0) {
		return 0, errors.New("epsilon must be positive and finite")
	}
	if !(p >= 0 && p < 1) {
		return 0, errors.New("must be at least 0 and less than 1")
	}
	return finite(gamma2Quantile(p) / eps)
}

// finite returns r, or an error if it overflowed.
func finite(r float64) (float64, error) {
	if math.IsInf(r, 0) {
		return 0, errors.New("the radius is too large to be a number")
	}
	return r, nil
}

// RetrievalRadius returns the radius of retrieval, in metres, that contains the
// area of interest of the given radius with probability confidence: interest +
// C^-1(confidence) (thesis, proposition 5.1). It is fixed before anything is
// drawn; a radius that depends on the distance of the report from the location
// would reveal the location.
func RetrievalRadius(eps, confidence, interest float64) (float64, error) {
	r, err := Radius(eps, confidence)
	if err != nil {
		return 0, err
	}
	return retrieval(interest, r)
}

func retrieval(interest, r float64) (float64, error) {
	if !(interest >= 0) {
		return 0, errors.New("radius must not be negative")
	}
	return finite(interest + r)
}

// printError bounds, in metres, how far rounding to 7 decimals moves a point:
// half of 1e-7 degree at the equator, and the same on the meridian at a pole,
// where the radius of curvature is 6399594 m.
const printError = 0.0079

// Radius returns a radius, in metres along the ellipsoid, within which the
// mechanism of this domain at eps per metre reports any location of the box with
// probability at least p in [0, 1):
//
//	(C^-1(p) at eps/(1+kappa) + half a cell's diagonal) / scale + 8 mm.
//
// The first term is the continuous mechanism in the frame. The half diagonal
// covers the rounding of the location as well as the lattice: for every location
// in a cell and every r,
//
//	P(|z - location| > r + step/sqrt 2) <= 1 - C(r).
//
// This is not proved, but verified by exact lattice sums for rates from 0.05 to 8
// per step (TestHalfDiagonalBoundsLattice), where half of that shift is not
// enough; finer lattices only come closer to the plane. Scale is the smallest
// point scale of the frame where the report lies, and 8 mm is the rounding to 7
// decimals.
//
// The radius holds for reports before a region moves them. If the region contains the
// location's lattice point, a moved report is at most twice as far from that point as
// the drawn one.
func (d *Domain) Radius(eps *big.Rat, p float64) (float64, error) {
	r, err := Radius(d.frameEpsilon(eps), p)
	if err != nil {
		return 0, err
	}
	r += d.halfDiagonal()
	return finite(r/d.frame.minScale(d.reach+r) + printError)
}

// Confidence returns a lower bound of the probability that a report lies within r
// metres of its location, for any location of the box: the inverse of Radius, and 0
// below its least value.
func (d *Domain) Confidence(eps *big.Rat, r float64) float64 {
	return Confidence(d.frameEpsilon(eps), d.frameRadius(r-printError)-d.halfDiagonal())
}

// RetrievalRadius returns what the function of that name does, for the mechanism of
// this domain.
func (d *Domain) RetrievalRadius(eps *big.Rat, confidence, interest float64) (float64, error) {
	r, err := d.Radius(eps, confidence)
	if err != nil {
		return 0, err
	}
	return retrieval(interest, r)
}

// frameEpsilon returns epsilon per metre of the frame.
func (d *Domain) frameEpsilon(eps *big.Rat) float64 {
	e, _ := eps.Float64()
	return e / (1 + d.kappa)
}

func (d *Domain) halfDiagonal() float64 { return d.step / math.Sqrt2 }

// frameRadius solves q/minScale(reach+q) = r for q. minScale varies by 0.4 % over
// the Earth, so the iteration gains at least two digits a round.
func (d *Domain) frameRadius(r float64) float64 {
	q := r
	for range 8 {
		q = r * d.frame.minScale(d.reach+max(0, q))
	}
	return q
}

// gamma2 returns 1 - (1+x)*exp(-x) for x >= 0: for small x as exp(-x) times the
// exponential series from x^2/2 on, which has no cancellation.
func gamma2(x float64) float64 {
	if x > 1 {
		return 1 - (1+x)*math.Exp(-x)
	}
	sum, term := 0.0, x*x/2
	for k := 3.0; term > sum*0x1p-54; k++ {
		sum += term
		term *= x / k
	}
	return math.Exp(-x) * sum
}

// gamma2Quantile returns the inverse of gamma2 at p in [0, 1), which is
// -W((p-1)/e) - 1 with W the branch -1 of Lambert's function, by Newton's method.
// The equation is solved in a form that loses no digits: as it stands if p is small,
// and otherwise in logarithms, x - ln(1+x) = -ln(1-p). Both sides are convex in x where
// they are used, so the iteration descends onto the root from its first step on, and
// eight steps reach it from these starts.
func gamma2Quantile(p float64) float64 {
	if p == 0 {
		return 0
	}
	if p < 0.25 {
		w := math.Sqrt(2 * p)
		x := w + w*w/3
		for range 8 {
			x -= (gamma2(x) - p) / (x * math.Exp(-x))
		}
		return x
	}
	level := -math.Log1p(-p)
	x := 1 + level
	for range 8 {
		x -= (x - math.Log1p(x) - level) * (1 + x) / x
	}
	return x
}
