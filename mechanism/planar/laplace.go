package planar

import (
	"math/big"

	"github.com/geosql/geosql/mechanism/exact"
)

func init() {
	register("laplace", LaplaceLaw, func(d *Domain, eps *big.Rat) (Mechanism, error) { return d.Laplace(eps) })
}

// A Laplace is the planar Laplace mechanism of one domain at one epsilon, a [Mechanism]. An answer is at most e^(eps*d) times as likely from one place as
// from another d metres away, up to a cell's diagonal. It is immutable and safe for
// concurrent use with a Source per goroutine.
type Laplace struct {
	onLattice
	noise Noise
}

// Laplace returns the mechanism that spends eps per metre, above 0 and at most
// [budget.Max]. Its rate per lattice step is the largest float64 not above
// eps*step/(1+kappa), so that the bound of the package comment holds in metres along
// the ellipsoid.
func (d *Domain) Laplace(eps *big.Rat) (*Laplace, error) {
	m, err := newOnLattice(d, eps, LaplaceLaw)
	if err != nil {
		return nil, err
	}
	rate, err := d.rate(eps)
	if err != nil {
		return nil, err
	}
	noise, err := newNoise(rate)
	if err != nil {
		return nil, err
	}
	return &Laplace{m, noise}, nil
}

// rate returns the largest float64 not above eps*step/(1+kappa).
func (d *Domain) rate(eps *big.Rat) (float64, error) { return exact.RateFloor(d.perStep(eps)) }

// perStep returns x*step/(1+kappa).
func (d *Domain) perStep(x *big.Rat) *big.Rat {
	product := new(big.Rat).Mul(x, new(big.Rat).SetFloat64(d.step))
	stretch := new(big.Rat).SetFloat64(d.kappa)
	stretch.Add(stretch, big.NewRat(1, 1))
	return product.Quo(product, stretch)
}

// Draw returns a released location for the secret location lat, lon, both in degrees:
// the lattice point of the secret plus noise, moved to the nearest admissible point if
// the domain has a region. lat must be within 90 and lon within 180 degrees of 0. The
// result is rounded to 7 decimals, lat in [-90, 90] and lon in [-180, 180]. Draw panics
// only if the source's entropy fails.
//
// # Privacy
//
// Let x, x' be the lattice points of two secrets and z a drawn point. The noise
// has probability exp(-rate*|z-x|)/S, where S = sum of exp(-rate*|k|) over all
// of Z^2 does not depend on x, so by the triangle inequality the probabilities of
// z differ by a factor of at most exp(rate*|x-x'|), in the tails as in the centre
// (the Laplace mechanism of the thesis, section 4.2.1, with nothing lost to its
// normaliser). All that follows is a function of z. Then rate <= eps*step/(1+kappa)
// and step*|x-x'| <= (1+kappa)*(d + step*sqrt 2) give eps*(d + step*sqrt 2) for
// secrets d metres apart.
func (l *Laplace) Draw(src *exact.Source, lat, lon float64) (zlat, zlon float64) {
	z := l.noise.Draw(src, l.domain.Cell(lat, lon))
	return l.domain.Location(l.domain.Admissible(z))
}
