package frame

import (
	"fmt"
	"slices"
	"strings"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/internal/vdbe"
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

// isComputed reports whether a virtual table, by the name that EXPLAIN gives it, is one of SQLite's that compute their rows from their
// arguments. A table or view of a database that has taken its name is another.
func (s *Session) isComputed(opened string) bool {
	databases, err := s.Databases()
	if err != nil {
		return false
	}
	for _, table := range []string{"json_each", "json_tree", "jsonb_each", "jsonb_tree"} {
		taken := false
		for _, d := range databases {
			err := s.Query("SELECT 1 FROM "+d.Table("sqlite_schema")+" WHERE name = ? COLLATE NOCASE", func(*sqlite.Stmt) { taken = true }, table)
			taken = taken || err != nil
		}
		program, err := vdbe.Explain(s.Conn, fmt.Sprintf("SELECT 1 FROM %s('[]')", table))
		if _, virtual := program.Opened(); !taken && err == nil && slices.Contains(virtual, opened) {
			return true
		}
	}
	return false
}
