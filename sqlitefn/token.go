package sqlitefn

import "strings"

// passedTo returns the texts of the arguments of each call of a function in a statement.
func passedTo(sql, function string) (calls [][]string) {
	for rest := sql; rest != ""; {
		token := nextToken(rest)
		rest = rest[len(token):]
		if !strings.EqualFold(unquoted(token), function) {
			continue
		}
		after := skipBlank(rest)
		if strings.HasPrefix(after, "(") {
			calls = append(calls, splitArguments(after[1:]))
		}
	}
	return calls
}

// splitArguments returns the texts of the arguments that stand before a closing parenthesis.
func splitArguments(sql string) (arguments []string) {
	depth, text := 0, ""
	for sql != "" {
		token := nextToken(sql)
		sql = sql[len(token):]
		switch {
		case token == "(":
			depth++
		case token == ")" && depth > 0:
			depth--
		case token == ")":
			return append(arguments, strings.TrimSpace(text))
		case token == "," && depth == 0:
			arguments = append(arguments, strings.TrimSpace(text))
			text = ""
			continue
		}
		text += token
	}
	return nil
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
