package sqlitefn

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/optimal"
	"github.com/geosql/geosql/mechanism/planar"
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
	domain  *planar.Domain // nil before the first row
	weights map[planar.Cell]float64
	given   givenDistances // of metric given
	sum     float64

	domainName        []byte // as given; nil for the only one
	epsilon, dilation float64
	metric            placeMetric
}

func newBuildGroup(s *session, _ *function) group {
	return &buildGroup{session: s, weights: make(map[planar.Cell]float64), given: make(givenDistances)}
}

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
	cell := g.domain.Cell(lat, lon)
	if _, twice := g.weights[cell]; twice {
		return c.bad(buildLat, "and lon of two rows are one place of domain '%s', %s; make it one row with the sum of their weights",
			g.domain.Name(), printed(g.domain, cell))
	}
	if len(g.weights) == optimal.MaxPlaces {
		return c.bad(buildLat, "and lon make more than %d places", optimal.MaxPlaces)
	}
	if g.sum += weight; math.IsInf(g.sum, 0) {
		return c.bad(buildWeight, "adds up to more than a number holds")
	}
	g.weights[cell] = weight
	if metric != given {
		return nil
	}
	if err := g.given.add(g.domain, cell, distances); err != nil {
		return c.bad(buildMetric, "%v", err)
	}
	return nil
}

// printed is a lattice point as releases show it.
func printed(d *planar.Domain, c planar.Cell) string {
	lat, lon := d.Location(c)
	return string(appendPoint(nil, lat, lon))
}

// inRegion says which place the domain's region does not admit.
func inRegion(p optimal.Places) error {
	if x := p.Forbidden(); x >= 0 {
		return fmt.Errorf("place %s lies outside the region of domain '%s'", printed(p.Domain, p.Cells[x]), p.Domain.Name())
	}
	return nil
}

// parameters are the same in all rows of a group.
func (g *buildGroup) parameters(c call, metric placeMetric) error {
	switch {
	case g.domain == nil:
		g.metric = metric
		return g.begin(c)
	case metric != g.metric:
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

func (g *buildGroup) begin(c call) (err error) {
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
	g.domain, err = g.session.domain(c, buildDomain)
	return err
}

// final answers the mechanism.
func (g *buildGroup) final(c call) error {
	if g.domain == nil {
		return nil
	}
	if n := len(g.weights); n < optimal.MinPlaces {
		return fmt.Errorf("lat and lon make %d place, of which a mechanism has %d to %d", n, optimal.MinPlaces, optimal.MaxPlaces)
	}
	p := optimal.Places{Domain: g.domain, Cells: slices.SortedFunc(maps.Keys(g.weights), optimal.SouthWest)}
	if err := inRegion(p); err != nil {
		return err
	}
	o, err := g.solve(p)
	if err != nil {
		return err
	}
	data, err := o.appendBinary(nil)
	if err != nil {
		return err
	}
	c.ResultBlob(0, data)
	return nil
}

func (g *buildGroup) solve(p optimal.Places) (*optimalMechanism, error) {
	rate, err := exact.RateFloor(budget.Decimal(g.epsilon))
	if err != nil {
		return nil, err
	}
	privacy, quality, err := g.distances(p)
	if err != nil {
		return nil, err
	}
	o := &optimalMechanism{Places: p, metric: g.metric, epsilon: g.epsilon, dilation: g.dilation}
	for _, cell := range p.Cells {
		o.weights = append(o.weights, g.weights[cell])
	}
	began := time.Now()
	problem := optimal.Problem{Prior: o.weights, Quality: quality, Privacy: privacy, Epsilon: rate}
	var solution *optimal.Solution
	err = g.session.untilInterrupted(func(ctx context.Context) (err error) {
		solution, err = optimal.Solve(ctx, problem, optimal.Options{Dilation: g.dilation})
		return err
	})
	if err != nil {
		return nil, err
	}
	if o.mechanism, err = optimal.New(rate, privacy, solution.Matrix); err != nil {
		return nil, err
	}
	o.solved = solved{
		Edges: uint32(solution.Edges), Dilation: solution.Dilation, Gap: solution.Gap(), Seconds: time.Since(began).Seconds(),
	}
	return o, nil
}

// distances are what epsilon is per and what is lost.
func (g *buildGroup) distances(p optimal.Places) (privacy, quality optimal.Matrix, err error) {
	switch g.metric {
	case manhattan:
		privacy = p.Manhattan()
	case given:
		privacy, err = g.given.matrix(p)
	default:
		return p.Privacy(), p.Quality(), nil
	}
	return privacy, privacy, err
}
