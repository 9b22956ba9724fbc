package sqltext

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// IsBlank reports whether the token is a blank or a comment.
func (t Token) IsBlank() bool { return t.Kind <= Nested }

// Is reports whether the token is one of some keywords, in any case.
func (t Token) Is(keywords ...string) bool {
	if t.Kind == Word {
		for _, k := range keywords { // a function to search them would have each call allocate its list
			if len(k) == len(t.Text) && strings.EqualFold(t.Text, k) {
				return true
			}
		}
	}
	return false
}

// IsSymbol reports whether the token is one of some operators and marks.
func (t Token) IsSymbol(symbols ...string) bool {
	return t.Kind == Symbol && slices.Contains(symbols, t.Text)
}

func (t *Token) isSemicolon() bool { return t.Kind == Symbol && t.Text == ";" }

// IsText reports whether the token is a text of any form.
func (t Token) IsText() bool { return t.Kind == Text || t.Kind == Escaped || t.Kind == Dollar }

// Name returns the name that a word or a name in quotes is, in lower case unless it is in quotes.
func (t Token) Name() string {
	switch t.Kind {
	case Word:
		return strings.ToLower(t.Text)
	case Name:
		mark := t.Text[len(t.Text)-1:]
		if mark == "]" {
			return t.Text[1 : len(t.Text)-1]
		}
		return strings.ReplaceAll(t.Text[1:len(t.Text)-1], mark+mark, mark)
	}
	return ""
}

// Literal returns the value of a text of any form, and other tokens as they are.
func (t Token) Literal() string {
	switch t.Kind {
	case Text:
		if t.Text[0] == '\'' {
			return strings.ReplaceAll(t.Text[1:len(t.Text)-1], "''", "'")
		}
	case Dollar:
		mark := strings.IndexByte(t.Text[1:], '$') + 2
		return t.Text[mark : len(t.Text)-mark]
	case Escaped:
		return unescape(t.Text[2 : len(t.Text)-1])
	}
	return t.Text
}

// Quote returns a text as SQL.
func Quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// unescape returns the value of what stands in E'..'.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\'' { // doubled
			i++
			b.WriteByte('\'')
			continue
		}
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		digits, base, most := s[i:], 16, 0
		switch c := s[i]; {
		case c == 'n':
			b.WriteByte('\n')
		case c == 't':
			b.WriteByte('\t')
		case c == 'r':
			b.WriteByte('\r')
		case c == 'b':
			b.WriteByte('\b')
		case c == 'f':
			b.WriteByte('\f')
		case c == 'x':
			digits, most = s[i+1:], 2
		case c == 'u':
			digits, most = s[i+1:], 4
		case c == 'U':
			digits, most = s[i+1:], 8
		case '0' <= c && c <= '7':
			base, most = 8, 3
		default:
			b.WriteByte(c)
		}
		if most == 0 {
			continue
		}
		value, n := rune(0), 0
		for n < most && n < len(digits) && value <= utf8.MaxRune {
			d := strings.IndexByte("0123456789abcdef", digits[n]|0x20)
			if digits[n] < 'A' {
				d = int(digits[n]) - '0'
			}
			if d < 0 || d >= base {
				break
			}
			value, n = value*rune(base)+rune(d), n+1
		}
		switch {
		case value == 0: // no text has a NUL
		case base == 8 || most == 2:
			b.WriteByte(byte(value))
		default:
			b.WriteRune(value)
		}
		if base == 8 {
			n-- // the first digit is the character after the backslash
		}
		i += n
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}
