// Package printable makes text from outside fit for people's eyes: names, cells, SQL and
// the messages of others may hold what steers a terminal, turns the writing direction or
// cannot be seen at all.
package printable

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text is s on one line. Characters that do not show, and bytes that are not UTF-8, are
// escaped as strconv does: \x1b, \u202e. All others stay, also the backslash, so that
// nothing is escaped twice.
func Text(s string) string {
	n := shown(s)
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
		n = shown(s)
	}
	b.WriteString(s)
	return b.String()
}

// Is reports whether Text leaves s as it is.
func Is(s string) bool { return shown(s) == len(s) }

// shown is the length of the beginning of s that shows as it is.
func shown(s string) int {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if size == 1 && r == utf8.RuneError || !shows(r) {
			return i
		}
		i += size
	}
	return len(s)
}

// shows reports whether a character can be seen where it stands. Spaces of any script can,
// fillers and joiners cannot, though Unicode takes some of them for letters.
func shows(r rune) bool {
	return unicode.IsGraphic(r) && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}
