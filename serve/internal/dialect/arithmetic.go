package dialect

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/geosql/geosql/internal/sqltext"
	"github.com/geosql/geosql/serve/internal/pgcatalog"
	"github.com/geosql/geosql/serve/internal/pgfunc"
)

// A link is an operand in a chain of arithmetic operators, with the operator before it, or -1.
type link struct {
	span
	operator int
	oid      uint32
}

// A value is an expression that has been rewritten.
type value struct {
	text    string
	oid     uint32
	literal bool // a text in quotes
}

// is reports whether a type has one of the names.
func is(oid uint32, names ...string) bool {
	return oid != 0 && slices.ContainsFunc(names, func(n string) bool { return pgcatalog.OID(n) == oid })
}

// isTime reports whether a type is one of dates and times.
func isTime(oid uint32) bool { return is(oid, "date", "timestamp", "timestamptz", "time") }

// Shown returns the type in which clients get values of a type: dates and times are texts.
func Shown(oid uint32) uint32 {
	if isTime(oid) {
		return pgcatalog.OID("text")
	}
	return oid
}

// operandEnd returns the index behind the operand of an operator that begins at i, or i if there is none. It is read with its AT TIME
// ZONE if zoned is set.
func (r *rewriter) operandEnd(i, hi int, zoned bool) int {
	k := i
	for r.at(k, hi).IsSymbol("-", "+", "~") {
		k = r.skip(k+1, hi)
	}
	end := r.primaryEnd(k, hi)
	if end == k {
		return i
	}
	for {
		n := r.skip(end, hi)
		switch t := r.at(n, hi); {
		case t.IsSymbol("::"):
			ty, after := r.typeName(n+1, hi)
			if ty.name == "" {
				return i
			}
			end = after
		case t.IsSymbol("[") && r.match[n] >= 0:
			end = r.after(n)
		case zoned && t.Is("at") && r.at(r.skip(n+1, hi), hi).Is("time"):
			end = r.operandEnd(r.skip(r.skip(r.skip(n+1, hi)+1, hi)+1, hi), hi, false)
		default:
			return end
		}
	}
}

// primaryEnd returns the index behind the literal, column, call, CASE or parenthesis that begins at k, or k if there is none.
func (r *rewriter) primaryEnd(k, hi int) int {
	t, next := r.at(k, hi), r.skip(k+1, hi)
	switch {
	case t.Kind == sqltext.Number, t.Kind == sqltext.Dollar, t.Kind == sqltext.Position, t.Kind == sqltext.Variable, isLiteral(t):
		return k + 1
	case t.Kind == sqltext.Symbol && r.opens(k, hi):
		return r.after(k)
	case t.Kind != sqltext.Name && t.Kind != sqltext.Word, t.Is("array"):
		return k
	case t.Is("case"):
		return r.caseEnd(k, hi)
	case isLiteral(r.at(next, hi)) && (temporals[t.Name()] != noTime || t.Is("time")):
		if unit := r.skip(next+1, hi); t.Is("interval") && units[r.at(unit, hi).Name()] {
			return unit + 1
		}
		return next + 1
	case t.Kind == sqltext.Word && notOperands[t.Name()] && !(t.Is("left", "right") && r.opens(next, hi)):
		return k
	}
	chain, end := r.chain(k, hi)
	if len(chain) == 0 || chain[len(chain)-1] == "*" {
		return k
	}
	for n := r.skip(end, hi); r.opens(n, hi); {
		end = r.after(n)
		if n = r.skip(end, hi); r.at(n, hi).Is("filter", "over") {
			n = r.skip(n+1, hi)
		}
	}
	return end
}

// caseEnd returns the index behind the END of the CASE at k, or k if it has none.
func (r *rewriter) caseEnd(k, hi int) int {
	end := k + 1
	for depth := 1; depth > 0; end = r.after(end) {
		if end >= hi {
			return k
		}
		if r.tokens[end].Is("case") {
			depth++
		} else if r.tokens[end].Is("end") {
			depth--
		}
	}
	return end
}

// links returns the chain of operands at i.
func (r *rewriter) links(i, hi int) (list []link) {
	operator := -1
	for {
		end := r.operandEnd(i, hi, true)
		if end == i {
			return nil
		}
		list = append(list, link{span: span{i, end}, operator: operator})
		if operator = r.skip(end, hi); !computes(r.at(operator, hi)) {
			return list
		}
		i = r.skip(operator+1, hi)
	}
}

// compute rewrites the chain of arithmetic operators at i, if SQLite would compute something else: dates are texts to it, numerics
// may be integers, and || binds its operands more than others. It returns i for other chains.
func (r *rewriter) compute(e *emitter, i, hi int, previous sqltext.Token) int {
	list := r.links(i, hi)
	if len(list) == 1 && r.tokens[i].IsSymbol("-", "+", "~") && isTime(r.typeOfSpan(i, list[0].hi)) {
		r.fail(i, pgfunc.CodeNoFunction, "operator does not exist: %s date or time", r.tokens[i].Text)
	}
	if len(list) > 0 && e.operand < 0 {
		e.sum = begin{len(e.out), i}
	}
	if len(list) < 2 {
		return i
	}
	e.until = list[len(list)-1].hi
	special, divides := false, false
	for k := range list {
		l := &list[k]
		l.oid = cmp.Or(typeOfKind(r.temporal(l.lo, l.hi)), r.typeOfSpan(l.lo, l.hi))
		special = special || isTime(l.oid) || is(l.oid, "interval") || r.isTextColumn(l.span)
		divides = divides || k > 0 && r.tokens[l.operator].IsSymbol("/", "%")
	}
	decimal := divides && slices.ContainsFunc(list, func(l link) bool { return is(l.oid, "numeric", "float8", "float4") })
	joined := previous.IsSymbol("||") || r.at(r.skip(e.until, hi), hi).IsSymbol("||")
	if !special && !decimal && !joined {
		return i
	}
	if len(list) > maxCasts {
		r.fail(i, pgfunc.CodeLimitExceeded, "more than %d numbers or dates are computed with at once", maxCasts)
		return e.until
	}
	var total, term value
	sign := -1
	for _, l := range list {
		v := value{r.emit(l.lo, l.hi, false), l.oid, isLiteral(r.tokens[l.lo]) && l.hi == l.lo+1}
		if decimal && is(l.oid, "numeric") {
			v.text = "CAST(" + v.text + " AS REAL)"
		}
		switch {
		case l.operator < 0:
			term = v
		case r.tokens[l.operator].IsSymbol("*", "/", "%"):
			term = r.applied(l.operator, term, v)
		default:
			if sign >= 0 {
				term = r.applied(sign, total, term)
			}
			total, term, sign = term, v, l.operator
		}
	}
	if sign >= 0 {
		term = r.applied(sign, total, term)
	}
	if joined {
		term.text = "(" + term.text + ")"
	}
	e.push(term.text)
	return e.until
}

// isTextColumn reports whether an operand is a column of texts.
func (r *rewriter) isTextColumn(s span) bool {
	chain, end := r.chain(s.lo, s.hi)
	return end == s.hi && len(chain) > 0 && r.typeOfColumn != nil && is(r.typeOfColumn(chain[len(chain)-1]), "text")
}

// applied returns the value of an operator.
func (r *rewriter) applied(operator int, a, b value) value {
	t := r.tokens[operator]
	if v, ok := appliedToTimes(t, a, b); ok {
		return v
	}
	if isTime(a.oid) || isTime(b.oid) || is(a.oid, "text") && !a.literal || is(b.oid, "text") && !b.literal {
		r.fail(operator, pgfunc.CodeNoFunction, "operator does not exist: %s %s %s", typeShown(a.oid), t.Text, typeShown(b.oid))
		if r.err.Hint == "" {
			r.err.Hint = "Days are added to a date, x::date + 1, and seconds are those of unixepoch(x). A text becomes a number by CAST(x AS REAL)."
		}
	}
	v := value{text: a.text + " " + t.Text + " " + b.text, oid: a.oid}
	if !isWhole(b.oid) {
		v.oid = b.oid
	}
	if t.Text == "%" && (is(a.oid, "numeric", "float8") || is(b.oid, "numeric", "float8")) {
		v.text = "mod(" + a.text + ", " + b.text + ")"
	}
	return v
}

// appliedToTimes returns the value of an operator of which an operand is a date, a time or an interval, and whether PostgreSQL has it.
func appliedToTimes(t sqltext.Token, a, b value) (value, bool) {
	x, y := kindOfType(a.oid), kindOfType(b.oid)
	call := func(function string, a, b value, oid uint32) (value, bool) {
		return value{text: function + "(" + a.text + ", " + b.text + ")", oid: oid}, true
	}
	if timed[t.Text] != "" && (x == anInterval || y == anInterval) {
		if !t.IsSymbol("+", "-") {
			return call(timed[t.Text], a, b, pgcatalog.OID("interval"))
		}
		return call(timed[t.Text], a, b, typeOfKind(joined(t.Text, x, y)))
	}
	isCount := func(v value) bool { return !v.literal && (v.oid == 0 || isWhole(v.oid)) }
	switch {
	case t.Text == "+" && is(a.oid, "date") && isCount(b):
		return call("pg_plus", a, b, a.oid)
	case t.Text == "+" && is(b.oid, "date") && isCount(a):
		return call("pg_plus", b, a, b.oid)
	case t.Text != "-":
		return value{}, false
	case x > aDate && y > noTime, x > noTime && y > aDate:
		return call(timed["-"], a, b, typeOfKind(joined("-", x, y)))
	case is(a.oid, "date") && (is(b.oid, "date") || b.literal), is(b.oid, "date") && a.literal:
		return call("pg_minus", a, b, pgcatalog.OID("int8"))
	case (a.oid == 0 || is(a.oid, "text")) && y != noTime, (b.oid == 0 || is(b.oid, "text")) && x > aDate:
		return call("pg_subtract", a, b, typeOfKind(joined("-", x, y)))
	case is(a.oid, "date") && isCount(b):
		return call("pg_minus", a, b, a.oid)
	}
	return value{}, false
}

// typeShown returns the name of a type in a message.
func typeShown(oid uint32) string {
	if name := pgcatalog.TypeName(oid); name != "" {
		return name
	}
	return "unknown"
}

// isDecimal reports whether PostgreSQL computes the tokens with decimals. It rounds their halves away from zero; those of floats it
// rounds to the next even number.
func (r *rewriter) isDecimal(lo, hi int) (decimal bool) {
	for i := lo; i < hi; i++ {
		t := r.tokens[i]
		switch {
		case t.Kind == sqltext.Number:
			decimal = decimal || strings.Contains(t.Text, ".")
		case t.Is("avg", "numeric", "decimal", "round"):
			decimal = true
		case t.Kind == sqltext.Word || t.Kind == sqltext.Name:
			oid := uint32(0)
			if r.typeOfColumn != nil {
				oid = r.typeOfColumn(t.Name())
			}
			if !isWhole(oid) && !is(oid, "numeric") && !t.Is("sum", "count", "min", "max", "coalesce") {
				return false
			}
			decimal = decimal || is(oid, "numeric")
		}
	}
	return decimal
}

// truths are the texts that PostgreSQL takes for booleans when they are compared with one.
var truths = map[string]string{"t": "1", "true": "1", "f": "0", "false": "0"}

// typed returns the text at token i as a value of the type of the expression that it is compared with, if that is a number, boolean or
// date: to SQLite a text is none.
func (r *rewriter) typed(i int) string {
	if r.typeOfLiteral == nil {
		return ""
	}
	next, before := r.at(r.skip(i+1, len(r.tokens)), len(r.tokens)), r.back(i)
	if before < 0 || next.IsSymbol("::") || next.Is("as") {
		return ""
	}
	previous := r.tokens[before]
	if previous.Is("like", "ilike", "glob", "limit", "offset") ||
		!compares(previous) && !computes(previous) && !compares(next) && !computes(next) && !previous.Is("between", "and") {
		return ""
	}
	oid, s := r.typeOfLiteral(i), strings.TrimSpace(r.tokens[i].Literal())
	var v any
	var err error
	switch {
	case is(oid, "bool"):
		return truths[strings.ToLower(s)]
	case is(oid, "date"):
		v, err = pgfunc.Date(s)
	case isWhole(oid), is(oid, "numeric", "float8"):
		v, err = pgfunc.Number(s)
	default:
		return ""
	}
	if err != nil {
		if k := r.back(r.back(before)); k < 0 || !computes(r.tokens[k]) { // else it is the type of the last operand
			r.fail(i, cmp.Or(pgfunc.State(err), pgfunc.CodeBadText), "%s", err)
		}
		return ""
	}
	if day, is := v.(string); is {
		return sqltext.Quote(day)
	}
	return pgfunc.Text(v)
}

// ordering rewrites the ORDER BY at i so that NULL is greater than everything else. It returns the index
// behind it.
func (r *rewriter) ordering(e *emitter, i, hi int) int {
	by := r.skip(i+1, hi)
	e.put(r.sql[r.tokens[i].At:r.tokens[by].At] + r.tokens[by].Text)
	for at := by + 1; ; {
		end, nulls := at, " NULLS LAST"
		for ; end < hi; end = r.after(end) {
			t := r.tokens[end]
			if t.IsSymbol(",", ";") || t.Is("limit", "rows", "range", "groups", "for") || t.Is("offset", "fetch") && r.limits(end, hi) {
				break
			}
			switch {
			case t.Is("desc") && nulls != "":
				nulls = " NULLS FIRST"
			case t.Is("nulls"):
				nulls = ""
			}
		}
		if r.times {
			e.put(" ")
			if k := r.ordered(e, r.skip(at, end), end); k > 0 {
				at = k
			}
		}
		last := r.back(end) + 1
		e.put(r.emit(at, max(at, last), false) + nulls)
		for k := last; k < end; k++ {
			e.put(r.tokens[k].Text)
		}
		if !r.at(end, hi).IsSymbol(",") {
			e.operand = -1
			return end
		}
		e.put(",")
		at = end + 1
	}
}

// certain returns the type of the columns with a name in subqueries, or else in tables, or 0.
func (d *Description) certain(name string) uint32 {
	if oid := d.Column(name); d.inner[strings.ToLower(name)] {
		return oid
	}
	if d.column == nil {
		return 0
	}
	return d.column(strings.ToLower(name))
}

// aggregates are SQLite's aggregates, and those of PostgreSQL. Private functions are too.
var aggregates = set(`count sum avg min max total group_concat string_agg array_agg bool_and bool_or every json_group_array json_group_object
	json_agg jsonb_agg json_object_agg jsonb_object_agg median percentile percentile_cont percentile_disc stddev stddev_samp stddev_pop variance
	var_samp var_pop`)

// findBare notes a column of the select list from lo to hi that is neither aggregated nor in GROUP BY, which is among the clauses from
// tail to end.
func (r *rewriter) findBare(lo, hi, tail, end int) {
	grouped := map[string]bool{}
	by := r.find(tail, end, "group")
	for k := by; k >= 0 && k < end && !r.tokens[k].Is("having", "window", "order", "limit"); k++ {
		grouped[cmp.Or(r.tokens[k].Name(), r.tokens[k].Text)] = true
	}
	bare, found := "", false
	for n, item := range r.list(lo, hi) {
		named, _ := r.result(item.lo, item.hi)
		alone := !grouped[strconv.Itoa(n+1)] && !grouped[named.Name]
		for i := item.lo; i < item.hi; i++ {
			next := r.skip(i+1, hi)
			switch name := r.tokens[i].Name(); {
			case r.opens(next, hi) && (aggregates[name] || r.private[name].Returns != ""):
				after := r.at(r.skip(r.after(next), hi), hi)
				found, i = found || !after.Is("over"), r.after(next)-1
			case r.match[i] >= 0 && r.at(next, hi).Is("select"), name == "over" && r.opens(next, hi):
				i = r.after(max(i, next)) - 1
			case bare != "" || !alone || name == "" || grouped[name] || r.typeOfColumn == nil || r.tokens[max(0, r.back(i))].Is("as"):
			case r.typeOfColumn(name) != 0:
				bare = name
			}
		}
	}
	if bare != "" && (found || by >= 0) {
		r.bare = cmp.Or(r.bare, bare)
	}
}

// Differences says in which ways the statement means something else here than to PostgreSQL, after Rewrite.
func (d *Description) Differences() (list []string) {
	if d.likes && !d.catalogue {
		list = append(list, "LIKE is SQLite's here: a and A are the same to it. ~ minds the case.")
	}
	if d.bare != "" && !d.catalogue {
		list = append(list, "a column that is neither grouped nor aggregated, such as "+d.bare+", is that of any row of its group")
	}
	return list
}
