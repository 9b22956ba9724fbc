package sqlitefn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/mechanism/planar"
)

var (
	argDomainName = &argument{name: "name", is: "TEXT", kind: kindName}
	argSouth      = &argument{name: "south", is: "degrees", kind: kindNumber}
	argWest       = &argument{name: "west", is: "degrees", kind: kindNumber}
	argNorth      = &argument{name: "north", is: "degrees", kind: kindNumber}
	argEast       = &argument{name: "east", is: "degrees; smaller than west for a box across the antimeridian", kind: kindNumber}
	argStep       = &argument{name: "step_m", is: "step of the lattice, metres", kind: kindNumber}

	argRegionOf = &argument{name: "domain", is: "name of a domain", kind: kindName}
	argRegion   = &argument{name: "wkt", is: "POLYGON or MULTIPOLYGON, coordinates lon lat, edges straight in degrees", kind: kindText}

	argBox = &argument{name: "domain", is: "name of a domain", kind: orNull(kindText)}
)

var domainFunctions = []*function{
	&function{
		name: "geo_domain", section: declared, flags: ownerOnly,
		args: []*argument{argDomainName, argSouth, argWest, argNorth, argEast, argStep},
		does: "Declares a domain: a box, its map projection, and the lattice that released points lie on.",
		notes: "Returns one line: the size, kappa (a bound on how much the projection stretches distances), and the largest sensible epsilon for this step. " +
			"Locations outside the box are moved into it before anything else happens. Without a region, released points may lie outside the box. " +
			"A domain cannot change; declaring it again unchanged is harmless.",
		example: []string{"SELECT geo_domain('beijing', 39.4, 115.4, 41.1, 117.6, 1)", "SELECT geo_domain('haidian', 39.9, 116.2, 40.1, 116.4, 1)"},
		scalar:  geoDomain,
	},
	&function{
		name: "geo_region", section: declared, flags: ownerOnly,
		args: []*argument{argRegionOf, argRegion},
		does: "Restricts a domain's outputs to a polygon: a point drawn outside is moved to the nearest lattice point inside.",
		notes: "Boundaries belong to the region, holes do not. Polygons may overlap and touch. " +
			"A region may have up to a million points and a boundary of up to 8 million lattice steps. " +
			"The lattice points are stored with the declaration, so only this call can take long; Ctrl-C interrupts it. " +
			"A region cannot change; declaring it again unchanged is harmless and stores the lattice points if they are missing.",
		example: []string{"SELECT geo_region('beijing', 'POLYGON((115.5 39.5, 117.5 39.5, 117.5 41.0, 115.5 41.0, 115.5 39.5))')"},
		scalar:  geoRegion,
	},
	&function{
		name: "geo_outside", section: owners, flags: ownerOnly, reads: true,
		args:    []*argument{argBox, argLat, argLon},
		does:    "Returns 1 if a location lies outside the domain's box and would be moved, otherwise 0.",
		example: []string{"SELECT geo_outside('beijing', 42.5, 116.3)"},
		scalar:  geoOutside,
	},
}

func geoDomain(c call) error {
	d := declaredDomain{
		name:  c.text(argDomainName),
		south: c.number(argSouth), west: c.number(argWest),
		north: c.number(argNorth), east: c.number(argEast),
		stepM: c.number(argStep),
	}
	domain, err := d.withoutRegion()
	if err != nil {
		return err
	}
	earlier, err := declare(c.session, func() (declaredDomain, bool, error) { return c.session.readDomain(d.name) },
		`INSERT OR IGNORE INTO main.geosql_domain(name, south, west, north, east, step_m) VALUES(?,?,?,?,?,?)`,
		d.name, d.south, d.west, d.north, d.east, d.stepM)
	if err != nil {
		return err
	}
	d.region = earlier.region
	if d != earlier {
		return fmt.Errorf("domain '%s' is declared already and cannot change; take another name", d.name)
	}
	c.ResultString(0, domain.String())
	return nil
}

func geoRegion(c call) error {
	s, name, wkt := c.session, c.text(argRegionOf), c.text(argRegion)
	if wkt == "" {
		return c.argErrorf(argRegion, "must not be empty")
	}
	d, found, err := s.readDomain(name)
	if err != nil {
		return err
	}
	if !found {
		return c.undeclared(argRegionOf, "domain")
	}
	if d.region == "" {
		d.region = wkt
	}
	if d.region != wkt {
		return anotherRegion(name)
	}
	domain, err := s.buildDomain(d)
	if err != nil {
		return err
	}
	earlier, err := declare(s, func() (declaredDomain, bool, error) {
		there, _, err := s.readDomain(name)
		return there, there.region != "", err
	}, `UPDATE main.geosql_domain SET region = ? WHERE name = ? AND region IS NULL`, d.region, name)
	if err != nil {
		return err
	}
	if d != earlier {
		return anotherRegion(name)
	}
	if err := s.storeRegion(domain); err != nil {
		return err
	}
	c.ResultString(0, domain.String())
	return nil
}

// anotherRegion returns the error for a domain that has a different region.
func anotherRegion(domain string) error {
	return fmt.Errorf("domain '%s' has a region already and it cannot change; declare another domain", domain)
}

func geoOutside(c call) error {
	d, err := c.domain(argBox)
	if err != nil {
		return err
	}
	if lat, lon, absent := c.location(argLat, argLon); !absent {
		c.resultBool(0, d.Outside(lat, lon))
	}
	return nil
}

// declaredDomain is a row of geosql_domain.
type declaredDomain struct {
	name                            string
	south, west, north, east, stepM float64
	region                          string
}

// withoutRegion returns the domain without its region.
func (d declaredDomain) withoutRegion() (*planar.Domain, error) {
	return planar.NewDomain(d.name, d.south, d.west, d.north, d.east, d.stepM)
}

var domains = newMemo[declaredDomain, *planar.Domain]()

// buildDomain returns the domain that d declares.
func (s *session) buildDomain(d declaredDomain) (*planar.Domain, error) {
	return domains.get(s, d, func() (*planar.Domain, error) {
		domain, err := d.withoutRegion()
		if err == nil && d.region != "" {
			domain, err = s.restrict(domain, d.region)
		}
		return domain, err
	})
}

// restrict returns the domain with its region. It uses the stored rows, or computes them if
// there are none that belong to the region, as after a declaration by an earlier version.
func (s *session) restrict(domain *planar.Domain, wkt string) (*planar.Domain, error) {
	rows, err := s.regionRows(domain.Name())
	if err != nil {
		return nil, err
	}
	if restricted, err := domain.WithRegionRows(wkt, rows); err == nil {
		return restricted, nil
	}
	err = s.runInterruptible(func(ctx context.Context) (err error) {
		domain, err = domain.WithRegion(ctx, wkt)
		return err
	})
	return domain, err
}

// regionRows returns the stored rows of a domain's region, nil if there are none.
func (s *session) regionRows(domain string) (rows []byte, err error) {
	err = s.read(`SELECT rows FROM main.geosql_region WHERE domain = ?`, func(st *sqlite.Stmt) {
		rows = columnBlob(st, 0)
	}, domain)
	return rows, err
}

// storeRegion keeps the rows of a domain's region for other connections.
func (s *session) storeRegion(domain *planar.Domain) error {
	stored, err := s.regionRows(domain.Name())
	if err != nil {
		return err
	}
	rows := domain.RegionRows()
	if bytes.Equal(rows, stored) {
		return nil
	}
	return s.write(`INSERT OR REPLACE INTO main.geosql_region(domain, rows) VALUES(?,?)`, domain.Name(), rows)
}

// readDomain returns the declaration of a domain.
func (s *session) readDomain(name string) (d declaredDomain, found bool, err error) {
	err = s.read(`SELECT name, south, west, north, east, step_m, region FROM main.geosql_domain WHERE name = ?`,
		func(st *sqlite.Stmt) {
			found = true
			d = declaredDomain{columnText(st, 0), columnFloat(st, 1), columnFloat(st, 2),
				columnFloat(st, 3), columnFloat(st, 4), columnFloat(st, 5), columnText(st, 6)}
		}, name)
	return d, found, err
}

// domain returns the domain that an argument names. Without the argument it is the only one
// that is declared.
func (c call) domain(a *argument) (*planar.Domain, error) {
	if !c.given(a) {
		return c.session.onlyDomain()
	}
	d, err := c.session.domainNamed(c.text(a))
	if err == nil && d == nil {
		err = c.undeclared(a, "domain")
	}
	return d, err
}

// domainNamed returns the domain of that name, nil if it is not declared.
func (s *session) domainNamed(name string) (*planar.Domain, error) {
	declared, found, err := s.readDomain(name)
	if err != nil || !found {
		return nil, err
	}
	return s.buildDomain(declared)
}

// onlyDomain returns the only domain that is declared.
func (s *session) onlyDomain() (*planar.Domain, error) {
	names, err := s.declaredNames("domain")
	if err != nil {
		return nil, err
	}
	switch len(names) {
	case 0:
		return nil, errors.New("domain is missing: none is declared, declare one with SELECT geo_domain(name, south, west, north, east, step_m)")
	case 1:
		return s.domainNamed(names[0])
	}
	return nil, fmt.Errorf("domain is missing: several are declared (%s)", strings.Join(names, ", "))
}

// resolveDomain returns the domain of that name. For "" it is the only one that is declared.
func (s *session) resolveDomain(name string) (*planar.Domain, error) {
	if name == "" {
		return s.onlyDomain()
	}
	domain, err := s.domainNamed(name)
	if err == nil && domain == nil {
		err = fmt.Errorf("domain %s is not declared", quoted(name))
	}
	return domain, err
}
