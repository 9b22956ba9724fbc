package sqlitefn

import (
	"errors"
	"math"

	"github.com/geosql/geosql/mechanism"
	"github.com/paulmach/orb/encoding/wkt"
)

var (
	argMechanism = &argument{name: "mechanism", is: "name of a mechanism that optql_store has stored", kind: kindName, setting: true}

	argPoint     = &argument{name: "wkt", is: "POINT(lon lat), such as a release of geoind_optimal", kind: orNull(kindText)}
	argRemapName = &argument{name: "name", is: "name of a mechanism", kind: kindName}
)

func init() {
	register(optimalRelease.row(function{
		name:    "geoind_optimal",
		does:    "Releases a location as one of the places of a stored mechanism, which has the least average loss of all that protect the places as well.",
		charges: "the mechanism's epsilon to the account, for each evaluation: in unit m if none of its distances is longer than the geodesic, as with metric 'euclid', otherwise in unit m:NAME, with the name of the mechanism (optql_report says which)",
		notes: "It has the forms of geoind_laplace and is evaluated as often. It releases a place, with probabilities that are certified in integers. " +
			"A location stands for its nearest place. This is measured in the domain's frame, from lattice point to lattice point, whatever the mechanism's metric, " +
			"since a road's length between places says nothing about locations elsewhere; among equally near places it is the first from the south-west. " +
			"**It protects places**: an answer is at most e^(epsilon*(d + a cell's diagonal)) times as likely from one location as from another whose place is d metres away from the first one's, " +
			"in unit m:NAME at most e^(epsilon*d) times with d by the mechanism's own distances. Locations of one place give each answer with the same probability. " +
			"But two locations a metre apart, on either side of a border between places, are only as indistinguishable as their places, which can be far from each other. " +
			"optql_report says how far a location can be from its place. " +
			"**Budgets in m and in each m:NAME are separate**, but what they pay for about the same location adds up. " +
			"A NULL location gives NULL and charges nobody.",
		example: []string{"SELECT geoind_optimal('ana', 39.984, 116.318, 'homes')",
			"SELECT budget_limit('ana', 'm:blocks', 0.01)", "SELECT geoind_optimal('ana', 39.984, 116.318, 'blocks')",
			"SELECT g.lat, g.lon FROM (SELECT 'ana' AS who, 39.984 AS y, 116.318 AS x) t, geoind_optimal(t.who, t.y, t.x, 'homes') g"},
	}, argMechanism))
}

// optimalRelease releases a location with a stored optimal mechanism.
var optimalRelease = locationRelease(func(c call) (mechanism.Location, error) {
	o, err := c.optimal(argMechanism)
	if err != nil {
		return nil, err
	}
	return o.Named(c.text(argMechanism)), nil
})

func init() {
	register(&function{
		name: "geoind_remap", section: free,
		args: []*argument{argPoint, argRemapName},
		does: "Returns the best guess of the true place for a released point, given the mechanism's weights: the place with the least expected distance.",
		notes: "Remapping a release of geoind_optimal costs nothing more, whoever does it. A point that is not one of the mechanism's places is first replaced by the nearest one. " +
			"NULL gives NULL.",
		example: []string{"SELECT geoind_remap(geoind_optimal('ana', 39.984, 116.318, 'homes'), 'homes')"},
		scalar:  remapPoint,
	})
}

// remapPoint answers the best guess of the true place for a released point. It depends only
// on what was released and on the mechanism, which are public.
func remapPoint(c call) error {
	o, err := c.optimal(argRemapName)
	if err != nil || !c.given(argPoint) {
		return err
	}
	lat, lon, err := parsePoint(c.text(argPoint))
	if err != nil {
		return c.argErrorf(argPoint, "%v", err)
	}
	lat, lon = o.Location(o.Remap(o.Snap(lat, lon)))
	c.resultPoint(0, lat, lon)
	return nil
}

var errPoint = errors.New("must be a POINT(lon lat) in degrees")

// parsePoint parses a WKT point.
func parsePoint(text string) (lat, lon float64, err error) {
	p, err := wkt.UnmarshalPoint(text)
	if err != nil {
		return 0, 0, errPoint
	}
	if lon, lat = p[0], p[1]; !(math.Abs(lat) <= 90 && math.Abs(lon) <= 180) {
		return 0, 0, errPoint
	}
	return lat, lon, nil
}
