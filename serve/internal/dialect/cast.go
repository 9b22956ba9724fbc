package dialect

import (
	"strings"

	"github.com/geosql/geosql/internal/sqltext"
)

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
