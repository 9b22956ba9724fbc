// Package mechanism defines what the mechanisms of its subpackages have in common. They
// are pure Go: they know nothing of SQL or ledgers, and draw from the source that whoever
// has paid for the draw hands them.
package mechanism

import (
	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
)

// Location releases single locations. What is drawn says what it costs: the noise of Draw
// has been made for the epsilon of Price, so that no caller can pair them wrongly.
// Implementations are immutable and safe for concurrent use, with a Source per goroutine.
type Location interface {
	// Price returns what one draw costs the account of its location.
	Price() budget.Price

	// Draw returns a released location for a secret one, both in degrees: latitudes within
	// 90 and longitudes within 180. It panics only when the source's entropy fails.
	Draw(src *exact.Source, lat, lon float64) (zlat, zlon float64)

	// StandIn returns a location that depends on public facts only. It is what a dry run
	// answers in place of a draw.
	StandIn() (lat, lon float64)
}
