package sqltext

import (
	"slices"
	"strings"
)

// A Caret describes the end of an unfinished statement, where somebody writes.
type Caret struct {
	Token    Token             // the last one
	Word     string            // the written part of a word
	Table    string            // the name before the dot behind which that stands, "" without one
	Previous Token             // the last word or symbol before all that
	Tables   map[string]string // possible tables of the statement, by their names and aliases in lower case
}

// Caret describes the end of an unfinished statement.
func (d Dialect) Caret(text string) Caret {
	c := Caret{Tables: map[string]string{}}
	var words []Token
	for c.Token = range d.Tokens(text) {
		if !c.Token.IsBlank() {
			words = append(words, c.Token)
		}
	}
	for i, t := range words {
		if t.Is("from", "join", "into", "update", "table", "on") || t.IsSymbol(",") {
			c.addTable(words[i+1:])
		}
	}
	if c.Token.Kind == Word {
		c.Word = c.Token.Text
		words = words[:len(words)-1]
	}
	for n := len(words); n > 1 && words[n-1].IsSymbol("."); n = len(words) {
		if c.Table == "" { // it is not that of a schema
			c.Table = words[n-2].Name()
		}
		words = words[:n-2]
	}
	if n := len(words); n > 0 {
		c.Previous = words[n-1]
	}
	return c
}

// addTable adds the table that some words begin with, under its name and its alias.
func (c *Caret) addTable(words []Token) {
	cut := func() string {
		if len(words) == 0 || words[0].Kind == Word && (IsReserved(words[0].Text) || words[0].Is(joins...)) {
			return ""
		}
		name := words[0].Name()
		words = words[1:]
		return name
	}
	name := cut()
	if len(words) > 0 && words[0].IsSymbol(".") {
		words = words[1:]
		name = cut()
	}
	if name == "" {
		return
	}
	c.Tables[strings.ToLower(name)] = name
	if len(words) > 0 && words[0].Is("as") {
		words = words[1:]
	}
	if alias := cut(); alias != "" {
		c.Tables[strings.ToLower(alias)] = name
	}
}

// joins are words that may stand behind a table and are not its alias, beside the reserved ones.
var joins = strings.Fields("cross full indexed inner left natural outer right window")

var reserved = strings.Fields(`add all alter and as between case check collate commit constraint create default deferrable delete distinct
	drop else escape except exists foreign from group having in index insert intersect into is isnull join limit not notnull null on or order
	primary references returning select set table then to transaction union unique update using values when where`)

// IsReserved reports whether SQLite takes a word as a name in quotes only.
func IsReserved(word string) bool { return slices.Contains(reserved, strings.ToLower(word)) }
