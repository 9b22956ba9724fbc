package sqltext

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/fuzz/fuzztest"
	"github.com/geosql/geosql/internal/sqlite"
)

func TestSplit(t *testing.T) {
	for _, c := range [][4]string{
		{"", "", "", ""},
		{" ; -- a\n;", " ; -- a\n;", "", ""},
		{"SELECT 1", "", "SELECT 1", ""},
		{";; /* a */ SELECT ';' ; -- b\n ;", ";;", " /* a */ SELECT ';' ", ""},
		{"a;b; c", "", "a", "b; c"},
		{"a; ;b", "", "a", " ;b"},
		{"CREATE TEMP TRIGGER a BEGIN SELECT 1; END; b", "", "CREATE TEMP TRIGGER a BEGIN SELECT 1; END", " b"},
	} {
		for _, d := range []Dialect{SQLite, PostgreSQL} {
			before, s, rest := d.Split(c[0], Budget{})
			if got := [4]string{c[0], before, s.SQL, rest}; got != c || s.Tokens != nil {
				t.Errorf("%q", got)
			}
		}
	}
	for text, want := range map[string]string{
		"SELECT ';', $$;$$, E'\\';', \";\" /* /* */ ; */ -- ;\n; SELECT 2": "SELECT ';', $$;$$, E'\\';', \";\" /* /* */ ; */ -- ;\n",
		"SELECT $a$; SELECT 2": "SELECT $a$; SELECT 2", // a text that does not end
	} {
		if _, s, _ := PostgreSQL.Split(text, Budget{}); s.SQL != want {
			t.Errorf("%q begins with %q", text, s.SQL)
		}
	}
	const text = ";a + b;c"
	for n := range 7 {
		for _, budget := range []Budget{{len(text), n}, {n, len(text)}} {
			_, s, _ := SQLite.Split(text, budget)
			if fits := n >= 5; fits != (len(s.Tokens) == 5 && s.Tokens[4].At == 4) || fits != (s.Tokens != nil) {
				t.Errorf("%+v keeps %+v", budget, s)
			}
		}
	}
}

// soup returns a text made of words that a text chooses.
func soup(words, blanks []string, text string) string {
	var b strings.Builder
	for i := range min(len(text), 100) {
		b.WriteString(words[int(text[i])%len(words)] + blanks[int(text[i])/len(words)%len(blanks)])
	}
	return b.String()
}

// FuzzTokens checks that the tokens of any text are the text, and so are the statements and the texts between them, and that
// a Script finds statements complete where SQLite does.
func FuzzTokens(f *testing.F) {
	for _, text := range []string{"EXPLAIN QUERY PLAN CREATE TEMP TRIGGER a BEGIN SELECT 1; END; ", "create temporary trigger a; end /* ; */ ; -- a", "CREATE TRIGGERS; END",
		"EXPLAIN EXPLAIN CREATE TRIGGER;END;", "explain temp trigger;", "/* a\n", "[a;];", "'a''\n;';", "-- a", "é;", "END;CREATE\nTRIGGER a;;end;", "\n\n;\r\n;", "[;\n];\n`;\n`",
		"SELECT E'a\\'', $q$b;$q$, \"c\"[1]"} {
		f.Add(text)
	}
	words := strings.Fields("; CREATE TEMP temporary TRIGGER END EXPLAIN QUERY a ' \" ` [ ] -- /* */ - / .")
	f.Fuzz(func(t *testing.T, text string) {
		for _, text := range []string{strings.ReplaceAll(text, "\x00", " "), soup(words, []string{" ", "\n", "", " "}, text)} {
			for _, d := range []Dialect{SQLite, PostgreSQL} {
				checkPieces(t, d, text)
			}
			if strings.ContainsAny(text, "$:@#") || strings.Contains(text, byteOrderMark) {
				continue // sqlite3_complete does not know Tcl's variables, in which a semicolon may stand
			}
			var s Script
			read := 0
			for line := range strings.Lines(text) {
				s.Read(line)
				read += len(line)
				if want := sqlite.Complete(text[:read]); s.Complete() != want {
					t.Errorf("%q is complete: %v, want %v", text[:read], s.Complete(), want)
				}
			}
		}
	})
}

// checkPieces checks that pieces of a text are the text.
func checkPieces(t *testing.T, d Dialect, text string) {
	at := 0
	for token := range d.Tokens(text) {
		if token.At != at || token.Text == "" || !strings.HasPrefix(text[at:], token.Text) {
			t.Fatalf("%q has at %d the token %+v", text, at, token)
		}
		_ = token.Name() + token.Literal() // which do not panic
		at += len(token.Text)
	}
	if at != len(text) {
		t.Fatalf("%q has tokens up to %d", text, at)
	}
	d.Caret(text)
	for rest := text; rest != ""; {
		whole := rest
		var before string
		var s Statement
		before, s, rest = d.Split(whole, Budget{len(text), len(text)})
		if between, found := strings.CutPrefix(whole, before+s.SQL); !found || !strings.HasSuffix(between, rest) || d.First(strings.ReplaceAll(before, ";", " ")).Text != "" ||
			(d.First(s.SQL).Text == "") != (s.SQL == "") {
			t.Fatalf("%q begins with %q and %q, and %q is left", whole, before, s.SQL, rest)
		}
		at := 0
		for _, token := range s.Tokens {
			if token.At != at || !strings.HasPrefix(s.SQL[at:], token.Text) {
				t.Fatalf("%q has at %d the token %+v", s.SQL, at, token)
			}
			at += len(token.Text)
		}
		if at != len(s.SQL) {
			t.Fatalf("%q has tokens up to %d", s.SQL, at)
		}
	}
}

// FuzzSplit compares with where SQLite ends its valid statements.
func FuzzSplit(f *testing.F) {
	for _, text := range append(fuzztest.Statements(f, "../../examples/sql/*.sql"), "SELECT 'a;''b', \"c;\", [c;], `c;` FROM t -- ;\n ; SELECT 2", "SELECT $a::b(c;d), :e, @f /* ; /* ; */; a",
		"CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT CASE 1 WHEN 1 THEN 2 END; END; x", "; /* */ ; EXPLAIN QUERY PLAN SELECT x'00;", "\ufeff;\ufeffSELECT 1;") {
		f.Add(text)
	}
	conn, err := sqlite.Open(":memory:", sqlite.ReadWrite)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { conn.Close() })
	if err := conn.Exec("CREATE TABLE t(a, b, c, \"c;\")"); err != nil {
		f.Fatal(err)
	}
	words := strings.Split("SELECT|1|;|; SELECT a FROM t|,|+|'a;''b'|\"c;\"|[c;]|`c;`|$a::b(c;d)|:e|x'00'|/* ; /* */|-- ;\n|CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT 1;|END;|EXPLAIN|CASE 1 WHEN 1 THEN 2 END|FROM t|1e+1|.5|E|'\\'|(|)", "|")
	f.Fuzz(func(t *testing.T, text string) {
		for _, text := range []string{strings.ReplaceAll(text, "\x00", " "), soup(words, []string{" ", ""}, text), "SELECT 1" + soup(words, []string{" "}, text)} {
			for rest := text; rest != ""; {
				stmt, tail, err := conn.Prepare(rest)
				if err != nil {
					return
				}
				if stmt == nil {
					rest = tail
					continue
				}
				stmt.Close()
				before, s, _ := SQLite.Split(rest, Budget{})
				end := len(before + s.SQL)
				if end += len(rest[end:min(end+1, len(rest))]); end != len(rest)-len(tail) {
					t.Fatalf("%q is split after %q, and SQLite reads %q", rest, rest[:end], rest[:len(rest)-len(tail)])
				}
				rest = tail
			}
		}
	})
}

// allocated returns how many bytes do allocates.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// long are texts of about n bytes that repeat something.
func long(n int) map[string]string {
	texts := map[string]string{"a literal": "SELECT '" + strings.Repeat("a", n) + "'"}
	for _, unit := range []string{";", "SELECT 1;", " ;\n", "/* a */ ", "/*", "'a' ", "''", "$a$ ", "$", "[", "a[", "1e+1", "e'\\'", "a.", "a,", "(", "-- a\n", "<", "\ufeff"} {
		texts[unit] = strings.Repeat(unit, n/len(unit))
	}
	return texts
}

// splitAll splits a text into its statements.
func splitAll(d Dialect, text string) (n int) {
	for ; text != ""; n++ {
		_, _, text = d.Split(text, Budget{})
	}
	return n
}

// Texts are split and masked in little memory, and in time that does not grow with their square.
func TestLittleIsKept(t *testing.T) {
	const most = 1 << 18
	for _, size := range []int{1 << 20, 16 << 20} {
		for what, text := range long(size) {
			if size > 1<<20 && what != "a literal" && what != "/* a */ " { // Mask reads these to the end
				continue
			}
			t.Run(what, func(t *testing.T) {
				fuzztest.Limit(t, time.Minute)
				for _, d := range []Dialect{SQLite, PostgreSQL} {
					if n := allocated(func() { d.Mask(text, 4000) }); n > most {
						t.Errorf("Mask allocates %d bytes", n)
					}
					if n := allocated(func() { splitAll(d, text) }); n > most {
						t.Errorf("Split allocates %d bytes", n)
					}
				}
			})
		}
	}
}

func BenchmarkSplitSemicolons(b *testing.B) {
	text := strings.Repeat(";", 1<<20)
	for name, d := range map[string]Dialect{"SQLite": SQLite, "PostgreSQL": PostgreSQL} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				splitAll(d, text)
			}
		})
	}
	b.Run("Script", func(b *testing.B) {
		for b.Loop() {
			new(Script).Read(text)
		}
	})
}

func BenchmarkMask(b *testing.B) {
	for _, unit := range []string{"SELECT 1, 'a' FROM t;", "/* a */ "} {
		text := strings.Repeat(unit, 16<<20/len(unit))
		b.Run(strings.Fields(unit)[0], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				PostgreSQL.Mask(text, 4000)
			}
		})
	}
}
