package sqlitefn

import (
	"errors"
	"math"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/paulmach/orb/encoding/wkt"
)

// geoindOptimal releases a location with an optimal mechanism.
var geoindOptimal = &locationRelease{
	name: locationNext,
	mechanism: func(s *session, c call, public locationArgs) (mechanism.Location, error) {
		o, err := s.optimalNamed(c, locationNext)
		if err != nil {
			return nil, err
		}
		return namedOptimal{o, budget.Price{Unit: o.unit(public.name), Amount: o.cost}}, nil
	},
}

// namedOptimal is an optimal mechanism under the name that its unit may have.
type namedOptimal struct {
	*optimalMechanism
	price budget.Price
}

// Price returns epsilon in metres, or in the metric of the mechanism.
func (o namedOptimal) Price() budget.Price { return o.price }

// Draw returns the place that is reported for a location.
//
// # Privacy
//
// The location decides which place stands for it, and nothing else: account, charge
// and unit are public. From there on the mechanism's certificate holds, per metre of
// the distances that the unit stands for: see unit.
func (o namedOptimal) Draw(src *exact.Source, lat, lon float64) (zlat, zlon float64) {
	z := o.points[o.mechanism.Draw(src, o.snap(lat, lon))]
	return z[0], z[1]
}

// StandIn returns the place in the middle of the domain.
func (o namedOptimal) StandIn() (lat, lon float64) {
	return o.points[o.middle][0], o.points[o.middle][1]
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
	p := o.points[o.Remap(o.Snap(lat, lon))]
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
