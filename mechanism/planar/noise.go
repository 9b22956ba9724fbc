package planar

import (
	"fmt"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
)

// Noise is the planar Laplace law on the lattice at one rate. It is cheap to make: a
// mechanism that spends a different epsilon at every step makes one for each.
// [Domain.Noise] returns one.
type Noise struct {
	rate     float64 // per lattice step, a rational number
	proposal float64 // rate of the proposals, below rate/sqrt 2
	law      exact.PlanarLaplace
}

// Rate returns the rate per lattice step that eps > 0 per metre pays for: not above
// eps*step/(1+kappa), and less than 2^-49 of it below. A mechanism that is
// exp(rate*|x-x'|)-private on the lattice spends no more than eps per metre along the
// ellipsoid, as the proof at [Laplace.Draw] shows.
func (d *Domain) Rate(eps budget.Amount) float64 {
	return exact.RateTimes(d.quantumRate, int64(eps))
}

// Noise returns the law that spends eps per metre. It panics unless eps > 0: a draw
// without noise would report the secret.
func (d *Domain) Noise(eps budget.Amount) Noise {
	n, err := newNoise(d.Rate(eps))
	if err != nil {
		panic(fmt.Sprintf("planar: noise of epsilon %v: %v", eps, err))
	}
	return n
}

// newNoise returns an error if the rate is not positive and finite, or so small that the
// rate of the proposals underflows.
func newNoise(rate float64) (Noise, error) {
	proposal := proposalShare * rate
	law, err := exact.NewPlanarLaplace(rate, proposal)
	if err != nil {
		return Noise{}, err
	}
	return Noise{rate: rate, proposal: proposal, law: law}, nil
}

// proposalShare is below 1/sqrt 2 by more than a float64 product can round up:
// 0.7071067^2 < 0.49999989.
const proposalShare = 0.7071067

// Draw returns the lattice point x plus noise, before a region moves it: z with
// probability proportional to exp(-rate*|z-x|), saturated after the draw.
func (n *Noise) Draw(src *exact.Source, x Cell) Cell { return x.add(n.offset(src)) }

// offset draws (i, j) with probability proportional to exp(-rate*sqrt(i^2+j^2)).
func (n *Noise) offset(src *exact.Source) (i, j int64) { return n.law.Draw(src) }
