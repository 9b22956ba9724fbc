package dialect

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/geosql/geosql/internal/sqltext"
	"github.com/geosql/geosql/serve/internal/pgcatalog"
)

// A Result is a column of an answer, as far as its statement tells.
type Result struct {
	Name   string // as PostgreSQL would call it
	Type   uint32 // OID of the type, or 0 if the statement does not tell, as for a column of a table
	Column string // the name of the column that it is, empty for an expression
}

// A Description tells the types of a query that is not yet rewritten, which SQLite does not: it knows
// those of columns of tables only.
type Description struct {
	*rewriter
	statement  sqltext.Statement
	column     func(name string) uint32
	aliases    map[string]uint32 // of subqueries; nil before they are needed
	inner      map[string]bool   // whether an alias is one of a subquery
	parameters map[int]uint32    // see Parameters
	opening    []int             // the index of the parenthesis or bracket that a closing one closes
	places     []place           // of the tokens
	compared   map[int]uint32    // types of the left sides of IN lists, by where the lists open
}

// A place says in which parentheses a token stands, -1 for none, and behind how many commas.
type place struct{ open, commas int }

// A Function is a private function.
type Function struct {
	Returns string // the type of its answer: INTEGER, REAL, TEXT or BLOB
	Numbers []int  // places, from 0, of arguments that are numbers
}

// Describe describes a query that [Rewrite] takes. column returns the type of the columns of tables with a name, 0 if there
// are none or if they differ. functions are the private
// functions.
func Describe(s sqltext.Statement, column func(name string) uint32, functions map[string]Function) *Description {
	d := &Description{rewriter: newRewriter(s.SQL, s.Tokens), statement: s, column: column, compared: map[int]uint32{}}
	d.place()
	d.typeOfColumn, d.private = d.Column, functions
	d.typeOfLiteral = d.typeOfPosition
	d.typeOfParameter = func(n int) uint32 { return d.parameters[n] }
	return d
}

// place finds where tokens stand.
func (d *Description) place() {
	d.opening, d.places = make([]int, len(d.tokens)), make([]place, len(d.tokens))
	at := place{open: -1}
	var outer []place
	for i, t := range d.tokens {
		d.opening[i] = -1
		switch last := len(outer) - 1; {
		case at.open >= 0 && d.match[at.open] == i:
			d.opening[i] = at.open
			at, outer = outer[last], outer[:last]
		case t.IsSymbol(","):
			at.commas++
		}
		d.places[i] = at
		if d.match[i] >= 0 {
			at, outer = place{open: i}, append(outer, at)
		}
	}
}

// Column returns the type of the columns with a name, in subqueries and tables, or 0.
func (d *Description) Column(name string) uint32 {
	name = strings.ToLower(name)
	if d.aliases == nil {
		d.aliases, d.inner = map[string]uint32{}, map[string]bool{}
		d.findAliases()
	}
	if oid := d.aliases[name]; oid != 0 || d.column == nil {
		return oid
	}
	return d.column(name)
}

// findAliases describes the columns of all SELECTs, the inner ones first.
func (d *Description) findAliases() {
	type list struct{ from, hi, depth int }
	var lists []list
	ends := []int{len(d.tokens)}
	for i, t := range d.tokens {
		for len(ends) > 1 && i >= ends[len(ends)-1] {
			ends = ends[:len(ends)-1]
		}
		switch {
		case t.Is("select"):
			lists = append(lists, list{i + 1, ends[len(ends)-1], len(ends)})
		case d.match[i] >= 0:
			ends = append(ends, d.match[i])
		}
	}
	slices.SortStableFunc(lists, func(a, b list) int { return b.depth - a.depth })
	for _, l := range lists {
		for _, r := range d.results(l.from, l.hi) {
			if name := strings.ToLower(r.Name); r.Type != 0 && d.aliases[name] == 0 {
				d.aliases[name], d.inner[name] = r.Type, l.depth > 1
			}
		}
	}
}

// Results returns the columns of the answer. Without the types, a client gets 1 where it wants a
// boolean. It is nil if the query has no select list, or has a * in it, so that the number of
// columns is not known.
func (d *Description) Results() []Result {
	for i := 0; i < len(d.tokens); i = d.after(i) {
		switch t := d.tokens[i]; {
		case t.Is("select"):
			d.shows = true
			defer func() { d.shows = false }()
			return d.results(i+1, len(d.tokens))
		case t.Is("insert", "update", "delete", "values", "pragma", "create"):
			return nil
		}
	}
	return nil
}

// results describes the select list that begins at from, of a query that ends before hi.
func (r *rewriter) results(from, hi int) []Result {
	if k := r.skip(from, hi); r.at(k, hi).Is("distinct", "all") {
		from = k + 1
		if on, open := r.skip(from, hi), r.skip(r.skip(from, hi)+1, hi); r.at(on, hi).Is("on") && r.opens(open, hi) {
			from = r.after(open)
		}
	}
	var list []Result
	start, previous := from, sqltext.Token{}
	for i := from; ; i = r.after(i) {
		t := r.at(i, hi)
		end := i >= hi || t.IsSymbol(";") || t.Is("where", "group", "having", "window", "order", "limit", "union", "intersect", "except", "offset") && !previous.Is("within") ||
			t.Is("from") && (!previous.Is("distinct") || !r.compared(from, i))
		if end || t.IsSymbol(",") {
			item, ok := r.result(start, min(i, hi))
			if !ok {
				return nil
			}
			list = append(list, item)
			start = i + 1
		}
		if end {
			return list
		}
		if !t.IsBlank() {
			previous = t
		}
	}
}

// result describes the item of a select list from lo to hi.
func (r *rewriter) result(lo, hi int) (Result, bool) {
	items := r.items(lo, hi)
	n := len(items)
	if n == 0 {
		return Result{}, false
	}
	last := r.tokens[items[n-1]]
	if last.IsSymbol("*") && (n == 1 || r.tokens[items[n-2]].IsSymbol(".")) {
		return Result{}, false
	}
	alias := ""
	if n > 1 && last.Name() != "" {
		before := r.tokens[items[n-2]]
		switch {
		case before.Is("as"):
			alias, n = last.Name(), n-2
		case last.Kind == sqltext.Name && !before.IsSymbol(".", "::") ||
			last.Kind == sqltext.Word && !sqltext.IsReserved(last.Name()) && !last.Is("end", "true", "false") &&
				(before.Kind != sqltext.Symbol || before.IsSymbol(")", "]", "(")) && !(before.Kind == sqltext.Word && notOperands[before.Name()]):
			alias, n = last.Name(), n-1
			if last.Is("precision", "varying", "zone") {
				alias, n = "", n+1
			}
		}
	}
	if n == 0 {
		return Result{Name: alias}, true
	}
	end := items[n-1] + 1
	if r.match[items[n-1]] >= 0 {
		end = r.match[items[n-1]] + 1
	}
	name, oid := r.describe(items[:n], end)
	if cast, operator, _ := r.describeOperators(items[:n], end); r.shows && (cast > 0 && operator == "" ||
		r.tokens[items[0]].Is("cast", "date", "timestamp", "timestamptz", "time")) {
		oid = Shown(oid)
	}
	column := ""
	if chain, after := r.chain(items[0], end); oid == 0 && len(chain) > 0 && r.skip(after, end) == end {
		column = chain[len(chain)-1]
	}
	if alias != "" {
		name = alias
	}
	return Result{name, oid, column}, true
}

// noName is the name of an expression that has none.
const noName = "?column?"

// describe returns the name and type of the expression with the tokens, which ends before end.
func (r *rewriter) describe(items []int, end int) (string, uint32) {
	cast, name, oid := r.describeOperators(items, end)
	switch {
	case name != "":
		return name, oid
	case cast > 0:
		name, _ := r.describe(items[:cast], items[cast])
		ty, _ := r.typeName(items[cast]+1, end)
		if name == noName {
			name = ty.name
		}
		return name, outputType(ty)
	}
	first := r.tokens[items[0]]
	chain, after := r.chain(items[0], end)
	switch {
	case first.Is("interval") && isLiteral(r.at(r.skip(items[0]+1, end), end)):
		return "interval", pgcatalog.OID("interval")
	case slices.ContainsFunc(items[1:], func(k int) bool { return r.tokens[k].Is("at") && r.at(r.skip(k+1, end), end).Is("time") }):
		return "timezone", typeOfKind(r.temporal(items[0], end))
	case len(items) > 1 && first.Is("date", "timestamp", "timestamptz", "time") && isLiteral(r.tokens[items[1]]):
		return first.Name(), pgcatalog.OID(first.Name())
	case first.Is("case"):
		return "case", r.typeOfCase(items)
	case first.IsSymbol("("):
		return r.describeParenthesis(items, end)
	case first.Is("true", "false"):
		return "bool", pgcatalog.OID("bool")
	case first.Is("null"):
		return noName, pgcatalog.OID("text")
	case first.IsText() && first.Text[0]|0x20 != 'x':
		return noName, pgcatalog.OID("text")
	case first.Is("array"):
		return "array", arrayType(pgcatalog.OID("text"))
	case first.Kind == sqltext.Number:
		if _, err := strconv.ParseInt(first.Text, 10, 64); err == nil {
			return noName, pgcatalog.OID("int8")
		}
		return noName, pgcatalog.OID("float8")
	case first.Kind == sqltext.Position && len(items) == 1 && r.typeOfParameter != nil:
		return noName, r.typeOfParameter(parameter(first))
	case first.IsSymbol("-", "+", "~") && len(items) > 1:
		return noName, r.typeOf(items[1:], end)
	case len(chain) == 0:
		return noName, 0
	}
	return r.describeName(chain[len(chain)-1], r.skip(after, end), end)
}

// describeOperators returns the name and type of an expression with operators, or else the index of its last cast, which is
// -1 without one. A name of "" says that there is no operator.
func (r *rewriter) describeOperators(items []int, end int) (cast int, name string, oid uint32) {
	cast = -1
	depth, computed := 0, false // of CASE
	for k, i := range items {
		t := r.tokens[i]
		switch {
		case t.Is("case"):
			depth++
		case t.Is("end"):
			depth--
		case depth > 0:
		case t.IsSymbol("::"):
			cast = k
		case t.Is("exists"):
			return 0, "exists", pgcatalog.OID("bool")
		case t.Is("and", "or", "not", "is", "in", "like", "ilike", "between", "isnull", "notnull", "operator"),
			k > 0 && t.IsSymbol("=", "<>", "!=", "<", ">", "<=", ">=", "~", "~*", "!~", "!~*", "~~", "!~~", "~~*", "!~~*"):
			return 0, noName, pgcatalog.OID("bool")
		case k > 0 && t.Kind == sqltext.Symbol && !t.IsSymbol(".", "(", "[", ")", "]"):
			if t.Text == "||" || t.Text == "->>" {
				return 0, noName, pgcatalog.OID("text")
			}
			computed = true
		}
	}
	if computed {
		if kind := r.temporal(items[0], end); kind != noTime {
			return 0, noName, typeOfKind(kind)
		}
		return 0, noName, r.arithmetic(items, end)
	}
	return cast, "", 0
}

// typeOfCase returns the type of the first branch of CASE that is not NULL, or of the first that is not whole if that is a number.
func (r *rewriter) typeOfCase(items []int) (found uint32) {
	for k, i := range items {
		if k+1 == len(items) || !r.tokens[i].Is("then", "else") || r.tokens[items[k+1]].Is("null") {
			continue
		}
		if to := k + 1 + slices.IndexFunc(items[k+1:], func(j int) bool { return r.tokens[j].Is("when", "else", "end") }); to > k+1 {
			_, oid := r.describe(items[k+1:to], items[to])
			if found == 0 && oid == 0 || oid != 0 && !isNumeric(oid) {
				return cmp.Or(found, oid)
			}
			if found == 0 || !isWhole(oid) {
				found = oid
			}
		}
	}
	return found
}

// describeParenthesis describes a subquery or an expression in parentheses.
func (r *rewriter) describeParenthesis(items []int, end int) (string, uint32) {
	shut := r.match[items[0]]
	if shut < 0 {
		return noName, 0
	}
	inner := r.skip(items[0]+1, end)
	if r.at(inner, shut).Is("select") {
		if list := r.results(inner+1, shut); len(list) == 1 {
			return list[0].Name, list[0].Type
		}
		return noName, 0
	}
	if group := r.items(inner, shut); len(group) > 0 && len(items) == 1 {
		name, oid := r.describe(group, shut)
		if chain, after := r.chain(group[0], shut); oid == 0 && len(chain) > 0 && r.skip(after, shut) == shut && r.typeOfColumn != nil {
			oid = r.typeOfColumn(chain[len(chain)-1])
		}
		return name, oid
	}
	return noName, 0
}

// describeName describes a column, or the call of a function with its arguments at open.
func (r *rewriter) describeName(name string, open, end int) (string, uint32) {
	if !r.at(open, end).IsSymbol("(") || r.match[open] < 0 {
		if ty := timesOfNoParentheses[name]; ty != "" {
			return name, pgcatalog.OID(ty)
		}
		if functionsOfNoParentheses[name] {
			return name, pgcatalog.OID("name")
		}
		return name, 0
	}
	if name == "cast" {
		if as := r.find(open+1, r.match[open], "as"); as > 0 {
			ty, _ := r.typeName(as+1, r.match[open])
			inner := r.skip(open+1, as)
			name := ty.name
			if chain, e := r.chain(inner, as); len(chain) > 0 && r.skip(e, as) == as {
				name = chain[len(chain)-1]
			}
			return name, outputType(ty)
		}
	}
	if oid := pgcatalog.Returns(name); oid != 0 {
		return name, oid
	}
	return name, r.answers(name, open)
}

// timesOfNoParentheses are called without.
var timesOfNoParentheses = map[string]string{"current_date": "date", "current_timestamp": "timestamptz", "localtimestamp": "timestamp"}

// outputType returns the type in which a cast answers. SQLite has the values of some in another.
func outputType(ty pgType) uint32 {
	t := pgcatalog.Named(ty.name)
	switch {
	case ty.array && t != nil:
		return t.Array
	case t == nil || isNamed(ty.name): // a name or a number
		return pgcatalog.OID("text")
	}
	return t.OID
}
