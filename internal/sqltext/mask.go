package sqltext

import (
	"strings"
	"unicode/utf8"
)

// Mask returns the text in a form that may be recorded: its literals are question marks, and comments, which tools put
// names of people into, are blanks. In doubt a token is a literal. Names stay, also those in quotes. A text
// that is masked as more than most bytes is cut, and read no further.
func (d Dialect) Mask(text string, most int) string {
	var b strings.Builder
	gap := false
	for t := range d.Tokens(text) {
		if t.IsBlank() {
			gap = true
			continue
		}
		if gap && b.Len() > 0 {
			b.WriteByte(' ')
		}
		gap = false
		if t.IsText() || t.Kind == Number || t.Kind == Unended {
			t.Text = "?"
		}
		b.WriteString(t.Text[:min(len(t.Text), most+1)])
		if b.Len() > most {
			break
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
	n := max(0, most-len(mark))
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + mark
}
