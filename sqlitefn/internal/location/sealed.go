package location

import (
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
	"github.com/geosql/geosql/sqlitefn/internal/unseal"
)

var sealedFunctions = []*frame.Function{
	{
		Name: "geoind_laplace", Section: frame.OverSealed, Returns: "TEXT", Columns: frame.LocationColumns,
		Args:     []*frame.Arg{unseal.ArgSealed, frame.ArgEpsMetre},
		Does:     "Releases a sealed location with planar Laplace noise on its domain's lattice.",
		Accuracy: "geoind_radius(epsilon, p, domain) metres",
		Charges:  "epsilon in unit m to the value's account, for each evaluation",
		Notes:    "NULL, and an erased or revoked value, gives NULL and charges nobody.",
		Examples: []string{"SELECT geoind_laplace(place, 0.005) FROM reading LIMIT 1"},
		Answer:   releaseSealed,
	},
	{
		Name: "dx_centroid", Section: frame.OverSealed, Returns: "TEXT",
		Args:      []*frame.Arg{unseal.ArgSealed, frame.ArgEpsMetre},
		Does:      "Releases the centroid of a set of sealed locations as WKT, with planar Laplace noise on their domain's lattice.",
		Accuracy:  "geoind_radius(epsilon, p, domain) metres and half a cell's diagonal",
		Charges:   "epsilon in unit m to each account with a location in the group, once per group",
		Notes:     unseal.RowNote + "epsilon must be constant within a group. A group charges all its accounts or none.",
		Examples:  []string{"SELECT dx_centroid(place, 0.005) FROM reading WHERE day = 1"},
		Aggregate: centroids.sealed,
	},
	{
		Name: "dx_heatmap", Section: frame.OverSealed, Returns: "TEXT",
		Args:      []*frame.Arg{unseal.ArgSealed, frame.ArgEpsRecord, argHeatCell, argSquares},
		Does:      "Counts sealed locations in the cells of a grid over their domain, with geometric noise on each count, and answers the cells that reach a threshold as GeoJSON.",
		Accuracy:  "dx_radius('count', p, epsilon/2, NULL) locations for the noise of a cell, with epsilon/4 for that of an adaptive square",
		Charges:   "epsilon in unit record to each account, for each of its locations",
		Notes:     unseal.RowNote + "Maps are drawn as in the other form. epsilon, cell_m and squares must be constant within a group. A group charges all its accounts or none.",
		Examples:  []string{"SELECT value ->> '$.properties.count' AS count, value ->> '$.geometry.coordinates[0][0]' AS corner FROM json_each((SELECT dx_heatmap(place, 1, 5000) FROM reading), '$.features')"},
		Aggregate: maps.sealed,
	},
}

// releaseSealed pays for a sealed location and draws.
func releaseSealed(c frame.Call) (frame.Answer, error) {
	o, present, err := unseal.Open(c, unseal.ArgSealed)
	if err != nil || !present {
		return frame.Answer{}, err
	}
	domain, err := unseal.DomainOf(c.Session, o.Of)
	if err != nil {
		return frame.Answer{}, c.Errorf(unseal.ArgSealed, "%w", err)
	}
	m, err := laplaceOn(c, domain)
	if err != nil {
		return frame.Answer{}, err
	}
	return unseal.PayOne(c, o, m.Price(), func(paid frame.Receipt) frame.Answer {
		lat, lon := unseal.Degrees(o.Data)
		return frame.LocationAnswer(paid.Location(m, lat, lon))
	})
}

// laplaceOn returns planar Laplace on a domain with the epsilon of the call.
func laplaceOn(c frame.Call, domain *planar.Domain) (planar.Mechanism, error) {
	return latticeMechanismOn(c, "laplace", domain, frame.ArgEpsMetre)
}
