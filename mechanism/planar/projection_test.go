package planar

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/geosql/geosql/mechanism/nearest"
)

// A projection is true to scale at its centre: distances of some kilometres around it are those along the ellipsoid, where Distance knows them, and every
// location returns.
func TestProjection(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lat0, lon0 := rapid.Float64Range(-59, 59).Draw(t, "lat"), rapid.Float64Range(-180, 180).Draw(t, "lon")
		lat := lat0 + rapid.Float64Range(-0.05, 0.05).Draw(t, "dlat")
		lon := nearest.Wrap(lon0 + rapid.Float64Range(-0.05, 0.05).Draw(t, "dlon"))
		p := NewProjection(lat0, lon0)
		x, y := p.Metres(lat, lon)
		if far := Distance(lat0, lon0, lat, lon); math.Abs(math.Hypot(x, y)-far) > 1e-3+1e-4*far {
			t.Errorf("%v m in the plane, %v m on the ellipsoid", math.Hypot(x, y), far)
		}
		if backLat, backLon := p.Location(x, y); Distance(lat, lon, backLat, backLon) > 1e-3 {
			t.Errorf("%v %v returns as %v %v", lat, lon, backLat, backLon)
		}
	})
}

// A domain's projection is the frame of its lattice.
func TestProjectionOfDomain(t *testing.T) {
	d := mustDomain(t, 39.4, 115.4, 41.1, 117.6, 1)
	x, y := d.Projection().Metres(40.1, 116.2)
	c := d.Cell(40.1, 116.2)
	if math.Abs(x-float64(c.I)) > 0.51 || math.Abs(y-float64(c.J)) > 0.51 {
		t.Errorf("%v %v is in cell %v", x, y, c)
	}
}
