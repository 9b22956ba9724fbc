package planar

import (
	"errors"
	"math/big"

	"github.com/geosql/geosql/mechanism/exact"
)

// A Laplace is the planar Laplace mechanism of one domain at one epsilon. It is
// immutable and safe for concurrent use with a Source per goroutine.
type Laplace struct {
	domain   *Domain
	rate     float64 // per lattice step, a rational number
	proposal float64 // rate of the proposals, below rate/sqrt 2
	axis     exact.DiscreteLaplace
}

// Laplace returns the mechanism that spends eps per metre, eps > 0. Its rate per
// lattice step is the largest float64 not above eps*step/(1+kappa), so that the
// bound of the package comment holds in metres along the ellipsoid.
func (d *Domain) Laplace(eps *big.Rat) (*Laplace, error) {
	if eps.Sign() <= 0 {
		return nil, errors.New("epsilon must be positive")
	}
	perStep := new(big.Rat).Mul(eps, new(big.Rat).SetFloat64(d.step))
	stretch := new(big.Rat).SetFloat64(d.kappa)
	stretch.Add(stretch, big.NewRat(1, 1))
	rate, err := exact.RateFloor(perStep.Quo(perStep, stretch))
	if err != nil {
		return nil, err
	}
	proposal := proposalShare * rate
	axis, err := exact.NewDiscreteLaplace(proposal)
	if err != nil {
		return nil, err
	}
	return &Laplace{domain: d, rate: rate, proposal: proposal, axis: axis}, nil
}

// proposalShare is below 1/sqrt 2 by more than a float64 product can round up:
// 0.7071067^2 < 0.49999989.
const proposalShare = 0.7071067

// Draw reports a location, in degrees, for the secret location lat, lon: the
// lattice point of the secret plus noise, moved to the nearest admissible point
// when the domain has a region. lat must be within 90 and lon within 180 degrees
// of 0. The result is rounded to 7 decimals, lat in [-90, 90] and lon in
// [-180, 180]. It panics only when the source's entropy fails.
//
// # Privacy
//
// Let x, x' be the lattice points of two secrets and z a drawn point. The noise
// has probability exp(-rate*|z-x|)/S, where S = sum of exp(-rate*|k|) over all
// of Z^2 does not depend on x, so by the triangle inequality the probabilities of
// z differ by a factor of at most exp(rate*|x-x'|), in the tails as in the centre
// (the Laplace mechanism of the thesis, section 4.2.1, with nothing lost to its
// normaliser). What follows is a function of z. Then rate <= eps*step/(1+kappa)
// and step*|x-x'| <= (1+kappa)*(d + step*sqrt 2) give eps*(d + step*sqrt 2) for
// secrets d metres apart.
func (l *Laplace) Draw(src *exact.Source, lat, lon float64) (zlat, zlon float64) {
	x := l.domain.round(lat, lon)
	z := x.add(l.noise(src))
	return l.domain.print(l.domain.admissible(z)).degrees()
}

// noise draws (i, j) with probability proportional to exp(-rate*sqrt(i^2+j^2)).
//
// Two independent discrete Laplace variates of rate a propose it with probability
// proportional to exp(-a*(|i|+|j|)); accepting with probability
//
//	exp(-(rate*sqrt(i^2+j^2) - a*(|i|+|j|)))
//
// leaves the product, which is the law wanted. It is a probability because
// |i|+|j| <= sqrt 2 * sqrt(i^2+j^2) and a*sqrt 2 <= rate. About pi/4 of the
// proposals are accepted. A rejected proposal is discarded whole and depends on
// no secret.
func (l *Laplace) noise(src *exact.Source) (i, j int64) {
	for {
		i, j = l.axis.Draw(src), l.axis.Draw(src)
		if src.BernoulliExpL2(l.rate, l.proposal, i, j) {
			return i, j
		}
	}
}

// admissible returns the nearest point to c that may be reported.
func (d *Domain) admissible(c cell) cell {
	if d.region == nil {
		return c
	}
	return d.region.nearest(c)
}
