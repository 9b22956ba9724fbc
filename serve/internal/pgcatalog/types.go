package pgcatalog

import "strings"

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
	for alias, name := range map[string]string{"int": "int4", "decimal": "numeric", "dec": "numeric", "float": "float8", "string": "text"} {
		typeByName[alias] = typeByName[name]
	}
}

// OID returns the OID of the type with a name of SQL or pg_type, or 0.
func OID(name string) uint32 {
	if t := typeByName[name]; t != nil {
		return t.OID
	}
	return 0
}

// Named returns the type with a name of SQL or pg_type, or nil.
func Named(name string) *Type { return typeByName[name] }

// ByOID returns the type with an OID, or nil.
func ByOID(oid uint32) *Type { return typeByOID[oid] }

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

// Keywords are those after which an operator has no left side, and before a parenthesis they
// call nothing.
const Keywords = `all analyze and any as asc begin between by case check collate commit conflict constraint create
 cross default delete desc distinct do drop else escape except exists explain filter foreign from full glob group having
 in index inner insert intersect into is isnull join key left limit match materialized natural not notnull null nulls
 offset on or order outer over partition pragma primary recursive references regexp returning right rows select set some
 table then union unique update using values view when where window with ilike like lateral only operator range groups`
