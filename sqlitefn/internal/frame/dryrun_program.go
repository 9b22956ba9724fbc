package frame

import (
	"cmp"
	"strings"

	"github.com/geosql/geosql/internal/sqlite"
)

// functionSet is a set of SQL functions by their names in lower case. The entry is false
// for a name that some functions in the set and some outside it share.
type functionSet map[string]bool

// has reports whether all functions of that name are in the set.
func (f functionSet) has(name string) bool { return f[name] }

// opensJSONOnly reports whether a statement can open no virtual tables but those of SQLite's JSON functions, which call nothing. A
// virtual table is opened by its name, which stands in the statement or the schema.
func (s *Session) opensJSONOnly(sql string) bool {
	databases, err := s.Databases()
	texts := []string{sql}
	for _, d := range databases {
		err = cmp.Or(err, s.Query("SELECT sql FROM "+d.Table("sqlite_schema")+" WHERE sql IS NOT NULL", func(st *sqlite.Stmt) {
			texts = append(texts, ColumnText(st, 0))
		}))
	}
	all := strings.ToLower(strings.Join(texts, "\n"))
	others := strings.Contains(all, "pragma_") || strings.Contains(all, "create virtual")
	err = cmp.Or(err, s.Query("PRAGMA module_list", func(st *sqlite.Stmt) {
		name := strings.ToLower(ColumnText(st, 0))
		others = others || !strings.HasPrefix(name, "json") && strings.Contains(all, name)
	}))
	return err == nil && !others
}

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
