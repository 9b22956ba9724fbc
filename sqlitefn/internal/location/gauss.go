package location

import (
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

var argRho = &frame.Arg{Name: "rho", Is: "loss per square metre", Kind: frame.Positive, Setting: true}

var gaussFunctions = []*frame.Function{
	latticeRelease("gauss", argRho).row(frame.Function{
		Name:     "geoind_gauss",
		Does:     "Releases a location with planar Gaussian noise on the domain's lattice: for many releases about one account, such as a report every day.",
		Accuracy: "geoind_radius(rho, p, domain, 'gauss') metres",
		Charges:  "rho in unit m2 to the account, for each evaluation",
		Notes: "The forms and the evaluations are those of geoind_laplace, the guarantee is another. The noise is discrete Gaussian, with a deviation of 1/sqrt(2*rho) metres on each axis. " +
			"No epsilon holds for it: between two locations d metres apart, the Rényi divergence of every order a > 1 is at most a*rho*D^2, where D is d plus a cell's diagonal, which is the domain's step times sqrt(2). " +
			"The rho of all releases add up, also if each was chosen after the answers before it. geoind_delta converts a sum to epsilon and delta at a distance, and geoind_rho returns the sum that keeps these; with 'gauss' as argument both are sharper. " +
			"The noise of n releases grows with the root of n, that of geoind_laplace with n: at (1, 1e-6), it is the smaller one for eight releases and more. " +
			"Budgets in m2 and in m never mix. If a location is released in both, an epsilon per metre adds at most epsilon^2/2 to the rho. " +
			"A NULL location gives NULL and charges nobody.",
		Examples: []string{"SELECT budget_limit('ana', 'm2', geoind_rho(1, 0.000001, 500 + 1.4143, 'gauss', 1))",
			"SELECT geoind_gauss('ana', 39.984, 116.318, 0.00000000026, 'beijing')",
			"SELECT geoind_radius(0.00000000026, 0.95, 'beijing', 'gauss')"},
	}, argRho, frame.ArgDomain),
}
