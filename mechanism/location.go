// Package mechanism defines the interface that the location mechanisms of its subpackages share. They
// are pure Go and know nothing of SQL or ledgers. The caller pays for a draw, and then
// passes the source to draw from.
package mechanism

import (
	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
)

// A Location releases single locations. It also gives the price of a draw: the noise of Draw
// is made for the epsilon of Price, so that no caller can pair them wrongly.
// Implementations are immutable and safe for concurrent use, with a Source per goroutine.
type Location interface {
	// Price returns the price of one draw, for the account of its location.
	Price() budget.Price

	// Draw returns a released location for a secret one, both in degrees: latitudes within
	// 90 and longitudes within 180. It panics only when the source's entropy fails.
	Draw(src *exact.Source, lat, lon float64) (zlat, zlon float64)

	// StandIn returns a location that depends only on public facts. A dry run answers it
	// in place of a draw.
	StandIn() (lat, lon float64)
}
