package sqlitefn_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/geosql/geosql/sqlitefn"
)

const benchRows = 1_000_000

// benchDB holds benchRows rows of points and readings over the given number of
// accounts, in the order of a log: accounts interleaved.
func benchDB(b *testing.B, accounts int) *sql.Conn {
	b.Helper()
	db := sql.OpenDB(sqlitefn.Connector(filepath.Join(b.TempDir(), "bench.db")))
	b.Cleanup(func() { db.Close() })
	conn, err := db.Conn(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.Close() })
	exec(b, conn, fmt.Sprintf(`
		CREATE TABLE t(account TEXT, lat REAL, lon REAL, x REAL);
		INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		SELECT 'account' || (i %% %d), 39.5 + (i %% 1000) * 0.001, 116 + (i / 1000) * 0.001, (i %% 3000) * 0.001 FROM n`,
		benchRows-1, accounts))
	ask(b, conn, `SELECT geo_domain('beijing', 39.4, 115.4, 41.1, 117.6, 1), dx_universe('u', 0, 10, 0.001, 'kWh'),
		budget_limit('*', 'm', 9000000), budget_limit('*', 'kWh', 9000000)`)
	return conn
}

func exec(tb testing.TB, conn *sql.Conn, query string) {
	tb.Helper()
	if _, err := conn.ExecContext(context.Background(), query); err != nil {
		tb.Fatal(err)
	}
}

// ask runs a query to its end and returns how long that took.
func ask(tb testing.TB, conn *sql.Conn, query string) time.Duration {
	tb.Helper()
	start := time.Now()
	rows, err := conn.QueryContext(context.Background(), query)
	if err != nil {
		tb.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
	}
	if err := rows.Err(); err != nil {
		tb.Fatal(err)
	}
	return time.Since(start)
}

// ratio reports the best time of query as a multiple of the best time of base,
// both measured in turns, since machines drift.
func ratio(b *testing.B, conn *sql.Conn, query, base string) {
	b.Helper()
	best, bestBase := time.Duration(1<<62), time.Duration(1<<62)
	for b.Loop() {
		for range 5 {
			bestBase = min(bestBase, ask(b, conn, base))
			best = min(best, ask(b, conn, query))
		}
	}
	b.ReportMetric(float64(best)/float64(bestBase), "ratio")
	b.ReportMetric(float64(best.Nanoseconds())/benchRows, "ns/row")
	b.ReportMetric(float64(bestBase.Nanoseconds())/benchRows, "base-ns/row")
}

func BenchmarkLaplaceTable(b *testing.B) {
	const base = `SELECT count(max(lat, lon, 0.01)) FROM t`
	b.Run("1account", func(b *testing.B) {
		conn := benchDB(b, 1)
		ratio(b, conn, `SELECT count(g.lat), count(g.lon) FROM t, geoind_laplace(t.account, t.lat, t.lon, 0.01) g`, base)
	})
	b.Run("100000accounts", func(b *testing.B) {
		conn := benchDB(b, 100_000)
		ask(b, conn, `SELECT budget_reserve(account, 'm', 10) FROM (SELECT DISTINCT account FROM t)`)
		ratio(b, conn, `SELECT count(g.lat), count(g.lon) FROM t, geoind_laplace(t.account, t.lat, t.lon, 0.01) g`, base)
	})
}

func BenchmarkLaplaceScalar(b *testing.B) {
	conn := benchDB(b, 1)
	ratio(b, conn, `SELECT count(geoind_laplace(account, lat, lon, 0.01)) FROM t`, `SELECT count(max(lat, lon, 0.01)) FROM t`)
}

func BenchmarkValue(b *testing.B) {
	conn := benchDB(b, 60)
	ratio(b, conn, `SELECT count(dx_value(account, x, 0.01, 'u')) FROM t`, `SELECT count(max(x, 0.01)) FROM t`)
}

func BenchmarkSum(b *testing.B) {
	for _, accounts := range []int{60, 100_000} {
		b.Run(fmt.Sprintf("%daccounts", accounts), func(b *testing.B) {
			conn := benchDB(b, accounts)
			ask(b, conn, `SELECT budget_reserve(account, 'kWh', 10) FROM (SELECT DISTINCT account FROM t)`)
			ratio(b, conn, `SELECT dx_sum(account, x, 0.01, 'u') FROM t`, `SELECT sum(x) FROM t`)
		})
	}
}

// BenchmarkSumGroups sums twelve groups, which cost an account once.
func BenchmarkSumGroups(b *testing.B) {
	for _, accounts := range []int{60, 100_000} {
		b.Run(fmt.Sprintf("%daccounts", accounts), func(b *testing.B) {
			conn := benchDB(b, accounts)
			ask(b, conn, `SELECT budget_reserve(account, 'kWh', 100) FROM (SELECT DISTINCT account FROM t)`)
			ratio(b, conn, `SELECT dx_sum(account, x, 0.01, 'u') FROM t GROUP BY rowid / 83334`, `SELECT sum(x) FROM t GROUP BY rowid / 83334`)
		})
	}
}

// BenchmarkGroupsCharged sums 100,000 groups of ten rows, and charges each of them: to an account of its own
// that has reserved, and under dh to ten of 60 accounts, with and without a reservation.
func BenchmarkGroupsCharged(b *testing.B) {
	for _, bench := range []struct {
		name, reserve, by, epsilon string
		accounts                   int
	}{
		{"own", "kWh", "account", "0.01, 'u'", 100_000},
		{"dh", "record", "rowid / 10", "0.00001, 'u', 'dh'", 60},
		{"dh-unreserved", "", "rowid / 10", "0.00001, 'u', 'dh'", 60},
	} {
		b.Run(bench.name, func(b *testing.B) {
			conn := benchDB(b, bench.accounts)
			ask(b, conn, `SELECT budget_limit('*', 'record', 9000000)`)
			if bench.reserve != "" {
				ask(b, conn, `SELECT budget_reserve(account, '`+bench.reserve+`', 1000) FROM (SELECT DISTINCT account FROM t)`)
			}
			ratio(b, conn, `SELECT dx_sum(account, x, `+bench.epsilon+`) FROM t GROUP BY `+bench.by, `SELECT sum(x) FROM t GROUP BY `+bench.by)
		})
	}
}

// BenchmarkSumCharged is BenchmarkSum without a reservation: every account is
// charged by a commit of the group.
func BenchmarkSumCharged(b *testing.B) {
	conn := benchDB(b, 10_000)
	ratio(b, conn, `SELECT dx_sum(account, x, 0.01, 'u') FROM t`, `SELECT sum(x) FROM t`)
}

// BenchmarkMedian has readings in no order, as the group keeps and sorts them.
func BenchmarkMedian(b *testing.B) {
	for _, accounts := range []int{60, 100_000} {
		b.Run(fmt.Sprintf("%daccounts", accounts), func(b *testing.B) {
			conn := benchDB(b, accounts)
			exec(b, conn, `UPDATE t SET x = (rowid * 7919 % 9973) * 0.001`)
			ask(b, conn, `SELECT budget_reserve(account, 'kWh', 10) FROM (SELECT DISTINCT account FROM t)`)
			ratio(b, conn, `SELECT dx_median(account, x, 0.01, 'u') FROM t`, `SELECT sum(x) FROM t`)
		})
	}
}

// BenchmarkPredictiveStep steps through new traces each time, with a policy that
// lets all points be reported and with one that lasts for thirty.
func BenchmarkPredictiveStep(b *testing.B) {
	const over = `OVER (PARTITION BY account ORDER BY rowid ROWS UNBOUNDED PRECEDING)`
	for name, settings := range map[string]string{"endless": `{"epsilon": 100000, "alpha": 1000}`, "thirty": `{"epsilon": 0.023, "steps": 30}`} {
		for _, traces := range []int{1, 1000} {
			b.Run(fmt.Sprintf("%s/%dtraces", name, traces), func(b *testing.B) {
				conn := benchDB(b, traces)
				ask(b, conn, `SELECT trace_policy('*', 'ana', 'predictive', '`+settings+`')`)
				ratio(b, conn, `SELECT count(z) FROM (SELECT predictive_step(account || (SELECT hex(randomblob(4))), rowid, lat, lon) `+over+` AS z FROM t)`,
					`SELECT count(z) FROM (SELECT sum(lat) `+over+` AS z FROM t)`)
			})
		}
	}
}

// BenchmarkPIMStep takes the steps of a trace of 1000 points through one statement,
// and one by one, on grids of 1444 and 9025 cells.
func BenchmarkPIMStep(b *testing.B) {
	for _, metres := range []int{5000, 2000} {
		d := declared(b)
		d.run(`SELECT budget_limit('*', 'set', 9000000)`,
			`CREATE TABLE seen AS `+numbered("20000")+`SELECT i % 50 AS trace, 60 * i AS t, 40.25 + abs(i % 800 - 400) * 1e-3 AS lat, 116.5 + abs(i % 600 - 300) * 1e-3 AS lon FROM s`,
			fmt.Sprintf(`SELECT markov_store('popular', markov_train(trace, t, lat, lon, 'beijing', %d, 3000)) FROM seen`, metres),
			`SELECT trace_policy('*', 'ana', 'pim', '{"model": "popular", "epsilon": 1}')`)
		b.Run(fmt.Sprintf("%dm/over", metres), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				d.run(fmt.Sprintf(`SELECT count(z) FROM (SELECT pim_step('over %p %d', t, lat, lon) OVER (ORDER BY t ROWS UNBOUNDED PRECEDING) AS z FROM seen LIMIT 1000)`, b, i))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/step")
		})
		b.Run(fmt.Sprintf("%dm/one", metres), func(b *testing.B) {
			at := 0
			for b.Loop() {
				at += 60
				d.run(fmt.Sprintf(`SELECT pim_step('one %p', %d, 40.25, 116.5)`, b, at))
			}
		})
	}
}

// BenchmarkSealed opens a million sealed values of one session. The last one also sorts them into
// groups in which no two neighbours are.
func BenchmarkSealed(b *testing.B) {
	for _, bench := range []struct {
		name, query string
		reserved    string // unit
		accounts    int
	}{
		{"sum/60accounts", `SELECT dx_sum(kwh, 0.0001) FROM s`, "kWh", 60},
		{"sum/100000accounts", `SELECT dx_sum(kwh, 0.0001) FROM s`, "kWh", 100_000},
		{"person/60accounts", `SELECT dx_sum(dx_person(kwh, 0, 1000000), 0.0001) FROM s`, "record", 60},
		{"person/100000accounts", `SELECT dx_sum(dx_person(kwh, 0, 1000000), 0.0001) FROM s`, "record", 100_000},
		{"accounts-dh/60accounts", `SELECT dx_sum(kwh, 0.0000001, 'dh') FROM s`, "kWh", 60},
		{"groups/60accounts", `SELECT dx_sum(kwh, 0.0001) FROM s GROUP BY id * 7919 % 1000`, "kWh", 60},
	} {
		b.Run(bench.name, func(b *testing.B) {
			d := newSealed(b, nil)
			d.run(`BEGIN`)
			insert, err := d.conn.PrepareContext(context.Background(), `INSERT INTO s(kwh) VALUES(?)`)
			if err != nil {
				b.Fatal(err)
			}
			for i := range benchRows {
				if _, err := insert.Exec(d.seal.Value(columnKWh, fmt.Sprint("account", i%bench.accounts), int64(i%11))); err != nil {
					b.Fatal(err)
				}
			}
			insert.Close()
			d.run(`COMMIT`)
			ask(b, d.conn, fmt.Sprintf(`SELECT budget_reserve('account' || value, '%s', 5) FROM (WITH RECURSIVE n(value) AS (SELECT 0 UNION ALL SELECT value + 1 FROM n WHERE value < %d) SELECT value FROM n)`, bench.reserved, bench.accounts-1))
			ratio(b, d.conn, bench.query, `SELECT sum(length(kwh)) FROM s`)
		})
	}
}

// BenchmarkShortTraces takes two steps of each of 20,000 new traces, every one an account with a
// reserved budget. It does not measure the time that a reservation takes.
func BenchmarkShortTraces(b *testing.B) {
	const traces = 20_000
	for _, steps := range []struct{ function, policy, reserved string }{
		{"predictive_step", `'predictive', '{"domain": "beijing", "epsilon": 0.023, "steps": 30}'`, `'m', 0.023`},
		{"pim_step", `'pim', '{"model": "popular", "epsilon": 1}'`, `'set', 2`},
	} {
		b.Run(steps.function, func(b *testing.B) {
			d := newDatabase(b)
			d.run(declarations[0], `SELECT budget_limit('*', 'set', 9000000), budget_limit('*', 'm', 9000000)`,
				`CREATE TABLE seen AS `+numbered("20000")+`SELECT i % 50 AS trace, 60 * i AS t, 40.25 + abs(i % 800 - 400) * 1e-3 AS lat, 116.5 + abs(i % 600 - 300) * 1e-3 AS lon FROM s`,
				`SELECT markov_store('popular', markov_train(trace, t, lat, lon, 'beijing', 5000, 3000)) FROM seen`,
				`CREATE TABLE fix AS `+numbered(fmt.Sprint(2*traces))+`SELECT 'trace' || ((i - 1) / 2) AS name, 60 * i AS t, 40.25 + abs(i % 800 - 400) * 1e-3 AS lat, 116.5 + abs(i % 600 - 300) * 1e-3 AS lon FROM s`,
				`SELECT trace_policy('*', '*', `+steps.policy+`)`)
			const over = `OVER (PARTITION BY name ORDER BY t ROWS UNBOUNDED PRECEDING) AS z FROM fix`
			var base time.Duration
			for i := 0; b.Loop(); i++ {
				b.StopTimer()
				d.run(fmt.Sprintf(`SELECT budget_reserve('%d ' || name, %s) FROM fix WHERE t %% 120 = 0`, i, steps.reserved))
				start := time.Now()
				d.run(`SELECT count(z) FROM (SELECT sum(lat) ` + over + `)`)
				base += time.Since(start)
				b.StartTimer()
				d.run(fmt.Sprintf(`SELECT count(z) FROM (SELECT %s('%d ' || name, t, lat, lon) %s)`, steps.function, i, over))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/traces, "ns/trace")
			b.ReportMetric(float64(b.Elapsed())/float64(base), "x-base")
		})
	}
}
