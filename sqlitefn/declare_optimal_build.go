package sqlitefn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/optimal"
)

var (
	argPlaceLat = &argument{name: "lat", is: "latitude of a place, degrees (**public** from now on)", kind: kindLatitude}
	argPlaceLon = &argument{name: "lon", is: "longitude of a place, degrees (**public** from now on)", kind: kindLongitude}
	argWeight   = &argument{name: "weight", is: "how often people are at the place, 0 or more; only ratios matter (**public** from now on)", kind: kindNotNegative}
	argDilation = &argument{name: "dilation", is: "1 for the optimal mechanism; a greater value, such as 1.1 and up to 1000, for a faster solution with a somewhat greater loss", kind: kindNumber, setting: true}
	argDistance = &argument{name: "metric", is: "the distances that epsilon refers to: 'euclid' (default), 'manhattan', or JSON text in each row with the distances from its place to all others: [[lat, lon, metres], ..] (**public** from now on)", kind: kindText, optional: true}
	argQuality  = &argument{name: "quality", is: "the loss that is least on average: the metric's distances (default), 'euclid' and 'manhattan' (metres), 'squared' (square metres of the former), 'binary' (1 for every release but the place itself), or JSON text in each row with the losses of all releases at its place: [[lat, lon, loss], ..] (**public** from now on)", kind: kindText, optional: true}
	argRole     = &argument{name: "role", is: "'both' (default) for a place that can also be released, 'secret' for one that cannot, 'output' for a point that can be released and stands for no location; its weight must be 0 (**public** from now on)", kind: kindText, optional: true}
)

var buildFunctions = []*function{
	&function{
		name: "optql_build", section: declared, flags: ownerOnly, reads: true,
		args: []*argument{argPlaceLat, argPlaceLon, argWeight, argEpsMetre, argDilation, argDomain, argDistance, argQuality, argRole},
		does: "Builds the optimal mechanism on 2 to 1,024 places: among all that satisfy epsilon, the one that loses least on average, in metres of the domain's frame between place and release unless you choose another loss; returns a BLOB for optql_store.",
		notes: "**Places, weights and the mechanism are public: weights that come from secrets release them.** " +
			"A place is the lattice point of its location. Two rows with the same place, a negative weight and a NULL are errors. The order of rows does not matter. " +
			"A place of weight 0 is protected like any other, and the mechanism is not made for it. " +
			"epsilon, dilation, domain and the kinds of metric and quality must be constant within a group. " +
			"With a dilation of 1 the loss is within 0.01 % of the least possible, unless that is close to 0. A greater dilation uses the constraints of a spanner with this dilation, of which there are fewer. " +
			"The distances of 'euclid' are those of the domain's frame divided by 1 + kappa, so they are never longer than those along the Earth. " +
			"Under 'manhattan', places that are di and dj lattice steps apart have the distance |di| + |dj| steps; the lattice's directions are east and north at the middle of the box. " +
			"Distances given in the rows, such as along roads, must be a metric: one from each place to each other place, above 0, the same in both directions, and none longer than the way through a third place; " +
			"a distance of 0 from a place to itself may be included. " +
			"With 'manhattan' and with given distances, geoind_optimal charges in a unit of its own, m:NAME, " +
			"unless all of them are certified to be no longer than the geodesics. " +
			"**The quality and the role change no promise**, only what is lost: the certificate is for the metric between the places. " +
			"Losses need not be a metric; given ones are 0 to 1e18, and each place has one for each release. " +
			"Rows with role 'output', 1 to 1,024 together with those of 'both', have no distances and losses of their own: where others give JSON, they give '[]'. " +
			"If all places can be released, 50 take a fraction of a second, 100 some seconds and 200 about a minute; with a dilation of 1.1, 200 take some seconds and 1,000 some minutes. " +
			"More than 600 places with a dilation of 1 need more than the 8 GB of memory that a computation may take. An interrupt ends it within seconds. Charges nothing.",
		example: []string{
			"WITH home(lat, lon, people) AS (VALUES (39.92, 116.25, 300), (39.95, 116.32, 120), (40.05, 116.30, 80))\n" +
				"SELECT typeof(optql_build(lat, lon, people, 0.0004, 1, 'haidian')) FROM home",
			"WITH home(lat, lon, people, roads) AS (VALUES (39.92, 116.25, 300, '[[39.95, 116.32, 9000]]'), (39.95, 116.32, 120, '[[39.92, 116.25, 9000]]'))\n" +
				"SELECT typeof(optql_build(lat, lon, people, 0.0004, 1, 'haidian', roads)) FROM home",
			"WITH spot(lat, lon, people, role) AS (VALUES (39.92, 116.25, 300, 'secret'), (39.95, 116.32, 120, 'secret'), (39.93, 116.28, 0, 'output'), (40.05, 116.30, 80, 'both'))\n" +
				"SELECT typeof(optql_build(lat, lon, people, 0.0004, 1, 'haidian', 'euclid', 'squared', role)) FROM spot",
		},
		aggregate: newBuildGroup,
	},
}

// maxDilation is greater than any useful dilation: a spanner becomes a tree well below it.
const maxDilation = 1000

// buildGroup computes the optimal mechanism on the places of its rows. Nothing is charged or
// drawn, since the mechanism makes places, weights and distances public.
type buildGroup struct {
	session           *session
	builder           *optimal.Builder
	epsilon, dilation float64
}

func newBuildGroup(s *session) group { return &buildGroup{session: s} }

func (g *buildGroup) begin(c call) error {
	g.epsilon, g.dilation = c.number(argEpsMetre), c.number(argDilation)
	if _, err := budget.Cost(budget.Decimal(g.epsilon)); err != nil {
		return err
	}
	if g.dilation < 1 || g.dilation > maxDilation {
		return c.argErrorf(argDilation, "must be at least 1 and at most %d, got %s", maxDilation, formatNumber(g.dilation))
	}
	metric, err := c.placeMetric()
	if err != nil {
		return err
	}
	quality, err := c.placeQuality(metric)
	if err != nil {
		return err
	}
	domain, err := c.domain(argDomain)
	if err != nil {
		return err
	}
	g.builder = optimal.NewBuilder(domain, metric, quality)
	return nil
}

func (g *buildGroup) row(c call) error {
	if err := g.checkKinds(c); err != nil {
		return err
	}
	secret, output, err := c.role()
	if err != nil {
		return err
	}
	lat, lon, _ := c.location(argPlaceLat, argPlaceLon)
	if secret {
		err = g.addPlace(c, lat, lon)
	} else {
		err = g.checkOutput(c)
	}
	if err != nil || !output {
		return err
	}
	return g.addOutput(c, lat, lon)
}

// checkKinds returns an error unless the kinds of metric and quality are those of the first
// row.
func (g *buildGroup) checkKinds(c call) error {
	metric, err := c.placeMetric()
	if err != nil {
		return err
	}
	if metric != g.builder.Metric() {
		return c.argErrorf(argDistance, "changes within a group")
	}
	quality, err := c.placeQuality(metric)
	if err != nil {
		return err
	}
	if quality != g.builder.Quality() {
		return c.argErrorf(argQuality, "changes within a group")
	}
	return nil
}

// placeMetric returns the metric that the call names, or optimal.Given if it gives distances.
func (c call) placeMetric() (optimal.Metric, error) {
	text := c.bytes(argDistance)
	switch {
	case text == nil || string(text) == optimal.Euclid.String():
		return optimal.Euclid, nil
	case string(text) == optimal.Manhattan.String():
		return optimal.Manhattan, nil
	case isJSONArray(text):
		return optimal.Given, nil
	}
	return 0, c.argErrorf(argDistance, "must be 'euclid', 'manhattan', or in each row a JSON array of [lat, lon, metres], got %s",
		quoted(text[:min(len(text), 40)]))
}

// placeQuality returns the quality that the call names, that of the metric if it names
// none, or optimal.QualityGiven if it gives losses.
func (c call) placeQuality(metric optimal.Metric) (optimal.Quality, error) {
	text := c.bytes(argQuality)
	if text == nil {
		return metric.Quality(), nil
	}
	for q := range optimal.QualityGiven {
		if string(text) == q.String() {
			return q, nil
		}
	}
	if isJSONArray(text) {
		return optimal.QualityGiven, nil
	}
	return 0, c.argErrorf(argQuality, "must be 'euclid', 'manhattan', 'squared', 'binary', or in each row a JSON array of [lat, lon, loss], got %s",
		quoted(text[:min(len(text), 40)]))
}

// isJSONArray reports whether a text begins as a JSON array.
func isJSONArray(text []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("["))
}

// role returns whether the row's location is one of the secrets, and whether it can be
// released.
func (c call) role() (secret, output bool, err error) {
	switch text := c.bytes(argRole); {
	case text == nil || string(text) == "both":
		return true, true, nil
	case string(text) == "secret":
		return true, false, nil
	case string(text) == "output":
		return false, true, nil
	default:
		return false, false, c.argErrorf(argRole, "must be 'both', 'secret' or 'output', got %s", quoted(text[:min(len(text), 40)]))
	}
}

// addPlace adds a place at the row's location, with its distances and losses if they are
// given.
func (g *buildGroup) addPlace(c call, lat, lon float64) error {
	if err := g.add(c, lat, lon, c.number(argWeight)); err != nil {
		return err
	}
	if g.builder.Metric() == optimal.Given {
		if err := g.builder.AddDistances(lat, lon, c.bytes(argDistance)); err != nil {
			return err
		}
	}
	if c.given(argQuality) && g.builder.Quality() == optimal.QualityGiven {
		return g.builder.AddLosses(lat, lon, c.bytes(argQuality))
	}
	return nil
}

// checkOutput returns an error if a row that is no place has a weight, distances or losses.
func (g *buildGroup) checkOutput(c call) error {
	if weight := c.number(argWeight); weight != 0 {
		return c.argErrorf(argWeight, "must be 0 where role is 'output', got %s", formatNumber(weight))
	}
	for _, a := range []*argument{argDistance, argQuality} {
		if text := c.bytes(a); isJSONArray(text) && !emptyArray.Match(text) {
			return c.argErrorf(a, "must be '[]' where role is 'output'")
		}
	}
	return nil
}

var emptyArray = regexp.MustCompile(`^\s*\[\s*\]\s*$`)

// addOutput adds the row's location to what can be released.
func (g *buildGroup) addOutput(c call, lat, lon float64) error {
	err := g.builder.AddOutput(lat, lon)
	switch {
	case errors.Is(err, optimal.ErrOutputTwice):
		return c.argErrorf(argPlaceLat, "and lon of two rows with role 'output' or 'both' are one point of domain '%s', %s",
			g.builder.Domain().Name(), g.point(lat, lon))
	case errors.Is(err, optimal.ErrManyOutputs):
		return c.argErrorf(argRole, "makes more than %d outputs", optimal.MaxOutputs)
	}
	return err
}

// point returns the lattice point of a location as WKT.
func (g *buildGroup) point(lat, lon float64) []byte {
	domain := g.builder.Domain()
	lat, lon = domain.Location(domain.Cell(lat, lon))
	return appendPoint(nil, lat, lon)
}

// add adds a place at the row's location.
func (g *buildGroup) add(c call, lat, lon, weight float64) error {
	err := g.builder.Add(lat, lon, weight)
	switch {
	case errors.Is(err, optimal.ErrPlaceTwice):
		return c.argErrorf(argPlaceLat, "and lon of two rows are one place of domain '%s', %s; make it one row with the sum of their weights",
			g.builder.Domain().Name(), g.point(lat, lon))
	case errors.Is(err, optimal.ErrManyPlaces):
		return c.argErrorf(argPlaceLat, "and lon make more than %d places", optimal.MaxPlaces)
	case errors.Is(err, optimal.ErrWeights):
		return c.argErrorf(argWeight, "adds up to more than a number can hold")
	}
	return err
}

// final answers the mechanism.
func (g *buildGroup) final(c call) error {
	if g.builder == nil {
		return nil
	}
	if n := g.builder.Len(); n < optimal.MinPlaces {
		places := [...]string{"0 places", "1 place"}
		return fmt.Errorf("lat and lon make %s, but a mechanism has %d to %d", places[n], optimal.MinPlaces, optimal.MaxPlaces)
	}
	if g.builder.Outputs() == 0 {
		return c.argErrorf(argRole, "is 'secret' in every row, so that nothing can be released")
	}
	m, err := g.build()
	if err != nil {
		return err
	}
	data, err := m.AppendBinary(nil)
	if err != nil {
		return err
	}
	c.ResultBlob(0, data)
	return nil
}

// build solves until it is done or the statement is interrupted.
func (g *buildGroup) build() (m *optimal.PlaceMechanism, err error) {
	err = g.session.runInterruptible(func(ctx context.Context) (err error) {
		m, err = g.builder.Build(ctx, g.epsilon, g.dilation)
		return err
	})
	return m, err
}
