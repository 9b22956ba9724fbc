// Package printable makes text from outside safe to show. Names, cells, SQL and the messages
// of other programs may contain characters that control a terminal, change the writing
// direction or are invisible.
package printable

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text returns s on one line. It escapes invisible characters and bytes that are not UTF-8
// as strconv does: \x1b, \u202e. All others stay, also the backslash, so that nothing is
// escaped twice.
func Text(s string) string {
	n := visiblePrefix(s)
	if n == len(s) {
		return s
	}
	var b strings.Builder
	for n < len(s) {
		_, size := utf8.DecodeRuneInString(s[n:])
		escape := strconv.QuoteToASCII(s[n : n+size])
		b.WriteString(s[:n])
		b.WriteString(escape[1 : len(escape)-1])
		s = s[n+size:]
		n = visiblePrefix(s)
	}
	b.WriteString(s)
	return b.String()
}

// Is reports whether Text leaves s as it is.
func Is(s string) bool { return visiblePrefix(s) == len(s) }

// visiblePrefix returns the length of the part of s before the first invisible character.
func visiblePrefix(s string) int {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if size == 1 && r == utf8.RuneError || !visible(r) {
			return i
		}
		i += size
	}
	return len(s)
}

// visible reports whether a character is visible. Spaces of any script are; fillers and
// joiners are not, though Unicode classifies some of them as letters.
func visible(r rune) bool {
	return strconv.IsGraphic(r) && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}
