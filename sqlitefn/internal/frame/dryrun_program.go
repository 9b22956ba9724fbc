package frame

import (
	"strings"

	"github.com/geosql/geosql/internal/sqlite"
)

// functionSet is a set of SQL functions by their names in lower case. The entry is false
// for a name that some functions in the set and some outside it share.
type functionSet map[string]bool

// has reports whether all functions of that name are in the set.
func (f functionSet) has(name string) bool { return f[name] }

// pureFunctions returns the functions of the connection that return the same for the same
// arguments: deterministic ones, and SQLite's own aggregates.
func (s *Session) pureFunctions() (functionSet, error) {
	pure := functionSet{}
	err := s.Query("PRAGMA function_list", func(st *sqlite.Stmt) {
		name := strings.ToLower(ColumnText(st, 0))
		builtin, aggregate := ColumnInt(st, 1) != 0, ColumnText(st, 2) != "s"
		deterministic := ColumnInt(st, 5)&int(sqlite.Deterministic) != 0
		others, known := pure[name]
		pure[name] = (deterministic || builtin && aggregate) && (others || !known)
	})
	return pure, err
}
