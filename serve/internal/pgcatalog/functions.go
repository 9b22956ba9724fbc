package pgcatalog

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/internal/sqltext"
	"github.com/geosql/geosql/serve/internal/pgfunc"
)

// A library is a list of functions. Positions in it give the OIDs.
type library []function

func (l *library) add(name, returns string, pure, strict bool, args []int, call func([]any) (any, error)) {
	*l = append(*l, function{Name: name, Args: args, pure: pure, strict: strict, Returns: typeByName[returns].OID, call: call})
}

// list returns the functions. Some ask the Describer.
func (c *Catalogue) list() []function {
	var l library
	l.addConstants()
	c.addPrivileges(&l)
	c.addSession(&l)
	c.addDefinitions(&l)
	c.addFunctions(&l)
	c.addNames(&l)
	l.addQuotes()
	for _, f := range pgfunc.List() {
		l.add(f.Name, f.Returns, true, f.Strict, f.Args, f.Call)
	}
	return l
}

// instead has a line for functions of PostgreSQL that are not here, with their cure.
//
//go:embed instead.txt
var instead string

// Instead returns the SQL to write instead of a function of PostgreSQL, or an empty text.
func Instead(function string) string {
	for line := range strings.Lines(instead) {
		if names, cure, _ := strings.Cut(line, ": "); slices.Contains(strings.Fields(names), strings.TrimSuffix(function, "()")) {
			return strings.TrimSpace(cure)
		}
	}
	return ""
}

// constants has a line for each function that always answers the same: its name, its type, its numbers of arguments, and the answer
// as SQL writes it.
//
//go:embed constants.txt
var constants string

func (l *library) addConstants() {
	for line := range strings.Lines(constants) {
		fields := strings.Fields(line)
		var args []int
		for _, n := range strings.Split(fields[2], ",") {
			args = append(args, int(n[0]-'0'))
		}
		answer := any(nil)
		if text, is := strings.CutPrefix(fields[3], "'"); is {
			answer = strings.TrimSuffix(text, "'")
		} else if n, err := strconv.ParseInt(fields[3], 10, 64); err == nil {
			answer = n
		}
		l.add(fields[0], fields[1], true, false, args, constant(answer))
	}
}

func constant(v any) func([]any) (any, error) { return func([]any) (any, error) { return v, nil } }

// addPrivileges adds the functions about visibility and privileges.
func (c *Catalogue) addPrivileges(l *library) {
	// Everything that is there is visible, since names of public come first and none is taken twice.
	for _, kind := range strings.Fields("function type operator opclass opfamily conversion ts_parser ts_dict ts_template ts_config collation") {
		l.add("pg_"+kind+"_is_visible", "bool", true, true, []int{1}, constant(true))
	}
	l.add("pg_statistics_obj_is_visible", "bool", true, true, []int{1}, constant(true))
	l.add("pg_table_is_visible", "bool", true, true, []int{1}, func(a []any) (any, error) {
		r := c.byOID[oidOf(a[0])]
		return r != nil && !r.isHidden(), nil
	})
	readers := []string{"SELECT", "USAGE", "CONNECT", "EXECUTE"}
	for _, kind := range strings.Fields("table any_column column schema database sequence function language type tablespace server foreign_data_wrapper parameter") {
		args := []int{2, 3}
		if kind == "column" {
			args = []int{3, 4}
		}
		l.add("has_"+kind+"_privilege", "bool", true, true, args, func(a []any) (any, error) {
			asked := strings.Split(strings.ToUpper(pgfunc.Text(a[len(a)-1])), ",")
			return slices.ContainsFunc(asked, func(p string) bool { return slices.Contains(readers, strings.TrimSpace(p)) }), nil
		})
	}
	l.add("pg_has_role", "bool", false, true, []int{2, 3}, func(a []any) (any, error) {
		role := pgfunc.Text(a[len(a)-2])
		return role == c.db.User() || role == strconv.Itoa(userOID), nil
	})
}

// addSession adds the functions about the session, its settings and the time.
func (c *Catalogue) addSession(l *library) {
	l.add("version", "text", true, true, []int{0}, constant("PostgreSQL "+Version+" (geosql, on SQLite "+sqlite.Version()+")"))
	for _, name := range []string{"current_database", "current_catalog"} {
		l.add(name, "name", false, false, []int{0}, func([]any) (any, error) { return c.db.Database(), nil })
	}
	for _, name := range []string{"current_user", "session_user", "current_role", "user"} {
		l.add(name, "name", false, false, []int{0}, func([]any) (any, error) { return c.db.User(), nil })
	}
	l.add(lastCost, "json", false, false, []int{0}, func([]any) (any, error) { return c.db.LastCost(), nil })
	l.add("current_schema", "name", true, false, []int{0}, constant("public"))
	l.add("current_schemas", "text", true, true, []int{1}, func(a []any) (any, error) {
		if b, _ := pgfunc.Truth(a[0]); b {
			return "{pg_catalog,public}", nil
		}
		return "{public}", nil
	})
	l.add("pg_backend_pid", "int4", false, false, []int{0}, func([]any) (any, error) { return int64(c.db.BackendPID()), nil })
	l.add("current_setting", "text", false, true, []int{1, 2}, func(a []any) (any, error) {
		name := strings.ToLower(pgfunc.Text(a[0]))
		if v, ok := c.db.Setting(name); ok {
			return v, nil
		}
		if len(a) == 2 {
			if missing, _ := pgfunc.Truth(a[1]); missing {
				return nil, nil
			}
		}
		return nil, &pgfunc.Error{Code: pgfunc.CodeNoObject, Message: fmt.Sprintf("unrecognized configuration parameter %q", name)}
	})
	l.add("set_config", "text", false, false, []int{3}, func(a []any) (any, error) {
		name, v := strings.ToLower(pgfunc.Text(a[0])), pgfunc.Text(a[1])
		if err := c.db.Set(name, v); err != nil {
			return nil, err
		}
		return v, nil
	})
	now := func([]any) (any, error) { return pgfunc.Timestamp(time.Now()), nil }
	for _, name := range []string{"now", "clock_timestamp", "statement_timestamp", "transaction_timestamp", "localtimestamp"} {
		l.add(name, "timestamptz", false, false, []int{0}, now)
	}
	l.add("pg_get_userbyid", "name", false, true, []int{1}, func(a []any) (any, error) {
		for _, role := range c.roles() {
			if role.oid == oidOf(a[0]) {
				return role.name, nil
			}
		}
		return fmt.Sprintf("unknown (OID=%d)", oidOf(a[0])), nil
	})
}

// addDefinitions adds the functions that describe types, relations, constraints and indexes.
func (c *Catalogue) addDefinitions(l *library) {
	l.add("pg_encoding_to_char", "name", true, true, []int{1}, func(a []any) (any, error) {
		if oidOf(a[0]) == 6 {
			return "UTF8", nil
		}
		return "", nil
	})
	l.add("format_type", "text", false, false, []int{2}, func(a []any) (any, error) {
		if a[0] == nil {
			return nil, nil
		}
		return c.formatType(oidOf(a[0])), nil
	})
	l.add("obj_description", "text", false, true, []int{1, 2}, func(a []any) (any, error) {
		return orNull(c.Descriptions[oidOf(a[0])]), nil
	})
	l.add("col_description", "text", false, true, []int{2}, func(a []any) (any, error) {
		r, n := c.byOID[oidOf(a[0])], int(oidOf(a[1]))
		if r == nil || n < 1 || n > len(r.Columns) {
			return nil, nil
		}
		return orNull(r.Columns[n-1].Sealed), nil
	})
	l.add("pg_get_viewdef", "text", false, true, []int{1, 2}, func(a []any) (any, error) {
		r := c.byOID[oidOf(a[0])]
		if s, ok := a[0].(string); ok && r == nil {
			r = c.find(s)
		}
		if r == nil || r.Kind != "v" {
			return nil, nil
		}
		return r.View, nil
	})
	l.add("pg_get_constraintdef", "text", false, true, []int{1, 2}, func(a []any) (any, error) {
		for _, r := range c.Relations {
			for _, k := range r.Constraints {
				if k.OID == oidOf(a[0]) {
					return k.definition, nil
				}
			}
		}
		return nil, nil
	})
	l.add("pg_get_indexdef", "text", false, true, []int{1, 3}, func(a []any) (any, error) {
		for _, r := range c.Relations {
			for _, x := range r.Indexes {
				if x.OID != oidOf(a[0]) {
					continue
				}
				if len(a) == 1 || oidOf(a[1]) == 0 {
					return x.Definition, nil
				}
				if n := int(oidOf(a[1])); n <= len(x.columns) {
					return x.columns[n-1], nil
				}
				return "", nil
			}
		}
		return nil, nil
	})
}

// orNull returns a text, or NULL for an empty one.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// addFunctions adds the functions that describe functions.
func (c *Catalogue) addFunctions(l *library) {
	arguments := func(f *function) string { return strings.TrimSuffix(strings.Repeat(`"any", `, f.Args[0]), ", ") }
	for _, of := range []struct {
		name     string
		describe func(*function) string
	}{
		{"pg_get_function_arguments", arguments},
		{"pg_get_function_identity_arguments", arguments},
		{"pg_get_function_result", func(f *function) string { return c.formatType(f.Returns) }},
		{"pg_get_functiondef", func(f *function) string { return "-- " + f.Name + " is built in, and has no source in SQL\n" }},
	} {
		l.add(of.name, "text", false, true, []int{1}, func(a []any) (any, error) {
			if f := c.signature(oidOf(a[0])); f != nil {
				return of.describe(f), nil
			}
			return nil, nil
		})
	}
}

// addNames adds the casts between names and OIDs.
func (c *Catalogue) addNames(l *library) {
	for _, k := range c.kinds() {
		returns := "regclass"
		if typeByName[k.cast] != nil {
			returns = k.cast
		}
		l.add("pg_"+k.cast, returns, false, true, []int{1}, k.call)
		if k.cast != "regother" {
			l.add("to_"+k.cast, "oid", false, true, []int{1}, func(a []any) (any, error) { return k.oid(pgfunc.Text(a[0])), nil })
		}
	}
}

// addQuotes adds the functions that write names and texts as SQL has them.
func (l *library) addQuotes() {
	l.add("quote_ident", "text", true, true, []int{1}, func(a []any) (any, error) { return ident(pgfunc.Text(a[0])), nil })
	l.add("quote_literal", "text", true, true, []int{1}, func(a []any) (any, error) { return sqltext.Quote(pgfunc.Text(a[0])), nil })
	l.add("quote_nullable", "text", true, false, []int{1}, func(a []any) (any, error) { return quoteNullable(a[0]), nil })
	l.add("pg_format", "text", true, false, []int{1, 2, 3, 4, 5, 6, 7, 8}, formatText)
}

var directive = regexp.MustCompile(`(?s)%.?`)

func quoteNullable(v any) string {
	if v == nil {
		return "NULL"
	}
	return sqltext.Quote(pgfunc.Text(v))
}

// formatText is format of PostgreSQL, with %s, %I, %L and %%.
func formatText(a []any) (any, error) {
	if a[0] == nil {
		return nil, nil
	}
	n, wrong := 0, ""
	text := directive.ReplaceAllStringFunc(pgfunc.Text(a[0]), func(d string) string {
		switch {
		case d == "%%" || wrong != "":
			return "%"
		case d == "%":
			wrong = "format: a % stands alone"
			return ""
		case n+1 >= len(a):
			wrong = "format has too few arguments"
			return ""
		}
		n++
		switch d {
		case "%s":
			return pgfunc.Text(a[n])
		case "%I":
			return ident(pgfunc.Text(a[n]))
		case "%L":
			return quoteNullable(a[n])
		}
		wrong = "format takes %s, %I and %L"
		return ""
	})
	if wrong != "" {
		return nil, &pgfunc.Error{Code: pgfunc.CodeBadParameter, Message: wrong}
	}
	return text, nil
}
