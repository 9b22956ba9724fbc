package sqltext

import (
	"iter"
	"strings"
)

// Calls returns the name of each function that a text calls, with the texts of the arguments, the inner calls first. Other
// parentheses count as a call of the word before them.
func (d Dialect) Calls(text string) iter.Seq2[string, []string] {
	type call struct {
		name      string
		arguments []string
		from      int // of the last one
	}
	return func(yield func(string, []string) bool) {
		var open []call
		name := ""
		for t := range d.Words(text) {
			last := len(open) - 1
			if last >= 0 && t.IsSymbol(",", ")") {
				c := &open[last]
				c.arguments, c.from = append(c.arguments, strings.TrimSpace(text[c.from:t.At])), t.At+1
			}
			switch {
			case t.IsSymbol("("):
				open = append(open, call{name: name, from: t.At + 1})
			case t.IsSymbol(")") && last >= 0:
				if !yield(open[last].name, open[last].arguments) {
					return
				}
				open = open[:last]
			}
			name = t.Name()
		}
	}
}
