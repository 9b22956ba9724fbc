package sqlitefn

import (
	"errors"
	"math"

	"github.com/geosql/geosql/mechanism"
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
		return o.Named(public.name), nil
	},
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
	lat, lon = o.Location(o.Remap(o.Snap(lat, lon)))
	var room [64]byte
	c.ResultText(0, appendPoint(room[:0], lat, lon))
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
