package location

import (
	"errors"
	"math"

	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/sqlitefn/internal/declared"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
	"github.com/paulmach/orb/encoding/wkt"
)

var (
	argPoint     = &frame.Arg{Name: "wkt", Is: "POINT(lon lat): a release of geoind_optimal", Kind: frame.OrNull(frame.Text)}
	argRemapName = &frame.Arg{Name: "name", Is: "name of a mechanism", Kind: frame.Name}

	argReportLat  = &frame.Arg{Name: "lat", Is: "latitude of a release of geoind_laplace, degrees", Kind: frame.OrNull(frame.Latitude)}
	argReportLon  = &frame.Arg{Name: "lon", Is: "longitude of the release, degrees", Kind: frame.OrNull(frame.Longitude)}
	argPriorOf    = &frame.Arg{Name: "prior", Is: "name of a prior that prior_store has stored", Kind: frame.Name, Setting: true}
	argReportEps  = &frame.Arg{Name: "epsilon", Is: "epsilon of the release, per metre", Kind: frame.Positive}
	argPriorFrame = &frame.Arg{Name: "domain", Is: "the domain of the release, which must be the prior's", Kind: frame.Text, Optional: true, Setting: true}
)

const remapName = "geoind_remap"

var remapFunctions = []*frame.Function{
	{
		Name: remapName, Section: frame.Free, Returns: "TEXT",
		Args:     []*frame.Arg{argPoint, argRemapName},
		Does:     "Returns the best guess of the true place for a release of geoind_optimal, given the mechanism's weights: the release with the least expected loss, by default the place with the least expected distance.",
		Accuracy: "adv_error of optql_report on average; no radius, as it depends on the places",
		Notes: "A point that the mechanism cannot release is an error: the mechanism has not released it, and its best guess is another. " +
			"NULL gives NULL.",
		Examples: []string{"SELECT geoind_remap(geoind_optimal('ana', 39.984, 116.318, 'homes'), 'homes')"},
		Scalar:   remapPlace,
	}, {
		Name: remapName, Section: frame.Free, Returns: "TEXT", Scoped: true,
		Args:     []*frame.Arg{argReportLat, argReportLon, argPriorOf, argReportEps, argPriorFrame},
		Does:     "Returns the best guess of the true location for a release of geoind_laplace, given a public prior: the point with the least expected distance.",
		Accuracy: "no radius, as it depends on where people are",
		Notes: "The guess is right for releases of geoind_laplace in the prior's domain that spent epsilon; for anything else it is a point like any other. " +
			"It pays where the noise is large beside the distances between places. Without other data, geoind_prior makes a prior of the releases themselves: guesses are then up to 1.3 times nearer, and at narrow noise up to 4 % farther. The answer is WKT; its time grows with the number of places. NULL gives NULL.",
		Examples: []string{"SELECT geoind_remap(g.lat, g.lon, 'squares', 0.005) FROM geoind_laplace('ana', 39.984, 116.318, 0.005, 'haidian') g"},
		Scalar:   remapReport,
	},
}

// remapPlace answers the best guess of the true place for a released one. It depends only
// on the released place and on the mechanism, which are public.
func remapPlace(c frame.Call) error {
	o, err := declared.Optimal(c, argRemapName)
	if err != nil || !c.Given(argPoint) {
		return err
	}
	lat, lon, err := parsePoint(c.Text(argPoint))
	if err != nil {
		return c.Errorf(argPoint, "%v", err)
	}
	output, released := o.Output(lat, lon)
	if !released {
		return c.Errorf(argPoint, "is not a place of mechanism %s, so it has not released it", frame.Quoted(c.Bytes(argRemapName)))
	}
	lat, lon = o.Location(o.Remap(output))
	c.ResultPoint(0, lat, lon)
	return nil
}

// remapReport answers the best guess of the true location for a report. It depends only
// on the report and on the prior, which are public.
func remapReport(c frame.Call) error {
	prior, err := frame.Plan(c, reportPrior)
	if err != nil {
		return err
	}
	lat, lon, absent := c.Location(argReportLat, argReportLon)
	if absent {
		return nil
	}
	lat, lon = prior.Remap(c.Number(argReportEps), lat, lon)
	c.ResultPoint(0, lat, lon)
	return nil
}

// reportPrior returns the prior for a report.
func reportPrior(c frame.Call) (*planar.Prior, error) {
	prior, err := declared.Prior(c, argPriorOf)
	if err == nil && c.Given(argPriorFrame) && c.Text(argPriorFrame) != prior.Domain().Name() {
		err = c.Errorf(argPriorFrame, "must be that of prior %s, %s", frame.Quoted(c.Bytes(argPriorOf)), frame.Quoted(prior.Domain().Name()))
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
