package planar

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/elementary"
)

// A Law says how far the noise of a mechanism moves a location in the plane, at any
// epsilon. It is that of the continuous mechanism. If its unit is [budget.SquareMetre],
// epsilon means a rho per square metre here.
type Law struct {
	name     string
	unit     budget.Unit             // that epsilon is per
	cdf      func(x float64) float64 // of the rate times the distance, for x > 0
	quantile func(p float64) float64 // its inverse, for p in [0, 1)
	mean     float64
	exponent func(x, y float64) float64 // the density at rate times a displacement is proportional to e^-exponent
	coarse   float64                    // steps that a lattice adds to a radius beyond half a cell's diagonal
}

// rate returns epsilon per metre, or the root of a rho per square metre: the noise is 1/rate
// times as wide as the law says.
func (w *Law) rate(eps float64) float64 {
	if w.unit == budget.SquareMetre {
		return math.Sqrt(eps)
	}
	return eps
}

// LaplaceLaw is the law of the planar Laplace mechanism (thesis, section 5.2.1): within r
// metres of the location lies a report with probability
//
//	C(r) = 1 - (1 + eps*r)*exp(-eps*r),
//
// the cdf of the Gamma distribution of shape 2 and rate eps per metre.
var LaplaceLaw = &Law{name: "planar Laplace mechanism", unit: budget.Metre, cdf: gamma2, quantile: gamma2Quantile, mean: 2, exponent: norm2}

// norm2 is written with a square root, which is the same number on every platform.
func norm2(x, y float64) float64 { return math.Sqrt(float64(x*x) + float64(y*y)) }

// String returns the name of the mechanism, as in "the planar Laplace mechanism".
func (w *Law) String() string { return w.name }

// Unit returns the unit of epsilon.
func (w *Law) Unit() budget.Unit { return w.unit }

// Plane returns the accuracy of the continuous mechanism at eps per unit.
func (w *Law) Plane(eps float64) Accuracy { return Accuracy{law: w, rate: w.rate(eps)} }

// On returns the accuracy of the mechanism of a domain at eps per unit, in metres along the
// ellipsoid.
func (w *Law) On(d *Domain, eps *big.Rat) Accuracy {
	e, _ := eps.Float64()
	return Accuracy{law: w, rate: w.rate(e) / (1 + d.kappa), domain: d}
}

// An Accuracy says how far from its location a report is, in metres: in the plane, or along
// the ellipsoid for all locations of a domain's box. Reports are those before a region
// moves them. If the region contains the location's lattice point, a moved report is at
// most twice as far from that point as the drawn one.
type Accuracy struct {
	law    *Law
	rate   float64 // per metre of the plane, or of the domain's frame
	domain *Domain // nil: the continuous mechanism in the plane
}

// Law returns the law of the noise.
func (a Accuracy) Law() *Law { return a.law }

// Radius returns a radius within which a report lies with probability p in [0, 1): the
// quantile in the plane, and on a domain a bound,
//
//	(quantile in the frame + half a cell's diagonal) / scale + 8 mm.
//
// The half diagonal covers the rounding of the location as well as the lattice: for every
// location in a cell and every r,
//
//	P(|z - location| > r + step/sqrt 2) <= 1 - C(r).
//
// This is not proved, but verified by exact lattice sums for rates from 0.05 to 8
// per step (TestHalfDiagonalBoundsLattice), where half of that shift is not
// enough; finer lattices only come closer to the plane. [GaussLaw] needs a little more where
// the noise is narrower than a step (TestHalfDiagonalBoundsLatticeUnderGauss). Scale is the smallest
// point scale of the frame where the report lies, and 8 mm is the rounding to 7
// decimals.
//
// Radius returns an error if p is out of range, epsilon is not positive and finite, or the
// radius overflows.
func (a Accuracy) Radius(p float64) (float64, error) {
	if !(a.rate > 0) || math.IsInf(a.rate, 0) {
		return 0, errors.New("epsilon must be positive and finite")
	}
	if !(p >= 0 && p < 1) {
		return 0, errors.New("must be at least 0 and less than 1")
	}
	r, err := finite(a.law.quantile(p) / a.rate)
	if d := a.domain; d != nil && err == nil {
		r += a.onLattice()
		r, err = finite(r/d.frame.minScale(d.reach+r) + printError)
	}
	return r, err
}

// Confidence returns the probability that a report lies within r metres of its location,
// on a domain a lower bound: the inverse of Radius, and 0 below its least value. It is NaN
// unless epsilon is above 0.
func (a Accuracy) Confidence(r float64) float64 {
	if d := a.domain; d != nil {
		r = d.frameRadius(r-printError) - a.onLattice()
	}
	switch {
	case !(a.rate > 0):
		return math.NaN()
	case r <= 0:
		return 0
	}
	return a.law.cdf(min(a.rate*r, math.MaxFloat64)) // the product may overflow
}

// EpsilonFor returns the smallest epsilon per unit at which the mechanism's Radius(p) is at
// most radius, as [budget.LeastEpsilon] rounds it up: that of the continuous mechanism, or
// with d that on a domain. It returns an error if p is out of range, or if the largest
// epsilon has a larger radius, because of the lattice.
func (w *Law) EpsilonFor(d *Domain, radius, p float64) (*big.Rat, error) {
	at := func(eps *big.Rat) (float64, error) {
		if d != nil {
			return w.On(d, eps).Radius(p)
		}
		e, _ := eps.Float64()
		return w.Plane(e).Radius(p)
	}
	least, err := at(budget.Max.Rat())
	if err != nil {
		return nil, err
	}
	eps, ok := budget.LeastEpsilon(func(eps *big.Rat) bool {
		r, err := at(eps)
		return err == nil && r <= radius
	})
	if !ok {
		return nil, fmt.Errorf("must be at least %v: no epsilon up to %v allows less", least, budget.Max)
	}
	return eps, nil
}

// Exponent returns how much less likely a report is, as a natural logarithm, at x metres to the east and y to the north of
// a location's lattice point than at that point, in metres of the domain's frame. On the lattice it is exact.
func (a Accuracy) Exponent(x, y float64) float64 {
	return a.law.exponent(float64(a.rate*x), float64(a.rate*y))
}

// Reach returns a distance in the frame beyond which the continuous mechanism reports with probability 1-p, and the width of
// its noise, one divided by the rate.
func (a Accuracy) Reach(p float64) (reach, width float64) {
	return a.law.quantile(p) / a.rate, 1 / a.rate
}

// Mean returns how far from its location a report is on average, on a domain up to the
// scale of its frame.
func (a Accuracy) Mean() float64 {
	mean := a.law.mean / a.rate
	if a.domain != nil {
		mean += a.onLattice()
	}
	return mean
}

// RetrievalRadius returns the radius of retrieval, in metres, that contains the area of
// interest of the given radius with probability confidence: interest + Radius(confidence)
// (thesis, proposition 5.1). It is fixed before anything is drawn. A radius that depends on
// the distance of the report from the location would reveal the location.
func (a Accuracy) RetrievalRadius(confidence, interest float64) (float64, error) {
	r, err := a.Radius(confidence)
	if err != nil {
		return 0, err
	}
	if !(interest >= 0) {
		return 0, errors.New("radius must not be negative")
	}
	return finite(interest + r)
}

// finite returns r, or an error if it overflowed.
func finite(r float64) (float64, error) {
	if math.IsInf(r, 0) {
		return 0, errors.New("the radius is too large to be a number")
	}
	return r, nil
}

// printError bounds, in metres, how far rounding to 7 decimals moves a point:
// half of 1e-7 degree at the equator, and the same on the meridian at a pole,
// where the radius of curvature is 6399594 m.
const printError = 0.0079

func (d *Domain) halfDiagonal() float64 { return d.step / math.Sqrt2 }

// onLattice returns the addition of the lattice to a radius in the frame.
func (a Accuracy) onLattice() float64 {
	return a.domain.halfDiagonal() + float64(a.law.coarse*a.domain.step)
}

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
		return 1 - float64((1+x)*elementary.Exp(-x))
	}
	sum, term := 0.0, x*x/2
	for k := 3.0; term > sum*0x1p-54; k++ {
		sum += term
		term *= x / k
	}
	return elementary.Exp(-x) * sum
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
			x -= (gamma2(x) - p) / (x * elementary.Exp(-x))
		}
		return x
	}
	level := -elementary.Log1p(-p)
	x := 1 + level
	for range 8 {
		x -= (x - elementary.Log1p(x) - level) * (1 + x) / x
	}
	return x
}
