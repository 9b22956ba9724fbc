package pgcatalog

import (
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
		// What does not end is a literal to its end.
		{"SELECT 'ana is ill", "SELECT ?"},
		{"SELECT E'ana is ill\\'", "SELECT ?"},
		{"SELECT $$ana is ill", "SELECT ?"},
		{"SELECT $q$ana is ill", "SELECT ?"},
		{`SELECT "ana is ill`, "SELECT ?"},
		{"SELECT `ana is ill", "SELECT ?"},
		{"SELECT a /* ana is ill", "SELECT a"},
		{"", ""},
	} {
		if got := Mask(c.sql, 1000); got != c.want {
			t.Errorf("%s\nis masked as\n%s\nwant\n%s", c.sql, got, c.want)
		}
	}
	if got := Mask("SELECT "+strings.Repeat("é", 100), 20); got != "SELECT ééééé.." || !utf8.ValidString(got) {
		t.Errorf("cut to %q, %d bytes", got, len(got))
	}
}

func FuzzMask(f *testing.F) {
	f.Add("SELECT 'it''s', $$x$$, E'\\'', \"q\" /* c */ -- d")
	f.Add("SELECT '")
	f.Fuzz(func(t *testing.T, sql string) {
		once := Mask(sql, 200)
		if len(once) > 200 {
			t.Fatalf("%d bytes", len(once))
		}
		if !strings.ContainsAny(sql, "\"`[") && strings.Contains(once, "'") { // names may have one
			t.Errorf("%q is masked as %q", sql, once)
		}
	})
}
