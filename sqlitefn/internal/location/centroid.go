package location

import (
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

var centroidFunctions = []*frame.Function{
	{
		Name: "dx_centroid", Section: frame.ReleasedValues, Returns: "TEXT",
		Args:    []*frame.Arg{frame.ArgContributor, frame.ArgLat, frame.ArgLon, frame.ArgEpsMetre, frame.ArgDomain},
		Does:    "Releases the centroid of a set of locations as WKT, with planar Laplace noise on the domain's lattice.",
		Charges: "epsilon in unit m to each account with a location in the group, once per group",
		Notes: "An answer is at most e^(epsilon*(d + two diagonals of a cell)) times as likely from one set of locations as from another in which each location is at most d metres away from its counterpart; there are two diagonals because the locations and the centroid are rounded. " +
			"The number of locations and their accounts are public. To release the whole set, release each location with geoind_laplace, which costs epsilon for each. " +
			"epsilon and domain must be constant within a group. A group charges all its accounts or none. " +
			"A NULL location contributes nothing and charges nobody. Rows without any location give noise around the middle of the box; a group without rows gives NULL.",
		Examples:  []string{"SELECT dx_centroid('ana', lat, lon, 0.005, 'beijing') FROM (SELECT 39.98 AS lat, 116.31 AS lon UNION SELECT 39.99, 116.32)"},
		Aggregate: newCentroidGroup,
	},
}

// centroidGroup is a group of dx_centroid. Nothing is charged or drawn before it is
// complete.
type centroidGroup struct {
	laplace *planar.Laplace
	points  planar.Centroid
	paying  frame.Contributors
}

func newCentroidGroup(*frame.Session) frame.Group { return new(centroidGroup) }

func (g *centroidGroup) Begin(c frame.Call) error {
	m, err := latticeMechanism(c, "laplace", frame.ArgEpsMetre)
	if err != nil {
		return err
	}
	g.laplace = m.(*planar.Laplace)
	return nil
}

func (g *centroidGroup) Row(c frame.Call) error {
	lat, lon, absent := c.Location(frame.ArgLat, frame.ArgLon)
	if absent {
		return nil
	}
	if err := g.paying.Contribute(c); err != nil {
		return err
	}
	g.points.Add(g.laplace.Domain(), lat, lon)
	return nil
}

// Final charges all accounts in one transaction and draws. Rows without a location answer as
// if the centroid were the middle of the box.
func (g *centroidGroup) Final(c frame.Call) error {
	paid, err := g.paying.Pay(c, g.laplace.Price(), false)
	if err != nil {
		return err
	}
	c.Result(centroidAnswer(paid, g.laplace, &g.points))
	return nil
}

// centroidAnswer draws the answer of a centroid.
func centroidAnswer(paid frame.Receipt, m *planar.Laplace, points *planar.Centroid) frame.Answer {
	lat, lon := m.StandIn()
	place := frame.Draw(paid, func(source *exact.Source) [2]float64 {
		lat, lon := m.DrawCentroid(source, points)
		return [2]float64{lat, lon}
	}, [2]float64{lat, lon})
	return frame.LocationAnswer(place[0], place[1])
}
