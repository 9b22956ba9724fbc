package sqltext

import (
	"fmt"
	"strings"
	"testing"
)

func TestFrom(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT f(a, b) FROM t": "[a b] | FROM t | false",
		"SELECT x, F( a , g(b, c) ) AS m FROM t AS u WHERE a > 1;":                        "[a g(b, c)] | FROM t AS u WHERE a > 1 | false",
		"SELECT f(a) FROM t JOIN u ON t.a = u.a GROUP BY 1 LIMIT 2":                       "[a] | FROM t JOIN u ON t.a = u.a | true",
		"SELECT f(a) FROM t ORDER BY 1":                                                   "[a] | FROM t | false",
		"SELECT (SELECT 1 FROM v), f(a) FROM (SELECT a FROM t GROUP BY a) UNION SELECT 2": "[a] | FROM (SELECT a FROM t GROUP BY a) | false",
		"CREATE TABLE m AS SELECT * FROM (SELECT round(f(a, b), 2) FROM t), u":            "[a b] | FROM t | false",
		"SELECT a IS DISTINCT FROM b, f(a) FROM t":                                        "[a] | FROM t | false",
		"SELECT f(a), a IS DISTINCT FROM b FROM t":                                        "[a] | FROM t | false",
		"SELECT (SELECT f(1)) FROM t":                                                     "[1] |  | false",
		"SELECT a FROM t GROUP BY a HAVING f(a) > 1":                                      "[a] |  | false",
		"SELECT 'f(a)' FROM t -- f(a)":                                                    "none",
		"SELECT f(":                                                                       "[] |  | false",
		"))) f(a) FROM":                                                                   "[a] | FROM | false",
	} {
		f, found := SQLite.From(text, "f")
		got := fmt.Sprintf("%v | %s | %v", f.Arguments, f.Rows, f.Grouped)
		if !found {
			got = "none"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// FuzzFrom finds a call in any text. Its arguments and its rows are parts of the text.
func FuzzFrom(f *testing.F) {
	for _, text := range []string{"SELECT f(a, b) FROM t", "SELECT (SELECT f(a) FROM (SELECT 1)) FROM t GROUP BY 1", ")f(", "f(a,;)from", "(select(select f(x)from", "f((),[a)b]) FROM 'x"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		from, found := SQLite.From(text, "f")
		for _, part := range append(from.Arguments, from.Rows) {
			if !strings.Contains(text, part) || !found && part != "" {
				t.Errorf("%q: %+v, %v", text, from, found)
			}
		}
	})
}
