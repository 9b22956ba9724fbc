package sqlitefn

import (
	"fmt"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/mechanism/scalar"
)

var (
	argUniverseName = &argument{name: "name", is: "TEXT", kind: kindName}
	argLo           = &argument{name: "lo", is: "smallest value", kind: kindNumber}
	argHi           = &argument{name: "hi", is: "largest value", kind: kindNumber}
	argValueStep    = &argument{name: "step", is: "distance between neighbouring values; must divide hi - lo", kind: kindNumber}
	argValueUnit    = &argument{name: "unit", is: "TEXT, such as 'kWh'; names the budget", kind: kindUnit}
)

var universeFunctions = []*function{
	&function{
		name: "dx_universe", section: declared, flags: ownerOnly,
		args:    []*argument{argUniverseName, argLo, argHi, argValueStep, argValueUnit},
		does:    "Declares a universe: the public values lo, lo+step, .., hi.",
		notes:   "Returns one line. A universe cannot change; declaring it again unchanged is harmless.",
		example: []string{"SELECT dx_universe('halfhour', 0, 10, 0.001, 'kWh')"},
		scalar:  dxUniverse,
	},
	&function{
		name: "dx_outside", section: owners, flags: ownerOnly, reads: true,
		args:    []*argument{argUniverse, argX},
		does:    "Returns 1 if a reading lies outside the universe and would be clamped, otherwise 0.",
		example: []string{"SELECT dx_outside('halfhour', 11.2)"},
		scalar:  dxOutside,
	},
}

func dxUniverse(c call) error {
	d := declaredUniverse{
		name: c.text(argUniverseName),
		lo:   c.number(argLo), hi: c.number(argHi), step: c.number(argValueStep),
		unit: c.text(argValueUnit),
	}
	u, err := d.build()
	if err != nil {
		return err
	}
	earlier, err := declare(c.session, func() (declaredUniverse, bool, error) { return c.session.readUniverse(d.name) },
		`INSERT OR IGNORE INTO main.geosql_universe(name, lo, hi, step, unit) VALUES(?,?,?,?,?)`,
		d.name, d.lo, d.hi, d.step, d.unit)
	if err != nil {
		return err
	}
	if d != earlier {
		return fmt.Errorf("universe '%s' is declared already and cannot change; take another name", d.name)
	}
	c.ResultString(0, u.String())
	return nil
}

func dxOutside(c call) error {
	u, err := c.universe(argUniverse)
	if err != nil {
		return err
	}
	if x, absent := c.reading(argX); !absent {
		c.resultBool(0, u.Outside(x))
	}
	return nil
}

// declaredUniverse is a row of geosql_universe.
type declaredUniverse struct {
	name         string
	lo, hi, step float64
	unit         string
}

// build returns the universe that d declares.
func (d declaredUniverse) build() (*scalar.Universe, error) {
	return scalar.NewUniverse(d.name, d.lo, d.hi, d.step, budget.Unit(d.unit))
}

// readUniverse returns the declaration of a universe.
func (s *session) readUniverse(name string) (d declaredUniverse, found bool, err error) {
	err = s.read(`SELECT name, lo, hi, step, unit FROM main.geosql_universe WHERE name = ?`,
		func(st *sqlite.Stmt) {
			found = true
			d = declaredUniverse{columnText(st, 0), columnFloat(st, 1), columnFloat(st, 2),
				columnFloat(st, 3), columnText(st, 4)}
		}, name)
	return d, found, err
}

var universes = newMemo[declaredUniverse, *scalar.Universe]()

// universe returns the universe that an argument names.
func (c call) universe(a *argument) (*scalar.Universe, error) {
	if !c.given(a) {
		return nil, c.nullError(a)
	}
	u, err := c.session.universeNamed(c.text(a))
	if err == nil && u == nil {
		err = c.undeclared(a, "universe")
	}
	return u, err
}

// universeNamed returns the universe of that name, nil if it is not declared.
func (s *session) universeNamed(name string) (*scalar.Universe, error) {
	declared, found, err := s.readUniverse(name)
	if err != nil || !found {
		return nil, err
	}
	return universes.get(s, declared, declared.build)
}

// resolveUniverse returns the universe of that name.
func (s *session) resolveUniverse(name string) (*scalar.Universe, error) {
	u, err := s.universeNamed(name)
	if err == nil && u == nil {
		err = fmt.Errorf("universe %s is not declared", quoted(name))
	}
	return u, err
}
