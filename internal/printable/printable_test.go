package printable

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestText(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"ana", "ana"},
		{`C:\new "x" 'y'`, `C:\new "x" 'y'`},
		{"Zoë, Ærø, 山田　太郎, שלום, سلام, हिन्दी, ไทย, 10\u00a0€, e\u0301, 🚲❤️, \ufffd", "Zoë, Ærø, 山田　太郎, שלום, سلام, हिन्दी, ไทย, 10\u00a0€, e\u0301, 🚲❤️, \ufffd"},
		{"\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`},
		{"a\nb\r\nc\td", `a\nb\r\nc\td`},
		{"\x00\x07\x08\x7f", `\x00\a\b\x7f`},
		{"\u009b31m\u0085", `\u009b31m\u0085`},
		{"\x9b31m\x80", `\x9b31m\x80`},
		{"ab\xc3", `ab\xc3`},
		{"\xed\xa0\x80\xc0\x80", `\xed\xa0\x80\xc0\x80`}, // a surrogate; NUL, too long
		{"abc\u202edef\u2066\u200f", `abc\u202edef\u2066\u200f`},
		{"a\u200bb\u2060\ufeff\u00ad\u3164\U000e0041", `a\u200bb\u2060\ufeff\u00ad\u3164\U000e0041`},
		{"\u2028\u2029", `\u2028\u2029`},
		{"\ue000\U0010ffff\u0378", `\ue000\U0010ffff\u0378`},
	} {
		if got := Text(c.text); got != c.want {
			t.Errorf("Text(%q) = %s, want %s", c.text, got, c.want)
		}
		if Is(c.text) != (c.text == c.want) {
			t.Errorf("Is(%q) = %v", c.text, Is(c.text))
		}
	}
}

// The result for any text is one line that steers nothing, and is clean already.
func TestTextIsClean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text") + string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		got := Text(s)
		steers := func(r rune) bool { return unicode.In(r, unicode.C, unicode.Zl, unicode.Zp) }
		if !utf8.ValidString(got) || strings.ContainsFunc(got, steers) {
			t.Fatalf("Text(%q) = %q", s, got)
		}
		if again := Text(got); again != got || !Is(got) {
			t.Fatalf("Text(%q) = %q, and of that %q", s, got, again)
		}
	})
}

// Cleaning a message of clean names is cleaning the message.
func TestTextOfParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.String().Draw(t, "a"), rapid.String().Draw(t, "b")
		if got, want := Text(a+b), Text(a)+Text(b); got != want {
			t.Fatalf("Text(%q) = %q, want %q", a+b, got, want)
		}
	})
}
