package location

import (
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

var laplaceL1Functions = []*frame.Function{
	latticeRelease("laplace_l1", frame.ArgEpsMetre).row(frame.Function{
		Name:     "geoind_laplace_l1",
		Does:     "Releases a location with planar Laplace noise under the L1 norm: the noise on the two axes of the domain's lattice is independent.",
		Accuracy: "geoind_radius(epsilon, p, domain, 'laplace_l1') metres",
		Charges:  "epsilon in unit m to the account, for each evaluation",
		Notes: "The forms, the evaluations and the guarantee are those of geoind_laplace. " +
			"At the same epsilon a released point is 15 % farther from its location on average. " +
			"Use it if released points are analysed one axis at a time: along each axis they have two-sided geometric noise of scale sqrt(2)/epsilon metres. " +
			"A NULL location yields NULL and charges nobody.",
		Examples: []string{"SELECT geoind_laplace_l1('ana', 39.984, 116.318, 0.005, 'beijing')",
			"SELECT geoind_radius(0.005, 0.95, 'beijing', 'laplace_l1')"},
	}, frame.ArgEpsMetre, frame.ArgDomain),
}
