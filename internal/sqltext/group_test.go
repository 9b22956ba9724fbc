package sqltext

import (
	"strings"
	"testing"
)

func TestGrouped(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT a, f(x) FROM t GROUP BY a":                                                     "a",
		"SELECT round ( lat , 1 ) AS r, f(x) FROM t GROUP BY 1 ORDER BY 2":                     "round ( lat , 1 ) AS r",
		"SELECT round(lat, 1) AS r, f(x) FROM t GROUP BY R, g(a, b) HAVING a > 1":              "round ( lat , 1 ) AS r|g ( a , b )",
		"SELECT (SELECT max(b) FROM u GROUP BY c), a FROM t GROUP BY 2, 3":                     "c|a|3",
		"WITH m AS (SELECT a FROM t GROUP BY 1) SELECT b FROM m GROUP BY 1 UNION SELECT 1, 2;": "a|b",
		"SELECT a FROM t":                          "",
		"SELECT 'GROUP BY a' FROM t -- GROUP BY b": "",
		"GROUP BY 1":                               "1",
		"GROUP":                                    "",
	} {
		var got []string
		for _, by := range SQLite.Grouped(text) {
			var words []string
			for _, w := range by {
				words = append(words, w.Text)
			}
			got = append(got, strings.Join(words, " "))
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
