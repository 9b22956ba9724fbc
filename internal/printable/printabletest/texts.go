// Package printabletest has texts that must not reach people's eyes as they are, for the
// tests of whatever prints.
package printabletest

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Texts hold every control character but NUL, everything else that steers or hides other text, and bytes that are not
// UTF-8. Each fits into an argument, and into the name of a file.
func Texts() []string {
	var c0, c1, raw strings.Builder
	for c := byte(1); c < ' '; c++ {
		c0.WriteByte(c)
	}
	for r := rune(0x7f); r < 0xa0; r++ {
		c1.WriteRune(r)
	}
	for c := byte(0x80); c < 0xa0; c++ {
		raw.WriteByte(c)
	}
	return []string{
		"\x1b[31mred\x1b]0;title\x07",
		c0.String(), c1.String(), raw.String(),
		"a\nb\r\nc", "a\u2028b\u2029c",
		"\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
		"a\u200bb\u200c\u200d\u2060\ufeff\u00ad\u180e\u3164\ue000\U000e0001",
		"a\xc0\x80\xc3\xff\xed\xa0\x80",
	}
}

// Steers reports whether a text does more than show itself, or is not UTF-8.
func Steers(text string) bool {
	return !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool {
		return unicode.In(r, unicode.C, unicode.Zl, unicode.Zp) || r == '\u3164'
	})
}
