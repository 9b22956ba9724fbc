package printable

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// SQL returns an SQL expression for s, on one line. It writes invisible characters and bytes
// that are not UTF-8 with char() and CAST.
func SQL(s string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch c := s[:size]; {
		case c == "'":
			b.WriteString("''")
		case Is(c):
			b.WriteString(c)
		case utf8.ValidString(c):
			fmt.Fprintf(&b, "'||char(%d)||'", r)
		default:
			fmt.Fprintf(&b, "'||CAST(x'%x' AS TEXT)||'", c)
		}
		s = s[size:]
	}
	b.WriteByte('\'')
	return b.String()
}
