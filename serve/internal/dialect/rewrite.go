package dialect

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/internal/sqltext"
	"github.com/geosql/geosql/serve/internal/pgcatalog"
	"github.com/geosql/geosql/serve/internal/pgfunc"
)

// Rewrite returns a statement in SQLite's way. Texts, comments and names in quotes stay, and so
// does a statement without anything of PostgreSQL. It does not check the statement: that is for
// SQLite.
//
// Parameters $n become ?n. The schema public becomes main. Set-returning functions become
// table-valued ones, arrays are texts such as {1,2}, and other types become SQLite's.
func Rewrite(s sqltext.Statement) (string, error) { return Describe(s, nil, nil).Rewrite(false) }

// Rewrite is [Rewrite] by the types of columns and parameters. If nulls is set, ORDER BY takes NULL for greater than everything else, as
// PostgreSQL does.
func (d *Description) Rewrite(nulls bool) (string, error) {
	s := d.statement
	if err := CheckLength(s.SQL); err != nil {
		return "", err
	}
	if s.Tokens == nil && s.SQL != "" {
		return "", &pgfunc.Error{Code: pgfunc.CodeLimitExceeded, Message: fmt.Sprintf("the statement has more than %d words, signs and blanks", Budget.Tokens)}
	}
	r := d.rewriter
	r.nulls, r.count = nulls, 0
	r.typeOfColumn = d.certain
	defer func() { r.typeOfColumn = d.Column }()
	out := r.span(0, len(r.tokens))
	if r.err != nil {
		return "", r.err
	}
	return out, nil
}

// CheckLength returns an error for a statement that is longer than any that is served.
func CheckLength(sql string) error {
	if len(sql) > Budget.Bytes {
		return &pgfunc.Error{Code: pgfunc.CodeLimitExceeded, Message: fmt.Sprintf("the statement is longer than %d bytes", Budget.Bytes)}
	}
	return nil
}

// Read reads a statement for [Rewrite] and [Describe].
func Read(sql string) sqltext.Statement { return sqltext.PostgreSQL.Read(sql, Budget) }

// Budget bounds the statements that are served.
var Budget = sqltext.Budget{Bytes: 1_000_000, Tokens: 500_000}

// maxDepth is how deep parentheses may be nested. SQLite's own bound is 100 in a server's session.
const maxDepth = 500

// maxCasts bounds the casts and subscripts one after the other.
const maxCasts = 100

type rewriter struct {
	sql    string
	tokens []sqltext.Token
	match  []int // the index of the parenthesis or bracket that closes an opening one, or -1
	names  []map[string]string
	hoists *hoists // of the select list that is being written, nil elsewhere
	count  int
	depth  int
	err    *pgfunc.Error

	typeOfColumn    func(name string) uint32 // see Description; nil if types do not matter
	typeOfLiteral   func(token int) uint32
	shows           bool   // types are those that clients get
	nulls           bool   // see Description.Rewrite
	bare            string // a column that is neither grouped nor aggregated
	likes           bool   // the statement has a LIKE that minds no case
	typeOfParameter func(n int) uint32
	private         map[string]Function

	// catalogue says that the statement asks a schema of PostgreSQL. There user is the role; elsewhere
	// it may be a column, which SQLite allows.
	catalogue bool

	times     bool             // whether the statement has anything of times
	kinds     map[int]temporal // of parentheses, by where they open
	intervals map[string]bool  // names of intervals in select lists
}

// Hoists are the set-returning functions that move from a select list to FROM.
type hoists struct {
	calls []string          // each with its alias
	alias map[string]string // of each call
}

// newRewriter returns a rewriter of a text with its tokens.
func newRewriter(sql string, tokens []sqltext.Token) *rewriter {
	return &rewriter{sql: sql, tokens: tokens, match: sqltext.Match(tokens), times: hasTimes(tokens), kinds: map[int]temporal{}, intervals: map[string]bool{},
		catalogue: slices.ContainsFunc(tokens, func(t sqltext.Token) bool { return t.Is("pg_catalog", "information_schema") })}
}

// fail notes the first error, at a token.
func (r *rewriter) fail(i int, code, format string, args ...any) {
	if r.err == nil {
		r.err = errorAt(r.sql, r.tokens[i].At, code, format, args...)
	}
}

// unsupported notes that SQLite has no such thing.
func (r *rewriter) unsupported(i int, what, instead string) {
	r.fail(i, pgfunc.CodeNotSupported, "the dialect is SQLite's: it has no %s", what)
	if r.err != nil && r.err.Hint == "" {
		r.err.Hint = instead
	}
}

// skip returns the index of the first token from i on, below hi, that is neither blank nor comment.
func (r *rewriter) skip(i, hi int) int {
	for i < hi && r.tokens[i].IsBlank() {
		i++
	}
	return i
}

// at returns token i, or an empty one at hi.
func (r *rewriter) at(i, hi int) sqltext.Token {
	if i < hi {
		return r.tokens[i]
	}
	return sqltext.Token{}
}

// after returns the index behind the group that opens at i.
func (r *rewriter) after(i int) int {
	if r.match[i] >= 0 {
		return r.match[i] + 1
	}
	return i + 1
}

// opens reports whether parentheses open at i and close.
func (r *rewriter) opens(i, hi int) bool { return r.at(i, hi).IsSymbol("(") && r.match[i] >= 0 }

// span rewrites the tokens from lo to hi: the SELECTs of a compound one by one.
func (r *rewriter) span(lo, hi int) string {
	if r.depth++; r.depth > maxDepth {
		r.fail(lo, pgfunc.CodeLimitExceeded, "the statement is nested too deeply")
	}
	defer func() { r.depth-- }()
	if r.err != nil {
		return ""
	}
	var out strings.Builder
	from := lo
	for i := lo; i < hi; {
		t := r.tokens[i]
		if t.Is("union", "intersect", "except") || t.IsSymbol(";") {
			out.WriteString(r.part(from, i))
			out.WriteString(t.Text)
			from = i + 1
		}
		i = r.after(i)
	}
	out.WriteString(r.part(from, hi))
	return out.String()
}

// part rewrites one SELECT, or text without one.
func (r *rewriter) part(lo, hi int) string {
	list, from, tail := -1, hi, hi // SELECT, FROM, and the clauses behind the tables
	for i, previous := lo, (sqltext.Token{}); i < hi; i = r.after(i) {
		t := r.tokens[i]
		if t.IsBlank() {
			continue
		}
		switch {
		case t.Is("select") && list < 0:
			list = i
		case list >= 0 && from == hi && t.Is("from") && !r.compared(lo, i) && (tail == hi || previous.Is("distinct")):
			from = i
		case list >= 0 && tail == hi && t.Is("where", "group", "having", "window", "order", "limit") && !previous.Is("within"):
			tail = i
		case list >= 0 && tail == hi && t.Is("offset", "fetch") && r.limits(i, hi):
			tail = i
		}
		previous = t
	}
	if list < 0 {
		return r.emit(lo, hi, false)
	}
	if on := r.skip(r.skip(list+1, hi)+1, hi); r.at(r.skip(list+1, hi), hi).Is("distinct") && r.at(on, hi).Is("on") && r.opens(r.skip(on+1, hi), hi) {
		return r.emit(lo, list, false) + r.distinctOn(list, r.skip(on+1, hi), from, tail, hi)
	}
	for _, item := range r.intervalNames(list+1, min(from, tail)) {
		r.intervals[item] = true
	}
	r.findBare(list+1, min(from, tail), tail, hi)
	names := map[string]string{}
	r.names = append(r.names, names)
	outer, moved := r.hoists, &hoists{alias: map[string]string{}}
	tables := ""
	if from < hi {
		r.hoists = nil
		tables = r.emitTables(from, tail, names)
	}
	r.hoists = moved
	selected := r.emit(lo, min(from, tail), true)
	if len(moved.calls) > 0 {
		before := " FROM "
		if from < hi {
			before = strings.TrimRight(tables, " \t\r\n") + ", "
		}
		tables = before + strings.Join(moved.calls, ", ") + " "
	}
	r.hoists = nil
	rest := r.emitTail(tail, hi)
	r.hoists = outer
	r.names = r.names[:len(r.names)-1]
	return selected + tables + rest
}

// compared reports whether a DISTINCT stands before token i that belongs to IS DISTINCT FROM.
func (r *rewriter) compared(lo, i int) bool {
	distinct := r.back(i)
	is := r.back(distinct)
	return is >= lo && r.tokens[distinct].Is("distinct") && r.tokens[is].Is("is", "not")
}

// limits reports whether OFFSET or FETCH at i is the clause and not a name.
func (r *rewriter) limits(i, hi int) bool {
	t := r.at(r.skip(i+1, hi), hi)
	if r.tokens[i].Is("fetch") {
		return t.Is("first", "next")
	}
	return t.Kind == sqltext.Number || t.Kind == sqltext.Position || t.Kind == sqltext.Variable || t.IsSymbol("(")
}

// A span is the tokens from lo to before hi.
type span struct{ lo, hi int }

func (s span) empty() bool { return s.lo == s.hi }

// emitTail rewrites the clauses behind the tables. The clauses that limit rows get SQLite's order.
func (r *rewriter) emitTail(lo, hi int) string {
	var limit, offset span // their values
	first, foreign, end := hi, false, hi
	for i := lo; i < hi; {
		t := r.tokens[i]
		isLimit := t.Is("limit") || t.Is("offset", "fetch") && r.limits(i, hi)
		if first < hi && t.Is("for") {
			end = i
			break
		}
		if !isLimit {
			i = r.after(i)
			continue
		}
		first = min(first, i)
		from := r.skip(i+1, hi)
		if t.Is("fetch") {
			from = r.skip(from+1, hi)
		}
		to := from
		for to < hi && !r.tokens[to].Is("limit", "offset", "fetch", "for", "row", "rows") {
			to = r.after(to)
		}
		value := span{from, to}
		for to < hi && (r.tokens[to].IsBlank() || r.tokens[to].Is("row", "rows", "only")) {
			to++
		}
		switch {
		case t.Is("offset"):
			offset, foreign = value, foreign || limit.empty()
		case t.Is("limit") && r.at(from, to).Is("all", "null") && r.skip(from+1, to) == to:
			foreign = true
		case t.Is("limit"):
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
	if !limit.empty() {
		out += "LIMIT " + value(limit)
	} else if !offset.empty() {
		out += "LIMIT -1"
	}
	if !offset.empty() {
		out += " OFFSET " + value(offset)
	}
	return out
}

// notOperands are keywords that are no operands.
var notOperands = set(pgcatalog.Keywords)

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
	cases   []branches
	from    int   // the first token of the operand
	until   int   // the end of the chain of operators that has been looked at
	sum     begin // of that chain, or of the operand
	list    bool  // the tokens are a select list
	token   int   // that is being written
}

// A begin is where text begins: in the chunks, and among the tokens.
type begin struct{ chunk, token int }

// Branches are those of a CASE that has not ended. Around it is a chain of operators.
type branches struct {
	begin
	sum   begin
	until int
}

func (e *emitter) put(s string) { e.out = append(e.out, s) }

// push appends an operand.
func (e *emitter) push(s string) {
	e.operand, e.literal, e.applied, e.from = len(e.out), false, 0, e.token
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
	previous, ordering := sqltext.Token{}, false
	for i := lo; i < hi && r.err == nil; {
		t := r.tokens[i]
		start := i
		e.token = i
		if i >= e.until && !t.IsBlank() && (e.operand < 0 || t.Kind != sqltext.Symbol) {
			if end := r.compute(e, i, hi, previous); end > i {
				i, previous = end, r.tokens[r.back(end)]
				continue
			}
		}
		switch t.Kind {
		case sqltext.Blank, sqltext.Comment, sqltext.Nested:
			if t.Kind == sqltext.Nested {
				t.Text = " "
			}
			e.put(t.Text)
			i++
			continue
		}
		if r.times {
			ordering = ordering && !t.Is("limit", "offset", "fetch", "rows", "range", "groups") || t.Is("by") && previous.Is("order")
			if ordering && (previous.IsSymbol(",") || previous.Is("by")) {
				if end := r.ordered(e, i, hi); end > 0 {
					i, previous = end, r.tokens[end-1]
					continue
				}
			}
		}
		switch t.Kind {
		case sqltext.Text, sqltext.Escaped, sqltext.Dollar:
			s := t.Text
			if t.Kind != sqltext.Text {
				s = sqltext.Quote(t.Literal())
			}
			if v := r.typed(i); v != "" {
				s = v
			}
			e.push(s)
			e.literal = true
			i++
		case sqltext.Unended:
			r.fail(i, pgfunc.CodeSyntax, "the quoted text that begins here does not end")
		case sqltext.Number:
			e.push(t.Text)
			i++
		case sqltext.Variable, sqltext.Position:
			if t.Kind == sqltext.Position {
				t.Text = "?" + t.Text[1:]
			}
			e.push(t.Text)
			e.literal = true
			i++
		case sqltext.Name:
			i = r.primary(e, i, hi, previous)
		case sqltext.Word:
			i = r.word(e, i, hi, previous)
		case sqltext.Symbol:
			i = r.symbol(e, i, hi, previous)
		}
		if e.applied > maxCasts {
			r.fail(start, pgfunc.CodeLimitExceeded, "more than %d casts and subscripts follow each other", maxCasts)
		}
		i = max(i, start+1)
		previous = r.tokens[max(start, r.back(i))]
	}
	return strings.Join(e.out, "")
}

// symbol rewrites an operator or mark.
func (r *rewriter) symbol(e *emitter, i, hi int, previous sqltext.Token) int {
	t := r.tokens[i]
	switch t.Text {
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
			if r.tokens[k].IsSymbol(":") || r.tokens[k].Kind == sqltext.Variable {
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
			r.fail(i, pgfunc.CodeSyntax, "a type has to follow ::")
			return hi
		}
		r.convert(e, e.from, i, ty)
		return end
	case ".":
		if n := r.skip(i+1, hi); e.operand >= 0 && previous.IsSymbol(")", "]") && r.at(n, hi).Name() != "" {
			field := r.tokens[n].Name()
			e.apply(func(x string) string { return "pg_field(" + x + ", " + sqltext.Quote(field) + ")" })
			return n + 1
		}
	case "~", "~*", "!~", "!~*", "~~", "~~*", "!~~", "!~~*":
		if e.operand >= 0 {
			return r.matching(e, i, i+1, hi, t.Text)
		}
	case "<", ">", "<=", ">=", "=", "<>", "!=":
		if end := r.compare(e, i, hi); end > 0 {
			return end
		}
		if t.IsSymbol("=", "<>", "!=") {
			return r.quantified(e, i, hi)
		}
	case "@>", "<@", "&&", "#>", "#>>", "^@", "^", "@@", "#", "=>":
		r.unsupported(i, "operator "+t.Text, "")
	}
	e.put(t.Text)
	e.operand = -1
	return i + 1
}

// matching rewrites an operator that compares with a pattern. Its right side begins at next.
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
	if k := r.skip(next, hi); r.at(k, hi).Is("any", "all", "some") {
		r.unsupported(k, "patterns with ANY or ALL", "join the comparisons with OR or AND")
	}
	trail := " "
	if next < hi && r.tokens[next].Kind == sqltext.Blank {
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
	r.likes = r.likes || !t.IsText() || strings.ToUpper(t.Literal()) != strings.ToLower(t.Literal())
	if !t.IsText() || !strings.Contains(t.Literal(), `\`) {
		return next
	}
	if after := r.at(r.skip(k+1, hi), hi); after.Is("escape") || after.IsSymbol("||", "::") {
		return next
	}
	for ; next < k; next++ {
		e.put(r.tokens[next].Text)
	}
	e.push(sqltext.Quote(t.Literal()))
	e.put(` ESCAPE '\'`)
	return k + 1
}

// quantified rewrites = ANY and <> ALL.
func (r *rewriter) quantified(e *emitter, i, hi int) int {
	e.operand = -1
	operator := r.tokens[i].Text
	k := r.skip(i+1, hi)
	t, open := r.at(k, hi), r.skip(k+1, hi)
	if !t.Is("any", "some", "all") || !r.opens(open, hi) {
		e.put(operator)
		return i + 1
	}
	in := "IN ("
	if operator != "=" {
		in = "NOT IN ("
	}
	if t.Is("all") == (operator == "=") {
		r.unsupported(k, operator+" "+strings.ToUpper(t.Text), "")
	}
	end := r.match[open]
	inner := r.span(open+1, end)
	if !r.at(r.skip(open+1, end), end).Is("select", "values", "with") {
		inner = "SELECT value FROM unnest(" + inner + ")"
	}
	pad := ""
	if i > 0 && r.tokens[i-1].Kind != sqltext.Blank {
		pad = " "
	}
	e.push(pad + in + inner + ")")
	return end + 1
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

// ordersTexts are the aggregates that would take intervals, which are texts here, for something else.
var ordersTexts = set("sum avg total min max")

// clocks tell the time as SQLite does, which is the same throughout a statement, also to proofs about it.
var clocks = map[string]string{
	"now": instant, "transaction_timestamp": instant, "statement_timestamp": instant, "current_timestamp": "datetime('now')",
	"localtimestamp": "strftime('%Y-%m-%d %H:%M:%f', 'now')", "current_date": "date('now')",
}

const instant = "strftime('%Y-%m-%d %H:%M:%f+00', 'now')"

// A word is a keyword or a name with its neighbours.
type word struct {
	i, n, hi       int // where it is, where the next token is, and the end
	name           string
	next, previous sqltext.Token
}

// missing are uses of words that SQLite has not.
var missing = []struct {
	word       string
	is         func(w word, operand bool) bool
	what, hint string
}{
	{"similar", func(w word, operand bool) bool { return operand && w.next.Is("to") }, "SIMILAR TO", "write ~ with a regular expression"},
	{"grouping", func(w word, _ bool) bool { return w.next.Is("sets") }, "GROUPING SETS", "join several SELECTs with UNION ALL"},
	{"rollup", grouping, "ROLLUP", "join several SELECTs with UNION ALL"},
	{"cube", grouping, "CUBE", "join several SELECTs with UNION ALL"},
	{"lateral", func(w word, _ bool) bool { return w.next.IsSymbol("(") }, "LATERAL", "write the subquery in the select list"},
	{"for", func(w word, operand bool) bool {
		return operand && (w.next.Is("update", "share") || w.next.Is("no", "key"))
	},
		"locks of rows (FOR UPDATE)", ""},
}

func grouping(w word, _ bool) bool { return w.next.IsSymbol("(") && w.previous.Is("by") }

// isLiteral reports whether a token is a text in quotes.
func isLiteral(t sqltext.Token) bool { return t.Kind == sqltext.Text || t.Kind == sqltext.Escaped }

// word rewrites a keyword, or an expression that begins with a name.
func (r *rewriter) word(e *emitter, i, hi int, previous sqltext.Token) int {
	t, n := r.tokens[i], r.skip(i+1, hi)
	w := word{i, n, hi, t.Name(), r.at(n, hi), previous}
	if previous.IsSymbol(".") {
		return r.primary(e, i, hi, previous)
	}
	if previous.Is("as") && sqltext.IsReserved(w.name) && (w.next.Text == "" || w.next.Is("from") || w.next.IsSymbol(",", ")")) {
		e.push(`"` + w.name + `"`)
		return i + 1
	}
	r.refuse(e, w)
	if w.name == "at" && w.next.Is("time") && e.operand >= 0 {
		return r.atTimeZone(e, i, hi)
	}
	if end := r.keyword(e, w); end > 0 {
		return end
	}
	if text := r.value(w); text != "" {
		e.push(text)
		return i + 1
	}
	// LEFT, RIGHT, and such are functions too.
	if notOperands[w.name] && !(w.next.IsSymbol("(") && (w.name == "left" || w.name == "right")) {
		return r.keep(e, i)
	}
	return r.primary(e, i, hi, previous)
}

// refuse notes an error for a word that begins something SQLite has not.
func (r *rewriter) refuse(e *emitter, w word) {
	for _, m := range missing {
		if w.name == m.word && m.is(w, e.operand >= 0) {
			r.unsupported(w.i, m.what, m.hint)
		}
	}
	if (w.name == "between" || w.name == "not" && w.next.Is("between")) && e.operand >= 0 && r.temporal(e.sum.token, w.i) == anInterval {
		r.unsupported(w.i, "BETWEEN of intervals", "compare with >= and <=")
	}
}

// value is the expression for a word that is a value by itself, such as CURRENT_DATE. It is empty for other words.
func (r *rewriter) value(w word) string {
	clock := strings.HasPrefix(w.name, "current_") || w.name == "localtimestamp"
	switch {
	case w.next.IsSymbol("(", "."), w.previous.Is("as"):
		return ""
	case w.name == "user" && r.catalogue:
		return "user()"
	case clock && clocks[w.name] != "":
		return clocks[w.name]
	case functionsOfNoParentheses[w.name]:
		return w.name + "()"
	}
	return ""
}

// keep leaves a keyword as it is.
func (r *rewriter) keep(e *emitter, i int) int {
	e.put(r.tokens[i].Text)
	e.operand = -1
	return i + 1
}

// keyword rewrites a keyword that means something else to SQLite. It returns 0 for other words.
func (r *rewriter) keyword(e *emitter, w word) int {
	switch w.name {
	case "case":
		e.cases = append(e.cases, branches{begin{len(e.out), w.i}, e.sum, e.until})
		e.until = 0
		return r.keep(e, w.i)
	case "end":
		if k := len(e.cases); k > 0 {
			e.put(r.tokens[w.i].Text)
			c := e.cases[k-1]
			e.operand, e.from, e.sum, e.until, e.cases, e.literal = c.chunk, c.token, c.sum, c.until, e.cases[:k-1], false
			return w.i + 1
		}
		return r.keep(e, w.i)
	case "order":
		if r.nulls && w.next.Is("by") {
			return r.ordering(e, w.i, w.hi)
		}
	case "operator":
		return r.operator(e, w)
	case "collate":
		return r.collate(e, w)
	case "like", "ilike":
		if e.operand < 0 && !w.previous.Is("not") {
			return 0
		}
		e.put("LIKE")
		if w.name == "like" {
			e.out[len(e.out)-1] = r.tokens[w.i].Text
		}
		e.operand = -1
		return r.pattern(e, w.i+1, w.hi)
	case "date", "timestamp", "timestamptz", "time":
		if isLiteral(w.next) {
			e.push(sqltext.Quote(w.next.Literal()))
			r.convert(e, w.n, w.i, pgType{name: w.name})
			return w.n + 1
		}
	case "interval":
		if isLiteral(w.next) {
			end, unit := w.n+1, ""
			if k := r.skip(end, w.hi); units[r.at(k, w.hi).Name()] {
				end, unit = k+1, ", "+sqltext.Quote(r.tokens[k].Name())
			}
			e.push("pg_interval(" + sqltext.Quote(w.next.Literal()) + unit + ")")
			return end
		}
	case "array":
		if w.next.IsSymbol("(", "[") && r.match[w.n] >= 0 {
			return r.array(e, w.n)
		}
	case "true", "false", "null":
		e.push(r.tokens[w.i].Text)
		return w.i + 1
	case "public", "pg_catalog", "information_schema":
		return r.primary(e, w.i, w.hi, w.previous)
	}
	return 0
}

// operator rewrites OPERATOR(pg_catalog.=).
func (r *rewriter) operator(e *emitter, w word) int {
	if !w.next.IsSymbol("(") || r.match[w.n] < 0 || e.operand < 0 {
		return 0
	}
	var symbols strings.Builder
	for _, o := range r.tokens[w.n+1 : r.match[w.n]] {
		if o.Kind == sqltext.Symbol && o.Text != "." {
			symbols.WriteString(o.Text)
		}
	}
	switch operator := symbols.String(); operator {
	case "~", "~*", "!~", "!~*", "~~", "~~*", "!~~", "!~~*":
		return r.matching(e, w.i, r.match[w.n]+1, w.hi, operator)
	case "=", "<>", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/", "||", "%":
		e.put(operator)
		e.operand = -1
		return r.match[w.n] + 1
	default:
		r.unsupported(w.i, "operator "+operator, "")
		return 0
	}
}

// collate rewrites COLLATE: the collations of a language are left out.
func (r *rewriter) collate(e *emitter, w word) int {
	chain, end := r.chain(w.n, w.hi)
	if len(chain) == 0 {
		return r.keep(e, w.i)
	}
	switch last := chain[len(chain)-1]; {
	case last == "default" || strings.Contains(last, "_") || last == "und-x-icu":
		return end
	case last == "C" || last == "POSIX" || last == "ucs_basic":
		e.put("COLLATE BINARY")
		return end
	}
	e.put(r.tokens[w.i].Text)
	return w.i + 1
}

// chain returns the names of a.b.c that begin at i, and the index behind them. A * may end it.
func (r *rewriter) chain(i, hi int) (names []string, end int) {
	end = i
	for i < hi {
		t := r.tokens[i]
		if t.IsSymbol("*") && len(names) > 0 {
			return append(names, "*"), i + 1
		}
		if t.Kind != sqltext.Word && t.Kind != sqltext.Name {
			return names, end
		}
		names = append(names, t.Name())
		end = i + 1
		dot := r.skip(end, hi)
		if !r.at(dot, hi).IsSymbol(".") {
			return names, end
		}
		i = r.skip(dot+1, hi)
	}
	return names, end
}

// primary rewrites an expression that begins with a name: a column, a table, or a call.
func (r *rewriter) primary(e *emitter, i, hi int, previous sqltext.Token) int {
	chain, end := r.chain(i, hi)
	if len(chain) == 0 {
		e.put(r.tokens[i].Text)
		return i + 1
	}
	name := chain[len(chain)-1]
	schema := ""
	if len(chain) > 1 {
		schema = chain[len(chain)-2]
	}
	open := r.skip(end, hi)
	isName := previous.Is("into", "table", "view", "exists", "update", "references")
	calls := r.opens(open, hi) && name != "*" && !isName
	if calls && (len(chain) == 1 || isSchema(schema)) {
		return r.call(e, i, end, open, hi, name, len(chain) > 1)
	}
	if replacement, ok := r.renamed(chain); ok && !previous.Is("as") {
		e.push(replacement)
		// The column keeps its name.
		if after := r.at(r.skip(end, hi), hi); e.list && (previous.Is("select", "distinct") || previous.IsSymbol(",")) {
			if after.Text == "" || after.Is("from") || after.IsSymbol(",") {
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
		for first++; !r.tokens[first].IsSymbol("."); first++ {
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
		part := r.tokens[k].Text
		if r.tokens[k].Kind == sqltext.Word && k > first && sqltext.IsReserved(strings.ToLower(part)) {
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

// renamed returns the stand-in for a name of a set-returning function in FROM.
func (r *rewriter) renamed(chain []string) (string, bool) {
	key := strings.Join(chain, ".")
	for i := len(r.names) - 1; i >= 0; i-- {
		if s, ok := r.names[i][key]; ok {
			return s, true
		}
	}
	return "", false
}

// call rewrites a function call. Its name ends before end and its arguments begin at open.
func (r *rewriter) call(e *emitter, i, end, open, hi int, name string, qualified bool) int {
	shut := r.match[open]
	lo := open + 1
	if s := r.keywordCall(name, lo, shut); s != "" {
		e.push(s)
		return shut + 1
	}
	switch name {
	case "cast":
		return r.cast(e, i, open)
	case "percentile_cont", "percentile_disc":
		if end := r.withinGroup(e, name, open, hi); end > 0 {
			return r.clauses(e, end, hi)
		}
	case "now", "transaction_timestamp", "statement_timestamp":
		if r.skip(lo, shut) == shut {
			e.push(clocks[name])
			return shut + 1
		}
	case "age":
		if len(r.split(open)) == 1 {
			e.push("age(date('now'), " + r.span(lo, shut) + ")")
			return shut + 1
		}
	case "unnest", "generate_series", "generate_subscripts", "_pg_expandarray":
		if r.hoists != nil {
			e.push(r.hoist(name, open))
			return shut + 1
		}
	case "random":
		if r.skip(lo, shut) == shut { // from 0 to below 1
			e.push("((random() & 9007199254740991) / 9007199254740992.0)")
			return shut + 1
		}
	case "format":
		if qualified || strings.Contains(r.at(lo, shut).Text, "%I") || strings.Contains(r.at(lo, shut).Text, "%L") {
			name = "pg_format"
		}
	}
	if ordersTexts[name] && r.temporal(lo, shut) == anInterval {
		r.unsupported(i, name+" of intervals", "write "+name+"(extract(epoch FROM x)), in seconds")
	}
	if (name == "sum" || name == "avg") && isTime(r.typeOfSpan(lo, shut)) {
		r.fail(i, pgfunc.CodeNoFunction, "function %s does not exist for dates and times", name)
	}
	s := r.sql[r.tokens[i].At:r.tokens[end].At]
	if to, ok := synonyms[name]; ok {
		s = to
	} else if qualified || name == "pg_format" {
		s = name
	}
	e.push(s + "(" + r.span(lo, shut) + ")")
	return r.clauses(e, shut+1, hi)
}

// keywordCall rewrites a call with keywords between its arguments, from lo to before shut, such as extract(year FROM t). It returns
// "" for another call.
func (r *rewriter) keywordCall(name string, lo, shut int) string {
	switch name {
	case "extract":
		k := r.find(lo, shut, "from")
		field := r.at(r.skip(lo, shut), shut)
		if k > 0 && (field.Name() != "" || field.Kind == sqltext.Text) {
			return "date_part(" + sqltext.Quote(cmp.Or(field.Name(), field.Literal())) + "," + r.span(k+1, shut) + ")"
		}
	case "substring":
		if k := r.skip(r.find(lo, shut, "from")+1, shut); isLiteral(r.at(k, shut)) && r.tokens[r.back(k)].Is("from") {
			r.unsupported(k, "substring with a regular expression", "use regexp_replace")
		}
		if from, length := r.find(lo, shut, "from"), r.find(lo, shut, "for"); from > 0 {
			parts := []span{{lo, from}, {from + 1, shut}}
			if length > from {
				parts = []span{{lo, from}, {from + 1, length}, {length + 1, shut}}
			}
			var list []string
			for _, p := range parts {
				list = append(list, r.span(p.lo, p.hi))
			}
			return "substr(" + strings.Join(list, ",") + ")"
		}
	case "position":
		if k := r.find(lo, shut, "in"); k > 0 {
			return "instr(" + r.span(k+1, shut) + "," + r.span(lo, k) + ")"
		}
	case "trim":
		if k := r.find(lo, shut, "from"); k > 0 {
			at := r.skip(lo, shut)
			function := map[string]string{"leading": "ltrim", "trailing": "rtrim", "both": "trim"}[strings.ToLower(r.tokens[at].Text)]
			if function != "" {
				at++
			}
			characters := strings.TrimSpace(r.span(at, k))
			if characters != "" {
				characters = ", " + characters
			}
			return cmp.Or(function, "trim") + "(" + r.span(k+1, shut) + characters + ")"
		}
	}
	return ""
}

// withinGroup rewrites f(p) WITHIN GROUP (ORDER BY x) as f(x, p). It returns 0 for another call.
func (r *rewriter) withinGroup(e *emitter, name string, open, hi int) int {
	within := r.skip(r.match[open]+1, hi)
	group := r.skip(within+1, hi)
	inner := r.skip(group+1, hi)
	if !r.at(within, hi).Is("within") || !r.opens(inner, hi) {
		return 0
	}
	shut := r.match[inner]
	order := r.skip(inner+1, shut)
	from := r.skip(order+1, shut) + 1 // behind BY
	to, down := shut, ""
	if k := r.find(from, shut, "desc"); k > 0 {
		to, down = k, ", 1"
	} else if k := r.find(from, shut, "asc"); k > 0 {
		to = k
	}
	e.push(name + "(" + strings.TrimSpace(r.span(from, to)) + ", " + r.span(open+1, r.match[open]) + down + ")")
	return shut + 1
}

// clauses adds FILTER and OVER to the call that they belong to.
func (r *rewriter) clauses(e *emitter, i, hi int) int {
	for {
		k := r.skip(i, hi)
		open := r.skip(k+1, hi)
		if !r.at(k, hi).Is("filter", "over") || !r.opens(open, hi) {
			return i
		}
		before := r.sql[r.tokens[i].At:r.tokens[open].At]
		if strings.TrimSpace(before) != r.tokens[k].Text { // there is a comment
			before = " " + r.tokens[k].Text + " "
		}
		e.put(before + "(" + r.span(open+1, r.match[open]) + ")")
		i = r.match[open] + 1
	}
}

// split returns the items, between commas, of the group that opens at a token.
func (r *rewriter) split(open int) []span { return r.list(open+1, r.match[open]) }

// list returns the items, between commas, from lo to hi.
func (r *rewriter) list(lo, hi int) (items []span) {
	from := lo
	for i := lo; i < hi; i = r.after(i) {
		if r.tokens[i].IsSymbol(",") {
			items, from = append(items, span{from, i}), i+1
		}
	}
	return append(items, span{from, hi})
}

// find returns the index of a keyword between lo and hi outside of parentheses, or -1.
func (r *rewriter) find(lo, hi int, keyword string) int {
	found := -1
	for i := lo; i < hi; i = r.after(i) {
		if r.tokens[i].Is(keyword) {
			found = i
			if keyword != "as" {
				return i
			}
		}
	}
	return found
}

// array rewrites ARRAY(SELECT ..) and ARRAY[..] with the parenthesis or bracket at open.
func (r *rewriter) array(e *emitter, open int) int {
	end := r.match[open]
	outer := r.hoists
	r.hoists = nil
	defer func() { r.hoists = outer }()
	if r.tokens[open].Text == "(" {
		r.count++
		name := "pg_a" + strconv.Itoa(r.count)
		e.push("(WITH " + name + "(x) AS (" + r.span(open+1, end) + ") SELECT coalesce(array_agg(x), '{}') FROM " + name + ")")
		return end + 1
	}
	e.push("pg_array(json_array(" + r.span(open+1, end) + "))")
	return end + 1
}

// listed returns the table-valued function of SQLite for a set-returning one with its arguments at open, and the columns of its
// values.
func (r *rewriter) listed(name string, open int) (call string, columns []string) {
	arguments := span{open + 1, r.match[open]}
	columns = []string{"value"}
	switch name {
	case "generate_subscripts": // of the first dimension
		arguments, columns = r.split(open)[0], []string{"ordinality"}
	case "_pg_expandarray":
		columns = []string{"value", "ordinality"}
	}
	switch parts := r.split(open); {
	case name != "generate_series":
		name = "unnest"
	case len(parts) == 3 && (isLiteral(r.at(r.skip(parts[2].lo, parts[2].hi), parts[2].hi)) || r.temporal(parts[2].lo, parts[2].hi) == anInterval):
		name = "pg_series"
	}
	return name + "(" + strings.TrimSpace(r.span(arguments.lo, arguments.hi)) + ")", columns
}

// hoist moves a set-returning function of the select list to FROM and returns the name of its
// value.
func (r *rewriter) hoist(name string, open int) string {
	list := r.hoists
	r.hoists = nil
	call, columns := r.listed(name, open)
	r.hoists = list
	alias := list.alias[call]
	if alias == "" {
		r.count++
		alias = "pg_s" + strconv.Itoa(r.count)
		list.calls, list.alias[call] = append(list.calls, call+" AS "+alias), alias
	}
	if len(columns) == 2 {
		return "'(' || " + alias + ".value || ',' || " + alias + ".ordinality || ')'"
	}
	return alias + "." + columns[0]
}

// expanded rewrites (_pg_expandarray(x)).n and .x with the outer parentheses at open and shut. It
// returns an empty text for anything else.
func (r *rewriter) expanded(open, shut, hi int) (string, int) {
	chain, end := r.chain(r.skip(open+1, shut), shut)
	dot := r.skip(shut+1, hi)
	field := r.skip(dot+1, hi)
	inner := r.skip(end, shut)
	if r.hoists == nil || len(chain) == 0 || chain[len(chain)-1] != "_pg_expandarray" || !r.at(dot, hi).IsSymbol(".") ||
		!r.at(field, hi).Is("n", "x") || !r.opens(inner, shut) {
		return "", 0
	}
	s := r.hoist("unnest", inner)
	if r.tokens[field].Is("n") {
		s = strings.TrimSuffix(s, "value") + "ordinality"
	}
	return s, field + 1
}

// relations are set-returning functions that are kept as relations.
var relations = map[string]string{
	"pg_get_keywords": "pg_catalog.pg_keywords", "pg_show_all_settings": "pg_catalog.pg_settings",
	"pg_timezone_names": "pg_catalog.pg_timezone_names",
}

// emitTables rewrites FROM and the rest behind it. names gets the stand-ins for the names of functions.
func (r *rewriter) emitTables(lo, hi int, names map[string]string) string {
	// Functions may be named before they appear, in the conditions of earlier joins.
	type item struct {
		from, to int
		text     string
	}
	var items []item
	for i := lo; i < hi; {
		t := r.tokens[i]
		if !t.Is("from", "join", "lateral", "only") && !t.IsSymbol(",") {
			i = r.after(i)
			continue
		}
		k := r.skip(i+1, hi)
		if r.at(k, hi).Is("lateral", "only") {
			next := r.skip(k+1, hi)
			if r.at(k, hi).Is("lateral") && r.at(next, hi).IsSymbol("(") {
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
	var out strings.Builder
	done := lo
	for _, it := range append(items, item{hi, hi, ""}) {
		if it.from >= done {
			out.WriteString(r.emit(done, it.from, false) + it.text)
			done = it.to
		}
	}
	return out.String()
}

// subquery rewrites a subquery in FROM that gives its columns names.
func (r *rewriter) subquery(i, hi int) (string, int) {
	shut := r.match[i]
	if !r.at(r.skip(i+1, shut), shut).Is("select", "values", "with") {
		return "", 0
	}
	alias, columns, end := r.alias(shut+1, hi)
	if len(columns) == 0 {
		return "", 0
	}
	as := sqlite.QuoteName(alias)
	for i, name := range columns {
		columns[i] = sqlite.QuoteName(name)
	}
	return "(WITH " + as + "(" + strings.Join(columns, ", ") + ") AS (" + r.span(i+1, shut) + ") SELECT * FROM " + as + ") AS " + as, end
}

// table rewrites a function, or a subquery with named columns, in FROM. It returns an empty
// text for other tables.
func (r *rewriter) table(i, hi int, names map[string]string) (string, int) {
	if r.opens(i, hi) {
		return r.subquery(i, hi)
	}
	chain, end := r.chain(i, hi)
	open := r.skip(end, hi)
	if len(chain) == 0 || !r.opens(open, hi) || len(chain) > 1 && !isSchema(chain[len(chain)-2]) {
		return "", 0
	}
	name, shut := chain[len(chain)-1], r.match[open]
	next := shut + 1
	numbered := false
	if k := r.skip(next, hi); r.at(k, hi).Is("with") {
		if o := r.skip(k+1, hi); r.at(o, hi).Is("ordinality") {
			numbered, next = true, o+1
		}
	}
	alias, columns, end := r.alias(next, hi)
	as := cmp.Or(alias, name)
	if relation := relations[name]; relation != "" {
		return relation + " AS " + sqlite.QuoteName(as), end
	}
	quoted := " AS " + sqlite.QuoteName(as)
	switch name {
	case "unnest", "generate_series", "generate_subscripts", "_pg_expandarray":
	case "aclexplode", "pg_options_to_table", "pg_partition_ancestors":
		return name + "(" + r.span(open+1, shut) + ")" + quoted, end
	default:
		if pgcatalog.Returns(name) == 0 {
			return "", 0
		}
		columns = append(columns, as)
		return "(SELECT " + name + "(" + r.span(open+1, shut) + ") AS " + sqlite.QuoteName(columns[0]) + ")" + quoted, end
	}
	call, values := r.listed(name, open)
	if numbered && len(values) == 1 {
		values = append(values, "ordinality")
	}
	if len(columns) == 0 {
		columns = []string{as, "ordinality"}
		if name == "_pg_expandarray" {
			columns = []string{"x", "n"}
		}
	}
	n := min(len(values), len(columns))
	if r.constant(open+1, shut) {
		var list []string
		for k, v := range values[:n] {
			list = append(list, v+" AS "+sqlite.QuoteName(columns[k]))
		}
		return "(SELECT " + strings.Join(list, ", ") + " FROM " + call + ")" + quoted, end
	}
	for k, v := range values[:n] {
		names[columns[k]] = sqlite.QuoteName(as) + "." + v
		names[as+"."+columns[k]] = sqlite.QuoteName(as) + "." + v
	}
	return call + quoted, end
}

// constant reports whether the tokens name no column.
func (r *rewriter) constant(lo, hi int) bool {
	for i := lo; i < hi; i++ {
		t := r.tokens[i]
		if t.Kind != sqltext.Word && t.Kind != sqltext.Name || t.Is("true", "false", "null", "array", "pg_catalog", "select") {
			continue
		}
		if previous := i - 1; previous >= lo && r.tokens[previous].IsSymbol("::") {
			continue
		}
		if !r.at(r.skip(i+1, hi), hi).IsSymbol("(") {
			return false
		}
	}
	return true
}

// alias returns the alias at i, the names that it gives to columns, and the index behind it.
func (r *rewriter) alias(i, hi int) (alias string, columns []string, end int) {
	k := r.skip(i, hi)
	if r.at(k, hi).Is("as") {
		k = r.skip(k+1, hi)
	} else if notOperands[r.at(k, hi).Name()] && r.at(k, hi).Kind == sqltext.Word {
		return "", nil, i
	}
	if alias = r.at(k, hi).Name(); alias == "" {
		return "", nil, i
	}
	end = k + 1
	open := r.skip(end, hi)
	if !r.opens(open, hi) {
		return alias, nil, end
	}
	for j := r.skip(open+1, hi); j < r.match[open]; j = r.skip(j+1, hi) {
		if n := r.tokens[j].Name(); n != "" {
			columns = append(columns, n)
			if after := r.skip(j+1, hi); !r.tokens[after].IsSymbol(",") {
				j = r.match[open] - 1 // the rest is the column's type
			}
		}
	}
	return alias, columns, r.match[open] + 1
}
