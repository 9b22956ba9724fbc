package pgcatalog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// Rewrite returns a statement in SQLite's way. Texts, comments and names in quotes stay, and so
// does a statement without anything of PostgreSQL. It does not check the statement: that is for
// SQLite.
//
// Parameters $n become ?n. The schema public becomes main. Set-returning functions become
// table-valued ones, arrays are texts such as {1,2}, and other types become SQLite's.
func Rewrite(sql string) (string, error) {
	if err := CheckLength(sql); err != nil {
		return "", err
	}
	r := &rewriter{sql: sql, tokens: tokens(sql)}
	r.pair()
	out := r.span(0, len(r.tokens))
	if r.err != nil {
		return "", r.err
	}
	return out, nil
}

// CheckLength returns an error for a statement that is longer than any that is served.
func CheckLength(sql string) error {
	if len(sql) > maxLength {
		return &Error{Code: codeLimitExceeded, Message: fmt.Sprintf("the statement is longer than %d bytes", maxLength)}
	}
	return nil
}

// maxDepth is how deep parentheses may be nested. SQLite's own bound is 100 in a server's session.
const maxDepth = 500

// maxLength bounds a statement, and maxCasts the casts and subscripts one after the other.
const (
	maxLength = 1_000_000
	maxCasts  = 100
)

type rewriter struct {
	sql    string
	tokens []token
	match  []int // the index of the parenthesis or bracket that closes an opening one, or -1
	names  []map[string]string
	hoists *hoists // of the select list that is being written, nil elsewhere
	count  int
	depth  int
	err    *Error

	typeOfColumn    func(name string) uint32 // see Description; nil if types do not matter
	typeOfParameter func(n int) uint32

	// catalogue says that the statement asks a schema of PostgreSQL. There user is the role; elsewhere
	// it may be a column, which SQLite allows.
	catalogue bool
}

// Hoists are the set-returning functions that move from a select list to FROM.
type hoists struct {
	calls []string
	alias map[string]string // of each call
}

// pair finds which parentheses and brackets belong together.
func (r *rewriter) pair() {
	r.match = make([]int, len(r.tokens))
	var open []int
	for i, t := range r.tokens {
		r.match[i] = -1
		r.catalogue = r.catalogue || t.is("pg_catalog", "information_schema")
		if t.kind != symbol {
			continue
		}
		switch t.text {
		case "(", "[":
			open = append(open, i)
		case ")", "]":
			if n := len(open); n > 0 && (r.tokens[open[n-1]].text == "(") == (t.text == ")") {
				r.match[open[n-1]] = i
				open = open[:n-1]
			}
		}
	}
}

// fail notes the first error, at a token.
func (r *rewriter) fail(i int, code, format string, args ...any) {
	if r.err == nil {
		at := utf8.RuneCountInString(r.sql[:r.tokens[i].at]) + 1
		r.err = &Error{Code: code, Message: fmt.Sprintf(format, args...), Position: at}
	}
}

// unsupported notes that SQLite has no such thing.
func (r *rewriter) unsupported(i int, what, instead string) {
	r.fail(i, codeNotSupported, "the dialect is SQLite's: it has no %s", what)
	if r.err != nil && r.err.Hint == "" {
		r.err.Hint = instead
	}
}

// skip returns the index of the first token from i on, below hi, that is neither blank nor comment.
func (r *rewriter) skip(i, hi int) int {
	for i < hi && r.tokens[i].kind <= nested {
		i++
	}
	return i
}

// at returns token i, or an empty one at hi.
func (r *rewriter) at(i, hi int) token {
	if i < hi {
		return r.tokens[i]
	}
	return token{}
}

func (t token) isSymbol(s ...string) bool { return t.kind == symbol && slices.Contains(s, t.text) }

// after returns the index behind the group that opens at i.
func (r *rewriter) after(i int) int {
	if r.match[i] >= 0 {
		return r.match[i] + 1
	}
	return i + 1
}

// span rewrites the tokens from lo to hi: the SELECTs of a compound one by one.
func (r *rewriter) span(lo, hi int) string {
	if r.depth++; r.depth > maxDepth {
		r.fail(lo, codeLimitExceeded, "the statement is nested too deeply")
	}
	defer func() { r.depth-- }()
	if r.err != nil {
		return ""
	}
	var out strings.Builder
	from := lo
	for i := lo; i < hi; {
		t := r.tokens[i]
		if t.is("union", "intersect", "except") || t.isSymbol(";") {
			out.WriteString(r.part(from, i))
			out.WriteString(t.text)
			from = i + 1
		}
		i = r.after(i)
	}
	out.WriteString(r.part(from, hi))
	return out.String()
}

// part rewrites a SELECT, or what is none.
func (r *rewriter) part(lo, hi int) string {
	list, from, tail := -1, hi, hi // SELECT, FROM, and what follows the tables
	for i, previous := lo, (token{}); i < hi; i = r.after(i) {
		t := r.tokens[i]
		if t.kind <= nested {
			continue
		}
		switch {
		case t.is("select") && list < 0:
			list = i
		case list >= 0 && from == hi && tail == hi && t.is("from") && !previous.is("distinct"):
			from = i
		case list >= 0 && from == hi && t.is("from") && previous.is("distinct") && !r.compared(lo, i):
			from = i
		case list >= 0 && tail == hi && t.is("where", "group", "having", "window", "order", "limit"):
			tail = i
		case list >= 0 && tail == hi && t.is("offset", "fetch") && r.limits(i, hi):
			tail = i
		}
		previous = t
	}
	if list < 0 {
		return r.emit(lo, hi, false)
	}
	names := map[string]string{}
	r.names = append(r.names, names)
	outer, moved := r.hoists, &hoists{alias: map[string]string{}}
	var tables strings.Builder
	if from < hi {
		r.hoists = nil
		tables.WriteString(r.emitTables(from, tail, names))
	}
	r.hoists = moved
	selected := r.emit(lo, min(from, tail), true)
	if len(moved.calls) > 0 {
		before := strings.TrimRight(tables.String(), " \t\r\n")
		tables.Reset()
		if from == hi {
			tables.WriteString(" FROM ")
		} else {
			tables.WriteString(before + ", ")
		}
		for i, call := range moved.calls {
			if i > 0 {
				tables.WriteString(", ")
			}
			tables.WriteString(call + " AS " + moved.alias[call])
		}
		tables.WriteString(" ")
	}
	r.hoists = nil
	rest := r.emitTail(tail, hi)
	r.hoists = outer
	r.names = r.names[:len(r.names)-1]
	return selected + tables.String() + rest
}

// compared reports whether the DISTINCT before token i belongs to IS DISTINCT FROM.
func (r *rewriter) compared(lo, i int) bool {
	var last [2]token
	for k := i - 1; k >= lo && last[1].text == ""; k-- {
		if r.tokens[k].kind > nested {
			last[0], last[1] = r.tokens[k], last[0]
			if last[1].text != "" {
				return last[0].is("is", "not")
			}
		}
	}
	return false
}

// limits reports whether OFFSET or FETCH at i is the clause and not a name.
func (r *rewriter) limits(i, hi int) bool {
	t := r.at(r.skip(i+1, hi), hi)
	if r.tokens[i].is("fetch") {
		return t.is("first", "next")
	}
	return t.kind == number || t.kind == position || t.kind == variable || t.isSymbol("(")
}

// A span is the tokens from lo to before hi.
type span struct{ lo, hi int }

func (s span) empty() bool { return s.lo == s.hi }

// emitTail rewrites what follows the tables. The clauses that limit rows get SQLite's order.
func (r *rewriter) emitTail(lo, hi int) string {
	var limit, offset span // their values
	first, foreign, end := hi, false, hi
	for i := lo; i < hi; {
		t := r.tokens[i]
		isLimit := t.is("limit") || t.is("offset", "fetch") && r.limits(i, hi)
		if first < hi && t.is("for") {
			end = i
			break
		}
		if !isLimit {
			i = r.after(i)
			continue
		}
		first = min(first, i)
		from := r.skip(i+1, hi)
		if t.is("fetch") {
			from = r.skip(from+1, hi)
		}
		to := from
		for to < hi && !r.tokens[to].is("limit", "offset", "fetch", "for", "row", "rows") {
			to = r.after(to)
		}
		value := span{from, to}
		for to < hi && (r.tokens[to].kind <= nested || r.tokens[to].is("row", "rows", "only")) {
			to++
		}
		switch {
		case t.is("offset"):
			offset, foreign = value, foreign || limit.empty()
		case t.is("limit") && r.at(from, to).is("all", "null") && r.skip(from+1, to) == to:
			foreign = true
		case t.is("limit"):
			limit, foreign = value, foreign || !offset.empty()
		default:
			limit, foreign = value, true
		}
		i = to
	}
	if end < hi {
		r.unsupported(end, "locks of rows (FOR UPDATE)", "")
	}
	if !foreign {
		return r.emit(lo, hi, false)
	}
	out := r.emit(lo, first, false)
	value := func(s span) string { return strings.TrimSpace(r.emit(s.lo, s.hi, false)) }
	switch {
	case limit.empty() && offset.empty():
		return out
	case limit.empty():
		return out + "LIMIT -1 OFFSET " + value(offset)
	case offset.empty():
		return out + "LIMIT " + value(limit)
	}
	return out + "LIMIT " + value(limit) + " OFFSET " + value(offset)
}

// notOperands are keywords after which an operator has no left side, and before a parenthesis they
// call nothing.
var notOperands = set(`all analyze and any as asc begin between by case check collate commit conflict constraint create
 cross default delete desc distinct do drop else escape except exists explain filter foreign from full glob group having
 in index inner insert intersect into is isnull join key left limit match materialized natural not notnull null nulls
 offset on or order outer over partition pragma primary recursive references regexp returning right rows select set some
 table then union unique update using values view when where window with ilike like lateral only operator range groups`)

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// emitter collects rewritten text. The chunks from operand on are the operand that ends the text
// so far, if operand is not negative.
type emitter struct {
	out     []string
	operand int
	literal bool // the operand is one text or parameter
	applied int  // casts and subscripts to the operand
	cases   []int
	list    bool // the tokens are a select list
}

func (e *emitter) put(s string) { e.out = append(e.out, s) }

// push appends an operand.
func (e *emitter) push(s string) {
	e.operand, e.literal, e.applied = len(e.out), false, 0
	e.out = append(e.out, s)
}

// apply replaces the operand.
func (e *emitter) apply(f func(operand string) string) {
	if e.applied++; e.applied > maxCasts {
		return // emit reports it
	}
	s := strings.Join(e.out[e.operand:], "")
	e.out = append(e.out[:e.operand], f(strings.TrimRight(s, " \t\r\n")))
	e.literal = false
}

// emit rewrites tokens one after the other. If list is set, they are a select list.
func (r *rewriter) emit(lo, hi int, list bool) string {
	e := &emitter{operand: -1, list: list}
	previous := token{}
	for i := lo; i < hi && r.err == nil; {
		t := r.tokens[i]
		start := i
		switch t.kind {
		case blank, comment:
			e.put(t.text)
			i++
			continue
		case nested:
			e.put(" ")
			i++
			continue
		case text, escaped, dollar:
			s := t.text
			if t.kind != text {
				s = quoteText(t.literal())
			}
			if truth := r.truth(i); truth != "" {
				s = truth
			}
			e.push(s)
			e.literal = true
			i++
		case unended:
			r.fail(i, codeSyntax, "what begins here in quotes does not end")
		case number:
			e.push(t.text)
			i++
		case variable:
			e.push(t.text)
			e.literal = true
			i++
		case position:
			e.push("?" + t.text[1:])
			e.literal = true
			i++
		case quoted:
			i = r.primary(e, i, hi, previous)
		case word:
			i = r.word(e, i, hi, previous)
		case symbol:
			i = r.symbol(e, i, hi, previous)
		}
		if e.applied > maxCasts {
			r.fail(start, codeLimitExceeded, "more than %d casts and subscripts follow each other", maxCasts)
		}
		if i <= start {
			i = start + 1
		}
		previous = r.tokens[i-1]
		for k := i - 1; k > start && previous.kind <= nested; k-- {
			previous = r.tokens[k-1]
		}
	}
	return strings.Join(e.out, "")
}

// symbol rewrites an operator or mark.
func (r *rewriter) symbol(e *emitter, i, hi int, previous token) int {
	t := r.tokens[i]
	switch t.text {
	case "(":
		end := r.match[i]
		if end < 0 {
			break
		}
		if s, next := r.expanded(i, end, hi); s != "" {
			e.push(s)
			return next
		}
		e.push("(" + r.span(i+1, end) + ")")
		return end + 1
	case "[":
		end := r.match[i]
		if end < 0 || e.operand < 0 {
			break
		}
		index := r.span(i+1, end)
		for k := i + 1; k < end; k = r.after(k) {
			if r.tokens[k].isSymbol(":") || r.tokens[k].kind == variable {
				r.unsupported(k, "slices of arrays", "")
			}
		}
		e.apply(func(x string) string { return "pg_subscript(" + x + ", " + index + ")" })
		return end + 1
	case "::":
		if e.operand < 0 {
			break
		}
		ty, end := r.typeName(i+1, hi)
		if ty.name == "" {
			r.fail(i, codeSyntax, "a type has to follow ::")
			return hi
		}
		r.convert(e, i, ty)
		return end
	case ".":
		if n := r.skip(i+1, hi); e.operand >= 0 && previous.isSymbol(")", "]") && r.at(n, hi).name() != "" {
			field := r.tokens[n].name()
			e.apply(func(x string) string { return "pg_field(" + x + ", " + quoteText(field) + ")" })
			return n + 1
		}
	case "~", "~*", "!~", "!~*", "~~", "~~*", "!~~", "!~~*":
		if e.operand >= 0 {
			return r.matching(e, i, i+1, hi, t.text)
		}
	case "=", "<>", "!=":
		return r.quantified(e, i, hi)
	case "@>", "<@", "&&", "#>", "#>>", "^@", "^", "@@", "#", "=>":
		r.unsupported(i, "operator "+t.text, "")
	}
	e.put(t.text)
	e.operand = -1
	return i + 1
}

// matching rewrites an operator that compares with a pattern, whose right side begins at next.
func (r *rewriter) matching(e *emitter, i, next, hi int, operator string) int {
	not, s := "", operator
	if strings.HasPrefix(s, "!") {
		not, s = "NOT ", s[1:]
	}
	e.operand = -1
	pad := ""
	if n := len(e.out); n == 0 || strings.TrimRight(e.out[n-1], " \t\n\r") == e.out[n-1] {
		pad = " "
	}
	if k := r.skip(next, hi); r.at(k, hi).is("any", "all", "some") {
		r.unsupported(k, "patterns with ANY or ALL", "join the comparisons with OR or AND")
	}
	trail := " "
	if next < hi && r.tokens[next].kind == blank {
		trail = ""
	}
	switch s {
	case "~":
		e.put(pad + not + "REGEXP" + trail)
	case "~*":
		e.put(pad + not + "REGEXP '(?i)' ||" + trail)
	default:
		e.put(pad + not + "LIKE" + trail)
		return r.pattern(e, next, hi)
	}
	return next
}

// pattern adds the escape character that PostgreSQL's LIKE has and SQLite's has not.
func (r *rewriter) pattern(e *emitter, next, hi int) int {
	k := r.skip(next, hi)
	t := r.at(k, hi)
	if t.kind != text && t.kind != escaped && t.kind != dollar || !strings.Contains(t.literal(), `\`) {
		return next
	}
	if after := r.at(r.skip(k+1, hi), hi); after.is("escape") || after.isSymbol("||", "::") {
		return next
	}
	for ; next < k; next++ {
		e.put(r.tokens[next].text)
	}
	e.push(quoteText(t.literal()))
	e.put(` ESCAPE '\'`)
	return k + 1
}

// quantified rewrites = ANY and <> ALL.
func (r *rewriter) quantified(e *emitter, i, hi int) int {
	e.operand = -1
	operator := r.tokens[i].text
	k := r.skip(i+1, hi)
	if t := r.at(k, hi); t.is("any", "some", "all") {
		open := r.skip(k+1, hi)
		if r.at(open, hi).isSymbol("(") && r.match[open] >= 0 {
			in := "IN ("
			switch {
			case operator == "=" && !t.is("all"):
			case operator != "=" && t.is("all"):
				in = "NOT IN ("
			default:
				r.unsupported(k, operator+" "+strings.ToUpper(t.text), "")
			}
			end := r.match[open]
			inner := r.span(open+1, end)
			if !r.at(r.skip(open+1, end), end).is("select", "values", "with") {
				inner = "SELECT value FROM unnest(" + inner + ")"
			}
			pad := ""
			if i > 0 && r.tokens[i-1].kind != blank {
				pad = " "
			}
			e.push(pad + in + inner + ")")
			return end + 1
		}
	}
	e.put(operator)
	return i + 1
}

// synonyms are functions that SQLite has under another name.
var synonyms = map[string]string{
	"json_build_object": "json_object", "jsonb_build_object": "json_object", "json_build_array": "json_array",
	"jsonb_build_array": "json_array", "json_agg": "json_group_array", "jsonb_agg": "json_group_array",
	"json_object_agg": "json_group_object", "jsonb_object_agg": "json_group_object", "char_length": "length",
	"character_length": "length", "strpos": "instr", "btrim": "trim",
}

// functionsOfNoParentheses are called without.
var functionsOfNoParentheses = set("current_user session_user current_role current_catalog current_schema localtimestamp")

// reserved are the words that SQLite takes as names in quotes only.
var reserved = set(`add all alter and as between case check collate commit constraint create default deferrable delete distinct
 drop else escape except exists foreign from group having in index insert intersect into is isnull join limit not notnull
 null on or order primary references returning select set table then to transaction union unique update using values when
 where`)

// word rewrites a keyword, or what a name begins.
func (r *rewriter) word(e *emitter, i, hi int, previous token) int {
	t := r.tokens[i]
	name := t.name()
	n := r.skip(i+1, hi)
	next := r.at(n, hi)
	keep := func() int {
		e.put(t.text)
		e.operand = -1
		return i + 1
	}
	if previous.isSymbol(".") {
		return r.primary(e, i, hi, previous)
	}
	if previous.is("as") && reserved[name] && (next.text == "" || next.is("from") || next.isSymbol(",", ")")) {
		e.push(`"` + name + `"`)
		return i + 1
	}
	switch name {
	case "case":
		e.cases = append(e.cases, len(e.out))
		return keep()
	case "end":
		if k := len(e.cases); k > 0 {
			e.put(t.text)
			e.operand, e.cases, e.literal = e.cases[k-1], e.cases[:k-1], false
			return i + 1
		}
		return keep()
	case "operator":
		if next.isSymbol("(") && r.match[n] >= 0 && e.operand >= 0 {
			var symbols strings.Builder
			for _, o := range r.tokens[n+1 : r.match[n]] {
				if o.kind == symbol && o.text != "." {
					symbols.WriteString(o.text)
				}
			}
			operator := symbols.String()
			switch operator {
			case "~", "~*", "!~", "!~*", "~~", "~~*", "!~~", "!~~*":
				return r.matching(e, i, r.match[n]+1, hi, operator)
			case "=", "<>", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/", "||", "%":
				e.put(operator)
				e.operand = -1
				return r.match[n] + 1
			}
			r.unsupported(i, "operator "+operator, "")
		}
	case "collate":
		chain, end := r.chain(n, hi)
		if len(chain) == 0 {
			return keep()
		}
		switch last := chain[len(chain)-1]; {
		case last == "default" || strings.Contains(last, "_") || last == "und-x-icu":
			return end
		case last == "C" || last == "POSIX" || last == "ucs_basic":
			e.put("COLLATE BINARY")
			return end
		}
		e.put(t.text)
		return i + 1
	case "like", "ilike":
		if e.operand < 0 && !previous.is("not") {
			break
		}
		e.put("LIKE")
		if name == "like" {
			e.out[len(e.out)-1] = t.text
		}
		e.operand = -1
		return r.pattern(e, i+1, hi)
	case "similar":
		if e.operand >= 0 && next.is("to") {
			r.unsupported(i, "SIMILAR TO", "write ~ with a regular expression")
		}
	case "at":
		if e.operand >= 0 && next.is("time") {
			r.unsupported(i, "AT TIME ZONE", "")
		}
	case "interval":
		if next.kind == text || next.kind == escaped {
			r.unsupported(i, "intervals", "write datetime(x, '+1 day')")
		}
	case "date", "timestamp", "timestamptz", "time":
		if next.kind == text || next.kind == escaped {
			ty := pgType{name: name}
			e.push(quoteText(next.literal()))
			r.convert(e, i, ty)
			return n + 1
		}
	case "distinct":
		if next.is("on") && r.at(r.skip(n+1, hi), hi).isSymbol("(") && previous.is("select") {
			r.unsupported(i, "DISTINCT ON", "use row_number() OVER (PARTITION BY ..)")
		}
	case "grouping":
		if next.is("sets") {
			r.unsupported(i, "GROUPING SETS", "join several SELECTs with UNION ALL")
		}
	case "rollup", "cube":
		if next.isSymbol("(") && previous.is("by") {
			r.unsupported(i, strings.ToUpper(name), "join several SELECTs with UNION ALL")
		}
	case "lateral":
		if next.isSymbol("(") {
			r.unsupported(i, "LATERAL", "write the subquery in the select list")
		}
	case "array":
		if next.isSymbol("(", "[") && r.match[n] >= 0 {
			return r.array(e, n)
		}
	case "for":
		if (next.is("update", "share") || next.is("no", "key")) && e.operand >= 0 {
			r.unsupported(i, "locks of rows (FOR UPDATE)", "")
		}
	case "true", "false", "null":
		e.push(t.text)
		return i + 1
	case "public", "pg_catalog", "information_schema":
		return r.primary(e, i, hi, previous)
	}
	if name == "user" && r.catalogue && !next.isSymbol("(", ".") && !previous.is("as") {
		e.push("user()")
		return i + 1
	}
	if functionsOfNoParentheses[name] && !next.isSymbol("(", ".") && !previous.is("as") {
		e.push(name + "()")
		return i + 1
	}
	// LEFT, RIGHT, and such are functions too.
	if notOperands[name] && !(next.isSymbol("(") && (name == "left" || name == "right")) {
		return keep()
	}
	return r.primary(e, i, hi, previous)
}

// chain returns the names of a.b.c that begin at i, and the index behind them. A * may end it.
func (r *rewriter) chain(i, hi int) (names []string, end int) {
	end = i
	for i < hi {
		t := r.tokens[i]
		if t.isSymbol("*") && len(names) > 0 {
			return append(names, "*"), i + 1
		}
		if t.kind != word && t.kind != quoted {
			return names, end
		}
		names = append(names, t.name())
		end = i + 1
		dot := r.skip(end, hi)
		if !r.at(dot, hi).isSymbol(".") {
			return names, end
		}
		i = r.skip(dot+1, hi)
	}
	return names, end
}

// primary rewrites what begins with a name: a column, a table, or a call.
func (r *rewriter) primary(e *emitter, i, hi int, previous token) int {
	chain, end := r.chain(i, hi)
	if len(chain) == 0 {
		e.put(r.tokens[i].text)
		return i + 1
	}
	name := chain[len(chain)-1]
	schema := ""
	if len(chain) > 1 {
		schema = chain[len(chain)-2]
	}
	open := r.skip(end, hi)
	isName := previous.is("into", "table", "view", "exists", "update", "references")
	calls := r.at(open, hi).isSymbol("(") && r.match[open] >= 0 && name != "*" && !isName
	if calls && (len(chain) == 1 || isSchema(schema)) {
		return r.call(e, i, end, open, hi, name, len(chain) > 1)
	}
	if replacement, ok := r.renamed(chain); ok && !previous.is("as") {
		e.push(replacement)
		// The column keeps its name.
		if after := r.at(r.skip(end, hi), hi); e.list && (previous.is("select", "distinct") || previous.isSymbol(",")) {
			if after.text == "" || after.is("from") || after.isSymbol(",") {
				e.put(` AS "` + strings.ReplaceAll(name, `"`, `""`) + `"`)
			}
		}
		return end
	}
	if len(chain) > 1 && name == "tableoid" {
		e.push("0")
		return end
	}
	first := i
	if len(chain) == 3 && isSchema(chain[1]) { // the database's name comes first
		for first++; !r.tokens[first].isSymbol("."); first++ {
		}
		first = r.skip(first+1, hi)
		chain = chain[1:]
	}
	var s strings.Builder
	if len(chain) > 1 && chain[0] == "public" {
		s.WriteString("main")
		first++
	}
	for k := first; k < end; k++ {
		part := r.tokens[k].text
		if r.tokens[k].kind == word && k > first && reserved[strings.ToLower(part)] {
			part = `"` + strings.ToLower(part) + `"`
		}
		s.WriteString(part)
	}
	e.push(s.String())
	return end
}

func isSchema(name string) bool {
	return name == "pg_catalog" || name == "information_schema" || name == "public"
}

// renamed returns what stands for a name of a set-returning function in FROM.
func (r *rewriter) renamed(chain []string) (string, bool) {
	key := strings.Join(chain, ".")
	for i := len(r.names) - 1; i >= 0; i-- {
		if s, ok := r.names[i][key]; ok {
			return s, true
		}
	}
	return "", false
}

// call rewrites a function call, whose name ends before end and whose arguments begin at open.
func (r *rewriter) call(e *emitter, i, end, open, hi int, name string, qualified bool) int {
	shut := r.match[open]
	lo := open + 1
	switch name {
	case "cast":
		return r.cast(e, i, open)
	case "extract":
		k := r.find(lo, shut, "from")
		field := r.at(r.skip(lo, shut), shut)
		if k > 0 && (field.name() != "" || field.kind == text) {
			what := field.name()
			if what == "" {
				what = field.literal()
			}
			e.push("date_part(" + quoteText(what) + "," + r.span(k+1, shut) + ")")
			return shut + 1
		}
	case "substring":
		from, length := r.find(lo, shut, "from"), r.find(lo, shut, "for")
		switch {
		case from > 0 && length > from:
			e.push("substr(" + r.span(lo, from) + "," + r.span(from+1, length) + "," + r.span(length+1, shut) + ")")
		case from > 0:
			e.push("substr(" + r.span(lo, from) + "," + r.span(from+1, shut) + ")")
		}
		if from > 0 {
			return shut + 1
		}
	case "position":
		if k := r.find(lo, shut, "in"); k > 0 {
			e.push("instr(" + r.span(k+1, shut) + "," + r.span(lo, k) + ")")
			return shut + 1
		}
	case "trim":
		if k := r.find(lo, shut, "from"); k > 0 {
			function, at := "trim", r.skip(lo, shut)
			switch {
			case r.tokens[at].is("leading"):
				function, at = "ltrim", at+1
			case r.tokens[at].is("trailing"):
				function, at = "rtrim", at+1
			case r.tokens[at].is("both"):
				at++
			}
			characters := strings.TrimSpace(r.span(at, k))
			if characters != "" {
				characters = ", " + characters
			}
			e.push(function + "(" + r.span(k+1, shut) + characters + ")")
			return shut + 1
		}
	case "unnest", "generate_series", "generate_subscripts", "_pg_expandarray":
		if r.hoists != nil {
			e.push(r.hoist(name, lo, shut))
			return shut + 1
		}
	case "format":
		if qualified {
			name = "pg_format"
		}
	}
	s := r.sql[r.tokens[i].at:r.tokens[end].at]
	if to, ok := synonyms[name]; ok {
		s = to
	} else if qualified {
		s = name
	}
	e.push(s + "(" + r.span(lo, shut) + ")")
	return r.clauses(e, shut+1, hi)
}

// clauses adds FILTER and OVER to the call that they belong to.
func (r *rewriter) clauses(e *emitter, i, hi int) int {
	for {
		k := r.skip(i, hi)
		if !r.at(k, hi).is("filter", "over") {
			return i
		}
		open := r.skip(k+1, hi)
		t := r.at(open, hi)
		switch {
		case t.isSymbol("(") && r.match[open] >= 0:
			s := " " + r.tokens[k].text + " (" + r.span(open+1, r.match[open]) + ")"
			if text := r.sql[r.tokens[i].at:r.tokens[open].at]; strings.TrimSpace(text) == r.tokens[k].text {
				s = text + s[len(" "+r.tokens[k].text+" "):]
			}
			e.put(s)
			i = r.match[open] + 1
		default:
			return i
		}
	}
}

// find returns the index of a keyword between lo and hi outside of parentheses, or -1.
func (r *rewriter) find(lo, hi int, keyword string) int {
	found := -1
	for i := lo; i < hi; i = r.after(i) {
		if r.tokens[i].is(keyword) {
			found = i
			if keyword != "as" {
				return i
			}
		}
	}
	return found
}

// array rewrites ARRAY(SELECT ..) and ARRAY[..], whose parenthesis or bracket is at open.
func (r *rewriter) array(e *emitter, open int) int {
	end := r.match[open]
	outer := r.hoists
	r.hoists = nil
	defer func() { r.hoists = outer }()
	if r.tokens[open].text == "(" {
		r.count++
		name := "pg_a" + strconv.Itoa(r.count)
		e.push("(WITH " + name + "(x) AS (" + r.span(open+1, end) + ") SELECT coalesce(array_agg(x), '{}') FROM " + name + ")")
		return end + 1
	}
	e.push("pg_array(json_array(" + r.span(open+1, end) + "))")
	return end + 1
}

// hoist moves a set-returning function of the select list to FROM and returns what stands for its
// value.
func (r *rewriter) hoist(name string, lo, hi int) string {
	list := r.hoists
	r.hoists = nil
	arguments := strings.TrimSpace(r.span(lo, hi))
	r.hoists = list
	column := "value"
	call := "generate_series(" + arguments + ")"
	if name != "generate_series" {
		if name == "generate_subscripts" { // of the first dimension
			for i := lo; i < hi; i = r.after(i) {
				if r.tokens[i].isSymbol(",") {
					arguments = strings.TrimSpace(r.emit(lo, i, false))
					break
				}
			}
			column = "ordinality"
		}
		call = "unnest(" + arguments + ")"
	}
	alias := list.alias[call]
	if alias == "" {
		r.count++
		alias = "pg_s" + strconv.Itoa(r.count)
		list.calls, list.alias[call] = append(list.calls, call), alias
	}
	if name == "_pg_expandarray" {
		return "'(' || " + alias + ".value || ',' || " + alias + ".ordinality || ')'"
	}
	return alias + "." + column
}

// expanded rewrites (_pg_expandarray(x)).n and .x, whose outer parentheses are at open and shut. It
// returns an empty text for anything else.
func (r *rewriter) expanded(open, shut, hi int) (string, int) {
	chain, end := r.chain(r.skip(open+1, shut), shut)
	dot := r.skip(shut+1, hi)
	field := r.skip(dot+1, hi)
	inner := r.skip(end, shut)
	if r.hoists == nil || len(chain) == 0 || chain[len(chain)-1] != "_pg_expandarray" || !r.at(dot, hi).isSymbol(".") ||
		!r.at(field, hi).is("n", "x") || !r.at(inner, shut).isSymbol("(") || r.match[inner] < 0 {
		return "", 0
	}
	s := r.hoist("unnest", inner+1, r.match[inner])
	if r.tokens[field].is("n") {
		s = strings.TrimSuffix(s, "value") + "ordinality"
	}
	return s, field + 1
}

// relations are set-returning functions that are kept as relations.
var relations = map[string]string{
	"pg_get_keywords": "pg_catalog.pg_keywords", "pg_show_all_settings": "pg_catalog.pg_settings",
	"pg_timezone_names": "pg_catalog.pg_timezone_names",
}

// emitTables rewrites FROM and what follows it. names gets what stands for the names of functions.
func (r *rewriter) emitTables(lo, hi int, names map[string]string) string {
	var out strings.Builder
	done := lo
	flush := func(to int) {
		out.WriteString(r.emit(done, to, false))
		done = to
	}
	// Functions may be named before they appear, in the conditions of earlier joins.
	type item struct {
		from, to int
		text     string
	}
	var items []item
	for i := lo; i < hi; {
		t := r.tokens[i]
		if !t.is("from", "join", "lateral", "only") && !t.isSymbol(",") {
			i = r.after(i)
			continue
		}
		k := r.skip(i+1, hi)
		if r.at(k, hi).is("lateral", "only") {
			next := r.skip(k+1, hi)
			if r.at(k, hi).is("lateral") && r.at(next, hi).isSymbol("(") {
				r.unsupported(k, "LATERAL", "write the subquery in the select list")
			}
			items = append(items, item{k, next, ""})
			k = next
		}
		s, end := r.table(k, hi, names)
		if s != "" {
			items = append(items, item{k, end, s})
			i = end
			continue
		}
		i = max(k, i+1)
		if i < hi && r.match[i] >= 0 {
			i = r.after(i)
		}
	}
	for _, it := range items {
		if it.from < done {
			continue
		}
		flush(it.from)
		out.WriteString(it.text)
		done = it.to
	}
	flush(hi)
	return out.String()
}

// table rewrites a function, or a subquery whose columns get names, in FROM. It returns an empty
// text for other tables.
func (r *rewriter) table(i, hi int, names map[string]string) (string, int) {
	if r.at(i, hi).isSymbol("(") && r.match[i] >= 0 {
		shut := r.match[i]
		if !r.at(r.skip(i+1, shut), shut).is("select", "values", "with") {
			return "", 0
		}
		alias, columns, end := r.alias(shut+1, hi)
		if len(columns) == 0 {
			return "", 0
		}
		as := quoteName(alias)
		return "(WITH " + as + "(" + quoteNames(columns) + ") AS (" + r.span(i+1, shut) + ") SELECT * FROM " + as + ") AS " + as, end
	}
	chain, end := r.chain(i, hi)
	open := r.skip(end, hi)
	if len(chain) == 0 || !r.at(open, hi).isSymbol("(") || r.match[open] < 0 || len(chain) > 1 && !isSchema(chain[len(chain)-2]) {
		return "", 0
	}
	name, shut := chain[len(chain)-1], r.match[open]
	next := shut + 1
	numbered := false
	if k := r.skip(next, hi); r.at(k, hi).is("with") {
		if o := r.skip(k+1, hi); r.at(o, hi).is("ordinality") {
			numbered, next = true, o+1
		}
	}
	alias, columns, end := r.alias(next, hi)
	as := alias
	if as == "" {
		as = name
	}
	if relation := relations[name]; relation != "" {
		return relation + " AS " + quoteName(as), end
	}
	switch name {
	case "unnest", "generate_series", "generate_subscripts", "_pg_expandarray", "aclexplode", "pg_options_to_table", "pg_partition_ancestors":
	default:
		if !scalars()[name] {
			return "", 0
		}
		column := as
		if len(columns) > 0 {
			column = columns[0]
		}
		return "(SELECT " + name + "(" + r.span(open+1, shut) + ") AS " + quoteName(column) + ") AS " + quoteName(as), end
	}
	switch name {
	case "aclexplode", "pg_options_to_table", "pg_partition_ancestors":
		return name + "(" + r.span(open+1, shut) + ") AS " + quoteName(as), end
	}
	values := []string{"value"}
	if numbered || name == "_pg_expandarray" {
		values = append(values, "ordinality")
	}
	if len(columns) == 0 {
		columns = []string{as, "ordinality"}
		if name == "_pg_expandarray" {
			columns = []string{"x", "n"}
		}
	}
	if name == "generate_subscripts" {
		values[0] = "ordinality"
	}
	call := r.span(open+1, shut)
	switch name {
	case "generate_series":
		call = "generate_series(" + call + ")"
	case "generate_subscripts":
		call = "unnest(" + strings.TrimSuffix(strings.TrimRight(call, "0123456789 "), ",") + ")"
	default:
		call = "unnest(" + call + ")"
	}
	if r.constant(open+1, shut) {
		s := "(SELECT "
		for k, v := range values {
			if k < len(columns) {
				if k > 0 {
					s += ", "
				}
				s += v + " AS " + quoteName(columns[k])
			}
		}
		return s + " FROM " + call + ") AS " + quoteName(as), end
	}
	for k, v := range values {
		if k < len(columns) {
			names[columns[k]] = quoteName(as) + "." + v
			names[as+"."+columns[k]] = quoteName(as) + "." + v
		}
	}
	return call + " AS " + quoteName(as), end
}

// constant reports whether the tokens name no column.
func (r *rewriter) constant(lo, hi int) bool {
	for i := lo; i < hi; i++ {
		t := r.tokens[i]
		if t.kind != word && t.kind != quoted || t.is("true", "false", "null", "array", "pg_catalog", "select") {
			continue
		}
		if previous := i - 1; previous >= lo && r.tokens[previous].isSymbol("::") {
			continue
		}
		if !r.at(r.skip(i+1, hi), hi).isSymbol("(") {
			return false
		}
	}
	return true
}

// alias returns the alias at i, the names that it gives to columns, and the index behind it.
func (r *rewriter) alias(i, hi int) (alias string, columns []string, end int) {
	k := r.skip(i, hi)
	if r.at(k, hi).is("as") {
		k = r.skip(k+1, hi)
	} else if notOperands[r.at(k, hi).name()] && r.at(k, hi).kind == word {
		return "", nil, i
	}
	if alias = r.at(k, hi).name(); alias == "" {
		return "", nil, i
	}
	end = k + 1
	open := r.skip(end, hi)
	if !r.at(open, hi).isSymbol("(") || r.match[open] < 0 {
		return alias, nil, end
	}
	for j := r.skip(open+1, hi); j < r.match[open]; j = r.skip(j+1, hi) {
		if n := r.tokens[j].name(); n != "" {
			columns = append(columns, n)
			if after := r.skip(j+1, hi); !r.tokens[after].isSymbol(",") {
				j = r.match[open] - 1 // the rest is the column's type
			}
		}
	}
	return alias, columns, r.match[open] + 1
}

func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func quoteNames(names []string) string {
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = quoteName(n)
	}
	return strings.Join(list, ", ")
}

// truths are the texts that PostgreSQL takes for booleans when they are compared with one.
var truths = map[string]string{"t": "1", "true": "1", "f": "0", "false": "0"}

// catalogueBooleans are the columns of the catalogue's tables that are booleans. Those whose names do not tell whose
// they are could be a user's.
var catalogueBooleans = sync.OnceValue(func() map[string]bool {
	found := map[string]bool{}
	for _, relation := range shapeRelations() {
		for _, c := range relation.columns {
			if len(c.name) > 5 && c.oid == typeByName["bool"].OID && relation.schema == "pg_catalog" {
				switch c.name[:3] {
				case "ind", "rel", "att", "con", "typ", "rol", "dat", "use", "pro", "tgi", "amc":
					found[c.name] = true
				}
			}
		}
	}
	return found
})

// truth returns what the text at token i stands for if a boolean of the catalogue is compared with it: drivers write
// indisprimary = 'f'.
func (r *rewriter) truth(i int) string {
	is, known := truths[strings.ToLower(r.tokens[i].literal())]
	if !known {
		return ""
	}
	operator := r.back(i)
	if operator < 0 || !r.tokens[operator].isSymbol("=", "<>", "!=") {
		return ""
	}
	if k := r.back(operator); k < 0 || !catalogueBooleans()[r.tokens[k].name()] {
		return ""
	}
	return is
}
