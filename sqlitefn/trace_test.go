package sqlitefn_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// stepOver is predictive_step over the table fix, as the reference writes it.
const stepOver = `predictive_step(trace, t, lat, lon) OVER (PARTITION BY trace ORDER BY t ROWS UNBOUNDED PRECEDING)`

// traced is a database with two traces of 40 points each, interleaved and out of
// order; one stands still while the other walks.
func traced(t *testing.T, settings string) *database {
	t.Helper()
	d := declared(t)
	d.run(`SELECT trace_policy('*', '*', 'predictive', '`+settings+`')`,
		`CREATE TABLE fix(trace TEXT, t INTEGER, lat REAL, lon REAL)`,
		`INSERT INTO fix `+numbered("80")+`SELECT CASE i % 2 WHEN 0 THEN 'stays' ELSE 'walks' END, 60 * (80 - i),
			39.9 + (i % 2) * i * 0.001, 116.3 FROM s`)
	return d
}

const thirtySteps = `{"epsilon": 0.023, "steps": 30}`

// Over a table and on line the run has the reported points, budget is spent by the
// trace's account, and never more than the trace has.
func TestPredictiveStep(t *testing.T) {
	d := traced(t, thirtySteps)
	rows := d.rows(`SELECT trace, ` + stepOver + ` AS z FROM fix`)
	if len(rows) != 80 {
		t.Fatalf("%d rows", len(rows))
	}
	reported := map[any][]string{}
	for _, r := range rows {
		if r[1] != nil {
			reported[r[0]] = append(reported[r[0]], r[1].(string))
		}
	}
	for _, trace := range []string{"stays", "walks"} {
		if n := len(reported[trace]); n < 13 || n > 40 {
			t.Errorf("%s has %d reports", trace, n)
		}
		run := d.rows(`SELECT t, printf('POINT(%.7f %.7f)', lon, lat), hard, tested, epsilon FROM trace_run('` + trace + `')`)
		if len(run) != len(reported[trace]) {
			t.Fatalf("%s: %d reports, a run of %d", trace, len(reported[trace]), len(run))
		}
		spent := 0.0
		for i, p := range run {
			if p[1] != reported[trace][i] {
				t.Errorf("%s: reported %s, in the run %s", trace, reported[trace][i], p[1])
			}
			spent += p[4].(float64)
		}
		if run[0][0].(string) > "1970-01-01T00:02:00Z" || run[0][2] != int64(1) || run[0][3] != int64(0) {
			t.Errorf("%s begins with %v", trace, run[0])
		}
		if all := d.spent(trace, "m"); all < spent-1e-9 || all > spent+1e-9 || all > 0.023 {
			t.Errorf("%s: its run spent %v, the ledger has %v", trace, spent, all)
		}
	}
	d.answers(`SELECT max(reserved) FROM ledger_balance`, `[[0]]`)

	// On line the trace goes on where it was, with later times only.
	d.fails(`SELECT predictive_step('walks', 60, 39.9, 116.3)`, "predictive_step: t must be later")
	d.run(`SELECT trace_policy('tram', 'ana', 'independent', '{"epsilon": 0.02, "steps": 2}')`)
	d.answers(`SELECT predictive_step('tram', 0, 39.9, 116.3) LIKE 'POINT(%'`, `[[1]]`)
	d.answers(`SELECT predictive_step('tram', 1, NULL, 116.3), predictive_step('tram', '1970-01-01 00:00:01', 39.9, NULL)`, `[[<nil> <nil>]]`)
	d.answers(`SELECT predictive_step('tram', '1970-01-01T00:00:01Z', 39.9, 116.3) LIKE 'POINT(%'`, `[[1]]`)
	d.answers(`SELECT predictive_step('tram', 2, 39.9, 116.3)`, `[[<nil>]]`) // the budget is used up
	d.answers(`SELECT budget_spent('ana', 'm')`, `[[0.02]]`)
	d.answers(`SELECT function, epsilon, evaluations FROM ledger_charges WHERE account = 'ana'`,
		`[[predictive_step 0.01 1] [predictive_step 0.01 1]]`)
}

func TestPredictiveStepFrames(t *testing.T) {
	const takesOne = "predictive_step: takes one row at a time"
	for query, want := range map[string]string{
		`SELECT predictive_step('x', t, lat, lon) FROM fix`:                                                                      takesOne,
		`SELECT predictive_step(trace, t, lat, lon) OVER () FROM fix`:                                                            takesOne,
		`SELECT predictive_step(trace, t, lat, lon) OVER (PARTITION BY trace ORDER BY 1) FROM fix`:                               takesOne,
		`SELECT predictive_step(trace, t, lat, lon) OVER (PARTITION BY trace ORDER BY t ROWS 1 PRECEDING) FROM fix`:              takesOne,
		`SELECT predictive_step(trace, t, lat, lon) OVER (ORDER BY t ROWS UNBOUNDED PRECEDING) FROM fix`:                         "trace changes within a partition",
		`SELECT predictive_step(trace, t, lat, lon) OVER (PARTITION BY trace ORDER BY t DESC ROWS UNBOUNDED PRECEDING) FROM fix`: "t must be later",
		`SELECT predictive_step('*', 1, 39.9, 116.3)`:                                                                            "predictive_step: trace ",
		`SELECT predictive_step('x', 'noon', 39.9, 116.3)`:                                                                       "predictive_step: t must be seconds",
		`SELECT predictive_step('x', NULL, 39.9, 116.3)`:                                                                         "predictive_step: t must be a number",
		`SELECT predictive_step('x', 1, 91, 116.3)`:                                                                              "predictive_step: lat must lie",
	} {
		d := traced(t, thirtySteps)
		d.fails(query, want)
		d.answers(`SELECT max(reserved) FROM ledger_balance`, `[[0]]`)
	}
	d := traced(t, thirtySteps)
	// A column that is also sorted by is computed twice; a trace is taken by the first.
	d.fails(`SELECT trace, `+stepOver+` AS z FROM fix ORDER BY z`, "predictive_step: trace 'stays' is in use")
}

func TestTracePolicy(t *testing.T) {
	d := declared(t)
	d.fails(`SELECT predictive_step('x', 1, 39.9, 116.3)`, "predictive_step: trace 'x' has no policy", "trace_policy('x', ACCOUNT, 'predictive', JSON)")
	d.answers(`SELECT trace_policy('x', 'ana', 'predictive', '`+thirtySteps+`')`,
		`[[trace 'x', charged to account 'ana': predictive, fixed-rate, 0.023/m for the whole trace]]`)
	d.run(`SELECT trace_policy('x', 'ana', 'predictive', '` + thirtySteps + `')`) // harmless
	for settings, want := range map[string]string{
		`{"epsilon": 0.02, "alpha": 3000, "skip_speed": 8}`: "predictive, fixed-utility, 0.02/m for the whole trace; alpha holds for the noise: more than a tenth of the reports may be further off",
		`{"epsilon": 0.02, "alpha": 3000}`:                  "predictive, fixed-utility, 0.02/m for the whole trace; alpha holds for the noise: more than a tenth of the reports may be further off",
		`{"epsilon": 0.02, "steps": 30, "skip_speed": 8}`:   "predictive, fixed-rate, 0.02/m for the whole trace",
	} {
		if got := d.value(`SELECT trace_policy(?, 'ana', 'predictive', ?)`, settings, settings); !strings.HasSuffix(got.(string), ": "+want) {
			t.Errorf("%s: %s", settings, got)
		}
	}
	d.fails(`SELECT trace_policy('x', 'bo', 'predictive', '`+thirtySteps+`')`, "trace_policy: trace 'x' has a policy already")
	d.fails(`SELECT trace_policy('y', '*', 'predictive', '`+thirtySteps+`')`, "trace_policy: account ")
	for settings, key := range map[string]string{
		`{}`:                               "json: epsilon is missing",
		`{"epsilon": 0.1}`:                 "json: steps is missing",
		`{"epsilon": 0, "steps": 3}`:       "json: ",
		`{"epsilon": 1, "stepz": 3}`:       `json: key "stepz"`,
		`{"epsilon": 1, "steps": "three"}`: "json: steps",
		`{"epsilon": 1, "steps": 3, "domain": "mars"}`: "json: domain 'mars' is not declared",
		`[1]`: "json: settings must be one JSON object",
	} {
		d.fails(`SELECT trace_policy('y', 'ana', 'predictive', '`+settings+`')`, "trace_policy: "+key)
	}
	d.fails(`SELECT trace_policy('y', 'ana', 'clairvoyant', '`+thirtySteps+`')`, "trace_policy: mechanism must be one of predictive, independent, pim, not 'clairvoyant'")
	d.run(`SELECT budget_limit('ana', 'm', 0.0001)`)
	d.fails(`SELECT predictive_step('x', 1, 39.9, 116.3)`, "predictive_step: account 'ana' has ", "left of 0.0001", "/m asked")
	d.answers(`SELECT budget_spent('ana', 'm')`, `[[0]]`)
	d.answers(`SELECT count(*) FROM trace_run('x')`, `[[0]]`)
}

// A dry run draws nothing and takes no trace; at most a trace costs the rest of its budget.
func TestPredictiveStepDryRun(t *testing.T) {
	d := traced(t, thirtySteps)
	d.run(`SELECT budget_limit('*', 'm', 0.05)`)
	d.answers(`SELECT function, account, epsilon <= 0.023, at_most, remaining FROM budget_cost('SELECT `+stepOver+` FROM fix')`,
		`[[predictive_step stays 1 0.023 0.05] [predictive_step walks 1 0.023 0.05]]`)
	d.answers(`SELECT count(*) FROM trace_run('stays')`, `[[0]]`)
	d.answers(`SELECT count(*) FROM ledger_charges`, `[[0]]`)
	d.run(`SELECT ` + stepOver + ` FROM fix`)
}

// After a crash the trace is refused until it is restarted, and the reserved amount
// is spent, for the account and for the trace.
func TestTraceRestart(t *testing.T) {
	d := traced(t, thirtySteps)
	d.run(`SELECT predictive_step('walks', 0, 39.9, 116.3)`)
	ledger := d.path + "-ledger"
	d.close()
	plain(t, ledger, `UPDATE leased_trace SET user = x'00', held = 5000000000 WHERE trace = 'walks'`,
		`UPDATE balance SET reserved = reserved + 5000000000`)
	d = open(t, d.path)
	d.fails(`SELECT predictive_step('walks', 60, 39.9, 116.3)`, "predictive_step: ", "trace 'walks' is in use, or was left by a crash", "trace_restart")
	d.answers(`SELECT trace_restart('stays'), trace_restart('walks')`,
		`[[trace 'stays' was not left by a crash trace 'walks' goes on after a gap; its reservation is spent]]`)
	d.answers(`SELECT t, lat, hard, epsilon FROM trace_run('walks') LIMIT 1 OFFSET 1`, `[[<nil> <nil> <nil> 0.005]]`)
	d.run(`SELECT ` + stepOver + ` FROM fix`)
	if spent := d.value(`SELECT sum(epsilon) FROM trace_run('walks')`).(float64); spent > 0.023+1e-12 {
		t.Errorf("the trace spent %v, the gap included", spent)
	}
}

// A statement over traces of reserved accounts that has crashed leaves a lease. The first restart ends it for
// all traces of its accounts, those without a point too, and each counts its possible loss.
func TestTraceRestartOfALease(t *testing.T) {
	t.Parallel()
	d := declared(t)
	d.run(`SELECT trace_policy('*', 'ana', 'predictive', '`+thirtySteps+`')`, `SELECT predictive_step('old', 0, 39.9, 116.3)`)
	ledger := d.path + "-ledger"
	d.close()
	plain(t, ledger, `INSERT INTO lease VALUES ('ana', 'm', x'00', 5000000000, 0)`)
	d = open(t, d.path)
	d.fails(`SELECT predictive_step('new', 60, 39.9, 116.3)`, "predictive_step: ", "trace 'new' is in use, or was left by a crash", "trace_restart")
	d.answers(`SELECT trace_restart('new'), trace_restart('old')`,
		`[[trace 'new' goes on after a gap; its reservation is spent trace 'old' was not left by a crash]]`)
	for _, name := range []string{"old", "new"} {
		d.run(`WITH RECURSIVE s(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM s WHERE i < 100)
			SELECT max(z) FROM (SELECT predictive_step('` + name + `', 60 * i, 39.9, 116.3 + (i % 2) * 0.5) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) AS z FROM s)`)
		d.answers(`SELECT count(*) FROM trace_run('`+name+`') WHERE t IS NULL AND epsilon = 0.005`, `[[1]]`)
		if spent := d.value(`SELECT sum(epsilon) FROM trace_run('` + name + `')`).(float64); spent > 0.023+1e-12 || spent < 0.02 {
			t.Errorf("%s spent %v, the gap included", name, spent)
		}
	}
}

// A statement over many traces of accounts with reserved budgets answers all of them, and the ledger has all of it
// when it ends. Another connection goes on where it has stopped.
func TestTracesOfReservedAccounts(t *testing.T) {
	d := declared(t)
	d.run(`CREATE TABLE many AS `+numbered("400")+`SELECT 'trace ' || (i / 4) AS name, 60 * i AS t, 39.9 + i * 1e-3 AS lat FROM s`,
		`SELECT trace_policy('*', '*', 'predictive', '`+thirtySteps+`')`, `SELECT budget_reserve(name, 'm', 0.023) FROM (SELECT DISTINCT name FROM many)`)
	const steps = `SELECT count(z), count(DISTINCT name) FROM (SELECT name, predictive_step(name, t + %d, lat, 116.3) OVER (PARTITION BY name ORDER BY t ROWS UNBOUNDED PRECEDING) AS z FROM many)`
	d.answers(fmt.Sprintf(steps, 0), `[[400 101]]`)
	d.answers(`SELECT count(*), sum(n) FROM (SELECT (SELECT count(*) FROM trace_run(name)) AS n FROM (SELECT DISTINCT name FROM many))`, `[[101 400]]`)
	d.answers(`SELECT count(*) FROM ledger_charges WHERE function = 'predictive_step'`, `[[101]]`)
	path := d.path
	d.close()
	d = open(t, path)
	d.answers(fmt.Sprintf(steps, 100000), `[[400 101]]`)
	d.answers(`SELECT count(*), max(n) FROM (SELECT (SELECT count(*) FROM trace_run(name)) AS n FROM (SELECT DISTINCT name FROM many))`, `[[101 8]]`)
	d.run(`SELECT * FROM ledger_verify`)
}

// plain runs statements on a file with SQLite as it comes.
func plain(t *testing.T, path string, statements ...string) {
	t.Helper()
	d := open(t, filepath.Clean(path))
	defer d.close()
	d.run(statements...)
}

// Two databases that differ in secrets refuse the same, with the same words.
func TestPredictiveStepRefusesTheSame(t *testing.T) {
	var said []string
	for _, lat := range []float64{39.9, 40.7, -80} {
		d := declared(t)
		d.run(`SELECT trace_policy('*', '*', 'predictive', '`+thirtySteps+`')`, `SELECT budget_limit('*', 'm', 0.0008)`)
		_, err := d.try(fmt.Sprintf(`SELECT predictive_step('x', 1, %v, 116.3)`, lat))
		said = append(said, fmt.Sprint(err))
		_, err = d.try(fmt.Sprintf(`SELECT predictive_step('x', 'soon', %v, 116.3)`, lat))
		said = append(said, fmt.Sprint(err), fmt.Sprint(d.rows(`SELECT spent, reserved FROM ledger_balance`)))
	}
	for i := 3; i < len(said); i++ {
		if said[i] != said[i%3] || strings.Contains(said[i], "nil") && i%3 != 2 {
			t.Errorf("%s, but %s", said[i%3], said[i])
		}
	}
}
