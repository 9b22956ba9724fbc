package sqlitefn

import (
	"errors"
	"math"

	"github.com/geosql/geosql/budget"
	"github.com/paulmach/orb/encoding/wkt"
)

// Position of the mechanism's name among geoind_optimal's arguments.
const optimalName = locationNext

// optimalRelease checks every argument, charges, and draws.
//
// # Privacy
//
// The location decides which place stands for it, and nothing else: account, charge
// and unit are public. From there on the mechanism's certificate holds, per metre of
// the distances that the unit stands for: see unit.
func (t *statement) optimalRelease(c call) (lat, lon float64, released bool, err error) {
	o, unit, err := t.optimalFor(c)
	if err != nil {
		return 0, 0, false, err
	}
	lat, lon, source, null, err := t.chargeLocation(c, unit, o.cost)
	if err != nil || null {
		return 0, 0, false, err
	}
	z := o.middle
	if source != nil {
		z = o.mechanism.Draw(source, o.snap(lat, lon))
	}
	return o.points[z][0], o.points[z][1], true, nil
}

// optimalFor is the mechanism that the call names, and what it is charged in. Within one
// statement that hardly ever changes, so the last one is kept.
func (t *statement) optimalFor(c call) (*optimalMechanism, budget.Unit, error) {
	name, err := c.text(optimalName)
	if err != nil {
		return nil, "", err
	}
	if t.optimal != nil && t.optimalNamed == string(name) {
		return t.optimal, t.optimalUnit, nil
	}
	o, err := t.session.optimalNamed(c, optimalName)
	if err != nil {
		return nil, "", err
	}
	t.optimal, t.optimalNamed = o, string(name)
	t.optimalUnit = o.unit(t.optimalNamed)
	return o, t.optimalUnit, nil
}

// geoindRemap answers the place that a released point is best taken for. It is a
// function of what was released and of the mechanism, which are public.
func geoindRemap(s *session, c call) error {
	o, err := s.optimalNamed(c, 1)
	if err != nil || c.null(0) {
		return err
	}
	text, err := c.text(0)
	if err != nil {
		return err
	}
	lat, lon, err := parsePoint(string(text))
	if err != nil {
		return c.bad(0, "%v", err)
	}
	p := o.points[o.remap(o.snap(lat, lon))]
	var room [64]byte
	c.ResultText(0, appendPoint(room[:0], p[0], p[1]))
	return nil
}

var errPoint = errors.New("must be a POINT(lon lat) in degrees")

// parsePoint reads a WKT point.
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
