package sqlitefn

import "github.com/geosql/geosql/mechanism/planar"

var (
	argFromLat  = &argument{name: "lat", is: "latitude of a location, degrees", kind: orNull(kindLatitude)}
	argFromLon  = &argument{name: "lon", is: "its longitude, degrees", kind: orNull(kindLongitude)}
	argToLat    = &argument{name: "to_lat", is: "latitude of another location, degrees", kind: orNull(kindLatitude)}
	argToLon    = &argument{name: "to_lon", is: "its longitude, degrees", kind: orNull(kindLongitude)}
	argCellSide = &argument{name: "cell_m", is: argHeatCell.is, kind: kindPositive, setting: true}
	argCellFrom = &argument{name: "domain", is: "name of a domain, in whose frame the grid lies", kind: kindText, optional: true, setting: true}
)

var geographyFunctions = []*function{
	&function{
		name: "geo_distance", section: free, flags: pure,
		args: []*argument{argFromLat, argFromLon, argToLat, argToLon},
		does: "Returns the distance in metres between two locations along the WGS 84 ellipsoid, to a micrometre.",
		notes: "It is the distance that epsilon per metre refers to. It holds for all locations, antipodes included (Karney 2013). " +
			"**Of true locations it is a secret like these**: only distances between public or released ones may be shown. NULL gives NULL.",
		example: []string{"SELECT round(geo_distance(39.984, 116.318, g.lat, g.lon)) FROM geoind_laplace('ana', 39.984, 116.318, 0.005, 'haidian') g"},
		scalar:  geoDistance,
	},
	&function{
		name: "geo_cell", section: free, scoped: true,
		args: []*argument{argFromLat, argFromLon, argCellSide, argCellFrom},
		does: "Returns the square cell of a grid that a location lies in, as a WKT polygon.",
		notes: "It is for locations that are public or released: grouped by their cells, they make a map. **The cell of a true location tells where that is.** " +
			"The cells are those of dx_heatmap: the grid lies in the domain's frame and begins at the south-west corner of the frame's box, and a location outside the box is first moved to it. NULL gives NULL.",
		example: []string{"SELECT geo_cell(g.lat, g.lon, 1000, 'haidian') AS cell, count(*) FROM geoind_laplace('ana', 39.984, 116.318, 0.005, 'haidian') g GROUP BY cell"},
		scalar:  geoCell,
	},
}

func geoDistance(c call) error {
	lat, lon, absent := c.location(argFromLat, argFromLon)
	toLat, toLon, toAbsent := c.location(argToLat, argToLon)
	if !absent && !toAbsent {
		c.ResultFloat(0, planar.Geodesic(lat, lon, toLat, toLon))
	}
	return nil
}

// geoCell answers the cell of a location. It charges nothing and depends on no secret unless
// its caller passes one, as with any function of SQLite's own.
func geoCell(c call) error {
	grid, err := cachedPlan(c, cellGrid)
	if err != nil {
		return err
	}
	if lat, lon, absent := c.location(argFromLat, argFromLon); !absent {
		c.ResultText(0, grid.AppendWKT(nil, grid.Cell(lat, lon)))
	}
	return nil
}

// cellGrid returns the grid that a call names.
func cellGrid(c call) (*planar.Grid, error) {
	domain, err := c.domain(argCellFrom)
	if err != nil {
		return nil, err
	}
	grid, err := domain.Grid(c.number(argCellSide))
	return &grid, err
}
