package pgcatalog

import (
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/internal/sqltext"
)

// maxText bounds the texts that functions build.
const maxText = 1_000_000

func tooLong(function string) error {
	return &Error{Code: codeLimitExceeded, Message: function + ": the result is longer than 1000000 bytes"}
}

// firstFunctionOID is the OID of the first function.
const firstFunctionOID = 15000

// A function is a scalar function for clients. A nil argument is NULL.
type function struct {
	name    string
	args    []int // numbers of arguments
	pure    bool  // the same arguments give the same answer
	strict  bool  // NULL for a NULL argument
	returns func() uint32
	call    func(a []any) (any, error)
	kind    string // of a private function, which others have registered: f, a or w
}

func (f *function) schema() int {
	if f.kind != "" {
		return publicOID
	}
	return catalogOID
}

// prokind returns the kind of the function for pg_proc.
func (f *function) prokind() string {
	if f.kind != "" {
		return f.kind
	}
	return "f"
}

// private finds the private functions of the connection, so that clients list them.
func (c *catalogue) private(conn *sqlite.Conn) error {
	return rows(conn, `SELECT DISTINCT name, narg, type FROM pragma_function_list
		WHERE name GLOB 'dx_*' OR name GLOB 'geo_*' OR name GLOB 'geoind_*' ORDER BY name, narg`, func(s *sqlite.Stmt) {
		n := s.Column(1)
		kind := map[string]string{"s": "f", "a": "a", "w": "w"}[columnText(s, 2)]
		c.functions = append(c.functions, function{name: columnText(s, 0), args: []int{max(0, int(n.Int()))}, returns: isType("any"), kind: kind})
	})
}

// scalars returns the names of the functions, for FROM version().
var scalars = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for _, f := range (&catalogue{}).list() {
		m[f.name] = true
	}
	return m
})

// returned returns the types of the functions' answers.
var returned = sync.OnceValue(func() map[string]uint32 {
	m := map[string]uint32{}
	for _, f := range (&catalogue{}).list() {
		if m[f.name] = f.returns(); f.name == "pg_subscript" {
			m[f.name] = 0
		}
	}
	return m
})

func result(c *sqlite.Call, i int, v any) {
	switch v := v.(type) {
	case nil:
		c.ResultNull(i)
	case bool:
		c.ResultInt(i, number01(v))
	case int:
		c.ResultInt(i, int64(v))
	case int64:
		c.ResultInt(i, v)
	case uint32:
		c.ResultInt(i, int64(v))
	case float64:
		c.ResultFloat(i, v)
	case string:
		c.ResultString(i, v)
	case []byte:
		c.ResultBlob(i, v)
	}
}

func textOf(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case []byte:
		return string(v)
	}
	return ""
}

func oidOf(v any) uint32 {
	switch v := typed(v).(type) {
	case int64:
		return uint32(v)
	}
	return 0
}

// truth returns a value as a boolean.
func truth(v any) (bool, error) {
	switch v := v.(type) {
	case int64:
		return v != 0, nil
	case float64:
		return v != 0, nil
	case string:
		switch strings.ToLower(strings.TrimSpace(v)) {
		case "t", "true", "y", "yes", "on", "1":
			return true, nil
		case "f", "false", "n", "no", "off", "0":
			return false, nil
		}
	}
	return false, &Error{Code: codeBadText, Message: "a boolean is written as true or false"}
}

// register registers the functions on a connection.
func (c *catalogue) register(conn *sqlite.Conn) error {
	c.functions = c.list()
	lib := sqlite.Library{}
	for i := range c.functions {
		f := &c.functions[i]
		flags := sqlite.Flags(0)
		if f.pure {
			flags = sqlite.Deterministic
		}
		lib.Scalars = append(lib.Scalars, sqlite.Scalar{Name: f.name, Args: f.args, Flags: flags, Call: func(call *sqlite.Call) error {
			a := make([]any, call.Len())
			for i := range a {
				if a[i] = call.Arg(i).Copy(); a[i] == nil && f.strict {
					call.ResultNull(0)
					return nil
				}
			}
			v, err := f.call(a)
			if err != nil {
				return err
			}
			result(call, 0, v)
			return nil
		}})
	}
	lib.Aggregates = []sqlite.Aggregate{
		{Name: "array_agg", Args: []int{1}, New: func() sqlite.Group { return &arrayGroup{} }},
		{Name: "bool_and", Args: []int{1}, New: func() sqlite.Group { return &boolGroup{} }},
		{Name: "every", Args: []int{1}, New: func() sqlite.Group { return &boolGroup{} }},
		{Name: "bool_or", Args: []int{1}, New: func() sqlite.Group { return &boolGroup{or: true} }},
	}
	lib.Tables = []sqlite.Table{
		{Name: "unnest", Columns: []string{"value", "ordinality INTEGER"}, Hidden: []string{"list"}, Required: 1, Open: func() sqlite.Cursor { return &elementsCursor{} }},
		{Name: "generate_series", Columns: []string{"value INTEGER", "ordinality INTEGER"}, Hidden: []string{"start", "stop", "step"}, Required: 2, Open: func() sqlite.Cursor { return &seriesCursor{} }},
		{Name: "aclexplode", Columns: []string{"grantor INTEGER", "grantee INTEGER", "privilege_type TEXT", "is_grantable INTEGER"}, Hidden: []string{"acl"}, Required: 1, Open: func() sqlite.Cursor { return noRows{} }},
		{Name: "pg_partition_ancestors", Columns: []string{"relid INTEGER", "depth INTEGER"}, Hidden: []string{"relation"}, Required: 1, Open: func() sqlite.Cursor { return noRows{} }},
		{Name: "pg_options_to_table", Columns: []string{"option_name TEXT", "option_value TEXT"}, Hidden: []string{"options"}, Required: 1, Open: func() sqlite.Cursor { return noRows{} }},
	}
	return conn.Register(lib)
}

func (c *catalogue) functionOID(name string) uint32 {
	for i := range c.functions {
		if c.functions[i].name == name {
			return uint32(firstFunctionOID + i)
		}
	}
	return 0
}

// find returns the relation that a name calls, such as public."Reading".
func (c *catalogue) find(name string) *relation {
	parts := names(name)
	if len(parts) == 0 {
		return nil
	}
	last, schema := parts[len(parts)-1], ""
	if len(parts) > 1 {
		schema = parts[len(parts)-2]
	}
	for _, want := range []string{"public", "pg_catalog", "information_schema"} {
		if schema != want && (schema != "" || want == "information_schema") {
			continue
		}
		for _, r := range c.relations {
			if r.schema == want && strings.EqualFold(r.name, last) {
				return r
			}
		}
	}
	return nil
}

// names returns the names of a dotted name.
func names(s string) (list []string) {
	for t := range sqltext.PostgreSQL.Tokens(s) {
		if n := t.Name(); n != "" {
			list = append(list, n)
		}
	}
	return list
}

func (c *catalogue) namespace(name string) any {
	switch strings.Join(names(name), ".") {
	case "pg_catalog":
		return catalogOID
	case "public":
		return publicOID
	case "information_schema":
		return schemaOID
	}
	return nil
}

// typeOID returns the OID of a type by its name.
func (c *catalogue) typeOID(name string) any {
	name, _, _ = strings.Cut(strings.TrimSpace(name), "(")
	element, array := strings.CutSuffix(strings.TrimSpace(name), "[]")
	parts := names(element)
	if len(parts) > 1 && isSchema(parts[0]) {
		parts = parts[1:]
	}
	base := strings.Join(parts, " ")
	if t := typeByName[base]; t != nil {
		if array {
			return t.Array
		}
		return t.OID
	}
	if t := typeByName[strings.TrimPrefix(base, "_")]; t != nil {
		return t.Array
	}
	if base == "sealed" {
		return SealedOID
	}
	for _, r := range c.relations {
		if r.schema == "public" && r.kind != "i" && strings.EqualFold(r.name, base) {
			return r.oid + 1
		}
	}
	return nil
}

// formatType returns how a type is shown.
func (c *catalogue) formatType(oid uint32) string {
	switch {
	case oid == 0:
		return "-"
	case oid == SealedOID:
		return "sealed"
	case typeByOID[oid] != nil:
		return typeByOID[oid].SQL
	case arrayOf[oid] != nil:
		return arrayOf[oid].SQL + "[]"
	}
	if r := c.byOID[oid-1]; r != nil && r.schema == "public" {
		return ident(r.name)
	}
	return "???"
}

func (c *catalogue) relationName(oid uint32) string {
	r := c.byOID[oid]
	switch {
	case r == nil:
		return strconv.FormatUint(uint64(oid), 10)
	case r.schema == "information_schema":
		return r.schema + "." + ident(r.name)
	}
	return ident(r.name)
}

// byName returns a function for a cast to a type whose values are OIDs: of a name it gives the OID,
// of an OID the name.
func byName(what, code string, oid func(string) any, name func(uint32) string) func([]any) (any, error) {
	return func(a []any) (any, error) {
		if s, ok := a[0].(string); ok {
			if n, ok := typed(s).(int64); ok {
				return n, nil
			}
			if s == "-" {
				return int64(0), nil
			}
			if found := oid(s); found != nil {
				return found, nil
			}
			return nil, &Error{Code: code, Message: fmt.Sprintf("%s %q does not exist", what, s)}
		}
		if n := oidOf(a[0]); n != 0 {
			return name(n), nil
		}
		return "-", nil
	}
}

// isType returns what function.returns says for a type.
func isType(name string) func() uint32 {
	oid := typeByName[name].OID
	return func() uint32 { return oid }
}

// list returns the functions. Those that take a session's facts ask its Describer.
func (c *catalogue) list() []function {
	var list []function
	add := func(name, returns string, pure, strict bool, args []int, call func([]any) (any, error)) {
		list = append(list, function{name: name, args: args, pure: pure, strict: strict, returns: isType(returns), call: call})
	}
	constant := func(v any) func([]any) (any, error) { return func([]any) (any, error) { return v, nil } }
	// What never changes.
	for _, f := range []struct {
		name, returns string
		v             any
		args          []int
	}{
		{"pg_get_expr", "text", nil, []int{2, 3}}, {"pg_get_triggerdef", "text", nil, []int{1, 2}}, {"pg_get_ruledef", "text", nil, []int{1, 2}},
		{"pg_get_partkeydef", "text", nil, []int{1}}, {"pg_get_statisticsobjdef_columns", "text", nil, []int{1}}, {"pg_get_statisticsobjdef", "text", nil, []int{1}},
		{"pg_get_serial_sequence", "text", nil, []int{2}}, {"pg_tablespace_location", "text", "", []int{1}},
		{"pg_table_size", "int8", nil, []int{1}}, {"pg_relation_size", "int8", nil, []int{1, 2}}, {"pg_total_relation_size", "int8", nil, []int{1}},
		{"pg_indexes_size", "int8", nil, []int{1}}, {"pg_database_size", "int8", nil, []int{1}}, {"pg_tablespace_size", "int8", nil, []int{1}},
		{"pg_is_in_recovery", "bool", false, []int{0}}, {"pg_is_wal_replay_paused", "bool", false, []int{0}}, {"pg_relation_is_publishable", "bool", false, []int{1}},
		{"pg_partition_ancestors", "regclass", nil, []int{1}},
		{"shobj_description", "text", nil, []int{2}}, {"pg_my_temp_schema", "oid", 0, []int{0}}, {"pg_is_other_temp_schema", "bool", false, []int{1}},
		{"inet_server_addr", "text", nil, []int{0}}, {"inet_client_addr", "text", nil, []int{0}}, {"inet_server_port", "int4", nil, []int{0}},
		{"txid_current", "int8", 1, []int{0}}, {"txid_current_if_assigned", "int8", nil, []int{0}}, {"pg_get_function_sqlbody", "text", nil, []int{1}},
		{"pg_get_function_arg_default", "text", nil, []int{2}}, {"pg_relation_filenode", "oid", nil, []int{1}}, {"pg_export_snapshot", "text", "00000001-1", []int{0}},
		{"pg_advisory_unlock_all", "void", nil, []int{0}}, {"pg_column_is_updatable", "bool", false, []int{3}}, {"pg_relation_is_updatable", "int4", 0, []int{2}},
		{"row_security_active", "bool", false, []int{1}}, {"pg_postmaster_start_time", "timestamptz", nil, []int{0}}, {"array_in", "any", nil, []int{3}},
		{"pg_char_to_encoding", "int4", 6, []int{1}},
		{"pg_client_encoding", "name", "UTF8", []int{0}}, {"getdatabaseencoding", "name", "UTF8", []int{0}},
	} {
		add(f.name, f.returns, true, false, f.args, constant(f.v))
	}
	// Everything that is there is visible, since names of public come first and none is taken twice.
	for _, kind := range strings.Fields("function type operator opclass opfamily conversion ts_parser ts_dict ts_template ts_config collation") {
		add("pg_"+kind+"_is_visible", "bool", true, true, []int{1}, constant(true))
	}
	add("pg_statistics_obj_is_visible", "bool", true, true, []int{1}, constant(true))
	add("pg_table_is_visible", "bool", true, true, []int{1}, func(a []any) (any, error) {
		r := c.byOID[oidOf(a[0])]
		return r != nil && r.schema != "information_schema", nil
	})
	for _, kind := range strings.Fields("table any_column column schema database sequence function language type tablespace server foreign_data_wrapper parameter") {
		args := []int{2, 3}
		if kind == "column" {
			args = []int{3, 4}
		}
		add("has_"+kind+"_privilege", "bool", true, true, args, func(a []any) (any, error) {
			for _, p := range strings.Split(strings.ToUpper(textOf(a[len(a)-1])), ",") {
				switch strings.TrimSpace(p) {
				case "SELECT", "USAGE", "CONNECT", "EXECUTE":
					return true, nil
				}
			}
			return false, nil
		})
	}
	add("pg_has_role", "bool", false, true, []int{2, 3}, func(a []any) (any, error) {
		role := textOf(a[len(a)-2])
		return role == c.db.User() || role == strconv.Itoa(userOID), nil
	})
	add("version", "text", true, true, []int{0}, constant("PostgreSQL "+Version+" (geosql, on SQLite "+sqlite.Version()+")"))
	add("current_database", "name", false, false, []int{0}, func([]any) (any, error) { return c.db.Database(), nil })
	add("current_catalog", "name", false, false, []int{0}, func([]any) (any, error) { return c.db.Database(), nil })
	for _, name := range []string{"current_user", "session_user", "current_role", "user"} {
		add(name, "name", false, false, []int{0}, func([]any) (any, error) { return c.db.User(), nil })
	}
	add("current_schema", "name", true, false, []int{0}, constant("public"))
	add("current_schemas", "text", true, true, []int{1}, func(a []any) (any, error) {
		if b, _ := truth(a[0]); b {
			return "{pg_catalog,public}", nil
		}
		return "{public}", nil
	})
	add("pg_backend_pid", "int4", false, false, []int{0}, func([]any) (any, error) { return int64(c.db.BackendPID()), nil })
	add("current_setting", "text", false, true, []int{1, 2}, func(a []any) (any, error) {
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
	add("set_config", "text", false, false, []int{3}, func(a []any) (any, error) {
		name, v := strings.ToLower(textOf(a[0])), textOf(a[1])
		if err := c.db.Set(name, v); err != nil {
			return nil, err
		}
		return v, nil
	})
	now := func([]any) (any, error) { return time.Now().UTC().Format("2006-01-02 15:04:05.999999+00"), nil }
	for _, name := range []string{"now", "clock_timestamp", "statement_timestamp", "transaction_timestamp", "localtimestamp"} {
		add(name, "timestamptz", false, false, []int{0}, now)
	}
	add("pg_get_userbyid", "name", false, true, []int{1}, func(a []any) (any, error) {
		switch oid := oidOf(a[0]); oid {
		case ownerOID:
			return ownerName, nil
		case userOID:
			return c.db.User(), nil
		default:
			return fmt.Sprintf("unknown (OID=%d)", oid), nil
		}
	})
	add("pg_encoding_to_char", "name", true, true, []int{1}, func(a []any) (any, error) {
		if oidOf(a[0]) == 6 {
			return "UTF8", nil
		}
		return "", nil
	})
	add("format_type", "text", false, false, []int{2}, func(a []any) (any, error) {
		if a[0] == nil {
			return nil, nil
		}
		return c.formatType(oidOf(a[0])), nil
	})
	add("obj_description", "text", false, true, []int{1, 2}, func(a []any) (any, error) {
		switch oidOf(a[0]) {
		case publicOID:
			return "tables of the database", nil
		case SealedOID:
			return "a value that only private functions open", nil
		}
		return nil, nil
	})
	add("col_description", "text", false, true, []int{2}, func(a []any) (any, error) {
		r, n := c.byOID[oidOf(a[0])], int(oidOf(a[1]))
		if r == nil || n < 1 || n > len(r.columns) || r.columns[n-1].sealed == "" {
			return nil, nil
		}
		return r.columns[n-1].sealed, nil
	})
	add("pg_get_viewdef", "text", false, true, []int{1, 2}, func(a []any) (any, error) {
		r := c.byOID[oidOf(a[0])]
		if s, ok := a[0].(string); ok && r == nil {
			r = c.find(s)
		}
		if r == nil || r.kind != "v" {
			return nil, nil
		}
		return c.viewSQL(r), nil
	})
	add("pg_get_constraintdef", "text", false, true, []int{1, 2}, func(a []any) (any, error) {
		return orNull(c.constraint(oidOf(a[0]))), nil
	})
	add("pg_get_indexdef", "text", false, true, []int{1, 3}, func(a []any) (any, error) {
		r, x := c.findIndex(oidOf(a[0]))
		if x == nil {
			return nil, nil
		}
		if len(a) == 3 && oidOf(a[1]) > 0 {
			if n := int(oidOf(a[1])); n <= len(x.columns) {
				return x.columns[n-1].text, nil
			}
			return "", nil
		}
		return x.sql(r), nil
	})
	signature := func(a []any) *function {
		if i := int(oidOf(a[0])) - firstFunctionOID; i >= 0 && i < len(c.functions) {
			return &c.functions[i]
		}
		return nil
	}
	arguments := func(a []any) (any, error) {
		f := signature(a)
		if f == nil {
			return nil, nil
		}
		return strings.TrimSuffix(strings.Repeat(`"any", `, f.args[0]), ", "), nil
	}
	add("pg_get_function_arguments", "text", false, true, []int{1}, arguments)
	add("pg_get_function_identity_arguments", "text", false, true, []int{1}, arguments)
	add("pg_get_function_result", "text", false, true, []int{1}, func(a []any) (any, error) {
		if f := signature(a); f != nil {
			return c.formatType(f.returns()), nil
		}
		return nil, nil
	})
	add("pg_get_functiondef", "text", false, true, []int{1}, func(a []any) (any, error) {
		if f := signature(a); f != nil {
			return "-- " + f.name + " is built in, and has no source in SQL\n", nil
		}
		return nil, nil
	})

	// Names and OIDs.
	relationOID := func(s string) any {
		if r := c.find(s); r != nil {
			return r.oid
		}
		return nil
	}
	procOID := func(s string) any {
		name, _, _ := strings.Cut(s, "(")
		if parts := names(name); len(parts) > 0 {
			if oid := c.functionOID(parts[len(parts)-1]); oid != 0 {
				return oid
			}
		}
		return nil
	}
	procName := func(oid uint32) string {
		if f := signature([]any{int64(oid)}); f != nil {
			return f.name
		}
		return strconv.FormatUint(uint64(oid), 10)
	}
	namespaceName := func(oid uint32) string {
		switch oid {
		case catalogOID:
			return "pg_catalog"
		case publicOID:
			return "public"
		case schemaOID:
			return "information_schema"
		}
		return strconv.FormatUint(uint64(oid), 10)
	}
	roleOID := func(s string) any {
		switch strings.Join(names(s), ".") {
		case c.db.User():
			return userOID
		case ownerName:
			return ownerOID
		}
		return nil
	}
	roleName := func(oid uint32) string {
		switch oid {
		case ownerOID:
			return ownerName
		case userOID:
			return c.db.User()
		}
		return strconv.FormatUint(uint64(oid), 10)
	}
	for _, f := range []struct {
		kind, what, code string
		oid              func(string) any
		name             func(uint32) string
	}{
		{"regclass", "relation", codeNoTable, relationOID, c.relationName},
		{"regtype", "type", codeNoObject, c.typeOID, c.formatType},
		{"regproc", "function", codeNoFunction, procOID, procName},
		{"regnamespace", "schema", codeNoSchema, c.namespace, namespaceName},
		{"regrole", "role", codeNoObject, roleOID, roleName},
		{"regother", "object", codeNoObject, func(string) any { return nil }, func(oid uint32) string { return strconv.FormatUint(uint64(oid), 10) }},
	} {
		returns := "regclass"
		if typeByName[f.kind] != nil {
			returns = f.kind
		}
		add("pg_"+f.kind, returns, false, true, []int{1}, byName(f.what, f.code, f.oid, f.name))
		if f.kind != "regother" {
			add("to_"+f.kind, "oid", false, true, []int{1}, func(a []any) (any, error) { return f.oid(textOf(a[0])), nil })
		}
	}

	// Casts, patterns and texts.
	add("pg_bool", "bool", true, true, []int{1}, func(a []any) (any, error) { return truth(a[0]) })
	add("pg_bytea", "bytea", true, true, []int{1}, func(a []any) (any, error) {
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
	add("regexp", "bool", true, true, []int{2}, func(a []any) (any, error) { // x REGEXP pattern calls regexp(pattern, x)
		re, err := compiled(textOf(a[0]))
		if err != nil {
			return nil, err
		}
		return re.MatchString(textOf(a[1])), nil
	})
	add("regexp_replace", "text", true, true, []int{3, 4}, func(a []any) (any, error) {
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
	add("quote_ident", "text", true, true, []int{1}, func(a []any) (any, error) { return ident(textOf(a[0])), nil })
	add("quote_literal", "text", true, true, []int{1}, func(a []any) (any, error) { return sqltext.Quote(textOf(a[0])), nil })
	add("quote_nullable", "text", true, false, []int{1}, func(a []any) (any, error) {
		if a[0] == nil {
			return "NULL", nil
		}
		return sqltext.Quote(textOf(a[0])), nil
	})
	add("pg_format", "text", true, false, []int{1, 2, 3, 4, 5, 6, 7, 8}, formatText)
	add("split_part", "text", true, true, []int{3}, func(a []any) (any, error) {
		s, by := textOf(a[0]), textOf(a[1])
		parts := []string{s}
		if by != "" {
			parts = strings.Split(s, by)
		}
		n, _ := typed(a[2]).(int64)
		if n < 0 {
			n += int64(len(parts)) + 1
		}
		if n < 1 || n > int64(len(parts)) {
			return "", nil
		}
		return parts[n-1], nil
	})
	add("starts_with", "bool", true, true, []int{2}, func(a []any) (any, error) { return strings.HasPrefix(textOf(a[0]), textOf(a[1])), nil })
	add("left", "text", true, true, []int{2}, func(a []any) (any, error) {
		s, n := []rune(textOf(a[0])), typedInt(a[1])
		if n < 0 {
			n = max(0, n+int64(len(s)))
		}
		return string(s[:min(n, int64(len(s)))]), nil
	})
	add("right", "text", true, true, []int{2}, func(a []any) (any, error) {
		s, n := []rune(textOf(a[0])), typedInt(a[1])
		if n < 0 {
			n = max(0, n+int64(len(s)))
		}
		return string(s[int64(len(s))-min(n, int64(len(s))):]), nil
	})
	add("pg_size_pretty", "text", true, true, []int{1}, func(a []any) (any, error) {
		n := typedInt(a[0])
		for _, unit := range []string{"bytes", "kB", "MB", "GB"} {
			if n < 10240 {
				return fmt.Sprintf("%d %s", n, unit), nil
			}
			n /= 1024
		}
		return fmt.Sprintf("%d TB", n), nil
	})
	add("date_part", "float8", true, true, []int{2}, datePart)
	add("date_trunc", "timestamp", true, true, []int{2}, dateTrunc)

	// Arrays.
	arrayFunction := func(name, returns string, args []int, call func(list []any, a []any) (any, error)) {
		add(name, returns, true, false, args, func(a []any) (any, error) {
			if a[0] == nil {
				return nil, nil
			}
			list, _, err := parseArray(textOf(a[0]))
			if err != nil {
				return nil, err
			}
			return call(list, a)
		})
	}
	arrayFunction("pg_subscript", "text", []int{2}, func(list, a []any) (any, error) {
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
	arrayFunction("array_to_string", "text", []int{2, 3}, func(list, a []any) (any, error) {
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
	arrayFunction("array_length", "int4", []int{2}, length)
	arrayFunction("array_upper", "int4", []int{2}, length)
	arrayFunction("cardinality", "int4", []int{1}, func(list, _ []any) (any, error) { return int64(len(list)), nil })
	arrayFunction("array_lower", "int4", []int{2}, func(list, _ []any) (any, error) {
		if len(list) == 0 {
			return nil, nil
		}
		return int64(1), nil
	})
	arrayFunction("array_ndims", "int4", []int{1}, func(list, _ []any) (any, error) {
		if len(list) == 0 {
			return nil, nil
		}
		return int64(1), nil
	})
	arrayFunction("array_position", "int4", []int{2}, func(list, a []any) (any, error) {
		for i, e := range list {
			if e != nil && textOf(e) == textOf(a[1]) {
				return int64(i + 1), nil
			}
		}
		return nil, nil
	})
	arrayFunction("array_remove", "text", []int{2}, func(list, a []any) (any, error) {
		var kept []any
		for _, e := range list {
			if (e == nil) != (a[1] == nil) || textOf(e) != textOf(a[1]) {
				kept = append(kept, e)
			}
		}
		return formatArray(kept), nil
	})
	arrayFunction("array_append", "text", []int{2}, func(list, a []any) (any, error) { return formatArray(append(list, a[1])), nil })
	add("string_to_array", "text", true, true, []int{2}, func(a []any) (any, error) {
		var list []any
		if s := textOf(a[0]); s != "" {
			for _, p := range strings.Split(s, textOf(a[1])) {
				list = append(list, p)
			}
		}
		return formatArray(list), nil
	})
	add("pg_array", "text", true, true, []int{1}, func(a []any) (any, error) { return fromJSON(textOf(a[0])) })
	add("pg_field", "text", true, true, []int{2}, func(a []any) (any, error) {
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
	return list
}

func typedInt(v any) int64 {
	n, _ := typed(v).(int64)
	return n
}

// compile compiles a regular expression of PostgreSQL. Go's matching takes time in proportion to
// the text and to the expression, whose length is bounded.
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
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '$':
			b.WriteString("$$")
		case s[i] == '\\' && i+1 < len(s):
			i++
			switch {
			case '0' <= s[i] && s[i] <= '9':
				b.WriteString("${" + s[i:i+1] + "}")
			case s[i] == '&':
				b.WriteString("${0}")
			default:
				b.WriteByte(s[i])
			}
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// formatText is format of PostgreSQL, with %s, %I, %L and %%.
func formatText(a []any) (any, error) {
	if a[0] == nil {
		return nil, nil
	}
	f := textOf(a[0])
	var b strings.Builder
	n := 1
	for i := 0; i < len(f); i++ {
		if f[i] != '%' {
			b.WriteByte(f[i])
			continue
		}
		if i++; i == len(f) {
			return nil, &Error{Code: codeBadParameter, Message: "format: a % stands alone"}
		}
		if f[i] == '%' {
			b.WriteByte('%')
			continue
		}
		if n >= len(a) {
			return nil, &Error{Code: codeBadParameter, Message: "format has too few arguments"}
		}
		s := textOf(a[n])
		switch f[i] {
		case 's':
			b.WriteString(s)
		case 'I':
			b.WriteString(ident(s))
		case 'L':
			if a[n] == nil {
				b.WriteString("NULL")
			} else {
				b.WriteString(sqltext.Quote(s))
			}
		default:
			return nil, &Error{Code: codeBadParameter, Message: "format takes %s, %I and %L"}
		}
		n++
	}
	return b.String(), nil
}

var errNoTime = errors.New("no time")

// parseTime reads a time as SQLite writes it, or seconds since 1970.
func parseTime(v any) (time.Time, error) {
	switch v := v.(type) {
	case int64:
		return time.Unix(v, 0).UTC(), nil
	case string:
		for _, layout := range []string{"2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999-07", "2006-01-02 15:04:05.999999999", "2006-01-02 15:04", "2006-01-02"} {
			if t, err := time.Parse(layout, strings.Replace(strings.TrimSpace(v), "T", " ", 1)); err == nil {
				return t.UTC(), nil
			}
		}
	}
	return time.Time{}, errNoTime
}

// datePart is extract(field FROM time). What is no time gives NULL, as in SQLite's own functions.
func datePart(a []any) (any, error) {
	t, err := parseTime(a[1])
	if err != nil {
		return nil, nil
	}
	year, week := t.ISOWeek()
	switch strings.ToLower(textOf(a[0])) {
	case "epoch":
		return float64(t.UnixMicro()) / 1e6, nil
	case "year":
		return int64(t.Year()), nil
	case "quarter":
		return int64(t.Month()+2) / 3, nil
	case "month":
		return int64(t.Month()), nil
	case "week":
		return int64(week), nil
	case "isoyear":
		return int64(year), nil
	case "day":
		return int64(t.Day()), nil
	case "doy":
		return int64(t.YearDay()), nil
	case "dow":
		return int64(t.Weekday()), nil
	case "isodow":
		return int64(t.Weekday()+6)%7 + 1, nil
	case "hour":
		return int64(t.Hour()), nil
	case "minute":
		return int64(t.Minute()), nil
	case "second":
		return float64(t.Second()) + float64(t.Nanosecond())/1e9, nil
	}
	return nil, &Error{Code: codeBadParameter, Message: fmt.Sprintf("extract has no field %q here", textOf(a[0]))}
}

// dateTrunc is date_trunc(field, time).
func dateTrunc(a []any) (any, error) {
	t, err := parseTime(a[1])
	if err != nil {
		return nil, nil
	}
	y, m, d := t.Date()
	switch strings.ToLower(textOf(a[0])) {
	case "year":
		t = time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC)
	case "quarter":
		t = time.Date(y, (m-1)/3*3+1, 1, 0, 0, 0, 0, time.UTC)
	case "month":
		t = time.Date(y, m, 1, 0, 0, 0, 0, time.UTC)
	case "week":
		t = time.Date(y, m, d-int(t.Weekday()+6)%7, 0, 0, 0, 0, time.UTC)
	case "day":
		t = time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	case "hour":
		t = t.Truncate(time.Hour)
	case "minute":
		t = t.Truncate(time.Minute)
	case "second":
		t = t.Truncate(time.Second)
	default:
		return nil, &Error{Code: codeBadParameter, Message: fmt.Sprintf("date_trunc has no field %q here", textOf(a[0]))}
	}
	return t.Format("2006-01-02 15:04:05"), nil
}
