package planar

import "github.com/geosql/geosql/mechanism/nearest"

// A Projection maps locations to metres of a plane, x to the east and y to the north of its centre, and back. It is conformal: near
// a location it stretches distances alike in all directions.
type Projection struct{ frame frame }

// NewProjection returns the projection that is true to scale at a location in degrees.
func NewProjection(lat, lon float64) Projection {
	f := centredFrame(lat, lon)
	sin, _ := sincos(lat)
	f.diameter = 2 * equatorialRadius / sphereScale(sin)
	return Projection{f}
}

// Projection returns the projection in which a domain's noise is alike in all directions.
func (d *Domain) Projection() Projection { return Projection{d.frame} }

// Metres returns the image of a location in degrees.
func (p Projection) Metres(lat, lon float64) (x, y float64) {
	return p.frame.project(lat, p.frame.offset(lon))
}

// Location returns the location of an image, in degrees.
func (p Projection) Location(x, y float64) (lat, lon float64) {
	lat, dlon := p.frame.unproject(x, y)
	return lat, nearest.Wrap(p.frame.lon0 + dlon)
}
