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

// A From is a call with the rows that it is over.
type From struct {
	Arguments []string
	Rows      string // the text from FROM on, without GROUP BY and all that follows
	Grouped   bool   // a GROUP BY follows
}

// From returns the first call of a function in a text. It has no rows if no FROM follows in the SELECT of the call.
func (d Dialect) From(text, function string) (f From, found bool) {
	depth, selects := 0, []int{0} // of parentheses, and of those that a SELECT stands in
	inside, argument := 0, 0      // the depth in the call's parentheses while they are read, and the beginning of an argument
	rows := -1                    // the beginning of the rows
	var last Token
	for t := range d.Words(text) {
		level, closes := selects[len(selects)-1], t.IsSymbol(")")
		switch {
		case t.IsSymbol("("):
			if depth++; !found && strings.EqualFold(last.Name(), function) {
				found, inside, argument = true, depth, t.At+1
			}
		case inside > 0 && depth == inside && (closes || t.IsSymbol(",")):
			f.Arguments = append(f.Arguments, strings.TrimSpace(text[argument:t.At]))
			argument = t.At + 1
			if closes {
				depth, inside = depth-1, 0
			}
		case found && depth == level && (closes || t.isSemicolon() || rows >= 0 && t.Is(behindRows...)):
			if rows >= 0 {
				f.Rows, f.Grouped = strings.TrimSpace(text[rows:t.At]), t.Is("group")
			}
			return f, true
		case closes:
			if depth == level && depth > 0 {
				selects = selects[:len(selects)-1]
			}
			depth = max(0, depth-1)
		case t.Is("select") && last.IsSymbol("(") && rows < 0:
			selects = append(selects, depth)
		case t.Is("from") && found && rows < 0 && depth == level && !last.Is("distinct"): // IS DISTINCT FROM
			rows = t.At
		}
		last = t
	}
	if rows >= 0 {
		f.Rows = strings.TrimSpace(text[rows:])
	}
	return f, found
}

// behindRows are the words that end the rows of a SELECT.
var behindRows = strings.Fields("group having window order limit union intersect except")
