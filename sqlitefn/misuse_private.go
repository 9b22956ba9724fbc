package sqlitefn

import (
	"fmt"
	"slices"
	"strings"
)

// Private returns a statement in which the private form takes the place of each of SQLite's aggregates
// over a sealed value, with an epsilon: dx_sum(x, 0.1) that of sum(x). A statement without
// misuses is returned as it is. It is an error if misuses are left, as those in views are, or if
// an aggregate is used over public values too.
func (m *Meter) Private(sql, epsilon string) (string, error) { return m.session.private(sql, epsilon) }

func (s *session) private(sql, epsilon string) (string, error) {
	list, program, err := s.misuses(sql)
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
	left, _, err := s.misuses(private)
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
	var b strings.Builder
	before := ""
	for sql != "" {
		token := nextToken(sql)
		sql = sql[len(token):]
		if form := forms[strings.ToLower(token)]; form != "" && before != "." {
			if argument, rest, ok := cutArgument(sql); ok {
				b.WriteString(form + "(" + replaceCalls(argument, forms, second) + ", " + second + ")")
				sql, before = rest, ")"
				continue
			}
		}
		if skipBlank(token) != "" {
			before = token
		}
		b.WriteString(token)
	}
	return b.String()
}

// cutArgument cuts the only argument of a call, with its parentheses, from a text that follows the name
// of an aggregate. It reports false if there is no such call, or not one that can be replaced.
func cutArgument(sql string) (argument, rest string, ok bool) {
	inside, rest, ok := cutParentheses(sql)
	if !ok {
		return "", "", false
	}
	depth, words := 0, []string(nil) // at depth 0
	for left := inside; left != ""; {
		token := nextToken(left)
		left = left[len(token):]
		switch {
		case skipBlank(token) == "":
		case token == "(":
			depth++
			words = append(words, token)
		case token == ")":
			depth--
		case depth == 0:
			words = append(words, strings.ToUpper(token))
		}
	}
	if len(words) == 0 || words[0] == "DISTINCT" || slices.Contains(words, ",") || slices.Contains(words, "ORDER") {
		return "", "", false
	}
	after := rest
	if word, left := cutWord(after); word == "FILTER" {
		if _, behind, found := cutParentheses(left); found {
			after = behind
		}
	}
	if word, _ := cutWord(after); word == "OVER" {
		return "", "", false
	}
	return inside, rest, true
}

// cutParentheses cuts what stands in parentheses at the beginning of a text.
func cutParentheses(sql string) (inside, rest string, ok bool) {
	sql, ok = strings.CutPrefix(skipBlank(sql), "(")
	depth := 0
	for left := sql; ok && left != ""; {
		token := nextToken(left)
		after := left[len(token):]
		switch {
		case token == "(":
			depth++
		case token == ")" && depth == 0:
			return sql[:len(sql)-len(left)], after, true
		case token == ")":
			depth--
		}
		left = after
	}
	return "", "", false
}
