package session

import (
	"bufio"
	"io"
	"strings"

	"github.com/geosql/geosql/internal/sqlite"
)

// A statementReader splits a script at the line ends where its statements are
// complete. Each runs as soon as it has arrived, and a long script is neither held
// in memory nor read from its beginning again and again.
type statementReader struct{ r *bufio.Reader }

func NewStatementReader(r io.Reader) *statementReader {
	return &statementReader{bufio.NewReader(r)}
}

// Next returns the next statements. At the end it also returns an unfinished one,
// then io.EOF.
func (s *statementReader) Next() (string, error) {
	var text strings.Builder
	var end Splitter
	for {
		line, err := s.r.ReadString('\n')
		text.WriteString(line)
		end.ReadAll(line)
		switch {
		case err == io.EOF && text.Len() > 0:
			return text.String(), nil
		case err != nil:
			return "", err
		case end.Complete():
			return text.String(), nil
		}
	}
}

// prepare compiles the first statement of a text, and returns its text and what follows it. The statement is nil if there is
// none.
func (s *Session) prepare(text string) (stmt *sqlite.Stmt, sql, tail string, err error) {
	for text != "" && stmt == nil && err == nil {
		first := text[:new(Splitter).read(text)] // SQLite copies all that it is given
		stmt, tail, err = s.Conn.Prepare(first)
		n := len(first) - len(tail)
		sql, text = text[:n], text[n:]
	}
	return stmt, sql, text, err
}

// A Splitter finds where statements end, as sqlite3_complete does, in a text that comes line by line. It reads each line once.
type Splitter struct {
	state  splitState
	within string // the mark that ends the text, name or comment that is open; "" if none is
}

// A splitState says what a splitter has read of a statement.
type splitState int

const (
	noStatement      splitState = iota // not even the end of one
	endOfOne                           // all of it
	inStatement                        // a part
	inExplain                          // EXPLAIN and what may follow
	inCreate                           // CREATE, and perhaps TEMP
	inTrigger                          // a part of a CREATE TRIGGER, whose semicolons do not end it
	triggerSemicolon                   // such a semicolon
	triggerEnd                         // END behind it
)

// read reads a text that follows what was read before, up to the end of a statement, and returns how many bytes that are.
func (s *Splitter) read(text string) (n int) {
	for n < len(text) {
		rest := text[n:]
		switch c := rest[0]; {
		case s.within != "":
			i := strings.Index(rest, s.within)
			if i < 0 {
				return len(text)
			}
			n += i + len(s.within)
			s.within = ""
		case c == ';':
			n++
			if s.state = s.state.semicolon(); s.state == endOfOne {
				return n
			}
		case strings.IndexByte(" \t\r\n\f", c) >= 0:
			n++
		case strings.HasPrefix(rest, "--"):
			s.within = "\n"
			n += 2
		case strings.HasPrefix(rest, "/*"):
			s.within = "*/"
			n += 2
		case c == '\'' || c == '"' || c == '`':
			s.state, s.within = s.state.word(""), rest[:1]
			n++
		case c == '[':
			s.state, s.within = s.state.word(""), "]"
			n++
		default:
			word := rest[:wordLength(rest)]
			s.state = s.state.word(strings.ToLower(word[:min(len(word), len("temporary")+1)]))
			n += len(word)
		}
	}
	return n
}

// ReadAll reads a text to its end, also beyond those of statements.
func (s *Splitter) ReadAll(text string) {
	for text != "" {
		text = text[s.read(text):]
	}
}

// Complete reports whether nothing but blanks and comments was read since the end of a statement.
func (s *Splitter) Complete() bool { return s.state == endOfOne && s.within != "*/" }

// wordLength returns the length of the word that a text begins with, or 1.
func wordLength(text string) int {
	n := 0
	for n < len(text) {
		c := text[n]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '$' || c >= 0x80) {
			break
		}
		n++
	}
	return max(n, 1)
}

// semicolon returns what is read behind a semicolon.
func (s splitState) semicolon() splitState {
	if s == inTrigger || s == triggerSemicolon {
		return triggerSemicolon
	}
	return endOfOne
}

// word returns what is read behind a word in lower case, or something else that is neither blank nor a semicolon.
func (s splitState) word(word string) splitState {
	switch s {
	case inTrigger, triggerEnd:
		return inTrigger
	case triggerSemicolon:
		if word == "end" {
			return triggerEnd
		}
		return inTrigger
	case inCreate:
		switch word {
		case "temp", "temporary":
			return inCreate
		case "trigger":
			return inTrigger
		}
		return inStatement
	case noStatement, endOfOne, inExplain:
		switch word {
		case "create":
			return inCreate
		case "explain":
			if s != inExplain {
				return inExplain
			}
		case "temp", "temporary", "trigger", "end":
		default:
			return max(inStatement, s) // EXPLAIN QUERY PLAN
		}
	}
	return inStatement
}
