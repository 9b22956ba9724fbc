package location

import (
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/sqlitefn/internal/declared"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

var (
	argFromLat  = &frame.Arg{Name: "lat", Is: "latitude of a location, degrees", Kind: frame.OrNull(frame.Latitude)}
	argFromLon  = &frame.Arg{Name: "lon", Is: "its longitude, degrees", Kind: frame.OrNull(frame.Longitude)}
	argToLat    = &frame.Arg{Name: "to_lat", Is: "latitude of another location, degrees", Kind: frame.OrNull(frame.Latitude)}
	argToLon    = &frame.Arg{Name: "to_lon", Is: "its longitude, degrees", Kind: frame.OrNull(frame.Longitude)}
	argCellSide = &frame.Arg{Name: "cell_m", Is: argHeatCell.Is, Kind: frame.Positive, Setting: true}
	argCellFrom = &frame.Arg{Name: "domain", Is: "name of a domain; the grid lies in its frame", Kind: frame.Text, Optional: true, Setting: true}
)

var geographyFunctions = []*frame.Function{
	{
		Name: "geo_distance", Section: frame.Free, Returns: "REAL", Flags: frame.Pure,
		Args:     []*frame.Arg{argFromLat, argFromLon, argToLat, argToLon},
		Does:     "Returns the distance in metres between two locations along the WGS 84 ellipsoid.",
		Accuracy: "to a micrometre; to a released point, that of the point",
		Notes: "It is the distance that epsilon per metre refers to. It holds for all locations, antipodes included (Karney 2013). " +
			"**Of true locations it is a secret like these**: only distances between public or released ones may be shown. NULL gives NULL.",
		Examples: []string{"SELECT round(geo_distance(39.984, 116.318, g.lat, g.lon)) FROM geoind_laplace('ana', 39.984, 116.318, 0.005, 'haidian') g"},
		Scalar:   geoDistance,
	},
	{
		Name: "geo_cell", Section: frame.Free, Returns: "TEXT", Scoped: true,
		Args:     []*frame.Arg{argFromLat, argFromLon, argCellSide, argCellFrom},
		Does:     "Returns the square cell of a grid that a location lies in, as a WKT polygon.",
		Accuracy: "that of the location: a cell says nothing on how far a released point was moved",
		Notes: "It is for locations that are public or released: grouped by their cells, they make a map. **The cell of a true location tells where that is**, " +
			"and which groups exist is public; the command warns, once, where answers that are charged are grouped by such cells. " +
			"The cells are those of dx_heatmap: the grid lies in the domain's frame and begins at the south-west corner of the frame's box, and a location outside the box is first moved to it. NULL gives NULL.",
		Examples: []string{"SELECT geo_cell(g.lat, g.lon, 1000, 'haidian') AS cell, count(*) FROM geoind_laplace('ana', 39.984, 116.318, 0.005, 'haidian') g GROUP BY cell"},
		Scalar:   geoCell,
	},
}

func geoDistance(c frame.Call) error {
	lat, lon, absent := c.Location(argFromLat, argFromLon)
	toLat, toLon, toAbsent := c.Location(argToLat, argToLon)
	if !absent && !toAbsent {
		c.ResultFloat(0, planar.Geodesic(lat, lon, toLat, toLon))
	}
	return nil
}

// geoCell answers the cell of a location. It charges nothing and depends on no secret unless
// its caller passes one, as with any function of SQLite's own.
func geoCell(c frame.Call) error {
	grid, err := frame.Plan(c, cellGrid)
	if err != nil {
		return err
	}
	if lat, lon, absent := c.Location(argFromLat, argFromLon); !absent {
		c.ResultText(0, grid.AppendWKT(nil, grid.Cell(lat, lon)))
		if s := c.Session; s.Watched() && !s.TrueCells && !grid.Domain().Prints(lat, lon) {
			s.TrueCells = declared.IsTrue(s, lat, lon)
		}
	}
	return nil
}

// cellGrid returns the grid that a call names.
func cellGrid(c frame.Call) (*planar.Grid, error) {
	domain, err := declared.Domain(c, argCellFrom)
	if err != nil {
		return nil, err
	}
	grid, err := domain.Grid(c.Number(argCellSide))
	return &grid, err
}
