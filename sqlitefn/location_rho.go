package sqlitefn

import "github.com/geosql/geosql/budget"

var (
	argTotalRho = &argument{name: "rho", is: "loss per square metre: that of a release, or the sum of several", kind: kindPositive}
	argApart    = &argument{name: "distance_m", is: "how far two locations are apart, metres, with a cell's diagonal added", kind: kindPositive}
	argFactor   = &argument{name: "epsilon", is: "logarithm of the factor that is allowed", kind: kindPositive}
	argDelta    = &argument{name: "delta", is: "probability that is allowed beyond the factor, 0 < delta < 1", kind: kindInside}
)

const diagonal = "The distance is that of two locations plus a cell's diagonal, since locations are first moved to the lattice: with a step of 1 m, 501.4143 for locations 500 m apart. "

var rhoFunctions = []*function{
	&function{
		name: "geoind_delta", section: free, flags: pure,
		args: []*argument{argTotalRho, argApart, argFactor},
		does: "Returns what rho per square metre means at a distance: the delta that goes with this epsilon.",
		notes: "Whatever somebody concludes from all answers is at most e^epsilon times as likely if the account was at one place as if it was at the other, but for a probability of delta. " +
			diagonal +
			"It is the least delta that follows from the Rényi divergences of all orders (Canonne, Kamath and Steinke 2020, proposition 12), rounded up. So it holds for the sum of any releases in m2.",
		example: []string{"SELECT geoind_delta(0.00000009, 501.4143, 1)"},
		scalar:  geoindDelta,
	},
	&function{
		name: "geoind_rho", section: free, flags: pure,
		args: []*argument{argFactor, argDelta, argApart},
		does: "Returns the largest rho per square metre that keeps epsilon and delta at a distance: a limit in unit m2, or, divided by their number, the rho of each of several releases.",
		notes: diagonal +
			"The inverse of geoind_delta, rounded down to six digits, and at most 9000000. " +
			"A distance at which even the least charge, 0.000000000001, would exceed delta is an error.",
		example: []string{"SELECT geoind_rho(1, 0.000001, 501.4143)"},
		scalar:  geoindRho,
	},
}

func geoindDelta(c call) error {
	c.ResultFloat(0, budget.Delta(c.number(argTotalRho), c.number(argApart), c.number(argFactor)))
	return nil
}

func geoindRho(c call) error {
	rho, ok := budget.LargestRho(c.number(argFactor), c.number(argDelta), c.number(argApart))
	if !ok {
		return c.argErrorf(argApart, "is too large: delta would be exceeded by a rho of %v, the least that can be charged", budget.Amount(1))
	}
	c.resultEpsilon(rho)
	return nil
}
