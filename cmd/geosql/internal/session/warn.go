package session

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/geosql/geosql/cmd/geosql/internal/load"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/moment"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/internal/sqltext"
)

// warnOfGroups says, once in a session, that a statement makes groups of secrets, beside answers that are charged: of cells of true
// locations, or of any function of a column of them or of one that it releases. It does not look into views.
func (s *Session) warnOfGroups(sql string) {
	if s.toldOfGroups || answersLocations(sql) {
		return
	}
	what := "geo_cell was given locations that no function has released"
	if !s.meter.TrueCells() {
		column := s.groupedSecret(sql)
		if column == "" {
			return
		}
		what = "the groups are made of " + column + ", which no function has released"
	}
	s.toldOfGroups = true
	s.progress.stop()
	cli.Say("geosql: %s: which groups there are is public, and tells true values, however noisy the answers are. "+
		"dx_heatmap counts true locations, and dx_histogram true readings; released and public values may be grouped", what)
}

// groupedSecret returns a column by which a statement groups rows, and which it releases or which holds true locations, or "".
func (s *Session) groupedSecret(sql string) string {
	released := map[string]bool{} // columns, by name
	for name, arguments := range sqltext.SQLite.Calls(sql) {
		if strings.HasPrefix(name, "dx_") && len(arguments) > 3 { // account, secret, epsilon, universe, or latitude and longitude
			for _, argument := range arguments[1:3] {
				for t := range sqltext.SQLite.Words(argument) {
					released[strings.ToLower(t.Name())] = true
				}
			}
		}
	}
	for _, by := range sqltext.SQLite.Grouped(sql) {
		for i, t := range by {
			name := strings.ToLower(t.Name())
			if i+1 < len(by) && by[i+1].IsSymbol("(", ".") || name == "" || i > 0 && by[i-1].Is("as") {
				continue
			}
			if released[name] || s.holdsTrueLocations(name, sql) {
				return name
			}
		}
	}
	return ""
}

// holdsTrueLocations reports whether a column has the name of latitudes or longitudes, and a table of the statement has both, with
// locations that no function has released.
func (s *Session) holdsTrueLocations(column, sql string) (are bool) {
	if !slices.Contains(load.LatNames, column) && !slices.Contains(load.LonNames, column) {
		return false
	}
	for _, table := range sqltext.SQLite.Caret(sql).Tables {
		if !s.isTable(table) {
			continue
		}
		for _, lat := range load.LatNames {
			for _, lon := range load.LonNames {
				first := fmt.Sprintf("SELECT %s, %s FROM %s WHERE %[1]s + %[2]s IS NOT NULL LIMIT 1", lat, lon, sqlite.QuoteName(table))
				_ = s.Conn.Each(first, func(v []sqlite.Value) error { // an error where the table has no such columns
					are = are || s.meter.IsTrue(v[0].Float(), v[1].Float())
					return nil
				})
			}
		}
	}
	return are
}

// answersLocations reports whether a statement calls a function that answers locations, of which it may make its cells.
func answersLocations(sql string) bool {
	for name := range sqltext.SQLite.Calls(sql) {
		for _, family := range []string{"geoind_", "predictive_", "pim_", "cip_"} {
			if strings.HasPrefix(name, family) {
				return true
			}
		}
	}
	return false
}

// timeFunctions maps SQLite's functions that take a time to its place among their arguments. The arguments behind it change how
// it is read.
var timeFunctions = map[string]int{"date": 0, "datetime": 0, "julianday": 0, "strftime": 1, "time": 0, "unixepoch": 0}

// warnOfTimes says that a statement takes numbers since 1970 for days since 4714 BC: SQLite answers NULL to each, and one group would be
// charged for.
func (s *Session) warnOfTimes(sql string) {
	tables := sqltext.SQLite.Caret(sql).Tables
	for name, arguments := range sqltext.SQLite.Calls(sql) {
		at, takes := timeFunctions[name]
		if !takes || at >= len(arguments) || slices.ContainsFunc(arguments[at+1:], readsNumbers) {
			continue
		}
		if unit := s.unixUnit(arguments[at], tables); unit != "" {
			fixed := slices.Clone(arguments)
			if unit == "milliseconds" {
				fixed[at] += " / 1000"
			}
			fixed = slices.Insert(fixed, at+1, "'unixepoch'")
			cli.Say("geosql: %s(%s) is NULL: %s has %s since 1970; write %s(%s)", name, strings.Join(arguments, ", "), arguments[at], unit,
				name, strings.Join(fixed, ", "))
			return
		}
	}
}

// readsNumbers reports whether an argument behind a time may say how a number is read.
func readsNumbers(argument string) bool {
	first := sqltext.SQLite.First(argument)
	return !first.IsText() || slices.Contains([]string{"auto", "unixepoch"}, strings.ToLower(first.Literal()))
}

// unixUnit returns the unit since 1970 of the values of an expression without calls, in the first rows of a table of the
// statement that has one, or "". Views and virtual tables may call anything, so they are not asked.
func (s *Session) unixUnit(expression string, tables map[string]string) (unit string) {
	if strings.Contains(expression, "(") {
		return ""
	}
	if table, column, dotted := strings.Cut(expression, "."); dotted && tables[strings.ToLower(table)] == "" {
		expression = column // of a subquery
	}
	for alias, table := range tables {
		if !s.isTable(table) {
			continue
		}
		value := fmt.Sprintf("SELECT CAST(value AS TEXT) FROM (SELECT %s AS value FROM %s AS %s LIMIT 100) WHERE value IS NOT NULL LIMIT 1",
			expression, sqlite.QuoteName(table), sqlite.QuoteName(alias))
		_ = s.Conn.Each(value, func(v []sqlite.Value) error { // an error where the table has no such column
			x, err := strconv.ParseFloat(v[0].Text(), 64)
			if err == nil {
				unit = moment.UnixUnit(x)
			}
			return err
		})
	}
	return unit
}

// isTable reports whether a name is that of a table and of nothing else.
func (s *Session) isTable(name string) (is bool) {
	_ = s.Conn.Each("SELECT group_concat(DISTINCT type) FROM pragma_table_list WHERE name = ?1 COLLATE NOCASE", func(v []sqlite.Value) error {
		is = v[0].Text() == "table"
		return nil
	}, name)
	return is
}
