package sqltext

import (
	"slices"
	"strconv"
	"strings"
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

// unescape returns the value of the text in E'..'.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\'' { // doubled
			i++
		}
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		digits, base, most := s[i+1:], 16, map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[i]]
		if '0' <= s[i] && s[i] <= '7' {
			digits, base, most = s[i:], 8, 3
		}
		n := span(digits[:min(most, len(digits))], func(c byte) bool {
			return '0' <= c && c <= '7' || base == 16 && strings.IndexByte("89abcdefABCDEF", c) >= 0
		})
		value, _ := strconv.ParseUint(digits[:n], base, 32)
		control := strings.IndexByte("bfnrt", s[i])
		switch {
		case most == 0 && control >= 0:
			b.WriteByte("\b\f\n\r\t"[control])
		case most == 0:
			b.WriteByte(s[i])
		case value == 0: // no text has a NUL
		case base == 8 || most == 2:
			b.WriteByte(byte(value))
		default:
			b.WriteRune(rune(value))
		}
		if base == 8 {
			n-- // the first digit is the character after the backslash
		}
		i += n
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}
