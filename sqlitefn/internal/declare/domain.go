package declare

import (
	"fmt"

	"github.com/geosql/geosql/sqlitefn/internal/declared"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

var (
	argDomainName = &frame.Arg{Name: "name", Is: "TEXT", Kind: frame.Name}
	argSouth      = &frame.Arg{Name: "south", Is: "degrees", Kind: frame.Number}
	argWest       = &frame.Arg{Name: "west", Is: "degrees", Kind: frame.Number}
	argNorth      = &frame.Arg{Name: "north", Is: "degrees", Kind: frame.Number}
	argEast       = &frame.Arg{Name: "east", Is: "degrees; smaller than west for a box across the antimeridian", Kind: frame.Number}
	argStep       = &frame.Arg{Name: "step_m", Is: "step of the lattice, metres", Kind: frame.Number}

	argRegionOf = &frame.Arg{Name: "domain", Is: "name of a domain", Kind: frame.Name}
	argRegion   = &frame.Arg{Name: "wkt", Is: "POLYGON or MULTIPOLYGON, coordinates lon lat, edges straight in degrees", Kind: frame.Text}

	argBox = &frame.Arg{Name: "domain", Is: "name of a domain", Kind: frame.OrNull(frame.Text)}
)

var domainFunctions = []*frame.Function{
	{
		Name: "geo_domain", Section: frame.DeclaredByOwner, Returns: "TEXT", Flags: frame.OwnerOnly,
		Args: []*frame.Arg{argDomainName, argSouth, argWest, argNorth, argEast, argStep},
		Does: "Declares a domain: a box, its map projection, and the lattice that released points lie on.",
		Notes: "Returns one line: the size, kappa (a bound on how much the projection stretches distances), and the largest sensible epsilon for this step. " +
			"Locations outside the box are moved into it before anything else happens. Without a region, released points may lie outside the box. " +
			"A domain cannot change; declaring it again unchanged is harmless.",
		Examples: []string{"SELECT geo_domain('beijing', 39.4, 115.4, 41.1, 117.6, 1)", "SELECT geo_domain('haidian', 39.9, 116.2, 40.1, 116.4, 1)"},
		Scalar:   geoDomain,
	},
	{
		Name: "geo_region", Section: frame.DeclaredByOwner, Returns: "TEXT", Flags: frame.OwnerOnly,
		Args: []*frame.Arg{argRegionOf, argRegion},
		Does: "Restricts a domain's outputs to a polygon: a point drawn outside is moved to the nearest lattice point inside.",
		Notes: "Boundaries belong to the region, holes do not. Polygons may overlap and touch. " +
			"A region may have up to a million points and a boundary of up to 8 million lattice steps. " +
			"The lattice points are stored with the declaration, so only this call can take long; Ctrl-C interrupts it. " +
			"A region cannot change; declaring it again unchanged is harmless and stores the lattice points if they are missing.",
		Examples: []string{"SELECT geo_region('beijing', 'POLYGON((115.5 39.5, 117.5 39.5, 117.5 41.0, 115.5 41.0, 115.5 39.5))')"},
		Scalar:   geoRegion,
	},
	{
		Name: "geo_outside", Section: frame.ForOwner, Returns: "INTEGER", Flags: frame.OwnerOnly, Reads: true,
		Args:     []*frame.Arg{argBox, frame.ArgLat, frame.ArgLon},
		Does:     "Returns 1 if a location lies outside the domain's box and would be moved, otherwise 0.",
		Examples: []string{"SELECT geo_outside('beijing', 42.5, 116.3)"},
		Scalar:   geoOutside,
	},
}

func geoDomain(c frame.Call) error {
	d := declared.DomainRow{
		Name:  c.Text(argDomainName),
		South: c.Number(argSouth), West: c.Number(argWest),
		North: c.Number(argNorth), East: c.Number(argEast),
		StepM: c.Number(argStep),
	}
	domain, err := d.WithoutRegion()
	if err != nil {
		return err
	}
	earlier, err := declared.Declare(c.Session, func() (declared.DomainRow, bool, error) { return declared.ReadDomain(c.Session, d.Name) },
		`INSERT OR IGNORE INTO main.geosql_domain(name, south, west, north, east, step_m) VALUES(?,?,?,?,?,?)`,
		d.Name, d.South, d.West, d.North, d.East, d.StepM)
	if err != nil {
		return err
	}
	d.Region = earlier.Region
	if d != earlier {
		return fmt.Errorf("domain '%s' is declared already and cannot change; take another name", d.Name)
	}
	c.ResultString(0, domain.String())
	return nil
}

func geoRegion(c frame.Call) error {
	s, name, wkt := c.Session, c.Text(argRegionOf), c.Text(argRegion)
	if wkt == "" {
		return c.Errorf(argRegion, "must not be empty")
	}
	d, found, err := declared.ReadDomain(s, name)
	if err != nil {
		return err
	}
	if !found {
		return declared.Undeclared(c, argRegionOf, "domain")
	}
	if d.Region == "" {
		d.Region = wkt
	}
	if d.Region != wkt {
		return anotherRegion(name)
	}
	domain, err := declared.BuildDomain(s, d)
	if err != nil {
		return err
	}
	earlier, err := declared.Declare(s, func() (declared.DomainRow, bool, error) {
		there, _, err := declared.ReadDomain(s, name)
		return there, there.Region != "", err
	}, `UPDATE main.geosql_domain SET region = ? WHERE name = ? AND region IS NULL`, d.Region, name)
	if err != nil {
		return err
	}
	if d != earlier {
		return anotherRegion(name)
	}
	if err := declared.StoreRegion(s, domain); err != nil {
		return err
	}
	c.ResultString(0, domain.String())
	return nil
}

// anotherRegion returns the error for a domain that has a different region.
func anotherRegion(domain string) error {
	return fmt.Errorf("domain '%s' has a region already and it cannot change; declare another domain", domain)
}

func geoOutside(c frame.Call) error {
	d, err := declared.Domain(c, argBox)
	if err != nil {
		return err
	}
	if lat, lon, absent := c.Location(frame.ArgLat, frame.ArgLon); !absent {
		c.ResultBool(0, d.Outside(lat, lon))
	}
	return nil
}
