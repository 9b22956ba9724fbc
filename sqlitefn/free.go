package sqlitefn

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/mechanism/planar"
)

func geoindEpsilon(_ *session, c call) error {
	level, err := c.epsilon(0)
	if err != nil {
		return err
	}
	radius, err := c.epsilon(1)
	if err != nil {
		return err
	}
	c.ResultFloat(0, level/radius)
	return nil
}

// geoindRadius is the radius that holds the released point with probability p,
// of the continuous mechanism or of the one in a domain.
func (s *session) geoindRadius(c call, eps float64, p, domain int) (float64, error) {
	probability, err := c.number(p)
	if err != nil {
		return 0, err
	}
	if !c.given(domain) {
		return planar.Radius(eps, probability)
	}
	d, err := s.domain(c, domain)
	if err != nil {
		return 0, err
	}
	rat, err := c.decimal(0)
	if err != nil {
		return 0, err
	}
	return d.Radius(rat, probability)
}

func geoindRadius(s *session, c call) error {
	eps, err := c.epsilon(0)
	if err != nil {
		return err
	}
	r, err := s.geoindRadius(c, eps, 1, 2)
	if err != nil {
		return err
	}
	c.ResultFloat(0, r)
	return nil
}

func geoindConfidence(s *session, c call) error {
	eps, err := c.epsilon(0)
	if err != nil {
		return err
	}
	radius, err := c.number(1)
	if err == nil && radius < 0 {
		err = c.bad(1, "must not be below 0, got %s", plain(radius))
	}
	if err != nil {
		return err
	}
	if !c.given(2) {
		c.ResultFloat(0, planar.Confidence(eps, radius))
		return nil
	}
	d, err := s.domain(c, 2)
	if err != nil {
		return err
	}
	rat, err := c.decimal(0)
	if err != nil {
		return err
	}
	c.ResultFloat(0, d.Confidence(rat, radius))
	return nil
}

// lbsRadius: everything within radius_m of the true place lies within the
// answer of the released one, with the confidence asked for. It is computed from
// public numbers alone; a radius that depended on the distance between the true
// and the released place would give the former away (thesis, section 5.3).
func lbsRadius(s *session, c call) error {
	eps, err := c.epsilon(0)
	if err != nil {
		return err
	}
	interest, err := c.number(2)
	if err == nil && interest < 0 {
		err = c.bad(2, "must not be below 0, got %s", plain(interest))
	}
	if err != nil {
		return err
	}
	r, err := s.geoindRadius(c, eps, 1, 3)
	if err != nil {
		return err
	}
	c.ResultFloat(0, interest+r)
	return nil
}

func geosqlVersion(_ *session, c call) error {
	c.ResultString(0, Version)
	return nil
}

func geosqlDebug(_ *session, c call) error {
	c.ResultString(0, fmt.Sprintf("geosql %s, SQLite %s, %s %s/%s", Version, sqlite.Version(),
		runtime.Version(), runtime.GOOS, runtime.GOARCH))
	return nil
}

func geosqlHelp(_ *session, c call) error {
	if !c.given(0) {
		names := make([]string, len(functions))
		for i, f := range functions {
			names[i] = f.name
		}
		c.ResultString(0, strings.Join(names, "\n"))
		return nil
	}
	name, err := c.text(0)
	if err != nil {
		return err
	}
	f := lookup(string(name))
	if f == nil {
		return c.bad(0, "'%s' is no function of geosql; SELECT geosql_help() lists them", name)
	}
	c.ResultString(0, f.help())
	return nil
}

// help is what geosql_help answers.
func (f *function) help() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n  %s\n  Form: %s.\n", f.signature(), f.does, f.forms())
	for _, a := range f.args {
		fmt.Fprintf(&b, "  %s: %s\n", a.name, a.is)
	}
	if f.charges != "" {
		fmt.Fprintf(&b, "  Charges %s.\n", f.charges)
	}
	if f.notes != "" {
		fmt.Fprintf(&b, "  %s\n", f.notes)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
