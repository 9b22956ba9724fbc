package sqlitefn

import (
	"fmt"
	"math"
	"runtime"
	"strings"

	"github.com/geosql/geosql/budget"
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
	eps := level / radius
	if eps == 0 || math.IsInf(eps, 0) {
		return c.bad(0, "divided by radius_m is no number that a float holds")
	}
	c.ResultFloat(0, eps)
	return nil
}

func geoindRadius(s *session, c call) error {
	eps, err := c.epsilon(0)
	if err != nil {
		return err
	}
	p, err := c.probability(1)
	if err != nil {
		return err
	}
	d, err := s.ball(c, 2)
	if err != nil {
		return err
	}
	var r float64
	if d == nil {
		r, err = planar.Radius(eps, p)
	} else {
		r, err = d.Radius(budget.Decimal(eps), p)
	}
	if err != nil {
		return err
	}
	c.ResultFloat(0, r)
	return nil
}

// ball is the domain whose lattice and frame an accuracy counts in, nil for the
// continuous mechanism.
func (s *session) ball(c call, i int) (*planar.Domain, error) {
	if !c.given(i) {
		return nil, nil
	}
	return s.domain(c, i)
}

// radius decodes a radius in metres, which may be 0.
func (c call) radius(i int) (float64, error) {
	r, err := c.number(i)
	if err == nil && r < 0 {
		err = c.bad(i, "must not be below 0, got %s", plain(r))
	}
	return r, err
}

func geoindConfidence(s *session, c call) error {
	eps, err := c.epsilon(0)
	if err != nil {
		return err
	}
	radius, err := c.radius(1)
	if err != nil {
		return err
	}
	d, err := s.ball(c, 2)
	if err != nil {
		return err
	}
	if d == nil {
		c.ResultFloat(0, planar.Confidence(eps, radius))
	} else {
		c.ResultFloat(0, d.Confidence(budget.Decimal(eps), radius))
	}
	return nil
}

func lbsRadius(s *session, c call) error {
	eps, err := c.epsilon(0)
	if err != nil {
		return err
	}
	confidence, err := c.probability(1)
	if err != nil {
		return err
	}
	interest, err := c.radius(2)
	if err != nil {
		return err
	}
	d, err := s.ball(c, 3)
	if err != nil {
		return err
	}
	var r float64
	if d == nil {
		r, err = planar.RetrievalRadius(eps, confidence, interest)
	} else {
		r, err = d.RetrievalRadius(budget.Decimal(eps), confidence, interest)
	}
	if err != nil {
		return err
	}
	c.ResultFloat(0, r)
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
		return c.bad(0, "%s is no function of geosql; SELECT geosql_help() lists them", quoted(name))
	}
	c.ResultString(0, f.help())
	return nil
}

// help is what geosql_help answers.
func (f *function) help() string {
	var b strings.Builder
	b.WriteString(f.signature())
	wrap(&b, f.does)
	wrap(&b, "Form: "+f.forms()+".")
	for _, a := range f.args {
		wrap(&b, a.name+": "+a.is)
	}
	if f.charges != "" {
		wrap(&b, "Charges "+f.charges+".")
	}
	wrap(&b, f.notes)
	return b.String()
}

// wrap appends text on indented lines of their own, of at most 78 characters.
func wrap(b *strings.Builder, text string) {
	width := 78
	for _, word := range strings.Fields(text) {
		if width+1+len(word) > 78 {
			b.WriteString("\n ")
			width = 1
		}
		b.WriteString(" " + word)
		width += 1 + len(word)
	}
}
