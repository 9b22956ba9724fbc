package draws

import (
	"fmt"
	"math"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/smooth"
)

// Smooth estimates where a trace was from its released points. A point is a time in seconds, a latitude, a longitude and an
// epsilon. With a NaN for the latitude or longitude it is bridged. An estimate is a latitude and a longitude, NaN before the first location.
func (m *Module) Smooth(domain uint32, released []float64) ([]float64, error) {
	d, err := m.domains.get(domain)
	if err != nil {
		return nil, err
	}
	projection := d.Projection()
	points := make([]smooth.Point, len(released)/4)
	for i := range points {
		t, lat, lon, epsilon := released[4*i], released[4*i+1], released[4*i+2], released[4*i+3]
		cost, err := budget.Cost(budget.Decimal(epsilon)) // as a draw is charged
		if err != nil {
			return nil, err
		}
		if i > 0 && !(t > released[4*(i-1)]) {
			return nil, fmt.Errorf("t of point %d is not later than that of the point before", i)
		}
		points[i] = smooth.Point{T: t - released[0], X: math.NaN(), Y: math.NaN(), Epsilon: cost.Float64()}
		if !math.IsNaN(lat) && !math.IsNaN(lon) {
			points[i].X, points[i].Y = projection.Metres(lat, lon)
		}
	}
	estimates := make([]float64, 0, 2*len(points))
	for _, at := range smooth.Course(points) {
		lat, lon := math.NaN(), math.NaN()
		if !math.IsNaN(at.X) {
			at = at.Rounded()
			lat, lon = projection.Location(at.X, at.Y)
		}
		estimates = append(estimates, lat, lon)
	}
	return estimates, nil
}
