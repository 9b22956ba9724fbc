package declared

import (
	"fmt"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/mechanism/scalar"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

// UniverseRow is a row of geosql_universe.
type UniverseRow struct {
	Name         string
	Lo, Hi, Step float64
	Unit         string
}

// Build returns the universe that d declares.
func (d UniverseRow) Build() (*scalar.Universe, error) {
	return scalar.NewUniverse(d.Name, d.Lo, d.Hi, d.Step, budget.Unit(d.Unit))
}

// ReadUniverse returns the declaration of a universe.
func ReadUniverse(s *frame.Session, name string) (d UniverseRow, found bool, err error) {
	err = s.Read(`SELECT name, lo, hi, step, unit FROM main.geosql_universe WHERE name = ?`,
		func(st *sqlite.Stmt) {
			found = true
			d = UniverseRow{frame.ColumnText(st, 0), frame.ColumnFloat(st, 1), frame.ColumnFloat(st, 2),
				frame.ColumnFloat(st, 3), frame.ColumnText(st, 4)}
		}, name)
	return d, found, err
}

var universes = frame.NewMemo[UniverseRow, *scalar.Universe]()

// BuildUniverse returns the universe that d declares.
func BuildUniverse(s *frame.Session, d UniverseRow) (*scalar.Universe, error) {
	return universes.Get(s, d, d.Build)
}

// Universe returns the universe that an argument names.
func Universe(c frame.Call, a *frame.Arg) (*scalar.Universe, error) {
	if !c.Given(a) {
		return nil, c.NullError(a)
	}
	u, err := universeNamed(c.Session, c.Text(a))
	if err == nil && u == nil {
		err = Undeclared(c, a, "universe")
	}
	return u, err
}

// universeNamed returns the universe of that name, nil if it is not declared.
func universeNamed(s *frame.Session, name string) (*scalar.Universe, error) {
	declared, found, err := ReadUniverse(s, name)
	if err != nil || !found {
		return nil, err
	}
	return BuildUniverse(s, declared)
}

// ResolveUniverse returns the universe of that name.
func ResolveUniverse(s *frame.Session, name string) (*scalar.Universe, error) {
	u, err := universeNamed(s, name)
	if err == nil && u == nil {
		err = fmt.Errorf("universe %s is not declared", frame.Quoted(name))
	}
	return u, err
}
