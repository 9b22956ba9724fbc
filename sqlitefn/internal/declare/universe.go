package declare

import (
	"fmt"

	"github.com/geosql/geosql/sqlitefn/internal/declared"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

var (
	argUniverseName = &frame.Arg{Name: "name", Is: "TEXT", Kind: frame.Name}
	argLo           = &frame.Arg{Name: "lo", Is: "smallest value", Kind: frame.Number}
	argHi           = &frame.Arg{Name: "hi", Is: "largest value", Kind: frame.Number}
	argValueStep    = &frame.Arg{Name: "step", Is: "distance between neighbouring values; must divide hi - lo", Kind: frame.Number}
	argValueUnit    = &frame.Arg{Name: "unit", Is: "TEXT, such as 'kWh'; names the budget", Kind: frame.Unit}
)

var universeFunctions = []*frame.Function{
	{
		Name: "dx_universe", Section: frame.DeclaredByOwner, Returns: "TEXT", Flags: frame.OwnerOnly,
		Args:     []*frame.Arg{argUniverseName, argLo, argHi, argValueStep, argValueUnit},
		Does:     "Declares a universe: the public values lo, lo+step, .., hi.",
		Notes:    "Returns one line. A universe cannot change; declaring it again unchanged is harmless.",
		Examples: []string{"SELECT dx_universe('halfhour', 0, 10, 0.001, 'kWh')"},
		Scalar:   dxUniverse,
	},
	{
		Name: "dx_outside", Section: frame.ForOwner, Returns: "INTEGER", Flags: frame.OwnerOnly, Reads: true,
		Args:     []*frame.Arg{frame.ArgUniverse, frame.ArgX},
		Does:     "Returns 1 if a reading lies outside the universe and would be clamped, otherwise 0.",
		Examples: []string{"SELECT dx_outside('halfhour', 11.2)"},
		Scalar:   dxOutside,
	},
}

func dxUniverse(c frame.Call) error {
	d := declared.UniverseRow{
		Name: c.Text(argUniverseName),
		Lo:   c.Number(argLo), Hi: c.Number(argHi), Step: c.Number(argValueStep),
		Unit: c.Text(argValueUnit),
	}
	u, err := d.Build()
	if err != nil {
		return err
	}
	earlier, err := declared.Declare(c.Session, func() (declared.UniverseRow, bool, error) { return declared.ReadUniverse(c.Session, d.Name) },
		`INSERT OR IGNORE INTO main.geosql_universe(name, lo, hi, step, unit) VALUES(?,?,?,?,?)`,
		d.Name, d.Lo, d.Hi, d.Step, d.Unit)
	if err != nil {
		return err
	}
	if d != earlier {
		return fmt.Errorf("universe '%s' is declared already and cannot change; take another name", d.Name)
	}
	c.ResultString(0, u.String())
	return nil
}

func dxOutside(c frame.Call) error {
	u, err := declared.Universe(c, frame.ArgUniverse)
	if err != nil {
		return err
	}
	if x, absent := c.Reading(frame.ArgX); !absent {
		c.ResultBool(0, u.Outside(x))
	}
	return nil
}
