package pgcatalog

import (
	"slices"
	"strconv"
	"strings"
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
	column     func(name string) uint32
	aliases    map[string]uint32 // of subqueries; nil before they are needed
	parameters map[int]uint32    // see Parameters
	opening    []int             // the index of the parenthesis or bracket that a closing one closes
	places     []place           // of the tokens
	compared   map[int]uint32    // types of what is compared with lists, by where these open
}

// A place says in which parentheses a token stands, -1 for none, and behind how many commas.
type place struct{ open, commas int }

// Describe describes a query. column returns the type of the columns of tables with a name, 0 if there
// are none or if they differ.
func Describe(sql string, column func(name string) uint32) *Description {
	d := &Description{rewriter: &rewriter{sql: sql, tokens: tokens(sql)}, column: column, compared: map[int]uint32{}}
	d.pair()
	d.place()
	d.typeOfColumn = d.Column
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
		case t.isSymbol(","):
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
		d.aliases = map[string]uint32{}
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
		case t.is("select"):
			lists = append(lists, list{i + 1, ends[len(ends)-1], len(ends)})
		case d.match[i] >= 0:
			ends = append(ends, d.match[i])
		}
	}
	slices.SortStableFunc(lists, func(a, b list) int { return b.depth - a.depth })
	for _, l := range lists {
		for _, r := range d.results(l.from, l.hi) {
			if name := strings.ToLower(r.Name); r.Type != 0 && d.aliases[name] == 0 {
				d.aliases[name] = r.Type
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
		case t.is("select"):
			return d.results(i+1, len(d.tokens))
		case t.is("insert", "update", "delete", "values", "pragma", "create"):
			return nil
		}
	}
	return nil
}

// results describes the select list that begins at from, of a query that ends before hi.
func (r *rewriter) results(from, hi int) []Result {
	if k := r.skip(from, hi); r.at(k, hi).is("distinct", "all") {
		from = k + 1
	}
	var list []Result
	start, previous := from, token{}
	for i := from; ; i = r.after(i) {
		t := r.at(i, hi)
		end := i >= hi || t.isSymbol(";") || t.is("where", "group", "having", "window", "order", "limit", "union", "intersect", "except", "offset") ||
			t.is("from") && (!previous.is("distinct") || !r.compared(from, i))
		if end || t.isSymbol(",") {
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
		if t.kind > nested {
			previous = t
		}
	}
}

// result describes the item of a select list from lo to hi.
func (r *rewriter) result(lo, hi int) (Result, bool) {
	var items []int // the tokens outside of parentheses
	for i := r.skip(lo, hi); i < hi; i = r.skip(r.after(i), hi) {
		items = append(items, i)
	}
	n := len(items)
	if n == 0 {
		return Result{}, false
	}
	last := r.tokens[items[n-1]]
	if last.isSymbol("*") && (n == 1 || r.tokens[items[n-2]].isSymbol(".")) {
		return Result{}, false
	}
	alias := ""
	if n > 1 && last.name() != "" {
		before := r.tokens[items[n-2]]
		switch {
		case before.is("as"):
			alias, n = last.name(), n-2
		case last.kind == quoted && !before.isSymbol(".", "::") ||
			last.kind == word && !reserved[last.name()] && !last.is("end", "true", "false") &&
				(before.kind != symbol || before.isSymbol(")", "]", "(")) && !(before.kind == word && notOperands[before.name()]):
			alias, n = last.name(), n-1
			if last.is("precision", "varying", "zone") {
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
	column := ""
	if chain, after := r.chain(items[0], end); oid == 0 && len(chain) > 0 && r.skip(after, end) == end {
		column = chain[len(chain)-1]
	}
	if alias != "" {
		name = alias
	}
	return Result{name, oid, column}, true
}

// describe returns the name and type of the expression with the tokens, which ends before end.
func (r *rewriter) describe(items []int, end int) (string, uint32) {
	const none = "?column?"
	first := r.tokens[items[0]]
	depth := 0 // of CASE
	cast := -1
	for k, i := range items {
		t := r.tokens[i]
		switch {
		case t.is("case"):
			depth++
		case t.is("end"):
			depth--
		case depth > 0:
		case t.isSymbol("::"):
			cast = k
		case t.is("and", "or", "not", "is", "in", "like", "ilike", "between", "exists", "isnull", "notnull", "operator"),
			k > 0 && t.isSymbol("=", "<>", "!=", "<", ">", "<=", ">=", "~", "~*", "!~", "!~*", "~~", "!~~", "~~*", "!~~*"):
			if t.is("exists") {
				return "exists", typeByName["bool"].OID
			}
			return none, typeByName["bool"].OID
		case k > 0 && t.kind == symbol && !t.isSymbol(".", "(", "[", ")", "]"):
			if t.text == "||" || t.text == "->>" {
				return none, typeByName["text"].OID
			}
			return none, r.arithmetic(items, end)
		}
	}
	if cast > 0 {
		name, _ := r.describe(items[:cast], items[cast])
		ty, _ := r.typeName(items[cast]+1, end)
		if name == none {
			name = ty.name
		}
		return name, outputType(ty)
	}
	chain, after := r.chain(items[0], end)
	switch {
	case first.is("case"):
		for k, i := range items {
			if k+1 == len(items) || !r.tokens[i].is("then", "else") || r.tokens[items[k+1]].is("null") {
				continue
			}
			if to := k + 1 + slices.IndexFunc(items[k+1:], func(j int) bool { return r.tokens[j].is("when", "else", "end") }); to > k+1 {
				_, oid := r.describe(items[k+1:to], items[to])
				return "case", oid
			}
		}
		return "case", 0
	case first.isSymbol("("):
		inner := r.skip(items[0]+1, end)
		if r.match[items[0]] < 0 {
			return none, 0
		}
		shut := r.match[items[0]]
		if r.at(inner, shut).is("select") {
			if list := r.results(inner+1, shut); len(list) == 1 {
				return list[0].Name, list[0].Type
			}
			return none, 0
		}
		var group []int
		for i := inner; i < shut; i = r.skip(r.after(i), shut) {
			group = append(group, i)
		}
		if len(group) > 0 && len(items) == 1 {
			return r.describe(group, shut)
		}
		return none, 0
	case first.is("true", "false"):
		return "bool", typeByName["bool"].OID
	case first.is("null"):
		return none, typeByName["text"].OID
	case first.kind == text && !strings.HasPrefix(strings.ToLower(first.text), "x"), first.kind == escaped, first.kind == dollar:
		return none, typeByName["text"].OID
	case first.is("array"):
		return "array", typeByName["text"].Array
	case first.kind == number:
		if _, err := strconv.ParseInt(first.text, 10, 64); err == nil {
			return none, typeByName["int8"].OID
		}
		return none, typeByName["float8"].OID
	case first.kind == position && len(items) == 1 && r.typeOfParameter != nil:
		return none, r.typeOfParameter(first.parameter())
	case first.isSymbol("-", "+", "~") && len(items) > 1:
		return none, r.typeOf(items[1:], end)
	case len(chain) == 0:
		return none, 0
	}
	name := chain[len(chain)-1]
	open := r.skip(after, end)
	if !r.at(open, end).isSymbol("(") || r.match[open] < 0 {
		if functionsOfNoParentheses[name] {
			return name, typeByName["name"].OID
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
	if oid := returned()[name]; oid != 0 {
		return name, oid
	}
	return name, r.answers(name, open)
}

// outputType returns the type in which a cast answers. SQLite has the values of some in another.
func outputType(ty pgType) uint32 {
	t := typeByName[ty.name]
	switch {
	case ty.array && t != nil:
		return t.Array
	case t == nil || named[ty.name]: // a name or a number
		return typeByName["text"].OID
	case strings.HasPrefix(t.Name, "time") || t.Name == "date":
		return typeByName["text"].OID
	}
	return t.OID
}
