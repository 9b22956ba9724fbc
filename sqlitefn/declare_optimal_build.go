package sqlitefn

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/optimal"
)

var (
	argPlaceLat = &argument{name: "lat", is: "latitude of a place, degrees (**public** from now on)", kind: kindLatitude}
	argPlaceLon = &argument{name: "lon", is: "longitude of a place, degrees (**public** from now on)", kind: kindLongitude}
	argWeight   = &argument{name: "weight", is: "how often people are at the place, above 0; only ratios matter (**public** from now on)", kind: kindPositive}
	argDilation = &argument{name: "dilation", is: "1 for the optimal mechanism; a greater value, such as 1.1 and up to 1000, for a faster solution with a somewhat greater loss", kind: kindNumber, setting: true}
	argDistance = &argument{name: "metric", is: "the distances that epsilon refers to: 'euclid' (default), 'manhattan', or JSON text in each row with the distances from its place to all others: [[lat, lon, metres], ..] (**public** from now on)", kind: kindText, optional: true}
)

func init() {
	register(&function{
		name: "optql_build", section: declared, flags: ownerOnly, reads: true,
		args: []*argument{argPlaceLat, argPlaceLon, argWeight, argEpsMetre, argDilation, argDomain, argDistance},
		does: "Builds the optimal mechanism on 2 to 256 places: among all that satisfy epsilon, the one whose releases are the fewest metres away on average; returns a BLOB for optql_store.",
		notes: "**Places, weights and the mechanism are public: weights that come from secrets release them.** " +
			"A place is the lattice point of its location. Two rows with the same place, a weight that is not above 0 and a NULL are errors. The order of rows does not matter. " +
			"epsilon, dilation, domain and the kind of metric must be constant within a group. " +
			"With a dilation of 1 the loss is within 0.01 % of the least possible, unless that is close to 0. A greater dilation uses the constraints of a spanner with this dilation, of which there are fewer. " +
			"The distances of 'euclid' are those of the domain's frame divided by 1 + kappa, so they are never longer than those along the Earth. " +
			"Under 'manhattan', places that are di and dj lattice steps apart have the distance |di| + |dj| steps; the lattice's directions are east and north at the middle of the box. " +
			"Distances given in the rows, such as along roads, must be a metric: one from each place to each other place, above 0, the same in both directions, and none longer than the way through a third place; " +
			"a distance of 0 from a place to itself may be included. " +
			"With 'manhattan' and with given distances, the loss is measured in these distances too, and geoind_optimal charges in a unit of its own, m:NAME, " +
			"unless all of them are certified to be no longer than the geodesics. " +
			"The time grows with the fourth power of the number of places: about a second for 50, ten for 100, minutes for 200. An interrupt ends the computation within two steps of the solver. Charges nothing.",
		example: []string{
			"WITH home(lat, lon, people) AS (VALUES (39.92, 116.25, 300), (39.95, 116.32, 120), (40.05, 116.30, 80))\n" +
				"SELECT typeof(optql_build(lat, lon, people, 0.0004, 1, 'haidian')) FROM home",
			"WITH home(lat, lon, people, roads) AS (VALUES (39.92, 116.25, 300, '[[39.95, 116.32, 9000]]'), (39.95, 116.32, 120, '[[39.92, 116.25, 9000]]'))\n" +
				"SELECT typeof(optql_build(lat, lon, people, 0.0004, 1, 'haidian', roads)) FROM home",
		},
		aggregate: newBuildGroup,
	})
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
	domain, err := c.domain(argDomain)
	if err != nil {
		return err
	}
	g.builder = optimal.NewBuilder(domain, metric)
	return nil
}

func (g *buildGroup) row(c call) error {
	metric, err := c.placeMetric()
	if err != nil {
		return err
	}
	if metric != g.builder.Metric() {
		return c.argErrorf(argDistance, "changes within a group")
	}
	lat, lon, _ := c.location(argPlaceLat, argPlaceLon)
	if err := g.add(c, lat, lon, c.number(argWeight)); err != nil || metric != optimal.Given {
		return err
	}
	return g.builder.AddDistances(lat, lon, c.bytes(argDistance))
}

// placeMetric returns the metric that the call names, or optimal.Given if it gives distances.
func (c call) placeMetric() (optimal.Metric, error) {
	text := c.bytes(argDistance)
	switch {
	case text == nil || string(text) == optimal.Euclid.String():
		return optimal.Euclid, nil
	case string(text) == optimal.Manhattan.String():
		return optimal.Manhattan, nil
	case bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("[")):
		return optimal.Given, nil
	}
	return 0, c.argErrorf(argDistance, "must be 'euclid', 'manhattan', or in each row a JSON array of [lat, lon, metres], got %s",
		quoted(text[:min(len(text), 40)]))
}

// add adds a place at the row's location.
func (g *buildGroup) add(c call, lat, lon, weight float64) error {
	err := g.builder.Add(lat, lon, weight)
	switch {
	case errors.Is(err, optimal.ErrPlaceTwice):
		domain := g.builder.Domain()
		lat, lon = domain.Location(domain.Cell(lat, lon))
		return c.argErrorf(argPlaceLat, "and lon of two rows are one place of domain '%s', %s; make it one row with the sum of their weights",
			domain.Name(), appendPoint(nil, lat, lon))
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
		return fmt.Errorf("lat and lon make %d place, but a mechanism has %d to %d", n, optimal.MinPlaces, optimal.MaxPlaces)
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
