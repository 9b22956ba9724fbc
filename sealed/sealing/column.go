package sealing

import (
	"errors"
	"fmt"
	"math"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/mechanism/scalar"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sealed/catalog"
)

// A Column turns the plain values of a sealed column into sealed contents. It is immutable.
type Column struct {
	catalog.Column
	universe *scalar.Universe // nil for locations
	domain   *planar.Domain   // nil for readings
}

// NewColumn returns the column that a declaration says.
func NewColumn(c catalog.Column) (*Column, error) {
	column := &Column{Column: c}
	var err error
	switch {
	case c.Universe != nil:
		u := c.Universe
		column.universe, err = scalar.NewUniverse(u.Name, u.Lo, u.Hi, u.Step, budget.Unit(u.Unit))
	case c.Domain != nil: // its region does not matter: it is about answers
		d := c.Domain
		column.domain, err = planar.NewDomain(d.Name, d.South, d.West, d.North, d.East, d.StepM)
	default:
		err = fmt.Errorf("column %s has neither a universe nor a domain", c.Name)
	}
	if err != nil {
		return nil, err
	}
	return column, nil
}

// IsLocation reports whether the column is of locations, and else of readings.
func (c *Column) IsLocation() bool { return c.domain != nil }

// Errors about plain values. They do not show the values.
var (
	ErrInfinite  = errors.New("must be finite")
	ErrLatitude  = errors.New("must lie between -90 and 90")
	ErrLongitude = errors.New("must lie between -180 and 180")
)

// Reading returns a reading as it is sealed: the index of the value of the universe that is
// nearest. The error is ErrInfinite.
func (c *Column) Reading(x float64) (sealed.Data, error) {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return 0, ErrInfinite
	}
	return sealed.OfReading(c.universe.Index(x)), nil
}

// Location returns a location as it is sealed: moved to the box of the domain, in units of 1e-7
// degrees. The error is one of those above.
func (c *Column) Location(lat, lon float64) (sealed.Data, error) {
	switch {
	case !(math.Abs(lat) <= 90):
		return 0, ErrLatitude
	case !(math.Abs(lon) <= 180):
		return 0, ErrLongitude
	}
	return sealed.OfLocation(c.domain.InUnits(lat, lon)), nil
}
