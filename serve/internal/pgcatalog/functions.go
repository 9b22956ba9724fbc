package pgcatalog

import (
	_ "embed"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/internal/sqltext"
)

// A library is a list of functions. Positions in it give the OIDs.
type library []function

func (l *library) add(name, returns string, pure, strict bool, args []int, call func([]any) (any, error)) {
	*l = append(*l, function{Name: name, Args: args, pure: pure, strict: strict, Returns: typeByName[returns].OID, call: call})
}

// addArray adds a function of an array, which its call gets as a list. It is NULL for NULL.
func (l *library) addArray(name, returns string, args []int, call func(list, a []any) (any, error)) {
	l.add(name, returns, true, false, args, func(a []any) (any, error) {
		if a[0] == nil {
			return nil, nil
		}
		elements, _, err := parseArray(textOf(a[0]))
		if err != nil {
			return nil, err
		}
		return call(elements, a)
	})
}

// list returns the functions. Some ask the Describer.
func (c *catalogue) list() []function {
	var l library
	l.addConstants()
	c.addPrivileges(&l)
	c.addSession(&l)
	c.addDefinitions(&l)
	c.addFunctions(&l)
	c.addNames(&l)
	l.addCasts()
	l.addPatterns()
	l.addTexts()
	l.addArrays()
	l.addElements()
	return l
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
func (c *catalogue) addPrivileges(l *library) {
	// Everything that is there is visible, since names of public come first and none is taken twice.
	for _, kind := range strings.Fields("function type operator opclass opfamily conversion ts_parser ts_dict ts_template ts_config collation") {
		l.add("pg_"+kind+"_is_visible", "bool", true, true, []int{1}, constant(true))
	}
	l.add("pg_statistics_obj_is_visible", "bool", true, true, []int{1}, constant(true))
	l.add("pg_table_is_visible", "bool", true, true, []int{1}, func(a []any) (any, error) {
		r := c.byOID[oidOf(a[0])]
		return r != nil && r.Schema != "information_schema", nil
	})
	readers := set("SELECT USAGE CONNECT EXECUTE")
	for _, kind := range strings.Fields("table any_column column schema database sequence function language type tablespace server foreign_data_wrapper parameter") {
		args := []int{2, 3}
		if kind == "column" {
			args = []int{3, 4}
		}
		l.add("has_"+kind+"_privilege", "bool", true, true, args, func(a []any) (any, error) {
			asked := strings.Split(strings.ToUpper(textOf(a[len(a)-1])), ",")
			return slices.ContainsFunc(asked, func(p string) bool { return readers[strings.TrimSpace(p)] }), nil
		})
	}
	l.add("pg_has_role", "bool", false, true, []int{2, 3}, func(a []any) (any, error) {
		role := textOf(a[len(a)-2])
		return role == c.db.User() || role == strconv.Itoa(userOID), nil
	})
}

// addSession adds the functions about the session, its settings and the time.
func (c *catalogue) addSession(l *library) {
	l.add("version", "text", true, true, []int{0}, constant("PostgreSQL "+Version+" (geosql, on SQLite "+sqlite.Version()+")"))
	for _, name := range []string{"current_database", "current_catalog"} {
		l.add(name, "name", false, false, []int{0}, func([]any) (any, error) { return c.db.Database(), nil })
	}
	for _, name := range []string{"current_user", "session_user", "current_role", "user"} {
		l.add(name, "name", false, false, []int{0}, func([]any) (any, error) { return c.db.User(), nil })
	}
	l.add("current_schema", "name", true, false, []int{0}, constant("public"))
	l.add("current_schemas", "text", true, true, []int{1}, func(a []any) (any, error) {
		if b, _ := truth(a[0]); b {
			return "{pg_catalog,public}", nil
		}
		return "{public}", nil
	})
	l.add("pg_backend_pid", "int4", false, false, []int{0}, func([]any) (any, error) { return int64(c.db.BackendPID()), nil })
	l.add("current_setting", "text", false, true, []int{1, 2}, func(a []any) (any, error) {
		name := strings.ToLower(textOf(a[0]))
		if v, ok := c.db.Setting(name); ok {
			return v, nil
		}
		if len(a) == 2 {
			if missing, _ := truth(a[1]); missing {
				return nil, nil
			}
		}
		return nil, &Error{Code: codeNoObject, Message: fmt.Sprintf("unrecognized configuration parameter %q", name)}
	})
	l.add("set_config", "text", false, false, []int{3}, func(a []any) (any, error) {
		name, v := strings.ToLower(textOf(a[0])), textOf(a[1])
		if err := c.db.Set(name, v); err != nil {
			return nil, err
		}
		return v, nil
	})
	now := func([]any) (any, error) { return time.Now().UTC().Format("2006-01-02 15:04:05.999999+00"), nil }
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
func (c *catalogue) addDefinitions(l *library) {
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
func (c *catalogue) addFunctions(l *library) {
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
func (c *catalogue) addNames(l *library) {
	for _, k := range c.kinds() {
		returns := "regclass"
		if typeByName[k.cast] != nil {
			returns = k.cast
		}
		l.add("pg_"+k.cast, returns, false, true, []int{1}, k.call)
		if k.cast != "regother" {
			l.add("to_"+k.cast, "oid", false, true, []int{1}, func(a []any) (any, error) { return k.oid(textOf(a[0])), nil })
		}
	}
}

// addCasts adds the functions that casts call.
func (l *library) addCasts() {
	l.add("pg_bool", "bool", true, true, []int{1}, func(a []any) (any, error) { return truth(a[0]) })
	l.add("pg_bytea", "bytea", true, true, []int{1}, func(a []any) (any, error) {
		s, ok := a[0].(string)
		if !ok {
			return a[0], nil
		}
		if digits, is := strings.CutPrefix(s, `\x`); is {
			b, err := hex.DecodeString(digits)
			if err != nil {
				return nil, &Error{Code: codeBadText, Message: `a bytea is written as '\x' and pairs of hexadecimal digits`}
			}
			return b, nil
		}
		return []byte(s), nil
	})
}

// addPatterns adds the functions of regular expressions.
func (l *library) addPatterns() {
	patterns := map[string]*regexp.Regexp{}
	compiled := func(pattern string) (*regexp.Regexp, error) {
		if re := patterns[pattern]; re != nil {
			return re, nil
		}
		re, err := compile(pattern)
		if err == nil {
			if len(patterns) >= 64 {
				clear(patterns)
			}
			patterns[pattern] = re
		}
		return re, err
	}
	l.add("regexp", "bool", true, true, []int{2}, func(a []any) (any, error) { // x REGEXP pattern calls regexp(pattern, x)
		re, err := compiled(textOf(a[0]))
		if err != nil {
			return nil, err
		}
		return re.MatchString(textOf(a[1])), nil
	})
	l.add("regexp_replace", "text", true, true, []int{3, 4}, func(a []any) (any, error) {
		pattern, flags := textOf(a[1]), ""
		if len(a) == 4 {
			flags = textOf(a[3])
		}
		if strings.Contains(flags, "i") {
			pattern = "(?i)" + pattern
		}
		re, err := compiled(pattern)
		if err != nil {
			return nil, err
		}
		s, with := textOf(a[0]), backReferences(textOf(a[2]))
		if len(s)*(len(with)+1) > 100*maxText {
			return nil, tooLong("regexp_replace")
		}
		if !strings.Contains(flags, "g") {
			at := re.FindStringSubmatchIndex(s)
			if at == nil {
				return s, nil
			}
			return s[:at[0]] + string(re.ExpandString(nil, with, s, at)) + s[at[1]:], nil
		}
		if out := re.ReplaceAllString(s, with); len(out) <= maxText {
			return out, nil
		}
		return nil, tooLong("regexp_replace")
	})
}

// addTexts adds the functions of texts and times.
func (l *library) addTexts() {
	l.add("quote_ident", "text", true, true, []int{1}, func(a []any) (any, error) { return ident(textOf(a[0])), nil })
	l.add("quote_literal", "text", true, true, []int{1}, func(a []any) (any, error) { return sqltext.Quote(textOf(a[0])), nil })
	l.add("quote_nullable", "text", true, false, []int{1}, func(a []any) (any, error) { return quoteNullable(a[0]), nil })
	l.add("pg_format", "text", true, false, []int{1, 2, 3, 4, 5, 6, 7, 8}, formatText)
	l.add("split_part", "text", true, true, []int{3}, func(a []any) (any, error) {
		s, by := textOf(a[0]), textOf(a[1])
		parts := []string{s}
		if by != "" {
			parts = strings.Split(s, by)
		}
		n := typedInt(a[2])
		if n < 0 {
			n += int64(len(parts)) + 1
		}
		if n < 1 || n > int64(len(parts)) {
			return "", nil
		}
		return parts[n-1], nil
	})
	l.add("starts_with", "bool", true, true, []int{2}, func(a []any) (any, error) { return strings.HasPrefix(textOf(a[0]), textOf(a[1])), nil })
	cut := func(part func(s []rune, n int64) []rune) func(a []any) (any, error) {
		return func(a []any) (any, error) {
			s, n := []rune(textOf(a[0])), typedInt(a[1])
			if n < 0 {
				n = max(0, n+int64(len(s)))
			}
			return string(part(s, min(n, int64(len(s))))), nil
		}
	}
	l.add("left", "text", true, true, []int{2}, cut(func(s []rune, n int64) []rune { return s[:n] }))
	l.add("right", "text", true, true, []int{2}, cut(func(s []rune, n int64) []rune { return s[int64(len(s))-n:] }))
	l.add("pg_size_pretty", "text", true, true, []int{1}, func(a []any) (any, error) {
		n := typedInt(a[0])
		for _, unit := range []string{"bytes", "kB", "MB", "GB"} {
			if n < 10240 {
				return fmt.Sprintf("%d %s", n, unit), nil
			}
			n /= 1024
		}
		return fmt.Sprintf("%d TB", n), nil
	})
	l.add("date_part", "float8", true, true, []int{2}, datePart)
	l.add("date_trunc", "timestamp", true, true, []int{2}, dateTrunc)
}

// addArrays adds the functions that read arrays.
func (l *library) addArrays() {
	l.addArray("pg_subscript", "text", []int{2}, func(list, a []any) (any, error) {
		_, vector, _ := parseArray(textOf(a[0]))
		n, ok := typed(a[1]).(int64)
		if vector { // counted from 0
			n++
		}
		if !ok || n < 1 || n > int64(len(list)) {
			return nil, nil
		}
		return typed(list[n-1]), nil
	})
	l.addArray("array_to_string", "text", []int{2, 3}, func(list, a []any) (any, error) {
		if a[1] == nil {
			return nil, nil
		}
		var parts []string
		size := 0
		for _, e := range list {
			s := textOf(e)
			if e == nil {
				if len(a) < 3 || a[2] == nil {
					continue
				}
				s = textOf(a[2])
			}
			if size += len(s) + len(textOf(a[1])); size > maxText {
				return nil, tooLong("array_to_string")
			}
			parts = append(parts, s)
		}
		return strings.Join(parts, textOf(a[1])), nil
	})
	length := func(list, a []any) (any, error) {
		if len(list) == 0 || len(a) > 1 && typedInt(a[1]) != 1 {
			return nil, nil
		}
		return int64(len(list)), nil
	}
	l.addArray("array_length", "int4", []int{2}, length)
	l.addArray("array_upper", "int4", []int{2}, length)
	l.addArray("cardinality", "int4", []int{1}, func(list, _ []any) (any, error) { return int64(len(list)), nil })
	first := func(list, _ []any) (any, error) {
		if len(list) == 0 {
			return nil, nil
		}
		return int64(1), nil
	}
	l.addArray("array_lower", "int4", []int{2}, first)
	l.addArray("array_ndims", "int4", []int{1}, first)
}

// addElements adds the functions that find elements of arrays, change arrays, and read fields of rows.
func (l *library) addElements() {
	l.addArray("array_position", "int4", []int{2}, func(list, a []any) (any, error) {
		if i := slices.IndexFunc(list, func(e any) bool { return e != nil && textOf(e) == textOf(a[1]) }); i >= 0 {
			return i + 1, nil
		}
		return nil, nil
	})
	l.addArray("array_remove", "text", []int{2}, func(list, a []any) (any, error) {
		is := func(e any) bool { return (e == nil) == (a[1] == nil) && textOf(e) == textOf(a[1]) }
		return formatArray(slices.DeleteFunc(list, is)), nil
	})
	l.addArray("array_append", "text", []int{2}, func(list, a []any) (any, error) { return formatArray(append(list, a[1])), nil })
	l.add("string_to_array", "text", true, true, []int{2}, func(a []any) (any, error) {
		var list []any
		if s := textOf(a[0]); s != "" {
			for _, p := range strings.Split(s, textOf(a[1])) {
				list = append(list, p)
			}
		}
		return formatArray(list), nil
	})
	l.add("pg_array", "text", true, true, []int{1}, func(a []any) (any, error) { return fromJSON(textOf(a[0])) })
	l.add("pg_field", "text", true, true, []int{2}, func(a []any) (any, error) {
		x, n, ok := strings.Cut(strings.Trim(textOf(a[0]), "()"), ",")
		switch textOf(a[1]) {
		case "x":
			return typed(x), nil
		case "n":
			if ok {
				return typed(n), nil
			}
		}
		return nil, &Error{Code: codeNotSupported, Message: fmt.Sprintf("the dialect is SQLite's: it has no field %s of a row", textOf(a[1]))}
	})
}

// compile compiles a regular expression of PostgreSQL of bounded length. Go's matching takes time in proportion to
// the text and to the expression.
func compile(pattern string) (*regexp.Regexp, error) {
	if len(pattern) > 1000 {
		return nil, &Error{Code: codeBadPattern, Message: "the regular expression is longer than 1000 bytes"}
	}
	pattern = strings.TrimPrefix(pattern, "***:")
	pattern = strings.NewReplacer(`\\`, `\\`, `\y`, `\b`, `\m`, `\b`, `\M`, `\b`, `\Y`, `\B`, `\Z`, `\z`).Replace(pattern)
	re, err := regexp.Compile("(?s)" + pattern)
	if err != nil {
		return nil, &Error{Code: codeBadPattern, Message: "invalid regular expression: " + strings.TrimPrefix(err.Error(), "error parsing regexp: ")}
	}
	return re, nil
}

// backReferences returns a replacement with \1 as Go has it.
func backReferences(s string) string {
	return reference.ReplaceAllStringFunc(s, func(m string) string {
		switch c := m[len(m)-1:]; {
		case m == "$":
			return "$$"
		case "0" <= c && c <= "9":
			return "${" + c + "}"
		case c == "&":
			return "${0}"
		}
		return m[1:]
	})
}

var (
	reference = regexp.MustCompile(`(?s)\\.|\$`)
	directive = regexp.MustCompile(`(?s)%.?`)
)

func quoteNullable(v any) string {
	if v == nil {
		return "NULL"
	}
	return sqltext.Quote(textOf(v))
}

// formatText is format of PostgreSQL, with %s, %I, %L and %%.
func formatText(a []any) (any, error) {
	if a[0] == nil {
		return nil, nil
	}
	n, wrong := 0, ""
	text := directive.ReplaceAllStringFunc(textOf(a[0]), func(d string) string {
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
			return textOf(a[n])
		case "%I":
			return ident(textOf(a[n]))
		case "%L":
			return quoteNullable(a[n])
		}
		wrong = "format takes %s, %I and %L"
		return ""
	})
	if wrong != "" {
		return nil, &Error{Code: codeBadParameter, Message: wrong}
	}
	return text, nil
}

// parseTime reads a time as SQLite writes it, or seconds since 1970.
func parseTime(v any) (t time.Time, ok bool) {
	switch v := v.(type) {
	case int64:
		return time.Unix(v, 0).UTC(), true
	case string:
		for _, layout := range []string{"2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999-07", "2006-01-02 15:04:05.999999999",
			"2006-01-02 15:04", "2006-01-02"} {
			if t, err := time.Parse(layout, strings.Replace(strings.TrimSpace(v), "T", " ", 1)); err == nil {
				return t.UTC(), true
			}
		}
	}
	return time.Time{}, false
}

// dateParts are the fields of extract.
var dateParts = map[string]func(t time.Time) any{
	"epoch":   func(t time.Time) any { return float64(t.UnixMicro()) / 1e6 },
	"year":    func(t time.Time) any { return t.Year() },
	"quarter": func(t time.Time) any { return int(t.Month()+2) / 3 },
	"month":   func(t time.Time) any { return int(t.Month()) },
	"week":    func(t time.Time) any { _, week := t.ISOWeek(); return week },
	"isoyear": func(t time.Time) any { year, _ := t.ISOWeek(); return year },
	"day":     func(t time.Time) any { return t.Day() },
	"doy":     func(t time.Time) any { return t.YearDay() },
	"dow":     func(t time.Time) any { return int(t.Weekday()) },
	"isodow":  func(t time.Time) any { return int(t.Weekday()+6)%7 + 1 },
	"hour":    func(t time.Time) any { return t.Hour() },
	"minute":  func(t time.Time) any { return t.Minute() },
	"second":  func(t time.Time) any { return float64(t.Second()) + float64(t.Nanosecond())/1e9 },
}

// datePart is extract(field FROM time). A value that is no time gives NULL, as in SQLite's own functions.
func datePart(a []any) (any, error) {
	t, ok := parseTime(a[1])
	if !ok {
		return nil, nil
	}
	if part := dateParts[strings.ToLower(textOf(a[0]))]; part != nil {
		return part(t), nil
	}
	return nil, &Error{Code: codeBadParameter, Message: fmt.Sprintf("extract has no field %q here", textOf(a[0]))}
}

// truncated are the fields of date_trunc: how the time is written up to the field, and the rest.
var truncated = map[string][2]string{
	"year": {"2006", "-01-01 00:00:00"}, "month": {"2006-01", "-01 00:00:00"}, "day": {"2006-01-02", " 00:00:00"},
	"hour": {"2006-01-02 15", ":00:00"}, "minute": {"2006-01-02 15:04", ":00"}, "second": {"2006-01-02 15:04:05", ""},
}

// dateTrunc is date_trunc(field, time).
func dateTrunc(a []any) (any, error) {
	t, ok := parseTime(a[1])
	if !ok {
		return nil, nil
	}
	field := strings.ToLower(textOf(a[0]))
	switch field {
	case "quarter":
		field, t = "month", time.Date(t.Year(), (t.Month()-1)/3*3+1, 1, 0, 0, 0, 0, time.UTC)
	case "week":
		field, t = "day", t.AddDate(0, 0, -(int(t.Weekday()+6)%7))
	}
	if to, known := truncated[field]; known {
		return t.Format(to[0]) + to[1], nil
	}
	return nil, &Error{Code: codeBadParameter, Message: fmt.Sprintf("date_trunc has no field %q here", textOf(a[0]))}
}
