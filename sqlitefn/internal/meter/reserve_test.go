package meter_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/sqlite"
	"pgregory.net/rapid"
)

// rowsOf returns the rows of a query as text, or its error, after so many steps.
func rowsOf(t *rapid.T, conn *sqlite.Conn, sql string, steps int) string {
	s, _, err := conn.Prepare(sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	defer s.Close()
	var b strings.Builder
	for ; steps > 0; steps-- {
		more, err := s.Step()
		if err != nil {
			return err.Error()
		}
		if !more {
			break
		}
		for i := range s.Columns() {
			v := s.Column(i)
			b.WriteString(v.Text())
		}
		b.WriteString("\n")
	}
	return b.String()
}

// drawStatement draws a statement that charges: rows and groups, several functions, repeated accounts, NULL secrets, a view, or a statement that
// writes.
func drawStatement(t *rapid.T) string {
	epsilon := func() string {
		return fmt.Sprint(rapid.SampledFrom([]string{"0.01", "0.03", "0.2"}).Draw(t, "epsilon"))
	}
	expression := func(forms ...string) string {
		return strings.ReplaceAll(rapid.SampledFrom(forms).Draw(t, "form"), "EPS", epsilon())
	}
	row := func() string {
		return expression("geoind_laplace(who, lat, 2.35, EPS)", "geoind_laplace_l1(who, lat, 2.35, EPS)", "dx_value(who, n, EPS, 'u')",
			"(SELECT dx_value(who, n, EPS, 'u'))", "CASE WHEN n > 1 THEN geoind_gauss(who, lat, 2.35, EPS) END")
	}
	group := func() string {
		return expression("dx_sum(who, n, EPS, 'u')", "dx_sum(who, n, EPS, 'u', 'dh')", "dx_count(who, EPS)", "dx_accounts(who, EPS)", "dx_avg(who, n, EPS, 'u', 'dinf')",
			"dx_centroid(who, lat, 2.35, EPS)")
	}
	list := func(one func() string) string {
		var all []string
		for range rapid.IntRange(1, 3).Draw(t, "columns") {
			all = append(all, one())
		}
		return strings.Join(all, ", ")
	}
	from := rapid.SampledFrom([]string{" FROM had", " FROM had WHERE n <> 2", " FROM had ORDER BY n", " FROM had LIMIT 7", " FROM had AS h, (SELECT 1 UNION ALL SELECT 2)"}).Draw(t, "from")
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0:
		return "SELECT " + list(row) + from
	case 1:
		return "SELECT who, " + list(group) + " FROM had GROUP BY " + rapid.SampledFrom([]string{"who", "n", "n % 2, who"}).Draw(t, "group")
	case 2:
		return "INSERT INTO kept SELECT " + row() + from
	case 3:
		return "SELECT " + row() + " FROM had UNION ALL SELECT " + group() + " FROM had GROUP BY n"
	case 4:
		return "SELECT count(g.lat) FROM had, geoind_laplace(who, had.lat, 2.35, " + epsilon() + ") g"
	default:
		return "SELECT * FROM private, (SELECT 1 UNION ALL SELECT 2)"
	}
}

// A statement that reserves what a dry run has counted charges each account exactly what it charges without that, refuses nobody
// whom it does not refuse without, and leaves nothing reserved, whether it runs to its end or not.
func TestReservedStatementsChargeTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		setUp := `CREATE TABLE had(who, n, lat); CREATE TABLE kept(z); CREATE VIEW private AS SELECT geoind_laplace(who, lat, 2.35, 0.01) FROM had;
			SELECT geo_domain('d', 48.8, 2.3, 48.9, 2.4, 1); SELECT dx_universe('u', 0, 10, 1, 'kWh');`
		for _, unit := range []string{"m", "m2", "kWh", "record"} {
			setUp += fmt.Sprintf("SELECT budget_limit('*', '%s', %s);", unit, rapid.SampledFrom([]string{"0.05", "0.3", "2", "100"}).Draw(t, "limit"))
		}
		for range rapid.IntRange(0, 30).Draw(t, "rows") {
			who, null := rapid.IntRange(1, 6).Draw(t, "who"), rapid.IntRange(0, 9).Draw(t, "null")
			setUp += fmt.Sprintf("INSERT INTO had VALUES ('p%d', %s, %s);", who, map[bool]string{true: "NULL", false: fmt.Sprint(who % 4)}[null == 0],
				map[bool]string{true: "NULL", false: "48.85"}[null == 1])
		}
		if rapid.Bool().Draw(t, "reserved") {
			setUp += "SELECT budget_reserve(who, 'm', 0.02) FROM (SELECT DISTINCT who FROM had WHERE n > 1);"
		}
		sql, steps := drawStatement(t), 1<<20
		if rapid.IntRange(0, 3).Draw(t, "stops") == 0 {
			steps = rapid.IntRange(1, 5).Draw(t, "steps")
		}
		var after [2]string
		var refused [2]bool
		for i := range after {
			conn, m := attached(t)
			if err := conn.Exec(setUp); err != nil {
				t.Fatal(err)
			}
			f, err := m.Foresee(sql, false)
			if err != nil {
				t.Skip(err)
			}
			if f != nil && i == 0 {
				if f.Doubt != "" {
					t.Skip(f.Doubt)
				}
				m.Reserve(f)
			}
			got := rowsOf(t, conn, sql, steps)
			refused[i] = strings.Contains(got, "asked")
			after[i] = rowsOf(t, conn, "SELECT concat_ws(' ', account, unit, spent) FROM ledger_balance WHERE spent > 0 ORDER BY 1", 1<<20) +
				rowsOf(t, conn, "SELECT concat_ws(' ', function, account, unit, epsilon, evaluations) FROM ledger_charges ORDER BY 1", 1<<20)
			const held = "SELECT concat_ws(' ', unit, sum(reserved) - 0.02 * count(DISTINCT account)) FROM ledger_balance GROUP BY unit HAVING sum(reserved) > 0.02 * count(DISTINCT account) * (unit = 'm') + 1e-9"
			if held := rowsOf(t, conn, held, 9); held != "" {
				t.Fatalf("%s\nleaves reserved:\n%s", sql, held)
			}
			m.Close()
			conn.Close()
		}
		if refused[0] && !refused[1] {
			t.Fatalf("%s\nis refused", sql)
		}
		if refused == [2]bool{} && after[0] != after[1] {
			t.Fatalf("%s\ncharges, reserved,\n%s\nand without that\n%s", sql, after[0], after[1])
		}
	})
}
