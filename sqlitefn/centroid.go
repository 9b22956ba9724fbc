package sqlitefn

import (
	"slices"

	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/planar"
)

// Positions of dx_centroid's arguments after those of every location.
const (
	centroidEpsilon = locationNext + iota
	centroidDomain
)

// centroidGroup is a group of dx_centroid. Nothing is charged or drawn before it is
// complete.
type centroidGroup struct {
	session *session
	laplace *planar.Laplace // nil before the first row
	points  planar.Centroid
	paying  contributors

	epsilon float64
	domain  []byte // as given; nil for the only one
}

func newCentroidGroup(s *session, _ *function) group { return &centroidGroup{session: s} }

func (g *centroidGroup) step(c call) error {
	if err := g.parameters(c); err != nil {
		return err
	}
	lat, lon, absent, err := c.location(locationLat)
	if err != nil || absent && c.null(locationAccount) {
		return err
	}
	var room [20]byte
	account, err := c.account(locationAccount, &room)
	if err != nil || absent {
		return err
	}
	g.paying.add(account)
	g.points.Add(g.laplace.Domain(), lat, lon)
	return nil
}

// parameters are the same in all rows of a group.
func (g *centroidGroup) parameters(c call) (err error) {
	switch {
	case g.laplace == nil:
		return g.begin(c)
	case !c.isNumber(centroidEpsilon, g.epsilon):
		return c.changes(centroidEpsilon)
	case !c.isText(centroidDomain, g.domain):
		return c.changes(centroidDomain)
	}
	return nil
}

func (g *centroidGroup) begin(c call) (err error) {
	if g.epsilon, err = c.epsilon(centroidEpsilon); err != nil {
		return err
	}
	domain, err := g.session.domain(c, centroidDomain)
	if err != nil {
		return err
	}
	if c.given(centroidDomain) {
		g.domain = slices.Clone(c.Arg(centroidDomain).Bytes())
	}
	g.laplace, err = g.session.laplace(domain, g.epsilon)
	return err
}

// final charges everybody in one transaction and draws. Rows without a
// location answer as if the centroid were the middle of the box.
func (g *centroidGroup) final(c call) error {
	price := g.laplace.Price()
	items, err := g.paying.items(price.Amount, false)
	if err != nil {
		return err
	}
	paid, err := g.session.payer.all(c.f, price.Unit, items)
	if err != nil {
		return err
	}
	lat, lon := g.laplace.StandIn()
	z := drawn(paid, func(source *exact.Source) [2]float64 {
		lat, lon := g.laplace.DrawCentroid(source, &g.points)
		return [2]float64{lat, lon}
	}, [2]float64{lat, lon})
	var room [64]byte
	c.ResultText(0, appendPoint(room[:0], z[0], z[1]))
	return nil
}
