package sqltext

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestMask(t *testing.T) {
	for _, c := range []struct{ sql, want string }{
		{"SELECT 1", "SELECT ?"},
		{"SELECT dx_sum(kwh, 0.1) FROM reading WHERE t LIKE '2026%' AND n IN (1,2e3, -4)", "SELECT dx_sum(kwh, ?) FROM reading WHERE t LIKE ? AND n IN (?,?, -?)"},
		{"select 'it''s', E'a\\'b', $$a 'b' $$, $x$ $$ $x$, x'00ff', 0x1F, .5", "select ?, ?, ?, ?, ?, ?, ?"},
		{"SELECT a -- for ana@example.org\n, b /* user: ana /* nested */ 7 */ FROM t", "SELECT a , b FROM t"},
		{"  SELECT\n\t a", "SELECT a"},
		{`SELECT "kwh", [my column], ` + "`x y`" + ` FROM "Reading" WHERE a = $1 AND b = ?2 AND c = :name`, `SELECT "kwh", [my column], ` + "`x y`" + ` FROM "Reading" WHERE a = $1 AND b = ?2 AND c = :name`},
		{"SET geosql.epsilon = 0.1", "SET geosql.epsilon = ?"},
		{"SELECT '5'::numeric", "SELECT ?::numeric"},
		// A token without an end is a literal to the end of the text.
		{"SELECT 'ana is ill", "SELECT ?"},
		{"SELECT E'ana is ill\\'", "SELECT ?"},
		{"SELECT $$ana is ill", "SELECT ?"},
		{"SELECT $q$ana is ill", "SELECT ?"},
		{`SELECT "ana is ill`, "SELECT ?"},
		{"SELECT `ana is ill", "SELECT ?"},
		{"SELECT a /* ana is ill", "SELECT a"},
		{"", ""},
	} {
		if got := PostgreSQL.Mask(c.sql, 1000); got != c.want {
			t.Errorf("%s\nis masked as\n%s\nwant\n%s", c.sql, got, c.want)
		}
	}
	if got := PostgreSQL.Mask("SELECT "+strings.Repeat("é", 100), 20); got != "SELECT ééééé.." || !utf8.ValidString(got) {
		t.Errorf("cut to %q, %d bytes", got, len(got))
	}
}

// FuzzMask checks that no literal is kept, whatever stands beside it: the secret is in literals and comments alone.
func FuzzMask(f *testing.F) {
	f.Add("SELECT 'it''s', $$x$$, E'\\'', \"q\" /* c */ -- d")
	f.Add("SELECT '")
	f.Add("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
	const secret = "q7q"
	words := strings.Split(`'q7q' '''q7q' 'q7q''q7q' E'\'q7q' e'q7q\\' x'q7q' $$q7q'$$ $a$$$q7q$a$ 1.q7q 0xq7q -1e+5q7q /*q7q*/ /*/*'*/q7q*/ --q7q`+
		` a "b""'" "it's" [cd] ( ) , ; :: <@ || ->> $1 ?2 :f @g . SELECT ARRAY ]`, " ")
	words[slices.Index(words, "--q7q")] += "\n"
	ends := strings.Fields("; 'q7q E'q7q\\' $$q7q $a$q7q$$ \"q7q `q7q /*q7q --q7q")
	f.Fuzz(func(t *testing.T, sql string) {
		once := PostgreSQL.Mask(sql, 200)
		if len(once) > 200 {
			t.Fatalf("%d bytes", len(once))
		}
		if !strings.ContainsAny(sql, "\"`[") && strings.Contains(once, "'") { // names may have one
			t.Errorf("%q is masked as %q", sql, once)
		}
		text := soup(words, []string{" ", "\n"}, sql) + ends[len(sql)%len(ends)]
		if got := PostgreSQL.Mask(text, 10_000); strings.Contains(got, secret) {
			t.Errorf("%q is masked as %q", text, got)
		}
	})
}
