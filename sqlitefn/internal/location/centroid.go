package location

import (
	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

var centroidFunctions = []*frame.Function{
	{
		Name: "dx_centroid", Section: frame.ReleasedValues, Returns: "TEXT",
		Args:     []*frame.Arg{frame.ArgContributor, frame.ArgLat, frame.ArgLon, frame.ArgEpsMetre, frame.ArgDomain},
		Does:     "Releases the centroid of a set of locations as WKT, with planar Laplace noise on the domain's lattice.",
		Accuracy: "geoind_radius(epsilon, p, domain) metres and half a cell's diagonal",
		Charges:  "epsilon in unit m to each account with a location in the group, once per group",
		Notes: "An answer is at most e^(epsilon*(d + two diagonals of a cell)) times as likely from one set of locations as from another in which each location is at most d metres away from its counterpart; there are two diagonals because the locations and the centroid are rounded. " +
			"The number of locations and their accounts are public. To release the whole set, release each location with geoind_laplace, which costs epsilon for each. " +
			"epsilon and domain must be constant within a group. A group charges all its accounts or none. " +
			"A NULL location contributes nothing and charges nobody. Rows without any location give noise around the middle of the box; a group without rows gives NULL.",
		Examples:  []string{"SELECT dx_centroid('ana', lat, lon, 0.005, 'beijing') FROM (SELECT 39.98 AS lat, 116.31 AS lon UNION SELECT 39.99, 116.32)"},
		Aggregate: centroids.plain,
	},
}

var centroids = &aggregate{domain: frame.ArgDomain, newSet: func() set { return new(centroid) }}

// centroid is the centroid of the locations of a group. Repeating a sealed location gives it more weight, and the centroid moves
// at most as far as the locations all the same.
type centroid struct {
	laplace *planar.Laplace
	points  planar.Centroid
}

func (s *centroid) begin(c frame.Call, domain *planar.Domain) (price budget.Price, err error) {
	m, err := laplaceOn(c, domain)
	if err != nil {
		return price, err
	}
	s.laplace = m.(*planar.Laplace)
	return m.Price(), nil
}

func (s *centroid) add(lat, lon float64) { s.points.Add(s.laplace.Domain(), lat, lon) }
func (s *centroid) clear()               { s.points = planar.Centroid{} }
func (s *centroid) bytes() int64         { return 0 }

// answer draws. Rows without a location answer as if the centroid were the middle of the box.
func (s *centroid) answer(paid frame.Receipt) frame.Answer {
	lat, lon := s.laplace.StandIn()
	place := frame.Draw(paid, func(source *exact.Source) [2]float64 {
		lat, lon := s.laplace.DrawCentroid(source, &s.points)
		return [2]float64{lat, lon}
	}, [2]float64{lat, lon})
	return frame.LocationAnswer(place[0], place[1])
}
