package sqlitefn

import "strings"

// passedTo returns the texts of the arguments of each call of a function in a statement.
func passedTo(sql, function string) (calls [][]string) {
	eachCall(sql, func(name string, arguments []string) {
		if strings.EqualFold(name, function) {
			calls = append(calls, arguments)
		}
	})
	return calls
}

// eachCall calls found with the texts of the arguments of each call in a statement, the inner ones first. What else stands
// in parentheses counts as a call of the word before it.
func eachCall(sql string, found func(name string, arguments []string)) {
	type call struct {
		name      string
		arguments []string
		from      int // of the last one
	}
	var open []call
	name := ""
	for at := 0; at < len(sql); {
		token := nextToken(sql[at:])
		at += len(token)
		if skipBlank(token) == "" {
			continue
		}
		last := len(open) - 1
		if last >= 0 && (token == "," || token == ")") {
			c := &open[last]
			c.arguments, c.from = append(c.arguments, strings.TrimSpace(sql[c.from:at-1])), at
		}
		switch {
		case token == "(":
			open = append(open, call{name: name, from: at})
		case token == ")" && last >= 0:
			found(open[last].name, open[last].arguments)
			open = open[:last]
		}
		name = unquoted(token)
	}
}

// unquoted returns a token without the quotes around a name.
func unquoted(token string) string {
	if n := len(token); n >= 2 && strings.IndexByte("\"`['", token[0]) >= 0 {
		return token[1 : n-1]
	}
	return token
}

// nextToken returns the first token of a text that is not empty: a word, a text or name in quotes,
// a comment, or a single byte.
func nextToken(sql string) string {
	end := func(mark string, from int) string {
		if i := strings.Index(sql[from:], mark); i >= 0 {
			return sql[:from+i+len(mark)]
		}
		return sql
	}
	switch first := sql[0]; {
	case first == '\'' || first == '"' || first == '`':
		return end(sql[:1], 1) // of a doubled quote each half is read as a text
	case first == '[':
		return end("]", 1)
	case strings.HasPrefix(sql, "--"):
		return end("\n", 2)
	case strings.HasPrefix(sql, "/*"):
		return end("*/", 2)
	case isWord(first):
		n := 1
		for n < len(sql) && isWord(sql[n]) {
			n++
		}
		return sql[:n]
	}
	return sql[:1]
}

// isWord reports whether a byte is part of words: of a name without quotes, or of a number.
func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '$' || c >= 0x80
}
