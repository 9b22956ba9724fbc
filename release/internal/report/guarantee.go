package report

import (
	"math"
	"math/big"
	"slices"

	"github.com/geosql/geosql/budget"
)

const (
	// nearFactor and farFactor are the factors between which the table of distances
	// shows how a guarantee weakens.
	nearFactor, farFactor = 1.2, 100
	// certain is the factor from which a page calls two places distinguishable.
	certain = 1000
	// vast is the factor from which only the magnitude is printed.
	vast = 1_000_000
	// aside is the delta of Gaussian noise: the probability beside the factor.
	aside = 1e-6
)

// A guarantee is the promise of noise of epsilon per metre on a lattice. Any released
// location is at most
//
//	exp(epsilon*(d + step*sqrt 2))
//
// times as likely from one location as from another d metres away (Bordenabe, Measuring
// Privacy with Distinguishability Metrics, 2014, section 5.1). The diagonal of a lattice
// cell is added because both locations are first moved to the lattice.
//
// With Gaussian noise, epsilon is a rho per square metre: each set of outputs is at most as
// many times as likely as [budget.GaussDelta] allows at a delta of aside, plus aside.
type guarantee struct {
	epsilon, step float64
	gauss         bool
}

// promised returns the guarantee of a release.
func promised(p *Public) guarantee {
	return guarantee{p.Epsilon, p.Step, p.Law.Unit() == budget.SquareMetre}
}

// exponent returns the logarithm of the factor for n locations of an account, each at
// most d metres from its counterpart.
func (g guarantee) exponent(d float64, n int) float64 {
	d += g.step * math.Sqrt2
	if !g.gauss {
		return float64(n) * g.epsilon * d
	}
	rho := float64(n) * g.epsilon
	least, ok := budget.LeastEpsilon(func(epsilon *big.Rat) bool {
		e, _ := epsilon.Float64()
		return budget.GaussDelta(rho, d, e, g.step) <= aside
	})
	if !ok { // as follows from the Rényi divergence (Bun and Steinke 2016, proposition 1.3)
		r := rho * d * d
		return r + 2*math.Sqrt(r*math.Log(1/aside))
	}
	e, _ := least.Float64()
	return e
}

// reach returns the distance in metres at which the factor is so large, on a fine lattice.
func (g guarantee) reach(factor float64) float64 {
	if !g.gauss {
		return math.Log(factor) / g.epsilon
	}
	rho, ok := budget.LargestRho(math.Log(factor), aside, 1)
	if !ok {
		return 0
	}
	r, _ := rho.Float64()
	return math.Sqrt(r / g.epsilon)
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

// distances returns the distances of the table. They include the requested radius, unless that is 0.
func (g guarantee) distances(radius float64) (distances []float64) {
	for d := roundUp(g.reach(nearFactor), 1, 2, 5); d < g.reach(farFactor); d = roundUp(d*1.5, 1, 2, 5) {
		distances = append(distances, d)
	}
	if radius != 0 && !slices.Contains(distances, radius) {
		distances = append(distances, radius)
		slices.Sort(distances)
	}
	return distances
}

// table returns how the guarantee weakens with the distance.
func (g guarantee) table(radius float64) (table []distinction) {
	for _, d := range g.distances(radius) {
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
	return roundUp(g.reach(2), 1, 2, 5)
}

// distinguishable returns a round distance from which the guarantee allows two locations to be
// distinguished.
func (g guarantee) distinguishable() float64 {
	return roundUp(g.reach(certain), 1, 1.5, 2, 3, 4, 5, 6, 8)
}
