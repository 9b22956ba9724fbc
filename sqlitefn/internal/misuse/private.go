package misuse

import (
	"fmt"
	"slices"
	"strings"

	"github.com/geosql/geosql/internal/sqltext"
)

// Private returns a statement in which the private form takes the place of each of SQLite's aggregates
// over a sealed value, with an epsilon: dx_sum(x, 0.1) that of sum(x). A statement without
// misuses is returned as it is. It is an error if misuses are left, as those in views are, or if
// an aggregate is used over public values too.
func (g *Gate) Private(sql, epsilon string) (string, error) {
	s := g.session
	list, program, err := misuses(s, sql)
	if err != nil || len(list) == 0 {
		return sql, err
	}
	forms := map[string]string{}
	for _, misuse := range list {
		if misuse.replace == "" {
			return "", misuse
		}
		forms[misuse.Through] = misuse.replace
	}
	private := replaceCalls(sql, forms, epsilon)
	if private == sql {
		return "", list[0]
	}
	for _, misuse := range list {
		name := misuse.Through
		if program.CountSteps(name) > misuse.steps(list) {
			return "", fmt.Errorf("%s is used over the sealed column %s and over public values: write %s(x, %s) where it is over the sealed one",
				name, strings.Join(misuse.Sealed, " and "), misuse.replace, epsilon)
		}
	}
	left, _, err := misuses(s, private)
	if err != nil {
		return "", fmt.Errorf("%w, in the private form of the statement: %s", err, strings.TrimSpace(private))
	}
	if len(left) > 0 {
		return "", left[0]
	}
	return private, nil
}

// steps returns how many instructions step the aggregate of m over sealed values.
func (m Misuse) steps(list []Misuse) (n int) {
	for _, other := range list {
		if other.Through == m.Through && other.replace != "" {
			n += other.instructions
		}
	}
	return n
}

// replaceCalls replaces calls of aggregates by calls of other functions with a second argument. forms
// has the others by their names in lower case. Only calls with one argument are replaced, not
// those with DISTINCT, ORDER BY or OVER, which the others do not take.
func replaceCalls(sql string, forms map[string]string, second string) string {
	words := slices.Collect(sqltext.SQLite.Words(sql))
	match := sqltext.Match(words)
	var b strings.Builder
	done, ends := 0, map[int]bool{} // the written part, and where the replaced calls end
	for i, t := range words {
		if ends[i] {
			b.WriteString(sql[done:t.At] + ", " + second)
			done = t.At
		}
		if t.Kind != sqltext.Word || i > 0 && words[i-1].IsSymbol(".") {
			continue
		}
		if form := forms[t.Name()]; form != "" && takesOneArgument(words, match, i+1) {
			b.WriteString(sql[done:t.At] + form)
			done = words[i+1].At
			ends[match[i+1]] = true
		}
	}
	return b.String() + sql[done:]
}

// takesOneArgument reports whether the words from one on are the parentheses of a call with one argument that can be
// replaced.
func takesOneArgument(words []sqltext.Token, match []int, open int) bool {
	if open >= len(words) || !words[open].IsSymbol("(") || match[open] < 0 {
		return false
	}
	end := match[open]
	for i := open + 1; i < end; i = max(i, match[i]) + 1 {
		if words[i].IsSymbol(",") || words[i].Is("ORDER") || words[i].Is("DISTINCT") && i == open+1 {
			return false
		}
	}
	after := end + 1
	if after+1 < len(words) && words[after].Is("FILTER") && match[after+1] >= 0 {
		after = match[after+1] + 1
	}
	return end > open+1 && (after == len(words) || !words[after].Is("OVER"))
}
