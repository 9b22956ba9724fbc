package sqlitefn

import (
	"errors"
	"math"

	"github.com/geosql/geosql/mechanism/planar"
	"github.com/paulmach/orb/encoding/wkt"
)

var (
	argPoint     = &argument{name: "wkt", is: "POINT(lon lat): a release of geoind_optimal", kind: orNull(kindText)}
	argRemapName = &argument{name: "name", is: "name of a mechanism", kind: kindName}

	argReportLat  = &argument{name: "lat", is: "latitude of a release of geoind_laplace, degrees", kind: orNull(kindLatitude)}
	argReportLon  = &argument{name: "lon", is: "longitude of the release, degrees", kind: orNull(kindLongitude)}
	argPriorOf    = &argument{name: "prior", is: "name of a prior that prior_store has stored", kind: kindName, setting: true}
	argReportEps  = &argument{name: "epsilon", is: "what the release spent, per metre", kind: kindPositive}
	argPriorFrame = &argument{name: "domain", is: "the domain of the release, which must be the prior's", kind: kindText, optional: true, setting: true}
)

const remapName = "geoind_remap"

var remapFunctions = []*function{
	&function{
		name: remapName, section: free,
		args: []*argument{argPoint, argRemapName},
		does: "Returns the best guess of the true place for a release of geoind_optimal, given the mechanism's weights: the release with the least expected loss, by default the place with the least expected distance.",
		notes: "Remapping a release costs nothing more, whoever does it. A point that the mechanism cannot release is an error: the mechanism has not released it, and its best guess is another. " +
			"NULL gives NULL.",
		example: []string{"SELECT geoind_remap(geoind_optimal('ana', 39.984, 116.318, 'homes'), 'homes')"},
		scalar:  remapPlace,
	}, &function{
		name: remapName, section: free, scoped: true,
		args: []*argument{argReportLat, argReportLon, argPriorOf, argReportEps, argPriorFrame},
		does: "Returns the best guess of the true location for a release of geoind_laplace, given a public prior: the point with the least expected distance.",
		notes: "Remapping a release costs nothing more, whoever does it. The guess is right for releases of geoind_laplace in the prior's domain that spent epsilon; for anything else it is a point like any other. " +
			"It pays where the noise is large beside the distances between places. The answer is WKT; its time grows with the number of places. NULL gives NULL.",
		example: []string{"SELECT geoind_remap(g.lat, g.lon, 'squares', 0.005) FROM geoind_laplace('ana', 39.984, 116.318, 0.005, 'haidian') g"},
		scalar:  remapReport,
	},
}

// remapPlace answers the best guess of the true place for a released one. It depends only
// on what was released and on the mechanism, which are public.
func remapPlace(c call) error {
	o, err := c.optimal(argRemapName)
	if err != nil || !c.given(argPoint) {
		return err
	}
	lat, lon, err := parsePoint(c.text(argPoint))
	if err != nil {
		return c.argErrorf(argPoint, "%v", err)
	}
	output, released := o.Output(lat, lon)
	if !released {
		return c.argErrorf(argPoint, "is not a place of mechanism %s, so it has not released it", quoted(c.bytes(argRemapName)))
	}
	lat, lon = o.Location(o.Remap(output))
	c.resultPoint(0, lat, lon)
	return nil
}

// remapReport answers the best guess of the true location for a report. It depends only on
// what was released and on the prior, which are public.
func remapReport(c call) error {
	prior, err := cachedPlan(c, reportPrior)
	if err != nil {
		return err
	}
	lat, lon, absent := c.location(argReportLat, argReportLon)
	if absent {
		return nil
	}
	lat, lon = prior.Remap(c.number(argReportEps), lat, lon)
	c.resultPoint(0, lat, lon)
	return nil
}

// reportPrior returns the prior for a report.
func reportPrior(c call) (*planar.Prior, error) {
	prior, err := c.prior(argPriorOf)
	if err == nil && c.given(argPriorFrame) && c.text(argPriorFrame) != prior.Domain().Name() {
		err = c.argErrorf(argPriorFrame, "must be that of prior %s, %s", quoted(c.bytes(argPriorOf)), quoted(prior.Domain().Name()))
	}
	return prior, err
}

var errPoint = errors.New("must be a POINT(lon lat) in degrees")

// parsePoint parses a WKT point.
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
