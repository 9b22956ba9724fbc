package printable

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// mostParts is how many invisible characters an expression may have one by one. SQLite refuses an expression that is
// nested 1,000 deep, as a chain of || is.
const mostParts = 100

// SQL returns an SQL expression for s, on one line. It writes invisible characters and bytes
// that are not UTF-8 with char() and CAST, and a text that has very many of them as a whole.
func SQL(s string) string {
	var b strings.Builder
	parts := 0
	b.WriteByte('\'')
	for rest := s; len(rest) > 0; {
		r, size := utf8.DecodeRuneInString(rest)
		switch c := rest[:size]; {
		case c == "'":
			b.WriteString("''")
		case Is(c):
			b.WriteString(c)
		case utf8.ValidString(c):
			fmt.Fprintf(&b, "'||char(%d)||'", r)
			parts++
		default:
			fmt.Fprintf(&b, "'||CAST(x'%x' AS TEXT)||'", c)
			parts++
		}
		rest = rest[size:]
	}
	if parts > mostParts {
		return fmt.Sprintf("CAST(x'%x' AS TEXT)", s)
	}
	b.WriteByte('\'')
	return b.String()
}
