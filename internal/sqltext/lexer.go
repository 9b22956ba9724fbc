// Package sqltext reads SQL: it is the one lexer of the project, for SQLite's dialect and for PostgreSQL's, and answers
// questions that the words of a statement alone decide, such as where it ends. It imports nothing of geosql's, and knows no
// table and no function. Start at [Dialect.Tokens]; [Dialect.Split], [Dialect.Mask] and [Dialect.Caret] stand on it.
package sqltext

import (
	"iter"
	"strings"
)

// A Dialect says which lexical rules hold.
type Dialect int

const (
	// SQLite has the rules of SQLite's own tokenizer.
	SQLite Dialect = iota
	// PostgreSQL has PostgreSQL's rules where SQLite's leave room: E'' and $$ texts, :: and other operators of several
	// characters, $1, comments in comments and subscripts. SQLite's own additions (names in [] or `, variables) are kept.
	PostgreSQL
)

// A Kind is the kind of a token.
type Kind uint8

const (
	Blank    Kind = iota
	Comment       // one that SQLite reads the same
	Nested        // a comment that contains another
	Word          // a name without quotes, or a keyword
	Name          // a name in quotes
	Text          // 'text' or x'00'
	Escaped       // E'text'
	Dollar        // $$text$$
	Number        // a number
	Position      // $1
	Variable      // a parameter in SQLite's way
	Symbol        // an operator or a mark
	Unended       // a text or a name in quotes without its end
)

// A Token is a piece of a text.
type Token struct {
	Kind Kind
	Text string
	At   int // offset in the text
}

// Tokens returns the tokens of a text, which it reads as they are asked for. Together they are the text.
func (d Dialect) Tokens(text string) iter.Seq[Token] {
	return func(yield func(Token) bool) {
		l := lexer{dialect: d, text: text}
		for t, ok := l.next(); ok && yield(t); t, ok = l.next() {
		}
	}
}

// Words returns the tokens of a text that are neither blanks nor comments.
func (d Dialect) Words(text string) iter.Seq[Token] { return words(d.Tokens(text)) }

func words(tokens iter.Seq[Token]) iter.Seq[Token] {
	return func(yield func(Token) bool) {
		for t := range tokens {
			if !t.IsBlank() && !yield(t) {
				return
			}
		}
	}
}

// First returns the first token of a text that is neither blank nor comment, an empty one if there is none.
func (d Dialect) First(text string) Token {
	for t := range d.Words(text) {
		return t
	}
	return Token{At: len(text)}
}

// Match returns the index of the token that closes each parenthesis or bracket, and -1 for other tokens.
func Match(tokens []Token) []int {
	match := make([]int, len(tokens))
	var open []int
	for i, t := range tokens {
		match[i] = -1
		switch n := len(open); {
		case t.IsSymbol("(", "["):
			open = append(open, i)
		case n > 0 && (t.IsSymbol(")") && tokens[open[n-1]].Text == "(" || t.IsSymbol("]") && tokens[open[n-1]].Text == "["):
			match[open[n-1]] = i
			open = open[:n-1]
		}
	}
	return match
}

// A lexer reads a text token by token.
type lexer struct {
	dialect Dialect
	text    string
	at      int
	open    string // the part that the last token lacks at its end

	// Of PostgreSQL's brackets, which may be subscripts.
	depth        int
	last, before Token // the last token and the one before
}

// next returns the next token. It reports false at the end.
func (l *lexer) next() (t Token, ok bool) {
	if l.at == len(l.text) {
		return Token{}, false
	}
	rest := l.text[l.at:]
	k, n := l.first(rest)
	t = Token{k, rest[:n], l.at}
	l.at += n
	if l.dialect == PostgreSQL {
		l.last, l.before = t, l.last
	}
	return t, true
}

// first returns the kind and length of the first token of s, the text that is left.
func (l *lexer) first(s string) (Kind, int) {
	l.open = ""
	switch c := s[0]; {
	case c == ';' || c == ',' || c == '(' || c == ')':
		return Symbol, 1
	case isLetter(c):
		return l.word(s)
	case isBlank(c):
		return Blank, span(s, isBlank)
	case c == '\'':
		return l.quotes(Text, s, 0)
	case c == '"' || c == '`':
		return l.quotes(Name, s, 0)
	case isDigit(c) || c == '.' && len(s) > 1 && isDigit(s[1]):
		return Number, numberLength(s)
	case c == '?':
		return Variable, 1 + span(s[1:], isDigit)
	case c == '[' || c == ']':
		return l.bracket(s)
	case strings.HasPrefix(s, "--"):
		return Comment, l.until(s, "\n", 2)
	case strings.HasPrefix(s, "/*"):
		return l.comment(s)
	case l.dialect == PostgreSQL:
		return l.postgres(s)
	case c == '$' || c == ':' || c == '@' || c == '#':
		if n := variableLength(s); n > 0 {
			return Variable, n
		}
	}
	return Symbol, symbolLength(s, sqliteSymbols)
}

const byteOrderMark = "\ufeff" // which SQLite takes for a blank

// word returns the kind and length of the token that a letter begins: a word, or a text with a letter before its quote.
func (l *lexer) word(s string) (Kind, int) {
	if len(s) > 1 && s[1] == '\'' {
		switch {
		case s[0]|0x20 == 'x':
			return l.quotes(Text, s, 1)
		case s[0]|0x20 == 'e' && l.dialect == PostgreSQL:
			return l.escaped(s)
		}
	}
	if strings.HasPrefix(s, byteOrderMark) {
		return Blank, len(byteOrderMark)
	}
	return Word, span(s, isInWord)
}

// until returns the length of a token that ends with the first mark behind from bytes.
func (l *lexer) until(s, mark string, from int) int {
	if i := strings.Index(s[from:], mark); i >= 0 {
		return from + i + len(mark)
	}
	l.open = mark
	return len(s)
}

// ended returns the kind and length of a token in quotes that ends with the first mark behind from bytes.
func (l *lexer) ended(k Kind, s, mark string, from int) (Kind, int) {
	n := l.until(s, mark, from)
	if l.open != "" {
		return Unended, n
	}
	return k, n
}

// quotes returns the kind and length of a token that ends with the quote at from, which begins it.
func (l *lexer) quotes(k Kind, s string, from int) (Kind, int) {
	mark := s[from : from+1]
	for n := from + 1; ; n++ { // doubled
		if n = l.until(s, mark, n); l.open != "" {
			return Unended, n
		}
		if n == len(s) || s[n] != mark[0] {
			return k, n
		}
	}
}

// escaped returns the kind and length of E'text'.
func (l *lexer) escaped(s string) (Kind, int) {
	for i := 2; i < len(s); i++ {
		switch {
		case s[i] == '\\', s[i] == '\'' && i+1 < len(s) && s[i+1] == '\'':
			i++
		case s[i] == '\'':
			return Escaped, i + 1
		}
	}
	l.open = "'"
	return Unended, len(s)
}

// comment returns the kind and length of a comment in /* and */.
func (l *lexer) comment(s string) (Kind, int) {
	if l.dialect == SQLite {
		return Comment, l.until(s, "*/", 2)
	}
	depth, k := 1, Comment
	for i := 2; i+1 < len(s); i++ {
		switch s[i : i+2] {
		case "/*":
			depth, k = depth+1, Nested
			i++
		case "*/":
			i++
			if depth--; depth == 0 {
				return k, i + 1
			}
		}
	}
	l.open = "*/"
	return k, len(s)
}

// bracket returns the kind and length of the token that a bracket begins: a name, or in PostgreSQL a subscript.
func (l *lexer) bracket(s string) (Kind, int) {
	switch {
	case s[0] == ']':
		l.depth = max(0, l.depth-1)
	case l.depth > 0 || l.subscripts():
		l.depth++
	default:
		return l.ended(Name, s, "]", 1)
	}
	return Symbol, 1
}

// subscripts reports whether a bracket begins a subscript or an array here, and not a name.
func (l *lexer) subscripts() bool {
	switch l.last.Kind {
	case Word, Name, Position, Text:
		return true
	case Symbol:
		return l.last.IsSymbol(")", "]")
	case Blank:
		return l.before.Is("array")
	}
	return false
}

// postgres returns the kind and length of a token of PostgreSQL's: a text or parameter that begins with $, or an operator.
func (l *lexer) postgres(s string) (Kind, int) {
	if s[0] == '$' {
		if n := 1 + span(s[1:], isDigit); n > 1 {
			return Position, n
		}
		n := 1 + span(s[1:], func(c byte) bool { return isLetter(c) || isDigit(c) })
		if n < len(s) && s[n] == '$' {
			return l.ended(Dollar, s, s[:n+1], n+1)
		}
		return Variable, n
	}
	n := symbolLength(s, postgresSymbols)
	if len(s) > n && isLetter(s[n]) {
		switch s[:n] {
		case ":", "@":
			return Variable, n + span(s[n:], isInWord)
		case "<@": // SQLite: less than a variable
			return Symbol, 1
		}
	}
	return Symbol, n
}

// Operators of more than one character, the longest first.
var (
	sqliteSymbols   = []string{"->>", "->", "||", "<<", ">>", "<=", ">=", "<>", "!=", "=="}
	postgresSymbols = append([]string{"!~~*", "!~~", "!~*", "~~*", "#>>", "::", "!~", "~~", "~*", "=>", "@>", "<@", "&&", "#>", "^@", "@@"}, sqliteSymbols...)
)

func symbolLength(s string, symbols []string) int {
	if len(s) > 1 && strings.IndexByte("-|<>!=#:~@&^", s[0]) >= 0 {
		for _, symbol := range symbols {
			if strings.HasPrefix(s, symbol) {
				return len(symbol)
			}
		}
	}
	return 1
}

// variableLength returns the length of a variable such as :a, @a, #1, or $a::b(c), which is Tcl's, and 0 if there is none.
func variableLength(s string) int {
	for n, long := 1, false; ; {
		switch {
		case n < len(s) && isInWord(s[n]):
			n, long = n+1, true
		case strings.HasPrefix(s[n:], "::"):
			n += 2
		case !long:
			return 0
		case n < len(s) && s[n] == '(':
			if end := strings.IndexAny(s[n:], ") \t\n\f\r"); end >= 0 && s[n+end] == ')' {
				return n + end + 1
			}
			return n
		default:
			return n
		}
	}
}

// numberLength returns the length of a number with any characters behind it without a blank.
func numberLength(s string) int {
	hex := len(s) > 1 && s[0] == '0' && s[1]|0x20 == 'x'
	for n := 0; ; n++ {
		if n == len(s) || !isLetter(s[n]) && !isDigit(s[n]) && s[n] != '.' {
			return n
		}
		if !hex && s[n]|0x20 == 'e' && n+2 < len(s) && (s[n+1] == '-' || s[n+1] == '+') && isDigit(s[n+2]) {
			n++
		}
	}
}

// span returns how many bytes at the beginning of a text are of a kind.
func span(s string, is func(c byte) bool) (n int) {
	for n < len(s) && is(s[n]) {
		n++
	}
	return n
}

func isBlank(c byte) bool  { return c == ' ' || '\t' <= c && c <= '\r' && c != '\v' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isInWord(c byte) bool { return isLetter(c) || isDigit(c) || c == '$' }
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c >= 0x80 }
