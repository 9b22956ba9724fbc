package pgcatalog

import (
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

// byName returns a function for a cast to a type of OIDs: it turns a name into the OID, an OID into
// the name.
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

// isType returns a function.returns that is always the same type.
func isType(name string) func() uint32 {
	oid := typeByName[name].OID
	return func() uint32 { return oid }
}

func typedInt(v any) int64 {
	n, _ := typed(v).(int64)
	return n
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

// datePart is extract(field FROM time). A value that is no time gives NULL, as in SQLite's own functions.
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
