package meter_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sqlitefn"
)

// attached opens a database in memory with a meter.
func attached(t interface{ Fatal(...any) }) (*sqlite.Conn, *sqlitefn.Meter) {
	conn, err := sqlite.Open(":memory:", sqlite.ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	if err := sqlitefn.Attach(conn.Handle()); err != nil {
		t.Fatal(err)
	}
	m, err := sqlitefn.NewMeter(conn.Handle())
	if err != nil {
		t.Fatal(err)
	}
	return conn, m
}

// metered opens a database in memory with a meter and some budgets.
func metered(t *testing.T) (*sqlite.Conn, *sqlitefn.Meter) {
	t.Helper()
	conn, m := attached(t)
	t.Cleanup(func() { conn.Close() })
	t.Cleanup(m.Close)
	if err := conn.Exec(`CREATE TABLE had(who, n, lat); INSERT INTO had VALUES ('ana', 1, 48.85), ('ana', 2, 48.86), ('bo', 1, 48.87);
		SELECT geo_domain('d', 48.8, 2.3, 48.9, 2.4, 1); SELECT dx_universe('u', 0, 10, 1, 'kWh');
		SELECT budget_limit('*', 'm', 1); SELECT budget_limit('*', 'kWh', 1); SELECT budget_limit('*', 'record', 1)`); err != nil {
		t.Fatal(err)
	}
	return conn, m
}

// A forecast has the charges of a statement, or says why there is none. It charges nobody.
func TestForecast(t *testing.T) {
	conn, m := metered(t)
	for sql, want := range map[string]string{
		"SELECT dx_sum(who, n, 2, 'u') FROM had":                                                                                  "nothing", // one group
		"SELECT 1 + max(0, dx_sum(who, n, 2, 'u')) FROM had WHERE n > 0":                                                          "kWh 2 2",
		"SELECT (SELECT dx_sum(who, n, 2, 'u') FROM had)":                                                                         "nothing",
		"INSERT INTO had SELECT 'x', dx_sum(who, n, 2, 'u'), 0 FROM had":                                                          "released or random values decide them",
		"SELECT dx_sum(who, n, 2, 'u') FROM had GROUP BY n":                                                                       "kWh 2 2",
		"SELECT dx_sum(who, n, 2, 'u'), dx_sum(who, n, 2, 'u') FROM had":                                                          "nothing", // SQLite asks once
		"SELECT dx_sum(who, n, 2, 'u'), dx_sum(who, n, 1, 'u') FROM had":                                                          "kWh 2 2",
		"SELECT dx_sum(who, n, 2, 'u'), dx_avg(who, n, 0.5, 'u') FROM had":                                                        "kWh 2 2",
		"SELECT dx_sum(who, n, 0.4, 'u'), dx_count(who, 1) FROM had":                                                              "record 2 1 kWh 2 0",
		"SELECT (SELECT dx_sum(who, h.n, 2, 'u') FROM had) FROM had h":                                                            "kWh 2 2", // again and again
		"SELECT (SELECT dx_sum(who, h.n, 0.5, 'u') FROM had) FROM had h":                                                          "kWh 2 2",
		"SELECT dx_sum(who, n, 0.5, 'u') FROM had UNION ALL SELECT dx_sum(who, n, 0.5, 'u') FROM had":                             "nothing", // everybody can pay
		"SELECT dx_sum(who, n, 0.6, 'u') FROM had UNION ALL SELECT dx_sum(who, n, 0.6, 'u') FROM had":                             "kWh 2 2",
		"SELECT n, dx_sum(who, n, 1, 'u') FROM had GROUP BY n":                                                                    "nothing",
		"SELECT n, dx_sum(who, n, 0.5, 'u') AS s FROM had GROUP BY n ORDER BY s":                                                  "kWh 2 0", // a bad row would cost answers that are not shown
		"SELECT n, dx_sum(who, n, 0.5, 'u', 'dh') FROM had GROUP BY n":                                                            "record 2 0",
		"SELECT n, dx_sum(who, n, 0.5, 'u'), dx_avg(who, n, 0.5, 'u', 'dinf') FROM had GROUP BY n":                                "kWh 2 1",
		"SELECT n, dx_sum(who, n, n / 4.0, 'u') FROM had GROUP BY n":                                                              "kWh 2 0",
		"SELECT geoind_laplace(who, lat, 2.35, 0.6) FROM had":                                                                     "m 2 1",
		"SELECT g.lat FROM had, geoind_laplace(who, had.lat, 2.35, 0.4) g":                                                        "m 2 0",
		"SELECT g.lat FROM had, geoind_laplace(who, had.lat, 2.35, 0.4) g WHERE g.lat > 48":                                       "m 2 0",                                 // rows are shown or not
		"SELECT CASE WHEN g.lat > 48 THEN dx_value(who, had.n, 0.1, 'u') END FROM had, geoind_laplace(who, had.lat, 2.35, 0.4) g": "released or random values decide them", // not certain
		"SELECT geoind_laplace(who, lat, 2.35, 0.6) FROM had WHERE random() > 0":                                                  "released or random values decide them",
		"INSERT INTO had SELECT geoind_laplace(who, lat, 2.35, 0.6), changes(), 0 FROM had":                                       "it asks for rows written before, of which a dry run knows nothing", // a dry run changes that
		"SELECT changes(), geoind_laplace(who, lat, 2.35, 0.6) FROM had":                                                          "m 2 1",
		"SELECT geoind_laplace(who, ?1, 2.35, 0.6) FROM had":                                                                      "sql has a parameter, which has no value in a dry run; write the value in its place", // no dry run
		"EXPLAIN SELECT geoind_laplace(who, lat, 2.35, 0.6) FROM had":                                                             "sql must be one of SELECT, VALUES, INSERT, REPLACE, UPDATE, DELETE, CREATE TABLE AS",
		"SELECT json('x'), geoind_laplace(who, lat, 2.35, 0.6) FROM had":                                                          "malformed JSON", // somebody else's error
		"SELECT geoind_laplace(who, 100, 2.35, 0.6) FROM had":                                                                     "geoind_laplace: lat must lie between -90 and 90",
		"SELECT nosuch FROM had": "no such column: nosuch",
		"SELECT n FROM had":      "nothing", // nor that
		"SELECT dx_value(who, n, 2, 'u') FROM had WHERE rowid = 1": "nothing", // one call
	} {
		f, err := m.Foresee(sql, false)
		got := ""
		switch {
		case f == nil && err == nil:
			got = "nothing"
		case err != nil:
			got = err.Error()
		case f.Doubt != "":
			got = f.Doubt
		default:
			for i, u := range f.Units {
				if i > 0 {
					got += " "
				}
				got += fmt.Sprint(u.Unit, " ", u.Accounts, " ", u.Short)
			}
		}
		if got != want {
			t.Errorf("%s\nforesees %q, want %q", sql, got, want)
		}
	}
	if charged := m.Charged(); len(charged) > 0 {
		t.Errorf("charged %v", charged)
	}
	if err := conn.Exec("SELECT dx_value('ana', 1, 0.1, 'u')"); err != nil || len(m.Charged()) != 1 {
		t.Errorf("a statement after them charges %v, %v", m.Charged(), err)
	}
}

// Somebody who is told the charges wants a forecast where an account pays more than a tenth of its rest; the meter tells the charges
// of all others when they have run.
func TestSpent(t *testing.T) {
	conn, m := metered(t)
	if f, err := m.Foresee("SELECT n, dx_sum(who, n, 0.11, 'u') FROM had GROUP BY n", true); f == nil || err != nil {
		t.Errorf("foresees %v, %v", f, err)
	}
	const sql = "SELECT n, dx_sum(who, n, 0.1, 'u') FROM had GROUP BY n"
	f, err := m.Foresee(sql, true)
	if f != nil || err != nil {
		t.Errorf("foresees %v, %v", f, err)
	}
	if f, err = m.Forecast(sql); err != nil {
		t.Fatal(err)
	}
	m.Reset()
	if err := conn.Exec(sql); err != nil {
		t.Fatal(err)
	}
	told := func(f *sqlitefn.Forecast) string {
		u := f.Units[0]
		return fmt.Sprintln(len(f.Units), u.Unit, u.Accounts, u.Epsilon, u.Least, u.Most, u.Left, u.Groups.Count, u.Groups.Separate)
	}
	spent, err := m.Spent()
	if err != nil || told(spent) != told(f) {
		t.Errorf("spent %s, %v; foreseen were %s", told(spent), err, told(f))
	}
	m.Reset()
	if spent, err := m.Spent(); err != nil || len(spent.Units) > 0 {
		t.Errorf("spent %v, %v", spent, err)
	}
}

// A meter counts the ledger's charges, until it is reset.
func TestMeterCounts(t *testing.T) {
	conn, m := metered(t)
	for _, sql := range []string{
		"SELECT geoind_laplace(who, lat, 2.35, 0.1) FROM had", "SELECT g.lat FROM had, geoind_laplace(who, had.lat, 2.35, 0.1) g",
		"SELECT n, dx_sum(who, n, 0.125, 'u'), dx_count(who, 0.1) FROM had GROUP BY n", "SELECT dx_accounts(who, 0.1) FROM had",
		`SELECT trace_policy('walk', 'ana', 'predictive', '{"epsilon": 0.3, "steps": 30}'); SELECT predictive_step('walk', 1, 48.85, 2.35)`,
		"SELECT 1",
	} {
		before := spentByUnit(t, conn)
		m.Reset()
		if err := conn.Exec(sql); err != nil {
			t.Fatal(sql, err)
		}
		after := spentByUnit(t, conn)
		for _, c := range m.Charged() {
			eps, _ := c.Epsilon.Float64()
			before[c.Unit] += eps
		}
		if charged := m.Charged(); len(charged) > 0 != (sql != "SELECT 1") || m.MayCharge() != (sql != "SELECT 1") {
			t.Errorf("%s: charged %v, may charge %v", sql, charged, m.MayCharge())
		}
		for unit := range after {
			if d := after[unit] - before[unit]; d > 1e-12 || d < -1e-12 {
				t.Errorf("%s: the meter says %v in all, the ledger %v", sql, before, after)
			}
		}
	}
}

// spentByUnit returns the amount that all accounts have spent together.
func spentByUnit(t *testing.T, conn *sqlite.Conn) map[budget.Unit]float64 {
	t.Helper()
	spent := map[budget.Unit]float64{}
	s, _, err := conn.Prepare("SELECT unit, sum(spent) FROM ledger_balance GROUP BY unit")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for {
		more, err := s.Step()
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			return spent
		}
		unit, sum := s.Column(0), s.Column(1)
		spent[budget.Unit(unit.Text())] = sum.Float()
	}
}

// A statement that has no end is not waited for once somebody cannot pay: the count by then
// is certain, and neither charged nor left in the database.
func TestPatience(t *testing.T) {
	conn, m := metered(t)
	const endless = "WITH RECURSIVE c(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM c) "
	for _, sql := range []string{
		endless + "SELECT geoind_laplace('ana', 48.85, 2.35, 0.5) FROM c",
		endless + "INSERT INTO had SELECT 'x', geoind_laplace('ana', 48.85, 2.35, 0.5), 0 FROM c",
	} {
		m.SetPatience(50 * time.Millisecond)
		f, err := m.Forecast(sql)
		if err != nil || !f.Partial || f.Certainty != sqlitefn.Exact || len(f.Units) != 1 || f.Units[0].Short != 1 || f.Units[0].Evaluations < 3 { // two can be paid
			t.Fatalf("%s\n%+v, %v", sql, f, err)
		}
		m.SetPatience(time.Hour)
		if f, err := m.Forecast("SELECT geoind_laplace(who, lat, 2.35, 0.6) FROM had"); err != nil || f.Partial || f.Units[0].Evaluations != 3 {
			t.Errorf("the next statement: %+v, %v", f, err)
		}
	}
	if got := spentByUnit(t, conn); len(m.Charged()) > 0 || got["m"] > 0 {
		t.Errorf("charged %v", got)
	}
}

// The knowledge about sealed columns is looked up again when it may have changed, and not otherwise.
func TestHasSealed(t *testing.T) {
	conn, m := metered(t)
	has := func(want bool) {
		t.Helper()
		if got, err := m.HasSealed(); got != want || err != nil {
			t.Errorf("sealed: %v, %v", got, err)
		}
	}
	run := func(sql string, want bool) {
		t.Helper()
		stmt, _, err := conn.Prepare(sql)
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.HasSealed()
		if err != nil {
			t.Error(err)
		}
		if err := stmt.Run(); err != nil {
			t.Fatal(err)
		}
		stmt.Close()
		has(want)
	}
	has(false)
	run(`CREATE TABLE t(x)`, false)
	run(`CREATE TABLE geosql_sealed_column(number INTEGER PRIMARY KEY, tbl TEXT, col TEXT, account TEXT, kind TEXT, name TEXT)`, false)
	run(`INSERT INTO geosql_sealed_column VALUES (1, 't', 'x', 'a', 'universe', 'u')`, true)
	run(`SELECT 1`, true)
	run(`BEGIN`, true)
	run(`DELETE FROM geosql_sealed_column`, false)
	run(`ROLLBACK`, true)
	run(`BEGIN`, true)
	run(`SAVEPOINT s`, true)
	run(`DROP TABLE geosql_sealed_column`, false)
	run(`ROLLBACK TO s`, true)
	run(`COMMIT`, true)
	run(`DROP TABLE geosql_sealed_column`, false)
	run(`ATTACH ':memory:' AS o`, false)
	run(`CREATE TABLE o.geosql_sealed_column(tbl TEXT, col TEXT, kind TEXT)`, false)
	run(`INSERT INTO o.geosql_sealed_column VALUES ('t', 'x', 'universe')`, true)
	run(`DETACH o`, false)
	before := m.Looked()
	run(`INSERT INTO t VALUES (1)`, false)
	if !before || !m.Looked() {
		t.Error("what is known is not kept")
	}
}

// A meter knows how far from the truth the answers of the last statement may be, by the law of each, if it is to, and not
// those of dry runs, of triggers' statements apart from others, or of earlier statements.
func TestIntervals(t *testing.T) {
	conn, m := metered(t)
	run := func(sql string) (answer float64) {
		t.Helper()
		m.Reset()
		stmt, _, err := conn.Prepare(sql)
		if err != nil {
			t.Fatal(err)
		}
		defer stmt.Close()
		for more := true; more; {
			if more, err = stmt.Step(); err != nil {
				t.Fatal(err)
			}
			if more && stmt.Columns() > 0 {
				cells := make([]sqlite.Value, stmt.Columns())
				stmt.Row(0, cells)
				answer = cells[0].Float()
			}
		}
		return answer
	}
	const sum = "SELECT dx_sum(who, n, 0.125, 'u') FROM had"
	if i := m.Interval(run(sum)); i.Times != 0 {
		t.Errorf("%v, although nobody wants it", i)
	}
	m.TellIntervals(true)
	x := run(sum)
	if i := m.Interval(x); i.Times != 1 || i.Radius != 24 || i.Ranks || m.Interval(x+0.5).Times != 0 { // 8 ln 20 = 23.97
		t.Errorf("%v has %v, %v has %v", x, i, x+0.5, m.Interval(x+0.5))
	}
	m.Reset()
	if _, err := m.Forecast(sum); err != nil || m.Interval(0).Times != 0 || m.Interval(x).Times != 0 {
		t.Errorf("%v, stand-ins have %v", err, m.Interval(0))
	}
	if i := m.Interval(run("SELECT dx_median(who, n, 0.125, 'u', 'dh') FROM had")); i.Times != 1 || !i.Ranks || i.Radius != 83 { // 16 ln(10*19) = 83.95
		t.Errorf("a median has %v", i)
	}
	if i := m.Interval(run("SELECT dx_variance(who, n, 0.125, 'u', 'dh') FROM had")); i.Times != 1 || i.String() != "" {
		t.Errorf("a variance of records has %v", i)
	}
	if err := conn.Exec(`CREATE TABLE log(x); CREATE TRIGGER logs AFTER INSERT ON log WHEN new.x < 1e6 BEGIN
		INSERT INTO log SELECT 1e6 + dx_sum(who, n, 0.0625, 'u') FROM had; END`); err != nil {
		t.Fatal(err)
	}
	run("INSERT INTO log SELECT dx_sum(who, n, 0.0625, 'u') FROM had")
	times := 0
	for y := range 1000 {
		times += m.Interval(float64(y)).Times
	}
	if times != 2 {
		t.Errorf("a statement and its trigger have %d answers", times)
	}
}
