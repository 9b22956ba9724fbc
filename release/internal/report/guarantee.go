package report

import (
	"math"
	"slices"
)

const (
	// nearFactor and farFactor are the factors between which the table of distances
	// shows how a guarantee weakens.
	nearFactor, farFactor = 1.2, 100
	// certain is the factor from which a page calls two places distinguishable.
	certain = 1000
	// vast is the factor from which only the magnitude is printed.
	vast = 1_000_000
)

// A guarantee is the promise of noise of epsilon per metre on a lattice. Any released
// location is at most
//
//	exp(epsilon*(d + step*sqrt 2))
//
// times as likely from one location as from another d metres away (Bordenabe, Measuring
// Privacy with Distinguishability Metrics, 2014, section 5.1). The diagonal of a lattice
// cell is added because both locations are first moved to the lattice.
type guarantee struct{ epsilon, step float64 }

// exponent returns the logarithm of the factor for n locations of an account, each at
// most d metres from its counterpart.
func (g guarantee) exponent(d float64, n int) float64 {
	return float64(n) * g.epsilon * (d + g.step*math.Sqrt2)
}

// A distinction is the meaning of a guarantee at a distance.
type distinction struct {
	Distance string
	Factor   string // rounded up
	Share    string // greatest posterior probability if both were equally likely, rounded up
	Asked    bool   // whether the distance is the requested radius
}

func (g guarantee) at(distance float64, n int) distinction {
	exponent := g.exponent(distance, n)
	// Odds of factor : 1 are a probability of factor/(1+factor).
	share := math.Ceil(1000/(1+math.Exp(-exponent))) / 1000
	return distinction{Distance: exactLength(distance), Factor: factorAtMost(exponent), Share: percent(share)}
}

// factorAtMost formats a bound that is at least exp(exponent). It formats large bounds as
// powers of ten.
func factorAtMost(exponent float64) string {
	if exponent < math.Log(vast) {
		return atMost(math.Exp(exponent))
	}
	return "10" + superscript(math.Ceil(exponent/math.Ln10))
}

// table returns how the guarantee weakens with the distance. The table includes the
// requested radius, unless that is 0.
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

// example returns the distance in metres of the page's example: the requested radius, or
// else a distance at which the factor is at least two and below six.
func (g guarantee) example(radius float64) float64 {
	if radius != 0 {
		return radius
	}
	return roundUp(math.Log(2)/g.epsilon, 1, 2, 5)
}

// distinguishable returns a round distance from which the guarantee allows two locations to be
// distinguished.
func (g guarantee) distinguishable() float64 {
	return roundUp(math.Log(certain)/g.epsilon, 1, 1.5, 2, 3, 4, 5, 6, 8)
}
