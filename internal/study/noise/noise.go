// Package noise provides the mechanism that the studies of single locations measure.
package noise

import (
	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/planar"
)

// The least and greatest epsilon per metre. Beyond them, the noise would leave the Earth or
// never leave its location.
const (
	MinEpsilon = 1e-9
	MaxEpsilon = 1000
)

// A Drawer draws a released location for a true one, both in degrees.
type Drawer interface {
	Draw(src *exact.Source, lat, lon float64) (zlat, zlon float64)
}

// Laplace returns the mechanism that geoind_laplace draws from, at epsilon per metre.
func Laplace(d *planar.Domain, epsilon float64) (Drawer, error) {
	return d.Laplace(budget.Decimal(epsilon))
}
