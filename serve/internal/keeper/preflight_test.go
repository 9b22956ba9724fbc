package keeper

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/serve/internal/role"
)

// A statement that somebody cannot pay for as a whole is refused before anybody has paid for a part, and costs no more than otherwise.
func TestPreflight(t *testing.T) {
	s := newSite(t, nil)
	x := s.session()
	const sums = "SELECT dx_sum(kwh, $1), dx_avg(kwh, $1) FROM reading"
	e := x.wantError("53400", sums, 0.6)
	if !strings.Contains(e.Detail, "1/kWh left of 1/kWh; 1.2/kWh is asked. Nobody was charged.") || !strings.Contains(e.Hint, "cost once under d1") ||
		!strings.Contains(e.Hint, "SET geosql.preflight = off") {
		t.Errorf("the refusal is %s", describe(e))
	}
	if got := s.events.last(); got.SQL != sums || got.State != "53400" || got.Report.Answers != 0 {
		t.Errorf("the observer was told of %+v", got)
	}
	if got := s.spent("ana"); got != 0 {
		t.Fatalf("%v is spent", got)
	}
	x.want(sums, 0.5)
	if got := s.spent("ana"); got != amount(t, "1") {
		t.Errorf("%v is spent, want 1", got)
	}
}

// preflights are statements, with 0.5 of 1/kWh left, each with the error that it gets before anything is charged: "" if it runs.
var preflights = []struct{ sql, want string }{
	{"SELECT dx_sum(kwh, 0.6) FROM reading", "53400"},
	{"SELECT dx_sum(kwh, 0.3) FROM reading", ""},
	{"SELECT hour, dx_sum(kwh, 0.3) FROM reading GROUP BY hour", ""},
	{"SELECT hour, dx_sum(kwh, 0.5 * (hour + 1)) FROM reading GROUP BY hour", "53400"},
	{"SELECT dx_sum(kwh, 0.3) FROM reading UNION ALL SELECT dx_avg(kwh, 0.3) FROM reading", "53400"},
	{"SELECT dx_sum(kwh, 0.3) FROM reading UNION ALL SELECT dx_sum(kwh, 0.3) FROM reading", ""},
	{"COPY (SELECT dx_sum(kwh, 0.3), dx_avg(kwh, 0.3) FROM reading) TO STDOUT", "53400"},
	{"EXPLAIN SELECT dx_sum(kwh, 0.3), dx_avg(kwh, 0.3) FROM reading", ""},
	{"SELECT dx_value(kwh, 0.3 * id) FROM reading WHERE home = (SELECT min(home) FROM reading)", "53400"},
	{"SELECT dx_value(kwh, 0.3) FROM reading WHERE id = 5", ""},
	{"WITH g AS MATERIALIZED (SELECT hour, dx_sum(kwh, 0.01) AS s FROM reading GROUP BY hour) SELECT * FROM g ORDER BY s DESC LIMIT 3", ""},
	{"WITH g AS MATERIALIZED (SELECT hour, dx_sum(kwh, 0.01) AS s FROM reading GROUP BY hour) SELECT dx_avg(kwh, 0.01) FROM reading JOIN g USING (hour) WHERE s > 4", "53400"},
	{"SELECT hour, dx_sum(kwh, 0.1) AS s, dx_avg(kwh, 0.1) FROM reading GROUP BY hour HAVING s > 4 ORDER BY 2", ""},
	{"SELECT dx_sum(dx_narrow(kwh, 0, 2), 0.1), dx_max(kwh, 0.1, 'dinf') FROM reading WHERE hour BETWEEN dx_radius('sum', 0.95, 1, 'halfhour') AND 20", ""},
	{"SELECT dx_sum(kwh, 0.1), dx_sum(kwh, -1) FROM reading", "22000"},
}

func TestWhatPreflightsRefuse(t *testing.T) {
	for _, c := range preflights {
		s := newSite(t, nil)
		x := s.session()
		x.want("SELECT dx_sum(kwh, 0.5) FROM reading WHERE hour >= 0")
		notices := x.client.all()
		if c.want != "" {
			x.wantError(c.want, c.sql)
			if got := s.spent("bo"); got != amount(t, "0.5") || x.client.all() != notices {
				t.Errorf("%s: %v is spent, and notices are %s", c.sql, got, x.client.all())
			}
		} else if _, err := x.query(c.sql); err != nil {
			t.Errorf("%s: %s", c.sql, describe(err))
		}
	}
}

// Without a preflight a statement runs as far as the budgets reach; a cursor has none.
func TestWithoutPreflight(t *testing.T) {
	s := newSite(t, nil)
	x := s.session()
	const sums = "SELECT dx_sum(kwh, 0.6), dx_avg(kwh, 0.6) FROM reading"
	x.wantError("53400", sums)
	x.want("SET geosql.preflight TO off")
	x.wantError("53400", sums)
	if got := s.spent("ana"); got != amount(t, "0.6") {
		t.Errorf("%v is spent, want 0.6", got)
	}
	x.want("RESET geosql.preflight")
	if got := x.want("SHOW geosql.preflight"); got != "on" {
		t.Errorf("it is %s", got)
	}
	x.want("BEGIN")
	x.want("DECLARE c CURSOR FOR SELECT hour, dx_sum(kwh, 0.1 * (hour + 1)) FROM reading GROUP BY hour")
	x.want("FETCH 2 FROM c")
	if e := x.wantError("53400", "FETCH ALL FROM c"); strings.Contains(e.Hint, "preflight") {
		t.Errorf("a cursor is refused as a whole: %s", describe(e))
	}
}

// The role's time and rows hold for a preflight, and nobody is charged when it exceeds them.
func TestPreflightsHaveLimits(t *testing.T) {
	s := newSite(t, nil)
	s.addRole(func(r *role.Role) { r.Rows = 5 })
	s.session().wantError("54000", "SELECT hour, dx_sum(kwh, 0.1) FROM reading GROUP BY hour")
	x := s.session()
	x.want("SET statement_timeout = 100")
	x.wantError("57014", `SELECT dx_sum(kwh, 0.1), dx_avg(kwh, 0.1) FROM reading UNION ALL SELECT count(*), 0 FROM
		(WITH RECURSIVE w(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM w) SELECT n FROM w WHERE n < 0)`)
	if got := s.spent("di"); got != 0 {
		t.Errorf("%v is spent", got)
	}
	s.addRole(func(r *role.Role) { r.Epsilon["kWh"] = 2 * budget.One / 5 })
	if e := s.session().wantError("53400", "SELECT dx_sum(kwh, 0.3), dx_avg(kwh, 0.3) FROM reading"); !strings.Contains(e.Message, "the role") {
		t.Errorf("the refusal is %s", describe(e))
	}
}

// psql and a program say the refusal, its hint, and nothing of a charge.
func TestPreflightOfClients(t *testing.T) {
	s := newSite(t, nil)
	dsn := s.serve()
	got := s.psql(dsn, `SELECT hour < 12, dx_sum(kwh, 0.7), dx_avg(kwh, 0.7) FROM reading GROUP BY 1;
SET geosql.preflight = maybe;
BEGIN; SELECT dx_sum(kwh, 0.7), dx_avg(kwh, 0.7) FROM reading; SELECT 'failed'; ROLLBACK;
SELECT 'ok', count(a + b) FROM (SELECT dx_sum(kwh, 0.1) AS a, dx_avg(kwh, 0.1) AS b FROM reading);
`)
	for text, times := range map[string]int{
		"1.4/kWh is asked. Nobody was charged.": 2, "The statement asks for that with all of its answers": 2, "SET geosql.preflight = off runs it": 2,
		"geosql.preflight must be on or off": 1, "failed\n": 0, "ok|1\n": 1, "NOTICE:  cost up to 0.2/kWh for each of 4 accounts": 1, "NOTICE": 1,
	} {
		if n := strings.Count(got, text); n != times {
			t.Errorf("psql prints %d times %q:\n%s", n, text, got)
		}
	}

	ctx := context.Background()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	const sql = "SELECT dx_sum(kwh, $1), dx_avg(kwh, $1) FROM reading"
	var a, b float64
	err = conn.QueryRow(ctx, sql, 0.45).Scan(&a, &b)
	if e, ok := errors.AsType[*pgconn.PgError](err); !ok || e.Code != "53400" || !strings.Contains(e.Hint, "geosql.preflight") {
		t.Errorf("a program gets %v", err)
	}
	if got := s.spent("di"); got != amount(t, "0.2") {
		t.Errorf("%v is spent, want 0.2", got)
	}
	if err := conn.QueryRow(ctx, sql, 0.4).Scan(&a, &b); err != nil {
		t.Error(err)
	}
	if got := s.spent("di"); got != amount(t, "1") {
		t.Errorf("%v is spent, want 1", got)
	}
}
