package printable_test

import (
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/internal/sqlite"
)

// FuzzSQL checks that an expression can be printed and that SQLite reads the text back.
func FuzzSQL(f *testing.F) {
	for _, s := range []string{"", "ana", "o'neil", "'", "a\nb", "\x00", "\x7f", "\xff\xfe", "é", "\u009b", "\x9b", "a\xc3", "\u202ean\u2028a", "\U0010ffff",
		strings.Repeat("\x1e", 500), strings.Repeat("a\xff", 2000)} { // more than SQLite nests
		f.Add(s)
	}
	conn, err := sqlite.Open(":memory:", sqlite.ReadWrite)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, s string) {
		q := printable.SQL(s)
		if !printable.Is(q) {
			t.Fatalf("SQL(%q) = %q does not show", s, q)
		}
		stmt, _, err := conn.Prepare("SELECT " + q)
		if err != nil {
			t.Fatalf("SQL(%q) = %q: %v", s, q, err)
		}
		defer stmt.Close()
		if _, err := stmt.Step(); err != nil {
			t.Fatal(err)
		}
		v := stmt.Column(0)
		if got := v.Text(); got != s {
			t.Fatalf("SQL(%q) reads back as %q", s, got)
		}
	})
}
