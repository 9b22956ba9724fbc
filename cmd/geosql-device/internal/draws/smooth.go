package draws

import (
	"fmt"
	"math"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/smooth"
)

// smooth estimates where a trace was from its released points. Points without a location are bridged. Before the first one
// there is no estimate.
func (m *Module) smooth(a struct {
	Domain uint32
	Points []struct {
		T        float64 // seconds
		Lat, Lon *float64
		Epsilon  float64
	}
}) (any, error) {
	d, err := m.domains.Get(a.Domain)
	if err != nil {
		return nil, err
	}
	projection := d.Projection()
	points := make([]smooth.Point, len(a.Points))
	for i, p := range a.Points {
		eps, err := budget.Cost(budget.Decimal(p.Epsilon)) // as a draw is charged
		if err != nil {
			return nil, err
		}
		if i > 0 && !(p.T > a.Points[i-1].T) {
			return nil, fmt.Errorf("t of point %d is not later than that of the point before", i)
		}
		points[i] = smooth.Point{T: p.T - a.Points[0].T, X: math.NaN(), Y: math.NaN(), Epsilon: eps.Float64()}
		if p.Lat != nil && p.Lon != nil {
			points[i].X, points[i].Y = projection.Metres(*p.Lat, *p.Lon)
		}
	}
	estimates := make([]*point, len(points))
	for i, at := range smooth.Course(points) {
		if math.IsNaN(at.X) {
			continue
		}
		// The last bits of an estimate may differ between platforms.
		lat, lon := projection.Location(math.Round(10*at.X)/10, math.Round(10*at.Y)/10)
		estimates[i] = &point{lat, lon}
	}
	return estimates, nil
}
