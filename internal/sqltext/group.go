package sqltext

import (
	"slices"
	"strconv"
	"strings"
)

// Grouped returns the expressions by which a text groups rows, word by word. A number or the name of a result stands for the expression
// of that result, with its name.
func (d Dialect) Grouped(text string) (list [][]Token) {
	words := slices.Collect(d.Words(text))
	for i := range words[:max(len(words)-1, 0)] {
		if !words[i].Is("group") || !words[i+1].Is("by") {
			continue
		}
		results := resultsBefore(words[:i])
		for _, by := range items(words[i+2:], behindRows) {
			if len(by) == 1 {
				if at := slices.IndexFunc(results, by[0].means); at >= 0 {
					by = results[at]
				} else if n, err := strconv.Atoi(by[0].Text); err == nil && 0 < n && n <= len(results) {
					by = results[n-1]
				}
			}
			list = append(list, by)
		}
	}
	return list
}

// means reports whether a name is that of a result.
func (t Token) means(result []Token) bool {
	return len(result) > 1 && t.Name() != "" && strings.EqualFold(result[len(result)-1].Name(), t.Name())
}

// resultsBefore returns the results of the SELECT that goes on behind some words.
func resultsBefore(words []Token) [][]Token {
	depth := 0
	for i, t := range slices.Backward(words) {
		switch {
		case t.IsSymbol(")"):
			depth++
		case t.IsSymbol("("):
			depth--
		case depth == 0 && t.Is("select"):
			return items(words[i+1:], []string{"from"})
		}
	}
	return nil
}

// items returns the parts of a list up to its end: one of some words, or the end of the statement or of the parentheses around it.
func items(words []Token, ends []string) (list [][]Token) {
	depth, from := 0, 0
	for i, t := range words {
		switch {
		case t.IsSymbol("("):
			depth++
		case t.IsSymbol(")") && depth > 0:
			depth--
		case depth > 0:
		case t.IsSymbol(")", ";") || t.Is(ends...):
			return append(list, words[from:i])
		case t.IsSymbol(","):
			list = append(list, words[from:i])
			from = i + 1
		}
	}
	return append(list, words[from:])
}
