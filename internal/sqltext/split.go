package sqltext

import (
	"iter"
	"slices"
)

// A Budget bounds the kept part of a statement.
type Budget struct{ Bytes, Tokens int }

// A Statement is a statement of a text, without the semicolon behind it.
type Statement struct {
	SQL    string
	Tokens []Token // at offsets in SQL; nil if there are more of them, or more bytes, than the budget has

	dialect Dialect
}

// Words returns the tokens that are neither blanks nor comments. It reads them now if they are not kept.
func (s Statement) Words() iter.Seq[Token] {
	if s.Tokens == nil {
		return s.dialect.Words(s.SQL)
	}
	return words(slices.Values(s.Tokens))
}

// Split cuts a text into the empty statements that it begins with, its first other statement, and the rest. The statement
// is empty if there is none, and so is the rest if no other follows. The rest is read up to its first word.
func (d Dialect) Split(text string, budget Budget) (before string, s Statement, rest string) {
	l := lexer{dialect: d, text: text}
	begin := l.empty()
	before, s = text[:begin], Statement{SQL: text[begin:], dialect: d}
	l = lexer{dialect: d, text: text, at: begin}
	state := noStatement
	for t, ok := l.next(); ok; t, ok = l.next() {
		if state = state.after(t); state == endOfOne {
			s.SQL = text[begin:t.At]
			if rest = text[l.at:]; l.empty() == len(text) {
				rest = ""
			}
			break
		}
		t.At -= begin
		s.keep(t, &budget)
	}
	return before, s, rest
}

// Read returns a text as one statement, whatever semicolons it has.
func (d Dialect) Read(text string, budget Budget) Statement {
	s := Statement{SQL: text, dialect: d}
	for t := range d.Tokens(text) {
		s.keep(t, &budget)
	}
	return s
}

// keep keeps a token within a budget, which is nothing as soon as it does not suffice.
func (s *Statement) keep(t Token, budget *Budget) {
	if t.At+len(t.Text) > budget.Bytes || len(s.Tokens) == budget.Tokens {
		s.Tokens, *budget = nil, Budget{}
		return
	}
	s.Tokens = append(s.Tokens, t)
}

// empty reads empty statements and the first word of another. It returns where that statement begins, with its comments.
func (l *lexer) empty() int {
	begin := l.at
	for t, ok := l.next(); ok; t, ok = l.next() {
		switch {
		case t.isSemicolon():
			begin = l.at
		case !t.IsBlank():
			return begin
		}
	}
	return len(l.text)
}

// A Script finds where statements of SQLite end in a text that comes line by line. It reads each line once.
type Script struct {
	state splitState
	open  string // the end of the text, name or comment that is open; "" if none is
}

// Read reads lines that follow the earlier ones.
func (s *Script) Read(lines string) {
	l := lexer{text: lines}
	if s.open != "" {
		l.at = l.until(lines, s.open, 0)
		s.open = l.open
	}
	for t, ok := l.next(); ok; t, ok = l.next() {
		s.state, s.open = s.state.after(t), l.open
	}
}

// Complete reports whether nothing but blanks and comments was read since the end of a statement.
func (s *Script) Complete() bool { return s.state == endOfOne && s.open != "*/" }

// A splitState is the state of reading a statement, as in sqlite3_complete.
type splitState int

const (
	noStatement      splitState = iota // not even the end of one
	endOfOne                           // all of it
	inStatement                        // a part
	inExplain                          // EXPLAIN, and perhaps more of it
	inCreate                           // CREATE, and perhaps TEMP
	inTrigger                          // a part of a CREATE TRIGGER, in which semicolons do not end it
	triggerSemicolon                   // such a semicolon
	triggerEnd                         // END behind it
)

// after returns the state after another token.
func (s splitState) after(t Token) splitState {
	switch {
	case t.IsBlank():
		return s
	case t.isSemicolon() && (s == inTrigger || s == triggerSemicolon):
		return triggerSemicolon
	case t.isSemicolon():
		return endOfOne
	case s == triggerSemicolon && t.Is("end"):
		return triggerEnd
	case s >= inTrigger, s == inCreate && t.Is("trigger"):
		return inTrigger
	case s == inCreate && t.Is("temp", "temporary"):
		return inCreate
	case s != inStatement && s != inCreate && t.Is("create"):
		return inCreate
	case s < inStatement && t.Is("explain"):
		return inExplain
	case s == inExplain && !t.Is("explain", "temp", "temporary", "trigger", "end"): // EXPLAIN QUERY PLAN
		return inExplain
	}
	return inStatement
}
