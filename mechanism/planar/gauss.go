package planar

import (
	"fmt"
	"math"
	"math/big"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/elementary"
	"github.com/geosql/geosql/mechanism/exact"
)

func init() {
	register("gauss", GaussLaw, func(d *Domain, rho *big.Rat) (Mechanism, error) { return d.Gauss(rho) })
}

// A Gauss is the planar discrete Gaussian mechanism of one domain at one rho, a [Mechanism]:
// its noise on the two axes of the lattice is independent and discrete Gaussian (Canonne,
// Kamath and Steinke, The Discrete Gaussian for Differential Privacy, 2020). It keeps no
// epsilon. It promises a bound on the Rényi divergence of every order, and such
// bounds add up to less than epsilons do: see [budget.Delta]. It is immutable and safe for
// concurrent use with a Source per goroutine.
//
// [Gaussian] is another law, of a real number on unrounded locations.
type Gauss struct {
	onLattice
	axis exact.DiscreteGaussian
}

// Gauss returns the mechanism that spends rho per square metre, above 0 and at most
// [budget.Max]. Its rate per squared step is the largest float64 not above
// rho*(step/(1+kappa))^2: a deviation of at least 1/sqrt(2*rho) metres on each axis.
func (d *Domain) Gauss(rho *big.Rat) (*Gauss, error) {
	if most := budget.Max; rho.Cmp(most.Rat()) > 0 {
		return nil, fmt.Errorf("rho must be at most %v", most)
	}
	m, err := newOnLattice(d, rho, GaussLaw)
	if err != nil {
		return nil, err
	}
	rate, err := exact.RateFloor(d.perStep(d.perStep(rho)))
	if err != nil {
		return nil, fmt.Errorf("rho is too small: %w", err)
	}
	axis, err := exact.NewDiscreteGaussian(rate)
	if err != nil {
		return nil, fmt.Errorf("rho is too small for a step of %v m: %w", d.step, err)
	}
	return &Gauss{m, axis}, nil
}

// Draw returns a released location for the secret location lat, lon, both in degrees: the
// lattice point of the secret plus noise, moved to the nearest admissible point if the
// domain has a region. Ranges and rounding are those of [Laplace.Draw]. Draw panics only if
// the source's entropy fails.
//
// # Privacy
//
// Let x, x' be the lattice points of two secrets. On each axis the noise is discrete
// Gaussian, so that a shift by n steps has a Rényi divergence of at most a*rate*n^2 for
// every order a > 1, as is proved at [exact.DiscreteGaussian]. The axes are independent, so
// their divergences add, up to a*rate*|x-x'|^2. All that follows is a function of the drawn
// point, which increases no divergence: saturation, the move into the region and rounding.
// Then rate <= rho*(step/(1+kappa))^2 and step*|x-x'| <= (1+kappa)*(d + step*sqrt 2) give
//
//	a*rho*(d + step*sqrt 2)^2
//
// for secrets d metres apart.
//
// For releases one after the other let D be the largest move plus a cell's diagonal, and P
// and Q the laws of the answers so far in two worlds. Given the earlier answers, each next
// release multiplies the expectation under Q of (P/Q)^a by at most e^((a-1)*a*rho*D^2), even
// if its rho depends on them. So where the sum of all rho never exceeds a limit, the
// divergence of all answers is at most a*limit*D^2 (Feldman and Zrnic, Individual Privacy
// Accounting via a Rényi Filter, 2021). A sum that is fixed beforehand is its own limit.
func (g *Gauss) Draw(src *exact.Source, lat, lon float64) (zlat, zlon float64) {
	z := g.domain.Cell(lat, lon).add(g.axis.Draw(src), g.axis.Draw(src))
	return g.domain.Location(g.domain.Admissible(z))
}

// GaussLaw is the law of the planar Gaussian mechanism: within r metres of the location lies
// a report with probability
//
//	1 - exp(-rho*r^2),
//
// the Rayleigh distribution of sigma = 1/sqrt(2*rho).
var GaussLaw = &Law{
	name:     "planar Gaussian mechanism",
	unit:     budget.SquareMetre,
	cdf:      func(x float64) float64 { return -elementary.Expm1(-x * x) },
	quantile: func(p float64) float64 { return math.Sqrt(-elementary.Log1p(-p)) },
	mean:     math.SqrtPi / 2,
	exponent: func(x, y float64) float64 { return float64(x*x) + float64(y*y) },
	coarse:   0.013,
}
