package declare

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/optimal"
	"github.com/geosql/geosql/sqlitefn/internal/declared"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

var (
	argPlaceLat = &frame.Arg{Name: "lat", Is: "latitude of a place, degrees (**public** from now on)", Kind: frame.Latitude}
	argPlaceLon = &frame.Arg{Name: "lon", Is: "longitude of a place, degrees (**public** from now on)", Kind: frame.Longitude}
	argWeight   = &frame.Arg{Name: "weight", Is: "how often people are at the place, 0 or more; only ratios matter (**public** from now on)", Kind: frame.NotNegative}
	argDilation = &frame.Arg{Name: "dilation", Is: "1 for the optimal mechanism; a greater value, such as 1.1 and up to 1000, for a faster solution with a somewhat greater loss", Kind: frame.Number, Setting: true}
	argDistance = &frame.Arg{Name: "metric", Is: "the distances that epsilon refers to: 'euclid' (default), 'manhattan', or JSON text in each row with the distances from its place to all others: [[lat, lon, metres], ..] (**public** from now on)", Kind: frame.Text, Optional: true}
	argQuality  = &frame.Arg{Name: "quality", Is: "the loss that is least on average: the metric's distances (default), 'euclid' and 'manhattan' (metres), 'squared' (square metres of the former), 'binary' (1 for every release but the place itself), or JSON text in each row with the losses of all releases at its place: [[lat, lon, loss], ..] (**public** from now on)", Kind: frame.Text, Optional: true}
	argRole     = &frame.Arg{Name: "role", Is: "'both' (default) for a place that can also be released, 'secret' for one that cannot, 'output' for a point that can be released and stands for no location; its weight must be 0 (**public** from now on)", Kind: frame.Text, Optional: true}
)

var buildFunctions = []*frame.Function{
	{
		Name: "optql_build", Section: frame.DeclaredByOwner, Returns: "BLOB", Flags: frame.OwnerOnly, Reads: true,
		Args: []*frame.Arg{argPlaceLat, argPlaceLon, argWeight, frame.ArgEpsMetre, argDilation, frame.ArgDomain, argDistance, argQuality, argRole},
		Does: "Builds the optimal mechanism on 2 to 1,024 places: among all that satisfy epsilon, the one that loses least on average, in metres of the domain's frame between place and release unless you choose another loss; returns a BLOB for optql_store.",
		Notes: "**Places, weights and the mechanism are public: weights that come from secrets release them.** " +
			"A place is the lattice point of its location. Two rows with the same place, a negative weight and a NULL are errors. The order of rows does not matter. " +
			"A place of weight 0 is protected like any other, and the mechanism is not made for it. " +
			"epsilon, dilation, domain and the kinds of metric and quality must be constant within a group. " +
			"With a dilation of 1 the loss is within 0.01 % of the least possible, unless that is close to 0. A greater dilation uses only the constraints of a spanner with this dilation. " +
			"The distances of 'euclid' are those of the domain's frame divided by 1 + kappa, so they are never longer than those along the Earth. " +
			"Under 'manhattan', places that are di and dj lattice steps apart have the distance |di| + |dj| steps; the lattice's directions are east and north at the middle of the box. " +
			"Distances given in the rows, such as along roads, must be a metric: one from each place to each other place, above 0, the same in both directions, and none longer than the way through a third place; " +
			"a distance of 0 from a place to itself may be included. " +
			"With 'manhattan' and with given distances, geoind_optimal charges in a unit of its own, m:NAME, " +
			"unless all of them are certified to be no longer than the geodesics. " +
			"**The quality and the role change no promise**, only the loss: the certificate is for the metric between the places. " +
			"Losses need not be a metric; given ones are 0 to 1e18, and each place has one for each release. " +
			"Rows with role 'output', 1 to 1,024 together with those of 'both', have no distances and losses of their own: where others give JSON, they give '[]'. " +
			"If all places can be released, 50 take a fraction of a second, 100 some seconds and 200 about a minute; with a dilation of 1.1, 200 take some seconds and 1,000 some minutes. " +
			"More than 600 places with a dilation of 1 need more than the 8 GB of memory that a computation may take. An interrupt ends it within seconds.",
		Examples: []string{
			"WITH home(lat, lon, people) AS (VALUES (39.92, 116.25, 300), (39.95, 116.32, 120), (40.05, 116.30, 80))\n" +
				"SELECT typeof(optql_build(lat, lon, people, 0.0004, 1, 'haidian')) FROM home",
			"WITH home(lat, lon, people, roads) AS (VALUES (39.92, 116.25, 300, '[[39.95, 116.32, 9000]]'), (39.95, 116.32, 120, '[[39.92, 116.25, 9000]]'))\n" +
				"SELECT typeof(optql_build(lat, lon, people, 0.0004, 1, 'haidian', roads)) FROM home",
			"WITH spot(lat, lon, people, role) AS (VALUES (39.92, 116.25, 300, 'secret'), (39.95, 116.32, 120, 'secret'), (39.93, 116.28, 0, 'output'), (40.05, 116.30, 80, 'both'))\n" +
				"SELECT typeof(optql_build(lat, lon, people, 0.0004, 1, 'haidian', 'euclid', 'squared', role)) FROM spot",
		},
		Aggregate: newBuildGroup,
	},
}

// maxDilation is greater than any useful dilation: a spanner becomes a tree well below it.
const maxDilation = 1000

// buildGroup computes the optimal mechanism on the places of its rows. Nothing is charged or
// drawn, since the mechanism makes places, weights and distances public.
type buildGroup struct {
	session           *frame.Session
	builder           *optimal.Builder
	epsilon, dilation float64
}

func newBuildGroup(s *frame.Session) frame.Group { return &buildGroup{session: s} }

func (g *buildGroup) Begin(c frame.Call) error {
	g.epsilon, g.dilation = c.Number(frame.ArgEpsMetre), c.Number(argDilation)
	if _, err := budget.Cost(budget.Decimal(g.epsilon)); err != nil {
		return err
	}
	if g.dilation < 1 || g.dilation > maxDilation {
		return c.Errorf(argDilation, "must be at least 1 and at most %d, got %s", maxDilation, frame.FormatNumber(g.dilation))
	}
	metric, err := placeMetric(c)
	if err != nil {
		return err
	}
	quality, err := placeQuality(c, metric)
	if err != nil {
		return err
	}
	domain, err := declared.Domain(c, frame.ArgDomain)
	if err != nil {
		return err
	}
	g.builder = optimal.NewBuilder(domain, metric, quality)
	return nil
}

func (g *buildGroup) Row(c frame.Call) error {
	if err := g.checkKinds(c); err != nil {
		return err
	}
	secret, output, err := role(c)
	if err != nil {
		return err
	}
	lat, lon, _ := c.Location(argPlaceLat, argPlaceLon)
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
func (g *buildGroup) checkKinds(c frame.Call) error {
	metric, err := placeMetric(c)
	if err != nil {
		return err
	}
	if metric != g.builder.Metric() {
		return c.Errorf(argDistance, "changes within a group")
	}
	quality, err := placeQuality(c, metric)
	if err != nil {
		return err
	}
	if quality != g.builder.Quality() {
		return c.Errorf(argQuality, "changes within a group")
	}
	return nil
}

// placeMetric returns the metric that the call names, or optimal.Given if it gives distances.
func placeMetric(c frame.Call) (optimal.Metric, error) {
	text := c.Bytes(argDistance)
	switch {
	case text == nil || string(text) == optimal.Euclid.String():
		return optimal.Euclid, nil
	case string(text) == optimal.Manhattan.String():
		return optimal.Manhattan, nil
	case isJSONArray(text):
		return optimal.Given, nil
	}
	return 0, c.Errorf(argDistance, "must be 'euclid', 'manhattan', or in each row a JSON array of [lat, lon, metres], got %s",
		frame.Quoted(text[:min(len(text), 40)]))
}

// placeQuality returns the quality that the call names, that of the metric if it names
// none, or optimal.QualityGiven if it gives losses.
func placeQuality(c frame.Call, metric optimal.Metric) (optimal.Quality, error) {
	text := c.Bytes(argQuality)
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
	return 0, c.Errorf(argQuality, "must be 'euclid', 'manhattan', 'squared', 'binary', or in each row a JSON array of [lat, lon, loss], got %s",
		frame.Quoted(text[:min(len(text), 40)]))
}

// isJSONArray reports whether a text begins as a JSON array.
func isJSONArray(text []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("["))
}

// role returns whether the row's location is one of the secrets, and whether it can be
// released.
func role(c frame.Call) (secret, output bool, err error) {
	switch text := c.Bytes(argRole); {
	case text == nil || string(text) == "both":
		return true, true, nil
	case string(text) == "secret":
		return true, false, nil
	case string(text) == "output":
		return false, true, nil
	default:
		return false, false, c.Errorf(argRole, "must be 'both', 'secret' or 'output', got %s", frame.Quoted(text[:min(len(text), 40)]))
	}
}

// addPlace adds a place at the row's location, with its distances and losses if they are
// given.
func (g *buildGroup) addPlace(c frame.Call, lat, lon float64) error {
	if err := g.add(c, lat, lon, c.Number(argWeight)); err != nil {
		return err
	}
	if g.builder.Metric() == optimal.Given {
		if err := g.builder.AddDistances(lat, lon, c.Bytes(argDistance)); err != nil {
			return err
		}
	}
	if c.Given(argQuality) && g.builder.Quality() == optimal.QualityGiven {
		return g.builder.AddLosses(lat, lon, c.Bytes(argQuality))
	}
	return nil
}

// checkOutput returns an error if a row that is no place has a weight, distances or losses.
func (g *buildGroup) checkOutput(c frame.Call) error {
	if weight := c.Number(argWeight); weight != 0 {
		return c.Errorf(argWeight, "must be 0 where role is 'output', got %s", frame.FormatNumber(weight))
	}
	for _, a := range []*frame.Arg{argDistance, argQuality} {
		if text := c.Bytes(a); isJSONArray(text) && !emptyArray.Match(text) {
			return c.Errorf(a, "must be '[]' where role is 'output'")
		}
	}
	return nil
}

var emptyArray = regexp.MustCompile(`^\s*\[\s*\]\s*$`)

// addOutput adds the row's location to the locations that can be released.
func (g *buildGroup) addOutput(c frame.Call, lat, lon float64) error {
	err := g.builder.AddOutput(lat, lon)
	switch {
	case errors.Is(err, optimal.ErrOutputTwice):
		return c.Errorf(argPlaceLat, "and lon of two rows with role 'output' or 'both' are one point of domain '%s', %s",
			g.builder.Domain().Name(), g.point(lat, lon))
	case errors.Is(err, optimal.ErrManyOutputs):
		return c.Errorf(argRole, "makes more than %d outputs", optimal.MaxOutputs)
	}
	return err
}

// point returns the lattice point of a location as WKT.
func (g *buildGroup) point(lat, lon float64) []byte {
	domain := g.builder.Domain()
	lat, lon = domain.Location(domain.Cell(lat, lon))
	return frame.AppendPoint(nil, lat, lon)
}

// add adds a place at the row's location.
func (g *buildGroup) add(c frame.Call, lat, lon, weight float64) error {
	err := g.builder.Add(lat, lon, weight)
	switch {
	case errors.Is(err, optimal.ErrPlaceTwice):
		return c.Errorf(argPlaceLat, "and lon of two rows are one place of domain '%s', %s; make it one row with the sum of their weights",
			g.builder.Domain().Name(), g.point(lat, lon))
	case errors.Is(err, optimal.ErrManyPlaces):
		return c.Errorf(argPlaceLat, "and lon make more than %d places", optimal.MaxPlaces)
	case errors.Is(err, optimal.ErrWeights):
		return c.Errorf(argWeight, "adds up to more than a number can hold")
	}
	return err
}

// Final answers the mechanism.
func (g *buildGroup) Final(c frame.Call) error {
	if g.builder == nil {
		return nil
	}
	if n := g.builder.Len(); n < optimal.MinPlaces {
		places := [...]string{"0 places", "1 place"}
		return fmt.Errorf("lat and lon make %s, but a mechanism has %d to %d", places[n], optimal.MinPlaces, optimal.MaxPlaces)
	}
	if g.builder.Outputs() == 0 {
		return c.Errorf(argRole, "is 'secret' in every row, so that nothing can be released")
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
	err = g.session.Interruptibly(func(ctx context.Context) (err error) {
		m, err = g.builder.Build(ctx, g.epsilon, g.dilation)
		return err
	})
	return m, err
}
