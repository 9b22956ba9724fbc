package sqlitefn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/optimal"
)

// Positions of optql_build's arguments.
const (
	buildLat = iota
	buildLon
	buildWeight
	buildEpsilon
	buildDilation
	buildDomain
	buildMetric
)

// maxDilation is beyond any use: a spanner of far less is a tree.
const maxDilation = 1000

// buildGroup solves for the optimal mechanism on the places of its rows. Nothing is
// charged or drawn: places, weights and distances are public from then on.
type buildGroup struct {
	session *session
	builder *optimal.Builder // nil before the first row

	domainName        []byte // as given; nil for the only one
	epsilon, dilation float64
}

func newBuildGroup(s *session, _ *function) group { return &buildGroup{session: s} }

func (g *buildGroup) step(c call) error {
	metric, distances, err := c.placeMetric(buildMetric)
	if err != nil {
		return err
	}
	if err := g.parameters(c, metric); err != nil {
		return err
	}
	for _, i := range []int{buildLat, buildLon} {
		if c.null(i) {
			return c.bad(i, "must be a number, got NULL")
		}
	}
	lat, lon, _, err := c.location(buildLat)
	if err != nil {
		return err
	}
	weight, err := c.epsilon(buildWeight)
	if err != nil {
		return err
	}
	if err := g.add(c, lat, lon, weight); err != nil || metric != optimal.Given {
		return err
	}
	return g.builder.AddDistances(lat, lon, distances)
}

// placeMetric decodes argument i: the name of a metric, or distances, whose text is
// returned as it is. It is valid during the call.
func (c call) placeMetric(i int) (m optimal.Metric, distances []byte, err error) {
	if !c.given(i) {
		return optimal.Euclid, nil, nil
	}
	text, err := c.text(i)
	if err != nil {
		return 0, nil, err
	}
	switch {
	case string(text) == optimal.Euclid.String():
		return optimal.Euclid, nil, nil
	case string(text) == optimal.Manhattan.String():
		return optimal.Manhattan, nil, nil
	case bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("[")):
		return optimal.Given, text, nil
	}
	return 0, nil, c.bad(i, "must be 'euclid', 'manhattan', or in each row a JSON array of [lat, lon, metres], got %s",
		quoted(text[:min(len(text), 40)]))
}

// add makes the row's location a place.
func (g *buildGroup) add(c call, lat, lon, weight float64) error {
	err := g.builder.Add(lat, lon, weight)
	switch {
	case errors.Is(err, optimal.ErrPlaceTwice):
		domain := g.builder.Domain()
		lat, lon = domain.Location(domain.Cell(lat, lon))
		return c.bad(buildLat, "and lon of two rows are one place of domain '%s', %s; make it one row with the sum of their weights",
			domain.Name(), appendPoint(nil, lat, lon))
	case errors.Is(err, optimal.ErrManyPlaces):
		return c.bad(buildLat, "and lon make more than %d places", optimal.MaxPlaces)
	case errors.Is(err, optimal.ErrWeights):
		return c.bad(buildWeight, "adds up to more than a number holds")
	}
	return err
}

// parameters are the same in all rows of a group.
func (g *buildGroup) parameters(c call, metric optimal.Metric) error {
	switch {
	case g.builder == nil:
		return g.begin(c, metric)
	case metric != g.builder.Metric():
		return c.changes(buildMetric)
	case !c.isText(buildDomain, g.domainName):
		return c.changes(buildDomain)
	case !c.isNumber(buildEpsilon, g.epsilon):
		return c.changes(buildEpsilon)
	case !c.isNumber(buildDilation, g.dilation):
		return c.changes(buildDilation)
	}
	return nil
}

func (g *buildGroup) begin(c call, metric optimal.Metric) (err error) {
	if g.epsilon, err = c.epsilon(buildEpsilon); err != nil {
		return err
	}
	if _, err := budget.Cost(budget.Decimal(g.epsilon)); err != nil {
		return err
	}
	if g.dilation, err = c.number(buildDilation); err != nil {
		return err
	}
	if g.dilation < 1 || g.dilation > maxDilation {
		return c.bad(buildDilation, "must be at least 1 and at most %d, got %s", maxDilation, plain(g.dilation))
	}
	if c.given(buildDomain) {
		if g.domainName, err = c.text(buildDomain); err != nil {
			return err
		}
		g.domainName = slices.Clone(g.domainName)
	}
	domain, err := g.session.domain(c, buildDomain)
	if err != nil {
		return err
	}
	g.builder = optimal.NewBuilder(domain, metric)
	return nil
}

// final answers the mechanism.
func (g *buildGroup) final(c call) error {
	if g.builder == nil {
		return nil
	}
	if n := g.builder.Len(); n < optimal.MinPlaces {
		return fmt.Errorf("lat and lon make %d place, of which a mechanism has %d to %d", n, optimal.MinPlaces, optimal.MaxPlaces)
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

func (g *buildGroup) build() (m *optimal.PlaceMechanism, err error) {
	err = g.session.untilInterrupted(func(ctx context.Context) (err error) {
		m, err = g.builder.Build(ctx, g.epsilon, g.dilation)
		return err
	})
	return m, err
}
