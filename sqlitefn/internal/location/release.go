package location

import (
	"github.com/geosql/geosql/mechanism"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/sqlitefn/internal/declared"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

// A locationRelease returns the mechanism for the settings of a call. Everything else is the
// same for all functions that release single locations, in a scalar form (WKT) and a
// table-valued one.
type locationRelease func(frame.Call) (mechanism.Location, error)

// latticeRelease returns a release with the mechanism of that name in [planar.Mechanisms], on
// the domain of the call and with the epsilon or the rho that one of its arguments is.
func latticeRelease(name string, epsilon *frame.Arg) locationRelease {
	return func(c frame.Call) (mechanism.Location, error) { return latticeMechanism(c, name, epsilon) }
}

// latticeKey identifies a mechanism on a lattice.
type latticeKey struct {
	name    string
	domain  *planar.Domain
	epsilon float64
}

var latticeMechanisms = frame.NewMemo[latticeKey, planar.Mechanism]()

// latticeMechanism returns the mechanism of that name for the settings of the call.
func latticeMechanism(c frame.Call, name string, epsilon *frame.Arg) (planar.Mechanism, error) {
	domain, err := declared.Domain(c, frame.ArgDomain)
	if err != nil {
		return nil, err
	}
	return latticeMechanismOn(c, name, domain, epsilon)
}

// latticeMechanismOn returns the mechanism of that name on a domain, with the epsilon of the call.
func latticeMechanismOn(c frame.Call, name string, domain *planar.Domain, epsilon *frame.Arg) (planar.Mechanism, error) {
	return latticeMechanisms.Get(c.Session, latticeKey{name, domain, c.Number(epsilon)}, func() (planar.Mechanism, error) {
		return domain.Mechanism(name, c.Decimal(epsilon))
	})
}

// row completes the row of a release with settings as its last arguments.
func (r locationRelease) row(f frame.Function, settings ...*frame.Arg) *frame.Function {
	f.Section, f.Returns, f.Columns, f.Answer = frame.ReleasedValues, "TEXT", frame.LocationColumns, r.answer
	f.Args = append([]*frame.Arg{frame.ArgAccount, frame.ArgLat, frame.ArgLon}, settings...)
	return &f
}

// answer pays the price that the mechanism states, and draws. A NULL location is not released and
// costs nothing.
func (r locationRelease) answer(c frame.Call) (frame.Answer, error) {
	m, err := frame.Plan(c, r)
	if err != nil {
		return frame.Answer{}, err
	}
	lat, lon, absent := c.Location(frame.ArgLat, frame.ArgLon)
	if absent {
		return frame.Answer{}, nil
	}
	paid, err := c.Pay(c.Bytes(frame.ArgAccount), m.Price())
	if err != nil {
		return frame.Answer{}, err
	}
	return frame.LocationAnswer(paid.Location(m, lat, lon)), nil
}
