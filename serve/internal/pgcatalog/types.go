package pgcatalog

import (
	"strings"

	"github.com/geosql/geosql/internal/sqltext"
)

// A Type is a type of PostgreSQL, as clients know it.
type Type struct {
	OID      uint32
	Name     string // in pg_type
	SQL      string // as format_type shows it
	Size     int    // -1 if it varies
	Array    uint32 // OID of its array type
	letter   byte   // in shapes
	Category byte
}

// SealedOID is the OID of the domain over bytea that sealed columns have. On the wire they are
// bytea.
const SealedOID = 16000

// types are the types that clients may meet.
var types = []Type{
	{16, "bool", "boolean", 1, 1000, 'b', 'B'},
	{17, "bytea", "bytea", -1, 1001, 'y', 'U'},
	{18, "char", `"char"`, 1, 1002, 'c', 'Z'},
	{19, "name", "name", 64, 1003, 'n', 'S'},
	{20, "int8", "bigint", 8, 1016, 'l', 'N'},
	{21, "int2", "smallint", 2, 1005, 's', 'N'},
	{22, "int2vector", "int2vector", -1, 1006, 'S', 'A'},
	{23, "int4", "integer", 4, 1007, 'i', 'N'},
	{24, "regproc", "regproc", 4, 1008, 'r', 'N'},
	{25, "text", "text", -1, 1009, 't', 'S'},
	{26, "oid", "oid", 4, 1028, 'o', 'N'},
	{28, "xid", "xid", 4, 1011, 'x', 'U'},
	{30, "oidvector", "oidvector", -1, 1013, 'V', 'A'},
	{114, "json", "json", -1, 199, 'J', 'U'},
	{194, "pg_node_tree", "pg_node_tree", -1, 0, 'T', 'Z'},
	{700, "float4", "real", 4, 1021, 'f', 'N'},
	{701, "float8", "double precision", 8, 1022, 'd', 'N'},
	{705, "unknown", "unknown", -2, 0, 0, 'X'},
	{1033, "aclitem", "aclitem", 12, 1034, 0, 'U'},
	{1042, "bpchar", "character", -1, 1014, 0, 'S'},
	{1043, "varchar", "character varying", -1, 1015, 0, 'S'},
	{1082, "date", "date", 4, 1182, 0, 'D'},
	{1083, "time", "time without time zone", 8, 1183, 0, 'D'},
	{1114, "timestamp", "timestamp without time zone", 8, 1115, 0, 'D'},
	{1184, "timestamptz", "timestamp with time zone", 8, 1185, 'z', 'D'},
	{1186, "interval", "interval", 16, 1187, 0, 'T'},
	{1700, "numeric", "numeric", -1, 1231, 0, 'N'},
	{2205, "regclass", "regclass", 4, 2210, 0, 'N'},
	{2206, "regtype", "regtype", 4, 2211, 0, 'N'},
	{2249, "record", "record", -1, 2287, 0, 'P'},
	{2279, "trigger", "trigger", 4, 0, 0, 'P'},
	{2276, "any", `"any"`, 4, 0, 0, 'P'},
	{2278, "void", "void", 4, 0, 0, 'P'},
	{2950, "uuid", "uuid", 16, 2951, 0, 'U'},
	{3802, "jsonb", "jsonb", -1, 3807, 0, 'U'},
}

var (
	typeByName   = map[string]*Type{}
	typeByOID    = map[uint32]*Type{}
	typeByLetter = map[byte]*Type{}
	arrayOf      = map[uint32]*Type{} // by the array's OID
)

func init() {
	for i := range types {
		t := &types[i]
		typeByName[t.Name], typeByOID[t.OID] = t, t
		typeByName[strings.Trim(t.SQL, `"`)] = t
		if t.letter != 0 {
			typeByLetter[t.letter] = t
		}
		if t.Array != 0 {
			arrayOf[t.Array] = t
		}
	}
	for alias, name := range inverted(map[string]string{"int4": "int", "numeric": "decimal dec", "float8": "float", "text": "string"}) {
		typeByName[alias] = typeByName[name]
	}
}

// ColumnType returns the type that clients see for the declared type of a column of SQLite: bigint,
// double precision, text, bytea or numeric by its affinity, and the named type for columns of the
// catalogue. Dates and times, and columns and expressions without a type, are text.
func ColumnType(declared string) Type {
	lower := strings.ToLower(declared)
	if t := catalogTypes[lower]; t != nil {
		return *t
	}
	has := func(s string) bool { return strings.Contains(lower, s) }
	name := "numeric"
	switch {
	case has("int") && !has("interval") && !has("point"):
		name = "int8"
	case has("char"), has("clob"), has("text"), has("date"), has("time"), has("interval"), has("json"), lower == "", lower == "any":
		name = "text"
	case lower == "boolean":
		name = "bool"
	case has("blob"), has("bytea"):
		name = "bytea"
	case has("real"), has("floa"), has("doub"):
		name = "float8"
	}
	return *typeByName[name]
}

// timeType returns the type of the values in a column of texts that is declared as date, timestamp or datetime, or 0 of others.
func timeType(declared string) uint32 {
	switch strings.ToLower(declared) {
	case "date":
		return typeByName["date"].OID
	case "timestamp", "datetime":
		return typeByName["timestamp"].OID
	}
	return 0
}

// TypeName returns SQL's name of a type, such as double precision, or "" for one that is not known.
func TypeName(oid uint32) string {
	if t := typeByOID[oid]; t != nil {
		return t.SQL
	}
	return ""
}

// catalogTypes are the declared types of the catalogue's own columns, which are not SQLite's.
var catalogTypes = map[string]*Type{}

func init() {
	for _, name := range []string{"bool", "int2", "int4", "int8", "float4", "float8", "oid"} {
		catalogTypes[name] = typeByName[name]
	}
	for _, t := range arrayOf {
		catalogTypes["_"+t.Name] = &Type{OID: t.Array, Name: "_" + t.Name, SQL: t.SQL + "[]", Size: -1, Category: 'A'}
	}
}

// A pgType is the name of a type in a statement.
type pgType struct {
	name       string
	array      bool
	parameters string // such as 10, 2
}

// typeName reads the name of a type at i and returns the index behind it.
func (r *rewriter) typeName(i, hi int) (pgType, int) {
	chain, end := r.chain(r.skip(i, hi), hi)
	if len(chain) == 0 {
		return pgType{}, i
	}
	ty := pgType{name: chain[len(chain)-1]}
	more := func(words ...string) bool {
		k := end
		for _, w := range words {
			if k = r.skip(k, hi); !r.at(k, hi).Is(w) {
				return false
			}
			k++
		}
		end = k
		return true
	}
	switch ty.name {
	case "double":
		if more("precision") {
			ty.name = "float8"
		}
	case "character", "char", "bit", "national":
		more("character")
		if more("varying") {
			ty.name = "varchar"
		}
	}
	if k := r.skip(end, hi); r.opens(k, hi) {
		ty.parameters = r.sql[r.tokens[k].At+1 : r.tokens[r.match[k]].At]
		end = r.match[k] + 1
	}
	if ty.name == "timestamp" || ty.name == "time" {
		if more("with", "time", "zone") {
			ty.name += "tz"
		} else {
			more("without", "time", "zone")
		}
	}
	for {
		k := r.skip(end, hi)
		t := r.at(k, hi)
		switch {
		case t.IsSymbol("[") && r.match[k] >= 0:
			end = r.match[k] + 1
		case t.Kind == sqltext.Name && t.Text == "[]":
			end = k + 1
		default:
			return ty, end
		}
		ty.array = true
	}
}

// casts are the functions that stand for casts to types that SQLite lacks.
var casts = inverted(map[string]string{
	"pg_regclass": "regclass", "pg_regtype": "regtype", "pg_regproc": "regproc regprocedure", "pg_regnamespace": "regnamespace",
	"pg_regrole": "regrole", "pg_regother": "regoper regoperator regcollation regconfig regdictionary",
	"pg_bool": "bool boolean", "pg_bytea": "bytea", "pg_date": "date", "pg_timestamp": "timestamp", "pg_timestamptz": "timestamptz",
	"pg_time": "time timetz", "pg_int2": "int2 smallint", "pg_int4": "int int4 integer", "pg_int8": "int8 bigint",
	"pg_float8": "float float4 float8 real", "pg_numeric": "numeric decimal dec", "pg_interval": "interval",
})

// isNamed reports whether a type is one of OIDs that stand for a name in a catalogue.
func isNamed(ty string) bool { return strings.HasPrefix(casts[ty], "pg_reg") }

// affinities are SQLite's types for types that it has under another name.
var affinities = inverted(map[string]string{
	"TEXT": `text varchar name char bpchar character cstring uuid json jsonb xml inet cidr unknown sql_identifier
		character_data yes_or_no time_stamp aclitem pg_node_tree`,
	"INTEGER": "oid xid cid cardinal_number",
	"BLOB":    "blob bytea sealed",
})

// inverted returns the key of each word among the values.
func inverted(words map[string]string) map[string]string {
	m := map[string]string{}
	for key, list := range words {
		for word := range strings.FieldsSeq(list) {
			m[word] = key
		}
	}
	return m
}

// convert applies a cast to the operand of e with the tokens from from on. The cast stands at token i.
func (r *rewriter) convert(e *emitter, from, i int, ty pgType) {
	if ty.array || ty.name == "int2vector" || ty.name == "oidvector" || ty.name == "anyarray" {
		return
	}
	literal := e.literal
	function, affinity := casts[ty.name], affinities[ty.name]
	if ty.name == "bytea" && !literal {
		function = ""
	}
	if function == "" && affinity == "" {
		r.unsupported(i, "type "+ty.name, "")
		return
	}
	isTruth := ty.name == "text" && is(r.typeOfSpan(from, i), "bool")
	e.apply(func(x string) string {
		switch {
		case isTruth:
			return "CASE NOT " + x + " WHEN 0 THEN 'true' WHEN 1 THEN 'false' END"
		case affinity == "TEXT" && ty.parameters != "":
			return "substr(CAST(" + x + " AS TEXT), 1, " + ty.parameters + ")"
		case function == "":
			return "CAST(" + x + " AS " + affinity + ")"
		case function == "pg_numeric" && ty.parameters != "":
			return function + "(" + x + ", " + ty.parameters + ")"
		case strings.HasPrefix(function, "pg_int") && r.isDecimal(from, i):
			return function + "(round(" + x + "))"
		}
		return function + "(" + x + ")"
	})
	e.literal = literal && affinity == "TEXT"
}

// missingTypes are refused, or have another name in SQLite.
var missingTypes = set("interval name oid money citext")

// cast rewrites CAST(x AS type) with its word at i and its parenthesis at open. Casts
// that SQLite has stay.
func (r *rewriter) cast(e *emitter, i, open int) int {
	shut := r.match[open]
	as := r.find(open+1, shut, "as")
	if as < 0 {
		e.push(r.tokens[i].Text + "(" + r.span(open+1, shut) + ")")
		return shut + 1
	}
	chain, _ := r.chain(r.skip(as+1, shut), shut)
	ty, _ := r.typeName(as+1, shut)
	if len(chain) == 1 && !ty.array && casts[ty.name] == "" && ty.parameters == "" && !missingTypes[ty.name] {
		e.push(r.sql[r.tokens[i].At:r.tokens[open].At] + "(" + r.span(open+1, as) + r.sql[r.tokens[as].At:r.tokens[shut].At] + ")")
		return shut + 1
	}
	inner := &emitter{operand: -1}
	inner.push(strings.TrimSpace(r.span(open+1, as)))
	if k := r.skip(open+1, as); r.skip(k+1, as) == as {
		t := r.tokens[k]
		inner.literal = isLiteral(t) || t.Kind == sqltext.Position || t.Kind == sqltext.Variable
	}
	r.convert(inner, r.skip(open+1, as), as, ty)
	e.push(strings.Join(inner.out, ""))
	return shut + 1
}
