package location

import (
	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

var (
	argTotalRho = &frame.Arg{Name: "rho", Is: "loss per square metre: that of a release, or the sum of several", Kind: frame.Positive}
	argApart    = &frame.Arg{Name: "distance_m", Is: "how far two locations are apart, metres, with a cell's diagonal added", Kind: frame.Positive}
	argFactor   = &frame.Arg{Name: "epsilon", Is: "logarithm of the factor that is allowed", Kind: frame.Positive}
	argDelta    = &frame.Arg{Name: "delta", Is: "probability that is allowed beyond the factor, 0 < delta < 1", Kind: frame.Inside}
)

const diagonal = "The distance is that of two locations plus a cell's diagonal, since locations are first moved to the lattice: with a step of 1 m, 501.4143 for locations 500 m apart. "

var rhoFunctions = []*frame.Function{
	{
		Name: "geoind_delta", Section: frame.Free, Returns: "REAL", Flags: frame.Pure,
		Args: []*frame.Arg{argTotalRho, argApart, argFactor},
		Does: "Returns the meaning of rho per square metre at a distance: the delta that goes with this epsilon.",
		Notes: "Whatever somebody concludes from all answers is at most e^epsilon times as likely if the account was at one place as if it was at the other, but for a probability of delta. " +
			diagonal +
			"It is the least delta that follows from the Rényi divergences of all orders (Canonne, Kamath and Steinke 2020, proposition 12), rounded up. So it holds for the sum of any releases in m2.",
		Examples: []string{"SELECT geoind_delta(0.00000009, 501.4143, 1)"},
		Scalar:   geoindDelta,
	},
	{
		Name: "geoind_rho", Section: frame.Free, Returns: "REAL", Flags: frame.Pure,
		Args: []*frame.Arg{argFactor, argDelta, argApart},
		Does: "Returns the largest rho per square metre that keeps epsilon and delta at a distance: a limit in unit m2, or, divided by their number, the rho of each of several releases.",
		Notes: diagonal +
			"The inverse of geoind_delta, rounded down to six digits, and at most 9000000. " +
			"A distance at which even the least charge, 0.000000000001, would exceed delta is an error.",
		Examples: []string{"SELECT geoind_rho(1, 0.000001, 501.4143)"},
		Scalar:   geoindRho,
	},
}

func geoindDelta(c frame.Call) error {
	c.ResultFloat(0, budget.Delta(c.Number(argTotalRho), c.Number(argApart), c.Number(argFactor)))
	return nil
}

func geoindRho(c frame.Call) error {
	rho, ok := budget.LargestRho(c.Number(argFactor), c.Number(argDelta), c.Number(argApart))
	if !ok {
		return c.Errorf(argApart, "is too large: delta would be exceeded by a rho of %v, the least that can be charged", budget.Amount(1))
	}
	c.ResultEpsilon(rho)
	return nil
}
