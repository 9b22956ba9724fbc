package dialect

import (
	"cmp"
	"slices"

	"github.com/geosql/geosql/internal/sqltext"
	"github.com/geosql/geosql/serve/internal/pgcatalog"
)

// typeOf returns the type of the expression with the tokens, which ends before end, or 0.
func (r *rewriter) typeOf(items []int, end int) uint32 {
	if len(items) == 0 {
		return 0
	}
	_, oid := r.describe(items, end)
	if oid != 0 {
		return oid
	}
	if chain, after := r.chain(items[0], end); len(chain) > 0 && r.skip(after, end) >= end && r.typeOfColumn != nil {
		return r.typeOfColumn(chain[len(chain)-1])
	}
	return 0
}

// isWhole reports whether the values of a type are whole numbers.
func isWhole(oid uint32) bool {
	t := pgcatalog.ByOID(oid)
	return t != nil && (t.Name == "int2" || t.Name == "int4" || t.Name == "int8" || t.Name == "oid" || t.Name == "bool")
}

// arithmetic returns the type of operators on numbers: whole if their operands are, and otherwise, also
// where the statement does not tell, a float.
func (r *rewriter) arithmetic(items []int, end int) uint32 {
	whole, days := true, 0
	from := 0
	for k := 0; k <= len(items); k++ {
		at, operator := end, k == len(items)
		if !operator {
			t := r.tokens[items[k]]
			at = items[k]
			operator = k > from && t.IsSymbol("+", "-", "*", "/", "%", "&", "|", "<<", ">>", "^")
			switch {
			case t.IsSymbol("->"):
				return pgcatalog.OID("text")
			case operator && t.IsSymbol("&", "|", "<<", ">>"):
				return pgcatalog.OID("int8")
			}
		}
		if operator {
			if from == 0 && k == len(items) {
				return 0 // there is none of these operators
			}
			oid := r.typeOf(items[from:k], at)
			whole = whole && isWhole(oid)
			if is(oid, "date") {
				days++
			}
			from = k + 1
		}
	}
	switch {
	case days == 1:
		return pgcatalog.OID("date")
	case whole, days == 2:
		return pgcatalog.OID("int8")
	}
	return pgcatalog.OID("float8")
}

// arguments returns the tokens outside of parentheses of each argument of a call, with where it ends.
func (r *rewriter) arguments(open int) (list [][]int, ends []int) {
	for _, s := range r.split(open) {
		list, ends = append(list, r.items(s.lo, s.hi)), append(ends, s.hi)
	}
	return list, ends
}

// items returns the tokens from lo to hi outside of parentheses, and those that open these.
func (r *rewriter) items(lo, hi int) (items []int) {
	for i := r.skip(lo, hi); i < hi; i = r.skip(r.after(i), hi) {
		items = append(items, i)
	}
	return items
}

// answerTypes are the types of the answers of SQLite's functions.
var answerTypes = inverted(map[string]string{
	"int8": `count row_number rank dense_rank ntile length octet_length instr unicode random unixepoch sign changes
		json_array_length json_valid json_error_position`,
	"float8": `stddev stddev_samp stddev_pop variance var_samp var_pop avg total round sqrt exp ln log log10 log2 power pow mod sin cos tan asin acos atan atan2 sinh cosh tanh asinh
		acosh atanh degrees radians pi percent_rank cume_dist julianday median percentile percentile_cont percentile_disc`,
	"text": `string_agg group_concat lower upper replace substr substring trim ltrim rtrim concat concat_ws char hex quote printf
		format strftime timediff typeof soundex json json_array json_object json_set json_insert json_replace
		json_remove json_patch json_group_array json_group_object json_quote json_type json_pretty unistr_quote unistr
		sqlite_version`,
	"bytea": "zeroblob randomblob unhex",
	"date":  "date", "timestamp": "datetime", "time": "time",
	"bool": "bool_and bool_or every",
})

// sameType are SQLite's functions that answer in the type of their arguments: which ones, from the first to before the last.
var sameType = func() map[string]span {
	m := map[string]span{"iif": {1, 99}, "if": {1, 99}}
	for name := range set("greatest least min max coalesce ifnull likely unlikely ceil ceiling floor trunc") {
		m[name] = span{0, 99}
	}
	for name := range set("nullif lag lead nth_value first_value last_value likelihood abs sum") {
		m[name] = span{0, 1}
	}
	return m
}()

// typeOfAffinity has the types of SQLite as clients know them.
var typeOfAffinity = map[string]string{"INTEGER": "int8", "REAL": "float8", "TEXT": "text", "BLOB": "bytea"}

// answers returns the type of the answer of a function of SQLite or geosql that is called at open.
func (r *rewriter) answers(name string, open int) uint32 {
	if kind := cmp.Or(answerTypes[name], typeOfAffinity[r.private[name].Returns]); kind != "" {
		return pgcatalog.OID(kind)
	}
	of := sameType[name]
	if name == "array_agg" {
		of = span{0, 1}
	} else if of.empty() {
		return 0
	}
	found := uint32(0)
	list, ends := r.arguments(open)
	for k := of.lo; k < min(len(list), of.hi); k++ {
		items := list[k]
		if len(items) > 0 && r.tokens[items[0]].Is("distinct") {
			items = items[1:]
		}
		if name != "array_agg" && len(items) == 1 && r.tokens[items[0]].Is("null") {
			continue
		}
		switch oid := r.typeOf(items, ends[k]); {
		case found == 0 || found == oid:
			found = oid
		case isWhole(found) && isWhole(oid):
			found = pgcatalog.OID("int8")
		case isNumeric(found) && isNumeric(oid):
			found = pgcatalog.OID("float8")
		default:
			return pgcatalog.OID("text")
		}
	}
	switch {
	case name == "array_agg":
		return cmp.Or(arrayType(found), arrayType(pgcatalog.OID("text")))
	case name == "sum" && isWhole(found):
		return pgcatalog.OID("int8")
	case name == "sum":
		return pgcatalog.OID("float8")
	}
	return found
}

// arrayType returns the type of arrays of a type, or 0.
func arrayType(oid uint32) uint32 {
	if t := pgcatalog.ByOID(oid); t != nil {
		return t.Array
	}
	return 0
}

func isNumeric(oid uint32) bool {
	t := pgcatalog.ByOID(oid)
	return t != nil && t.Category == 'N'
}

// Parameters returns the types of the parameters $n, from 1 to most: as the client declares them, or else by the
// statement's cast, by the other operand of a comparison or computation, or by
// position. The others are text, as they are in PostgreSQL.
func (d *Description) Parameters(most int, declared []uint32) []uint32 {
	d.parameters = map[int]uint32{}
	for i, oid := range declared {
		if oid != pgcatalog.OID("unknown") {
			d.parameters[i+1] = oid
		}
	}
	for i, t := range d.tokens {
		if t.Kind != sqltext.Position {
			continue
		}
		if n := parameter(t); d.parameters[n] == 0 {
			d.parameters[n] = d.typeOfPosition(i)
		}
	}
	list := make([]uint32, most)
	for i := range list {
		list[i] = cmp.Or(d.parameters[i+1], pgcatalog.OID("text"))
		if i >= len(declared) || declared[i] == 0 || declared[i] == pgcatalog.OID("unknown") {
			list[i] = Shown(list[i])
		}
		d.parameters[i+1] = list[i]
	}
	return list
}

// parameter returns the number of a parameter.
func parameter(t sqltext.Token) (n int) {
	for _, c := range t.Text[1:] {
		if n = n*10 + int(c-'0'); n > 1<<16 {
			break
		}
	}
	return n
}

// back returns the index of the last token before i that is neither blank nor comment, or -1.
func (r *rewriter) back(i int) int {
	for i--; i >= 0 && r.tokens[i].IsBlank(); i-- {
	}
	return i
}

// compares reports whether a token is a comparison.
func compares(t sqltext.Token) bool {
	return t.IsSymbol("=", "==", "<>", "!=", "<", ">", "<=", ">=") || t.Is("like", "ilike", "glob", "is")
}

// computes reports whether a token is an arithmetic operator.
func computes(t sqltext.Token) bool { return t.IsSymbol("+", "-", "*", "/", "%") }

// typeOfPosition returns the type of the parameter at token i, or 0.
func (d *Description) typeOfPosition(i int) uint32 {
	hi := len(d.tokens)
	after, before := d.skip(i+1, hi), d.back(i)
	next, previous := d.at(after, hi), sqltext.Token{}
	if before >= 0 {
		previous = d.tokens[before]
	}
	switch {
	case next.IsSymbol("::"):
		ty, _ := d.typeName(after+1, hi)
		return outputType(ty)
	case next.Is("as") && previous.IsSymbol("("):
		if k := d.back(before); k >= 0 && d.tokens[k].Is("cast") {
			ty, _ := d.typeName(after+1, d.match[before])
			return outputType(ty)
		}
	case previous.Is("limit", "offset"):
		return pgcatalog.OID("int8")
	case compares(previous), computes(previous):
		return d.beside(d.left(before), computes(previous))
	case compares(next), computes(next):
		return d.beside(d.right(after), computes(next))
	case previous.Is("between"):
		return d.left(before)
	case previous.Is("and"):
		for k, left := before, 100; k >= 0 && left > 0; k, left = d.back(k), left-1 {
			switch {
			case d.tokens[k].Is("between"):
				return d.left(k)
			case d.tokens[k].Is("where", "on", "select", "or"):
				return 0
			}
		}
	case previous.IsSymbol("(", ","):
		return d.passed(i)
	}
	return 0
}

// beside returns the type of the operand beside one of a type.
func (d *Description) beside(oid uint32, computed bool) uint32 {
	if oid == 0 && computed {
		return pgcatalog.OID("float8")
	}
	return oid
}

// left returns the type of the operand that ends before token i, or 0.
func (d *Description) left(i int) uint32 {
	end := d.back(i) + 1
	if end > 0 && d.tokens[end-1].Is("not") {
		end = d.back(end-1) + 1
	}
	from := end
	if k := end - 1; k >= 0 && d.tokens[k].IsSymbol(")") {
		if from = d.opening[k]; from < 0 {
			return 0
		}
		if k = d.back(from); k < 0 || d.tokens[k].Name() == "" || d.tokens[k].Kind == sqltext.Word && notOperands[d.tokens[k].Name()] {
			return d.typeOfSpan(from, end)
		}
		from = k + 1
	}
	if end > 0 && d.tokens[end-1].Kind == sqltext.Number {
		return d.typeOfSpan(end-1, end)
	}
	for k := from - 1; k >= 0 && d.tokens[k].Name() != ""; {
		from = k
		if k = d.back(k); k < 0 || !d.tokens[k].IsSymbol(".") {
			break
		}
		k = d.back(k)
	}
	return d.typeOfSpan(from, end)
}

// right returns the type of the operand that begins behind token i, or 0.
func (d *Description) right(i int) uint32 {
	hi := len(d.tokens)
	from := d.skip(i+1, hi)
	_, end := d.chain(from, hi)
	if d.at(from, hi).Kind == sqltext.Number {
		end = from + 1
	}
	if k := d.skip(end, hi); d.at(k, hi).IsSymbol("(") {
		end = d.after(k)
	}
	return d.typeOfSpan(from, end)
}

// typeOfSpan returns the type of the expression from token lo to hi.
func (r *rewriter) typeOfSpan(lo, hi int) uint32 {
	return r.typeOf(r.items(lo, hi), hi)
}

// passed returns the type of the parameter at token i as an argument, or in the list of IN.
func (d *Description) passed(i int) uint32 {
	number, open := d.places[i].commas, d.places[i].open
	if open < 0 {
		return 0
	}
	k := d.back(open)
	if k < 0 {
		return 0
	}
	if d.tokens[k].Is("in") {
		oid, known := d.compared[open]
		if !known {
			oid = d.left(k)
			d.compared[open] = oid
		}
		return oid
	}
	if d.tokens[k].Is("any", "some", "all") {
		if operator := d.back(k); operator >= 0 && compares(d.tokens[operator]) {
			return arrayType(d.left(operator))
		}
		return 0
	}
	if slices.Contains(d.private[d.tokens[k].Name()].Numbers, number) {
		return pgcatalog.OID("float8")
	}
	return 0
}
