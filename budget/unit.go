package budget

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/geosql/geosql/internal/printable"
)

// A Unit says per what an epsilon counts: per metre, say, or per reading. Amounts of different units never mix. Units are
// case-sensitive.
type Unit string

// The units that are not named after a universe's values.
const (
	Metre  Unit = "m"      // per metre between locations; "m:NAME" is a unit of its own, per metre of the metric NAME
	Record Unit = "record" // per row an account contributes, whatever its value
	Set    Unit = "set"    // per step of a mechanism on location sets

	// SquareMetre is that of a rho per square metre between locations: the Rényi divergence
	// of every order a is at most a*rho*distance^2. It is no epsilon.
	SquareMetre Unit = "m2"
)

// reserved lists the units that are not named after a universe's values. NAME stands for a name.
var reserved = []string{string(Metre), "m:NAME", string(SquareMetre), string(Record), string(Set), "cip:NAME"}

// isReserved reports whether s is a reserved unit.
func isReserved(s string) bool {
	return slices.ContainsFunc(reserved, func(r string) bool {
		prefix, named := strings.CutSuffix(r, "NAME")
		return s == r || named && strings.HasPrefix(s, prefix)
	})
}

// CheckUniverseUnit returns an error unless u may be the unit of a universe's values.
// Names that mean something else (m, m:NAME, m2, record, set, cip:NAME, and *, which
// stands for every account), the empty name, and names that do not print on one line may not.
func CheckUniverseUnit(u Unit) error {
	s := string(u)
	switch {
	case s == "":
		return errors.New("unit is empty")
	case s == "*", isReserved(s):
		return fmt.Errorf("unit %q is reserved", s)
	case !printable.Is(s):
		return fmt.Errorf("unit %q has characters that do not print", s)
	}
	return nil
}
