package report

import (
	"math"
	"slices"
)

const (
	// nearFactor and farFactor are the factors between which the table of distances
	// shows how a guarantee fades.
	nearFactor, farFactor = 1.2, 100
	// certain is the factor from which on a page says that two places can be told
	// apart.
	certain = 1000
	// vast is the factor from which on only its magnitude is printed.
	vast = 1_000_000
)

// A guarantee says what planar Laplace noise of epsilon per metre on a lattice
// promises: the probabilities of any released location given two raw ones d metres
// apart differ by a factor of at most
//
//	exp(epsilon*(d + step*sqrt 2))
//
// (Bordenabe, Measuring Privacy with Distinguishability Metrics, 2014, section 5.1,
// with the diagonal of a lattice cell, for both are first moved to the lattice).
type guarantee struct{ epsilon, step float64 }

// exponent returns the logarithm of the factor for n locations of an account, each at
// most d metres from its counterpart.
func (g guarantee) exponent(d float64, n int) float64 {
	return float64(n) * g.epsilon * (d + g.step*math.Sqrt2)
}

// A distinction is what a guarantee comes to at a distance.
type distinction struct {
	Distance string
	Factor   string // rounded up
	Share    string // of somebody who thought both equally likely, rounded up
	Asked    bool   // the radius that was asked for
}

func (g guarantee) at(distance float64, n int) distinction {
	exponent := g.exponent(distance, n)
	// A factor stands for odds of factor : 1, hence a share of factor/(1+factor).
	share := math.Ceil(1000/(1+math.Exp(-exponent))) / 1000
	return distinction{Distance: exactLength(distance), Factor: factorAtMost(exponent), Share: percent(share)}
}

// factorAtMost prints a bound that is not below exp(exponent), a large one as a power
// of ten.
func factorAtMost(exponent float64) string {
	if exponent < math.Log(vast) {
		return atMost(math.Exp(exponent))
	}
	return "10" + superscript(math.Ceil(exponent/math.Ln10))
}

// table returns how the guarantee fades with the distance, with the radius that was
// asked for; 0 when none was.
func (g guarantee) table(radius float64) []distinction {
	var distances []float64
	for d := roundUp(math.Log(nearFactor)/g.epsilon, 1, 2, 5); d*g.epsilon < math.Log(farFactor); d = roundUp(d*1.5, 1, 2, 5) {
		distances = append(distances, d)
	}
	if radius != 0 && !slices.Contains(distances, radius) {
		distances = append(distances, radius)
		slices.Sort(distances)
	}
	var table []distinction
	for _, d := range distances {
		row := g.at(d, 1)
		row.Asked = d == radius
		table = append(table, row)
	}
	return table
}

// example returns the distance in metres that the page speaks of: the radius that was
// asked for, or one within which a factor of about three is promised.
func (g guarantee) example(radius float64) float64 {
	if radius != 0 {
		return radius
	}
	return roundUp(math.Log(2)/g.epsilon, 1, 2, 5)
}

// told returns a round distance from which on the guarantee allows that two locations
// are told apart.
func (g guarantee) told() float64 {
	return roundUp(math.Log(certain)/g.epsilon, 1, 1.5, 2, 3, 4, 5, 6, 8)
}
