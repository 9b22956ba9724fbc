package sqltext

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/fuzz/fuzztest"
)

var kinds = map[Kind]string{Blank: "blank", Comment: "comment", Nested: "nested", Word: "word", Name: "name", Text: "text", Escaped: "escaped",
	Dollar: "dollar", Number: "number", Position: "position", Variable: "variable", Symbol: "symbol", Unended: "unended"}

// shown returns the words of a text, each behind its kind unless it is a word or a symbol.
func shown(d Dialect, text string) string {
	var list []string
	for t := range d.Words(text) {
		word := t.Text
		if t.Kind != Word && t.Kind != Symbol {
			word = kinds[t.Kind] + ":" + word
		}
		list = append(list, word)
	}
	return strings.Join(list, " ")
}

func TestTokens(t *testing.T) {
	for _, c := range []struct{ text, sqlite, postgres string }{
		{"SELECT a.b,1.5e-3", "SELECT a . b , number:1.5e-3", "SELECT a . b , number:1.5e-3"},
		{"'it''s' x'00' .5 0x1e+1", "text:'it''s' text:x'00' number:.5 number:0x1e + number:1", "text:'it''s' text:x'00' number:.5 number:0x1e + number:1"},
		{`"a""b"[c]d`, `name:"a""b" name:[c] d`, `name:"a""b" [ c ] d`},
		{"[a;b] `c`", "name:[a;b] name:`c`", "name:[a;b] name:`c`"},
		{"E'a\\'b'c'", "E text:'a\\' b text:'c'", "escaped:E'a\\'b' c unended:'"},
		{"$$a;$$", "variable:$$a ; variable:$$", "dollar:$$a;$$"},
		{"$a$b$a$ $1 $b", "variable:$a$b$a$ variable:$1 variable:$b", "dollar:$a$b$a$ position:$1 variable:$b"},
		{"a$1 ?2 :c @d", "a$1 variable:?2 variable::c variable:@d", ""},
		{"$a::b(c;d)", "variable:$a::b(c;d)", "variable:$a :: b ( c ; d )"},
		{"a::int ->> <=b<@c", "a : variable::int ->> <= b < variable:@c", "a :: int ->> <= b < variable:@c"},
		{"a!~~*b||c<>d", "a ! ~ ~ * b || c <> d", "a !~~* b || c <> d"},
		{"a/* ; /* b */ c */d", "a c * / d", "a d"},
		{"a--b\nc/*/d*/e", "a c e", "a c e"},
		{"\ufeffé", "é", "é"},
		{"'a", "unended:'a", "unended:'a"},
		{"$q$a", "variable:$q$a", "unended:$q$a"},
	} {
		if c.postgres == "" {
			c.postgres = c.sqlite
		}
		if got := shown(SQLite, c.text); got != c.sqlite {
			t.Errorf("SQLite: %s is %s, want %s", c.text, got, c.sqlite)
		}
		if got := shown(PostgreSQL, c.text); got != c.postgres {
			t.Errorf("PostgreSQL: %s is %s, want %s", c.text, got, c.postgres)
		}
	}
}

func TestValues(t *testing.T) {
	for text, want := range map[string]string{
		`Ab`: "ab", `"A""b"`: `A"b`, "[A[[b]": "A[[b", "`a``b`": "a`b", "'it''s'": "it's", `E'\'\x41\n\u00e9\101''\q\0'`: "'A\néA'q", "$$a'$$": "a'", "$x$$$$x$": "$$", "x'00'": "x'00'",
	} {
		token := PostgreSQL.First(text)
		if got := token.Name() + token.Literal(); got != want && token.Name() != want {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
	}
}

func TestCalls(t *testing.T) {
	calls := map[string]string{}
	for name, arguments := range SQLite.Calls(`SELECT f(a, 'x,)'), "G" ( g(), h(1)+(2,3) /* ) */ ) FROM t WHERE i IN (4`) {
		calls[name] = strings.Join(arguments, "|")
	}
	if want := map[string]string{"f": "a|'x,)'", "G": "g()|h(1)+(2,3) /* ) */", "g": "", "h": "1", "": "2|3"}; !maps.Equal(calls, want) {
		t.Errorf("%q, want %q", calls, want)
	}
	// The text of a call is not read again for each call around it.
	fuzztest.Limit(t, time.Minute)
	const depth = 400_000
	for _, arguments := range SQLite.Calls(strings.Repeat("f(", depth) + strings.Repeat(")", depth)) {
		if len(arguments) != 1 {
			t.Fatalf("%d arguments", len(arguments))
		}
	}
}

func TestMatch(t *testing.T) {
	tokens := slices.Collect(PostgreSQL.Words("f(a[1)], (b)"))
	if got, want := Match(tokens), []int{-1, -1, -1, 6, -1, -1, -1, -1, 10, -1, -1}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestCaret(t *testing.T) {
	for _, c := range []struct{ text, word, table, previous, tables string }{
		{"SEL", "SEL", "", "", ""},
		{"SELECT h.id FROM reading AS r JOIN main.home h ON h.id = r.ho", "ho", "r", "=", "h=home home=home id=id r=reading reading=reading"},
		{"SELECT r.", "", "r", "SELECT", ""},
		{"SELECT main.\"A b\".k", "k", "A b", "SELECT", ""},
		{"SELECT f(g(1), ", "", "", ",", ""},
		{"SELECT f(g(1)) FROM ", "", "", "FROM", ""},
		{"SELECT a FROM t LEFT JOIN ", "", "", "JOIN", "t=t"},
		{"SELECT a FROM t WHERE ", "", "", "WHERE", "t=t"},
	} {
		got := SQLite.Caret(c.text)
		var tables []string
		for _, alias := range slices.Sorted(maps.Keys(got.Tables)) {
			tables = append(tables, alias+"="+got.Tables[alias])
		}
		if got.Word != c.word || got.Table != c.table || got.Previous.Text != c.previous || strings.Join(tables, " ") != c.tables {
			t.Errorf("%s: %+v", c.text, got)
		}
	}
	for text, want := range map[string]Kind{"'a": Unended, "'ab'": Text, "-- a": Comment, "/* a": Comment, "1": Number, `"a`: Unended, "": Blank} {
		if got := SQLite.Caret(text).Token.Kind; got != want {
			t.Errorf("%s ends in %s", text, kinds[got])
		}
	}
}
