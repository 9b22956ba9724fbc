package pgcatalog

import (
	"strings"
	"unicode/utf8"
)

// Mask returns what may be recorded of a statement: its literals are question marks, and comments, which tools put
// names of people into, are blanks. What cannot be told from a literal is one. A text of more than most bytes is cut.
// Names stay, also those in quotes.
func Mask(sql string, most int) string {
	var b strings.Builder
	gap := false
	write := func(s string) {
		if gap && b.Len() > 0 {
			b.WriteByte(' ')
		}
		gap = false
		b.WriteString(s)
	}
	for s := (scanner{sql: sql}); b.Len() <= most; {
		t, ok := s.next()
		if !ok {
			break
		}
		switch t.kind {
		case blank, comment, nested:
			gap = true
		case text, escaped, dollar, number, unended:
			write("?")
		default:
			write(t.text[:min(len(t.text), most+1)])
		}
	}
	return cut(b.String(), most)
}

// cut cuts a text to at most so many bytes, between characters, and says that it did.
func cut(s string, most int) string {
	const mark = ".."
	if len(s) <= most {
		return s
	}
	s = s[:max(0, most-len(mark))]
	for !utf8.ValidString(s) && len(s) > 0 {
		if r, n := utf8.DecodeLastRuneInString(s); r != utf8.RuneError || n != 1 {
			break
		}
		s = s[:len(s)-1]
	}
	return s + mark
}
