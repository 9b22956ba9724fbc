// Package firstrow reads from the text of a statement whether it returns a row before a group of an aggregate is complete. It
// imports internal/sqltext only. Start at [Grouped].
package firstrow

import (
	"slices"
	"strings"

	"github.com/geosql/geosql/internal/sqltext"
)

// Grouped reports whether it follows from a statement's text alone, whatever the tables and views are that it names, that no run
// returns a row before a group of an aggregate is complete. Only calls with fewer arguments than most count, those under d1. It is so of
//
//   - a SELECT that calls the aggregate itself, without FILTER: each of its rows is that of a group, all rows of which it steps.
//     Without GROUP BY it has one row, for which the aggregate may have stepped nothing: so that row has to be the last.
//   - a SELECT with a FROM that begins with such a subquery or common table expression, and without RIGHT or FULL JOIN:
//     it has no row without one of these.
//   - UNION and the like, if it is so of each part.
func Grouped(sql, aggregate string, most int) bool {
	words := slices.Collect(sqltext.SQLite.Words(sql))
	r := reader{aggregate, most, words, sqltext.Match(words), map[string]span{}}
	all := span{0, len(words)}
	if r.is(0, "WITH") {
		all = r.cutWith(span{1, len(words)})
	}
	return r.query(all, true)
}

// reader looks for a group that is complete before the first row of a statement.
type reader struct {
	aggregate string
	most      int // arguments
	words     []sqltext.Token
	match     []int           // the parenthesis that closes each one
	with      map[string]span // the bodies of common table expressions, by their names in lower case
}

// A span is the words from one to before another.
type span struct{ from, to int }

// query looks at a SELECT with its UNIONs. If last is set, nothing follows its last row.
func (r *reader) query(s span, last bool) bool {
	from := s.from
	for i := s.from; i < s.to; i = r.behind(i) {
		if r.is(i, "UNION", "EXCEPT", "INTERSECT") {
			if !r.part(span{from, i}, false) {
				return false
			}
			from = i + 1
		}
	}
	return r.part(span{from, s.to}, last && from == s.from)
}

// part looks at a SELECT without UNION.
func (r *reader) part(s span, last bool) bool {
	grouped, outer, calls, from := false, false, false, 0
	for i := s.from; i < s.to; i = r.behind(i) {
		switch {
		case r.is(i, "GROUP"):
			grouped = true
		case r.is(i, "RIGHT", "FULL"):
			outer = true
		case r.is(i, "FROM") && from == 0 && !r.is(i-1, "DISTINCT"): // an operator
			from = i + 1
		default:
			calls = calls || r.calls(i)
		}
	}
	switch {
	case calls:
		return grouped || last
	case from == 0 || from == s.to || outer:
		return false
	case r.words[from].IsSymbol("("):
		return r.query(r.inside(from), false)
	case from+1 < s.to && r.words[from+1].IsSymbol("."):
		return false
	}
	name := Named(r.words[from])
	body, found := r.with[name]
	if !found || name == "" {
		return false
	}
	delete(r.with, name) // it may name itself
	defer func() { r.with[name] = body }()
	return r.query(body, false)
}

// calls reports whether a call of the aggregate under d1, without FILTER, begins with a word.
func (r *reader) calls(i int) bool {
	if !strings.EqualFold(r.words[i].Name(), r.aggregate) || i+1 == len(r.words) || !r.words[i+1].IsSymbol("(") {
		return false
	}
	arguments := 1
	for in := r.inside(i + 1); in.from < in.to; in.from = r.behind(in.from) {
		if r.words[in.from].IsSymbol(",") {
			arguments++
		}
	}
	return arguments < r.most && !r.is(r.behind(i+1), "FILTER") // the last one is the metric
}

// cutWith takes in the common table expressions behind WITH, and returns the words after them.
func (r *reader) cutWith(s span) (rest span) {
	name := ""
	for i := s.from; i < s.to; i = r.behind(i) {
		switch {
		case r.is(i, "SELECT", "VALUES", "INSERT", "REPLACE", "UPDATE", "DELETE"):
			return span{i, s.to}
		case r.words[i].IsSymbol("(") && r.is(i-1, "AS", "MATERIALIZED"):
			r.with[name] = r.inside(i)
		case i == s.from || r.words[i-1].IsSymbol(",") || r.is(i-1, "RECURSIVE"):
			name = Named(r.words[i])
		}
	}
	return span{}
}

// behind returns the index of the word behind one, or behind the parenthesis that it opens.
func (r *reader) behind(i int) int {
	if r.match[i] >= 0 {
		return r.match[i] + 1
	}
	return i + 1
}

// inside returns the words in the parenthesis that a word opens.
func (r *reader) inside(i int) span { return span{i + 1, r.behind(i) - 1} }

// is reports whether there is a word that is one of some keywords.
func (r *reader) is(i int, keywords ...string) bool {
	return i >= 0 && i < len(r.words) && r.words[i].Is(keywords...)
}

// Named returns the name that a word is, in lower case. SQLite takes a text for one, too.
func Named(t sqltext.Token) string {
	if t.Kind == sqltext.Text {
		return strings.ToLower(t.Literal())
	}
	return strings.ToLower(t.Name())
}
