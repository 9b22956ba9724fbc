package location

import (
	"github.com/geosql/geosql/mechanism"
	"github.com/geosql/geosql/sqlitefn/internal/declared"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

var argMechanism = &frame.Arg{Name: "mechanism", Is: "name of a mechanism that optql_store has stored", Kind: frame.Name, Setting: true}

var optimalFunctions = []*frame.Function{
	optimalRelease.row(frame.Function{
		Name:     "geoind_optimal",
		Does:     "Releases a location as one of the places of a stored mechanism, which has the least average loss of all that protect the places as well.",
		Accuracy: "quality_loss of optql_report on average; there is no radius, as it depends on where the places are",
		Charges:  "the mechanism's epsilon to the account, for each evaluation: in unit m if none of its distances is longer than the geodesic, as with metric 'euclid', otherwise in unit m:NAME, with the name of the mechanism (optql_report says which)",
		Notes: "It has the forms of geoind_laplace and is evaluated as often. It releases a place, with probabilities that are certified in integers. " +
			"A location stands for its nearest place. This is measured in the domain's frame, from lattice point to lattice point, whatever the mechanism's metric, " +
			"since a road's length between places says nothing about locations elsewhere; among equally near places it is the first from the south-west. " +
			"**It protects places**: an answer is at most e^(epsilon*(d + a cell's diagonal)) times as likely from one location as from another with a place d metres away from the first one's,  " +
			"in unit m:NAME at most e^(epsilon*d) times with d by the mechanism's own distances. Locations of one place give each answer with the same probability. " +
			"But two locations a metre apart, on either side of a border between places, are only as indistinguishable as their places, which can be far from each other. " +
			"optql_report says how far a location can be from its place. " +
			"**Budgets in m and in each m:NAME are separate**, but their losses about the same location add up. " +
			"A NULL location gives NULL and charges nobody.",
		Examples: []string{"SELECT geoind_optimal('ana', 39.984, 116.318, 'homes')",
			"SELECT budget_limit('ana', 'm:blocks', 0.01)", "SELECT geoind_optimal('ana', 39.984, 116.318, 'blocks')",
			"SELECT g.lat, g.lon FROM (SELECT 'ana' AS who, 39.984 AS y, 116.318 AS x) t, geoind_optimal(t.who, t.y, t.x, 'homes') g"},
	}, argMechanism),
}

// optimalRelease releases a location with a stored optimal mechanism.
var optimalRelease = locationRelease(func(c frame.Call) (mechanism.Location, error) {
	o, err := declared.Optimal(c, argMechanism)
	if err != nil {
		return nil, err
	}
	return o.Named(c.Text(argMechanism)), nil
})
