package sqlitefn

import (
	"fmt"
)

func geoDomain(s *session, c call) error {
	d := declaredDomain{}
	name, err := c.name(0)
	if err != nil {
		return err
	}
	d.name = name
	for i, v := range []*float64{&d.south, &d.west, &d.north, &d.east, &d.stepM} {
		if *v, err = c.number(i + 1); err != nil {
			return err
		}
	}
	domain, err := d.whole()
	if err != nil {
		return err
	}
	earlier, err := declare(s, func() (declaredDomain, bool, error) { return s.readDomain(d.name) },
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

func geoRegion(s *session, c call) error {
	name, err := c.name(0)
	if err != nil {
		return err
	}
	wkt, err := c.text(1)
	if err == nil && len(wkt) == 0 {
		err = c.bad(1, "must not be empty")
	}
	if err != nil {
		return err
	}
	d, found, err := s.readDomain(name)
	if err != nil {
		return err
	}
	if !found {
		return c.undeclared(s, 0, "domain")
	}
	if d.region == "" {
		d.region = string(wkt)
	}
	if d.region != string(wkt) {
		return anotherRegion(name)
	}
	domain, err := s.build(d)
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

func anotherRegion(domain string) error {
	return fmt.Errorf("domain '%s' has a region already and it cannot change; declare another domain", domain)
}

func dxUniverse(s *session, c call) error {
	d := declaredUniverse{}
	name, err := c.name(0)
	if err != nil {
		return err
	}
	d.name = name
	for i, v := range []*float64{&d.lo, &d.hi, &d.step} {
		if *v, err = c.number(i + 1); err != nil {
			return err
		}
	}
	unit, err := c.unit(4)
	if err != nil {
		return err
	}
	d.unit = string(unit)
	u, err := d.open()
	if err != nil {
		return err
	}
	earlier, err := declare(s, func() (declaredUniverse, bool, error) { return s.readUniverse(d.name) },
		`INSERT OR IGNORE INTO main.geosql_universe(name, lo, hi, step, unit) VALUES(?,?,?,?,?)`,
		d.name, d.lo, d.hi, d.step, d.unit)
	if err != nil {
		return err
	}
	if d != earlier {
		return fmt.Errorf("universe '%s' is declared already and cannot change; take another name", d.name)
	}
	c.ResultString(0, u.String())
	return nil
}

// name decodes the name of a declaration.
func (c call) name(i int) (string, error) {
	b, err := c.text(i)
	if err == nil && !isName(b) {
		err = c.bad(i, "must be printable text")
	}
	return string(b), err
}

func geoOutside(s *session, c call) error {
	d, err := s.domain(c, 0)
	if err != nil {
		return err
	}
	lat, lon, null, err := c.location(1)
	if err != nil || null {
		return err
	}
	c.resultBool(0, d.Outside(lat, lon))
	return nil
}

func dxOutside(s *session, c call) error {
	u, err := s.universe(c, 0)
	if err != nil {
		return err
	}
	x, null, err := c.secret(1)
	if err != nil || null {
		return err
	}
	c.resultBool(0, u.Outside(x))
	return nil
}

// resultBool sets 1 or 0.
func (c call) resultBool(i int, yes bool) {
	n := int64(0)
	if yes {
		n = 1
	}
	c.ResultInt(i, n)
}
