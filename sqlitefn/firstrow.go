package sqlitefn

import (
	"slices"
	"strings"
)

// answersFirst reports whether it follows from a statement's text alone, whatever the tables and views are that it names, that
// no run returns a row before a group of the aggregate f under d1 is complete. That is so of
//
//   - a SELECT that calls f itself, without FILTER: each of its rows is that of a group, and f steps all rows of a group. Without
//     GROUP BY it has one row, for which f may have stepped nothing: so that row has to be the last.
//   - a SELECT whose FROM begins with a subquery or a common table expression of which it is so, and without RIGHT or FULL JOIN:
//     it has no row without one of these.
//   - UNION and the like, if it is so of each part.
func answersFirst(sql string, f *function) bool {
	var tokens []string
	for sql != "" {
		token := nextToken(sql)
		if sql = sql[len(token):]; skipBlank(token) != "" {
			tokens = append(tokens, token)
		}
	}
	r := firstRow{f, map[string][]string{}}
	if len(tokens) > 0 && is(tokens[0], "WITH") {
		tokens = r.cutWith(tokens[1:])
	}
	return r.query(tokens, true)
}

// firstRow looks for what comes before the first row of a statement.
type firstRow struct {
	f    *function
	with map[string][]string // the bodies of common table expressions, by their names in lower case
}

// query looks at a SELECT with its UNIONs. If last is set, nothing follows its last row.
func (r *firstRow) query(tokens []string, last bool) bool {
	for from, i := 0, 0; ; i = behind(tokens, i) {
		if i == len(tokens) {
			return r.part(tokens[from:], last && from == 0)
		}
		if is(tokens[i], "UNION", "EXCEPT", "INTERSECT") {
			if !r.part(tokens[from:i], false) {
				return false
			}
			from = i + 1
		}
	}
}

// part looks at a SELECT without UNION.
func (r *firstRow) part(tokens []string, last bool) bool {
	grouped, outer, calls, from := false, false, false, 0
	for i := 0; i < len(tokens); i = behind(tokens, i) {
		switch {
		case is(tokens[i], "GROUP"):
			grouped = true
		case is(tokens[i], "RIGHT", "FULL"):
			outer = true
		case is(tokens[i], "FROM") && from == 0 && !is(tokens[max(i-1, 0)], "DISTINCT"): // an operator
			from = i + 1
		default:
			calls = calls || r.calls(tokens[i:])
		}
	}
	switch {
	case calls:
		return grouped || last
	case from == 0 || from == len(tokens) || outer:
		return false
	case tokens[from] == "(":
		return r.query(inside(tokens, from), false)
	case from+1 < len(tokens) && tokens[from+1] == ".":
		return false
	}
	name := strings.ToLower(unquoted(tokens[from]))
	body := r.with[name]
	delete(r.with, name) // it may name itself
	defer func() { r.with[name] = body }()
	return body != nil && r.query(body, false)
}

// calls reports whether tokens begin with a call of f under d1, without FILTER.
func (r *firstRow) calls(tokens []string) bool {
	if !strings.EqualFold(unquoted(tokens[0]), r.f.name) || len(tokens) == 1 || tokens[1] != "(" {
		return false
	}
	arguments := 1
	for in, i := inside(tokens, 1), 0; i < len(in); i = behind(in, i) {
		if in[i] == "," {
			arguments++
		}
	}
	end := behind(tokens, 1)
	return arguments < len(r.f.args) && (end == len(tokens) || !is(tokens[end], "FILTER")) // the last one is the metric
}

// cutWith takes in the common table expressions behind WITH, and returns what follows them.
func (r *firstRow) cutWith(tokens []string) (rest []string) {
	name := ""
	for i := 0; i < len(tokens); i = behind(tokens, i) {
		switch {
		case is(tokens[i], "SELECT", "VALUES", "INSERT", "REPLACE", "UPDATE", "DELETE"):
			return tokens[i:]
		case tokens[i] == "(" && i > 0 && is(tokens[i-1], "AS", "MATERIALIZED"):
			r.with[name] = inside(tokens, i)
		case i == 0 || tokens[i-1] == "," || is(tokens[i-1], "RECURSIVE"):
			name = strings.ToLower(unquoted(tokens[i]))
		}
	}
	return nil
}

// behind returns the index of the token behind one, or behind the parenthesis that it opens.
func behind(tokens []string, i int) int {
	for depth := 0; i < len(tokens); {
		switch tokens[i] {
		case "(":
			depth++
		case ")":
			depth--
		}
		if i++; depth <= 0 {
			break
		}
	}
	return i
}

// inside returns the tokens in the parenthesis that a token opens.
func inside(tokens []string, i int) []string { return tokens[i+1 : max(i+1, behind(tokens, i)-1)] }

// is reports whether a token is one of some words.
func is(token string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, token) })
}
