package pgcatalog

import (
	"strings"
	"unicode/utf8"
)

// The lexical rules are PostgreSQL's where SQLite's leave room, which the tokenizer of sqlitefn
// does not: E” and $$ texts, :: and other operators of several characters, $1, comments in
// comments and subscripts. What only SQLite has (names in [] or `, variables) is kept.
type kind int

const (
	blank    kind = iota
	comment       // one that SQLite reads the same
	nested        // a comment that contains another
	word          // a name without quotes, or a keyword
	quoted        // a name in quotes
	text          // 'text'
	escaped       // E'text'
	dollar        // $$text$$
	number        // a number
	position      // $1
	variable      // a parameter in SQLite's way
	symbol        // an operator or a mark
	unended       // a text or a name in quotes whose end is missing
)

type token struct {
	kind kind
	text string
	at   int // offset in the statement
}

// symbols are the operators of more than one character, the longest first.
var symbols = []string{"!~~*", "!~~", "!~*", "~~*", "->>", "#>>", "::", "!~", "~~", "~*", "->", "||",
	"<<", ">>", "<=", ">=", "<>", "!=", "==", "=>", "@>", "<@", "&&", "#>", "^@", "@@"}

// A scanner splits a text into tokens, one at a time. The texts of the tokens together are the text.
type scanner struct {
	sql   string
	at    int      // of the next token
	depth int      // of brackets that are subscripts
	last  [2]token // the last token, and the one before
}

// next returns the next token. It reports false at the end.
func (s *scanner) next() (t token, ok bool) {
	if s.at == len(s.sql) {
		return token{}, false
	}
	rest := s.sql[s.at:]
	k, n := first(rest)
	switch {
	case rest[0] == '[' && (s.depth > 0 || s.subscripts()):
		s.depth++
	case rest[0] == '[':
		k, n = ended(quoted, rest, "]", 1)
	case rest[0] == ']' && s.depth > 0:
		s.depth--
	}
	t = token{k, rest[:n], s.at}
	s.at += n
	s.last = [2]token{t, s.last[0]}
	return t, true
}

// subscripts reports whether a bracket begins a subscript or an array here, and not a name.
func (s *scanner) subscripts() bool {
	switch last := s.last[0]; last.kind {
	case word, quoted, position, text:
		return true
	case symbol:
		return last.text == ")" || last.text == "]"
	case blank:
		return s.last[1].is("array")
	}
	return false
}

// tokens returns the tokens of a text.
func tokens(sql string) []token {
	list := make([]token, 0, len(sql)/4+8)
	for s := (scanner{sql: sql}); ; {
		t, ok := s.next()
		if !ok {
			return list
		}
		list = append(list, t)
	}
}

// first returns the kind and length of the first token of a text that is not empty.
func first(sql string) (kind, int) {
	c := sql[0]
	switch {
	case isBlank(c):
		n := 1
		for n < len(sql) && isBlank(sql[n]) {
			n++
		}
		return blank, n
	case strings.HasPrefix(sql, "--"):
		if i := strings.IndexByte(sql, '\n'); i >= 0 {
			return comment, i + 1
		}
		return comment, len(sql)
	case strings.HasPrefix(sql, "/*"):
		return blockComment(sql)
	case c == '\'':
		return closed(text, sql, 0)
	case c == '"' || c == '`':
		return closed(quoted, sql, 0)
	case (c == 'e' || c == 'E') && len(sql) > 1 && sql[1] == '\'':
		return closedEscaped(sql)
	case (c == 'x' || c == 'X') && len(sql) > 1 && sql[1] == '\'':
		return closed(text, sql, 1)
	case isDigit(c) || c == '.' && len(sql) > 1 && isDigit(sql[1]):
		return number, numberLength(sql)
	case isLetter(c):
		return word, wordLength(sql)
	case c == '$':
		return dollarToken(sql)
	case c == '?':
		n := 1
		for n < len(sql) && isDigit(sql[n]) {
			n++
		}
		return variable, n
	}
	for _, s := range symbols {
		if strings.HasPrefix(sql, s) {
			if s == "<@" && len(sql) > 2 && isLetter(sql[2]) {
				break // SQLite: less than a variable
			}
			return symbol, len(s)
		}
	}
	if (c == ':' || c == '@') && len(sql) > 1 && isLetter(sql[1]) {
		return variable, 1 + wordLength(sql[1:])
	}
	return symbol, 1
}

func dollarToken(sql string) (kind, int) {
	n := 1
	for n < len(sql) && isDigit(sql[n]) {
		n++
	}
	if n > 1 {
		return position, n
	}
	for n < len(sql) && (isLetter(sql[n]) || isDigit(sql[n])) {
		n++
	}
	if n < len(sql) && sql[n] == '$' {
		return ended(dollar, sql, sql[:n+1], n+1)
	}
	return variable, n
}

func blockComment(sql string) (kind, int) {
	depth, k := 1, comment
	for i := 2; i < len(sql); i++ {
		switch {
		case strings.HasPrefix(sql[i:], "/*"):
			depth, k = depth+1, nested
			i++
		case strings.HasPrefix(sql[i:], "*/"):
			i++
			if depth--; depth == 0 {
				return k, i + 1
			}
		}
	}
	return k, len(sql)
}

// closed returns the kind and length of a token that ends with the quote at from, which begins it.
func closed(k kind, sql string, from int) (kind, int) {
	mark := sql[from]
	for i := from + 1; i < len(sql); i++ {
		if sql[i] == mark {
			if i+1 < len(sql) && sql[i+1] == mark {
				i++
				continue
			}
			return k, i + 1
		}
	}
	return unended, len(sql)
}

func closedEscaped(sql string) (kind, int) {
	for i := 2; i < len(sql); i++ {
		switch {
		case sql[i] == '\\':
			i++
		case sql[i] == '\'' && i+1 < len(sql) && sql[i+1] == '\'':
			i++
		case sql[i] == '\'':
			return escaped, i + 1
		}
	}
	return unended, len(sql)
}

// ended returns the kind and length of a token that ends with the first mark behind from bytes.
func ended(k kind, sql, mark string, from int) (kind, int) {
	if i := strings.Index(sql[from:], mark); i >= 0 {
		return k, from + i + len(mark)
	}
	return unended, len(sql)
}

func numberLength(sql string) int {
	n := 0
	hex := len(sql) > 1 && sql[0] == '0' && sql[1]|0x20 == 'x'
	for n < len(sql) && (isDigit(sql[n]) || isLetter(sql[n]) || sql[n] == '.') {
		if !hex && sql[n]|0x20 == 'e' && n+2 < len(sql) && (sql[n+1] == '-' || sql[n+1] == '+') && isDigit(sql[n+2]) {
			n++
		}
		n++
	}
	return n
}

func wordLength(sql string) int {
	n := 1
	for n < len(sql) && (isLetter(sql[n]) || isDigit(sql[n]) || sql[n] == '$') {
		n++
	}
	return n
}

func isBlank(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' && c != '\v' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isLetter(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c >= 0x80
}

// name returns what a word or quoted name calls, in lower case unless it is quoted.
func (t token) name() string {
	if t.kind == word {
		return strings.ToLower(t.text)
	}
	if t.kind == quoted {
		mark := t.text[:1]
		return strings.ReplaceAll(t.text[1:len(t.text)-1], mark+mark, mark)
	}
	return ""
}

// is reports whether the token is one of the keywords, which are in lower case.
func (t token) is(keywords ...string) bool {
	if t.kind != word {
		return false
	}
	for _, k := range keywords {
		if strings.EqualFold(t.text, k) {
			return true
		}
	}
	return false
}

// literal returns the value of a text of any form.
func (t token) literal() string {
	switch t.kind {
	case text:
		if t.text[0] == '\'' {
			return strings.ReplaceAll(t.text[1:len(t.text)-1], "''", "'")
		}
	case dollar:
		mark := strings.IndexByte(t.text[1:], '$') + 2
		return t.text[mark : len(t.text)-mark]
	case escaped:
		return unescape(t.text)
	}
	return t.text
}

// unescape returns the value of a text of the form E'..'.
func unescape(s string) string {
	s = s[2 : len(s)-1]
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\'' { // doubled
			i++
			b.WriteByte('\'')
			continue
		}
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		digits, base, most := s[i:], 16, 0
		switch c := s[i]; {
		case c == 'n':
			b.WriteByte('\n')
		case c == 't':
			b.WriteByte('\t')
		case c == 'r':
			b.WriteByte('\r')
		case c == 'b':
			b.WriteByte('\b')
		case c == 'f':
			b.WriteByte('\f')
		case c == 'x':
			digits, most = s[i+1:], 2
		case c == 'u':
			digits, most = s[i+1:], 4
		case c == 'U':
			digits, most = s[i+1:], 8
		case '0' <= c && c <= '7':
			base, most = 8, 3
		default:
			b.WriteByte(c)
		}
		if most == 0 {
			continue
		}
		value, n := rune(0), 0
		for n < most && n < len(digits) && value <= utf8.MaxRune {
			d := strings.IndexByte("0123456789abcdef", digits[n]|0x20)
			if digits[n] < 'A' {
				d = int(digits[n]) - '0'
			}
			if d < 0 || d >= base {
				break
			}
			value, n = value*rune(base)+rune(d), n+1
		}
		switch {
		case value == 0: // no text has a NUL
		case base == 8 || most == 2:
			b.WriteByte(byte(value))
		default:
			b.WriteRune(value)
		}
		if base == 8 {
			n-- // the first digit is the character after the backslash
		}
		i += n
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}

// quoteText returns a text as SQL.
func quoteText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
