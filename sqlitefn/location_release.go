package sqlitefn

import (
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/mechanism"
	"github.com/geosql/geosql/mechanism/planar"
)

// Arguments that every release of a location has.
var (
	argAccount = &argument{name: "account", is: "TEXT or INTEGER: whose budget pays", kind: kindAccount}
	argLat     = &argument{name: "lat", is: "latitude, degrees (secret)", kind: kindSecretLatitude}
	argLon     = &argument{name: "lon", is: "longitude, degrees (secret)", kind: kindSecretLongitude}
)

// Settings of releases of locations.
var (
	argEpsMetre     = &argument{name: "epsilon", is: "distinguishability per metre", kind: kindPositive, setting: true}
	argDomainOrNull = &argument{name: "domain", is: "name of a domain; NULL for the only one", kind: orNull(kindText), setting: true}
	argDomain       = &argument{name: "domain", is: "name of a domain; may be left out if only one is declared", kind: kindText, optional: true, setting: true}
)

// A locationRelease returns the mechanism for the settings of a call. Everything else is the
// same for all functions that release single locations, in a scalar form (WKT) and a
// table-valued one.
type locationRelease func(call) (mechanism.Location, error)

// latticeRelease returns a release with the mechanism of that name in [planar.Mechanisms], on
// the domain of the call and with the epsilon or the rho that one of its arguments is.
func latticeRelease(name string, epsilon *argument) locationRelease {
	return func(c call) (mechanism.Location, error) { return c.latticeMechanism(name, epsilon) }
}

// latticeKey is what a mechanism on a lattice is built from.
type latticeKey struct {
	name    string
	domain  *planar.Domain
	epsilon float64
}

var latticeMechanisms = newMemo[latticeKey, planar.Mechanism]()

// latticeMechanism returns the mechanism of that name for the settings of the call.
func (c call) latticeMechanism(name string, epsilon *argument) (planar.Mechanism, error) {
	domain, err := c.domain(argDomain)
	if err != nil {
		return nil, err
	}
	return c.latticeMechanismOn(name, domain, epsilon)
}

// latticeMechanismOn returns the mechanism of that name on a domain, with the epsilon of the call.
func (c call) latticeMechanismOn(name string, domain *planar.Domain, epsilon *argument) (planar.Mechanism, error) {
	return latticeMechanisms.get(c.session, latticeKey{name, domain, c.number(epsilon)}, func() (planar.Mechanism, error) {
		return domain.Mechanism(name, c.decimal(epsilon))
	})
}

// row completes the row of a release whose settings are the last arguments.
func (r locationRelease) row(f function, settings ...*argument) *function {
	draw := locationDraw(r.draw)
	f.section, f.columns, f.scalar, f.table = released, locationColumns, draw.scalar, draw.table
	f.args = append([]*argument{argAccount, argLat, argLon}, settings...)
	return &f
}

// draw pays the price that the mechanism states, and draws. It reports false for a NULL
// location, which is not released and costs nothing.
func (r locationRelease) draw(c call) (lat, lon float64, released bool, err error) {
	m, err := cachedPlan(c, r)
	if err != nil {
		return 0, 0, false, err
	}
	lat, lon, absent := c.location(argLat, argLon)
	if absent {
		return 0, 0, false, nil
	}
	paid, err := c.pay(c.bytes(argAccount), m.Price())
	if err != nil {
		return 0, 0, false, err
	}
	lat, lon = paid.drawLocation(m, lat, lon)
	return lat, lon, true, nil
}

// A locationDraw pays for the location of a call and draws. It reports false for one that is not
// released and costs nothing.
type locationDraw func(c call) (lat, lon float64, released bool, err error)

// scalar answers the scalar form: WKT.
func (draw locationDraw) scalar(c call) error {
	lat, lon, released, err := draw(c)
	if err == nil && released {
		c.resultPoint(0, lat, lon)
	}
	return err
}

// locationColumns lists the columns of the table-valued form.
var locationColumns = []string{"lat REAL", "lon REAL", "wkt TEXT"}

// table returns a cursor of the table-valued form.
func (draw locationDraw) table(*session) cursor { return locationCursor{draw} }

// locationCursor is the table-valued form of a release: one row per call.
type locationCursor struct{ draw locationDraw }

func (l locationCursor) filter(c call, used uint) (sqlite.Rows, error) {
	lat, lon, released, err := l.draw(c)
	if err != nil {
		return sqlite.NoRow, err
	}
	if !released {
		return sqlite.LastRow, nil // one row of NULLs
	}
	c.ResultFloat(0, lat)
	c.ResultFloat(1, lon)
	if used&(1<<2) != 0 {
		c.resultPoint(2, lat, lon)
	}
	return sqlite.LastRow, nil
}

func (locationCursor) next(call) (sqlite.Rows, error) { return sqlite.NoRow, nil }
func (locationCursor) close()                         {}
