package ledger

import (
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/internal/sqlite"
)

func TestRefusalText(t *testing.T) {
	for _, c := range []struct {
		refusal Refusal
		want    string
	}{
		{
			Refusal{Account: "ana", Unit: "m", Asked: 6_900_000_000, Left: 2_100_000_000, Limit: 23_000_000_000, Limited: true},
			"account 'ana' has 0.0021/m left of 0.0230/m, 0.0069/m asked, 0.0048/m short",
		}, {
			Refusal{Account: "o'neil", Unit: "record", Asked: one, Limit: 5 * one, Limited: true},
			"account 'o''neil' has 0/record left of 5/record, 1/record asked, 1/record short",
		}, {
			Refusal{Account: "ana", Unit: "m", Asked: budget.Max, Left: 1, Limit: 1, Limited: true},
			"account 'ana' has 0.000000000001/m left of 0.000000000001/m, 9000000.000000000000/m asked, 8999999.999999999999/m short",
		}, {
			Refusal{Account: "ana", Unit: "kWh", Asked: one, OtherUnits: []budget.Unit{"kwh"}},
			"account 'ana' has no budget in unit 'kWh' (limits exist for 'kwh'); set one: SELECT budget_limit('ana', 'kWh', EPSILON) or budget_limit('*', 'kWh', EPSILON)",
		}, {
			Refusal{Account: "ana", Unit: "m"},
			"account 'ana' has no budget in unit 'm'; set one: SELECT budget_limit('ana', 'm', EPSILON) or budget_limit('*', 'm', EPSILON)",
		}, {
			Refusal{Account: "a\nb", Unit: "k'h", OtherUnits: []budget.Unit{"m", "set"}},
			"account 'a'||char(10)||'b' has no budget in unit 'k''h' (limits exist for 'm', 'set'); set one: SELECT budget_limit('a'||char(10)||'b', 'k''h', EPSILON) or budget_limit('*', 'k''h', EPSILON)",
		},
	} {
		if got := c.refusal.Error(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
		if c.refusal.SQLiteCode() != sqlite.CodeDenied {
			t.Error("code")
		}
	}
}

// FuzzQuote checks that a quoted text can be printed and reads back in SQL.
func FuzzQuote(f *testing.F) {
	for _, s := range []string{"", "ana", "o'neil", "'", "a\nb", "\x00", "\x7f", "\xff\xfe", "é", "\u009b", "\x9b", "a\xc3", "\u202ean\u2028a", "\U0010ffff"} {
		f.Add(s)
	}
	conn, err := sqlite.Open(":memory:", sqlite.ReadWrite)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, s string) {
		q := quote(s)
		if !printable.Is(q) {
			t.Fatalf("quote(%q) = %q", s, q)
		}
		stmt, _, err := conn.Prepare("SELECT " + q)
		if err != nil {
			t.Fatalf("quote(%q) = %q: %v", s, q, err)
		}
		defer stmt.Close()
		if _, err := stmt.Step(); err != nil {
			t.Fatal(err)
		}
		v := stmt.Column(0)
		if got := v.Text(); got != s {
			t.Fatalf("quote(%q) reads back as %q", s, got)
		}
	})
}
