package location

import (
	"math"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

var (
	argTotalRho = &frame.Arg{Name: "rho", Is: "loss per square metre: that of a release, or the sum of several", Kind: frame.Positive}
	argApart    = &frame.Arg{Name: "distance_m", Is: "how far two locations are apart, metres, with a cell's diagonal added", Kind: frame.Positive}
	argFactor   = &frame.Arg{Name: "epsilon", Is: "logarithm of the factor that is allowed", Kind: frame.Positive}
	argSumOf    = &frame.Arg{Name: "mechanism", Is: "'gauss' if all of rho is that of geoind_gauss: the smaller delta of Gaussian noise", Kind: frame.Text, Optional: true}
	argSumStep  = &frame.Arg{Name: "step_m", Is: "with 'gauss': the step of the domain, metres, of several the largest; distance_m/sqrt(2), which no step exceeds, if it is not given", Kind: frame.Positive, Optional: true}
	argDelta    = &frame.Arg{Name: "delta", Is: "probability that is allowed beyond the factor, 0 < delta < 1", Kind: frame.Inside}
)

const diagonal = "The distance is that of two locations plus a cell's diagonal, since locations are first moved to the lattice: with a step of 1 m, 501.4143 for locations 500 m apart. "

const sumOfGauss = "With 'gauss' it is the exact delta of a single Gaussian release of this rho (Balle and Wang 2018), " +
	"which bounds every series of geoind_gauss, also one in which each is chosen after the answers before it (Smith and Thakurta 2022), plus a bound of the difference that the lattice makes. " +
	"From an epsilon of 1 and delta of 1e-6 on, delta is 4 to 6 times smaller and rho 11 to 15 % larger. At a distance of a few steps, or without step_m and with a large epsilon, the bound of the lattice takes up some or all of that, and never more. " +
	"The ledger charges m2 for geoind_gauss only, so that a balance may be passed with 'gauss' unless something of m is added to it."

var rhoFunctions = []*frame.Function{
	{
		Name: "geoind_delta", Section: frame.Free, Returns: "REAL", Flags: frame.Pure,
		Args:     []*frame.Arg{argTotalRho, argApart, argFactor, argSumOf, argSumStep},
		Does:     "Returns the meaning of rho per square metre at a distance: the delta that goes with this epsilon.",
		Accuracy: "rounded up",
		Notes: "Whatever somebody concludes from all answers is at most e^epsilon times as likely if the account was at one place as if it was at the other, but for a probability of delta. " +
			diagonal +
			"It is the least delta that follows from the Rényi divergences of all orders (Canonne, Kamath and Steinke 2020, proposition 12). So it holds for any sum in m2, also one to which releases in m have been added as epsilon^2/2. " +
			sumOfGauss,
		Examples: []string{"SELECT geoind_delta(0.00000009, 501.4143, 1)", "SELECT geoind_delta(0.00000009, 501.4143, 1, 'gauss', 1)"},
		Scalar:   geoindDelta,
	},
	{
		Name: "geoind_rho", Section: frame.Free, Returns: "REAL", Flags: frame.Pure,
		Args:     []*frame.Arg{argFactor, argDelta, argApart, argSumOf, argSumStep},
		Does:     "Returns the largest rho per square metre that keeps epsilon and delta at a distance: a limit in unit m2, or, divided by their number, the rho of each of several releases.",
		Accuracy: "rounded down to six digits",
		Notes: diagonal +
			"The inverse of geoind_delta, and at most 9000000. " +
			"A distance at which even the least charge, 0.000000000001, would exceed delta is an error. " +
			sumOfGauss,
		Examples: []string{"SELECT geoind_rho(1, 0.000001, 501.4143)", "SELECT geoind_rho(1, 0.000001, 501.4143, 'gauss', 1)"},
		Scalar:   geoindRho,
	},
}

func geoindDelta(c frame.Call) error {
	rho, distance, epsilon := c.Number(argTotalRho), c.Number(argApart), c.Number(argFactor)
	step, gauss, err := sumStep(c)
	switch {
	case err != nil:
		return err
	case gauss:
		c.ResultFloat(0, budget.GaussDelta(rho, distance, epsilon, step))
	default:
		c.ResultFloat(0, budget.Delta(rho, distance, epsilon))
	}
	return nil
}

func geoindRho(c frame.Call) error {
	epsilon, delta, distance := c.Number(argFactor), c.Number(argDelta), c.Number(argApart)
	step, gauss, err := sumStep(c)
	if err != nil {
		return err
	}
	rho, ok := budget.LargestRho(epsilon, delta, distance)
	if gauss {
		rho, ok = budget.LargestGaussRho(epsilon, delta, distance, step)
	}
	if !ok {
		return c.Errorf(argApart, "is too large: delta would be exceeded by a rho of %v, the least that can be charged", budget.Amount(1))
	}
	c.ResultEpsilon(rho)
	return nil
}

// sumStep reports whether a sum is said to be of Gaussian releases alone, and the largest step of their lattices.
func sumStep(c frame.Call) (step float64, gauss bool, err error) {
	if !c.Given(argSumOf) {
		return 0, false, nil
	}
	if name := c.Text(argSumOf); name != "gauss" {
		return 0, false, c.Errorf(argSumOf, "must be 'gauss' or left out, not %s", frame.Quoted(name))
	}
	if c.Given(argSumStep) {
		return c.Number(argSumStep), true, nil
	}
	return c.Number(argApart) * (math.Sqrt2 / 2 * (1 + 0x1p-50)), true, nil
}
