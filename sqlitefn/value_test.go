package sqlitefn_test

import (
	"fmt"
	"slices"
	"testing"

	drawing "github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/scalar"
	"github.com/geosql/geosql/mechanism/trace"
)

// metered is predictive_value over the table half.
const metered = `predictive_value(meter, t, kwh) OVER (PARTITION BY meter ORDER BY t ROWS UNBOUNDED PRECEDING)`

// manyHalfHours is a policy with noise that costs 1.919 and tests that cost 0.754: its budget lasts
// for 8 reports if all tests fail, and for at most 25.
const manyHalfHours = `{"universe": "halfhour", "epsilon": 20, "alpha": 1.2, "eta": 0.25}`

// half is a database with two meters of 80 half hours each, out of order. One shows the same
// throughout, and the other changes. Every eighth half hour is missing.
func half(t *testing.T, settings string) *database {
	t.Helper()
	d := declared(t)
	d.run(`SELECT dx_universe('halfhour', 0, 6, 0.001, 'kWh')`,
		`SELECT trace_policy('*', '*', 'predictive', '`+settings+`')`,
		`CREATE TABLE half(meter INTEGER, t INTEGER, kwh REAL)`,
		`INSERT INTO half `+numbered("160")+`SELECT 17 + i % 2, 1800 * (160 - i), iif(i / 2 % 8, 0.25 + i % 2 * (i / 2 % 5), NULL) FROM s`)
	return d
}

// Over a table and on line, the run has the reported points, and the trace's account pays the
// cost of the steps, in the universe's unit.
func TestPredictiveValue(t *testing.T) {
	d := half(t, manyHalfHours)
	reported := map[any][]any{}
	for _, r := range d.rows(`SELECT meter, kwh, ` + metered + ` AS y FROM half ORDER BY t`) {
		if r[2] == nil {
			continue
		}
		if r[1] == nil {
			t.Errorf("meter %v: a gap is reported as %v", r[0], r[2])
		}
		reported[r[0]] = append(reported[r[0]], r[2])
	}
	for meter := int64(17); meter <= 18; meter++ {
		run := d.rows(`SELECT x, hard, tested, epsilon, lat, lon, set_size FROM trace_run(?)`, meter)
		if n := len(run); n < 8 || n > 25 || n != len(reported[meter]) {
			t.Errorf("meter %d: a run of %d, %d reported", meter, n, len(reported[meter]))
		}
		spent := 0.0
		for i, p := range run {
			if p[0] != reported[meter][i] || p[4] != nil || p[5] != nil || p[6] != nil {
				t.Errorf("meter %d: reported %v, in the run %v", meter, reported[meter][i], p)
			}
			spent += p[3].(float64)
		}
		if first := run[0]; first[1] != int64(1) || first[2] != int64(0) {
			t.Errorf("meter %d begins with %v", meter, first)
		}
		if all := d.spent(fmt.Sprint(meter), "kWh"); all < spent-1e-9 || all > spent+1e-9 || all > 20 {
			t.Errorf("meter %d: its run spent %v, the ledger has %v", meter, spent, all)
		}
	}
	d.answers(`SELECT max(reserved) FROM ledger_balance`, `[[0]]`)

	d.fails(`SELECT predictive_value(17, 60, 0.25)`, "predictive_value: t must be later")
	d.run(`SELECT trace_policy('attic', 'ana', 'independent', '{"universe": "halfhour", "epsilon": 4, "steps": 2}')`)
	d.answers(`SELECT typeof(predictive_value('attic', 0, 99))`, `[[real]]`)
	d.answers(`SELECT predictive_value('attic', 1, NULL)`, `[[<nil>]]`)
	d.answers(`SELECT typeof(predictive_value('attic', '1970-01-01T00:00:01Z', -7))`, `[[real]]`)
	d.answers(`SELECT predictive_value('attic', 2, 0.5)`, `[[<nil>]]`) // the budget is used up
	d.answers(`SELECT function, unit, epsilon, evaluations FROM ledger_charges WHERE account = 'ana'`,
		`[[predictive_value kWh 2 1] [predictive_value kWh 2 1]]`)
}

// The draws are those of package trace, which has tests that enumerate their laws: from the same entropy
// both make the same run.
func TestPredictiveValueDrawsAsPackageTraceDoes(t *testing.T) {
	universe, err := scalar.NewUniverse("halfhour", 0, 6, 0.001, "kWh")
	if err != nil {
		t.Fatal(err)
	}
	policy, err := trace.ParsePolicy(trace.Predictive, []byte(manyHalfHours))
	if err != nil {
		t.Fatal(err)
	}
	space := trace.NewLine(universe)
	m, err := trace.New(space, policy)
	if err != nil {
		t.Fatal(err)
	}
	for number := range uint64(20) {
		d := open(t, ":memory:").drawing(tape(number))
		d.run(`SELECT dx_universe('halfhour', 0, 6, 0.001, 'kWh'), budget_limit('ana', 'kWh', 100)`,
			`SELECT trace_policy('meter', 'ana', 'predictive', '`+manyHalfHours+`')`)
		var run trace.Run
		src := drawing.NewSource(tape(number))
		for i := range int64(30) {
			x := 0.1 * float64(i*i%17)
			plan, err := m.Plan(&run, i*1_800_000_000)
			if err != nil {
				t.Fatal(err)
			}
			want := any(nil)
			if plan.Action != trace.Stop {
				q := m.Draw(src, plan, space.Cell(x))
				if err := m.Add(&run, q); err != nil {
					t.Fatal(err)
				}
				want = space.Value(q.Z)
			}
			if got := d.value(fmt.Sprintf(`SELECT predictive_value('meter', %d, %v)`, i*1800, x)); got != want {
				t.Fatalf("tape %d, step %d: %v, want %v", number, i, got, want)
			}
		}
		d.spends("ana", "kWh", run.History().Spent.Float64())
		d.close()
	}
}

// Readings and locations are not mixed up, and errors name the function that is meant.
func TestPredictiveValuePolicies(t *testing.T) {
	d := declared(t)
	d.fails(`SELECT predictive_value('x', 1, 3)`, "predictive_value: trace 'x' has no policy", "trace_policy('x', ACCOUNT, 'predictive', JSON)")
	d.answers(`SELECT trace_policy('meter', 'ana', 'predictive', '{"universe": "u", "epsilon": 2, "steps": 5}')`,
		`[[trace 'meter', charged to account 'ana': predictive, fixed-rate, 2/kWh for the whole trace]]`)
	d.run(`SELECT trace_policy('walk', 'ana', 'independent', '` + thirtySteps + `')`)
	d.fails(`SELECT predictive_step('meter', 1, 39.9, 116.3)`,
		"predictive_step: trace 'meter' has a policy of mechanism 'predictive'; its steps are taken by predictive_value(trace, t, x)")
	d.fails(`SELECT predictive_value('walk', 1, 3)`,
		"predictive_value: trace 'walk' has a policy of mechanism 'independent'; its steps are taken by predictive_step(trace, t, lat, lon)")
	d.fails(`SELECT pim_step('meter', 1, 39.9, 116.3)`, "its steps are taken by predictive_value(trace, t, x)")
	for settings, key := range map[string]string{
		`{"universe": "v", "epsilon": 1, "steps": 3}`:                      "json: universe 'v' is not declared",
		`{"universe": "u", "domain": "beijing", "epsilon": 1, "steps": 3}`: "json: universe is for readings",
		`{"universe": "u", "epsilon": 1, "alpha": 1}`:                      "json: alpha 1 costs more",
		`{"universe": "u", "epsilon": 1, "steps": 3, "eta": 1}`:            "json: eta 1 and gamma 0.8 make a test cost more",
	} {
		d.fails(`SELECT trace_policy('y', 'ana', 'predictive', '`+settings+`')`, "trace_policy: "+key)
	}
	for query, want := range map[string]string{
		`SELECT predictive_value('meter', 1, 'three')`:                                                "predictive_value: x must be a number, got TEXT",
		`SELECT predictive_value('meter', NULL, 3)`:                                                   "predictive_value: t must be a number",
		`SELECT predictive_value('meter', 1, 9e999)`:                                                  "predictive_value: x must be finite",
		`SELECT predictive_value('meter', i, 3) FROM (SELECT 1 AS i UNION ALL SELECT 2)`:              "predictive_value: takes one row at a time",
		`SELECT predictive_value(i, i, 3) OVER (ROWS UNBOUNDED PRECEDING) FROM (SELECT 'meter' AS i)`: "predictive_value: t must be",
	} {
		d.fails(query, want)
	}
	d.answers(`SELECT budget_spent('ana', 'kWh'), count(*) FROM trace_run('meter')`, `[[0 0]]`)
}

// A dry run draws nothing and takes no trace, and counts the most that steps may cost.
func TestPredictiveValueDryRun(t *testing.T) {
	d := half(t, manyHalfHours)
	d.run(`SELECT budget_limit('*', 'kWh', 30)`)
	rows := d.rows(`SELECT function, account, unit, epsilon > 19 AND epsilon <= 20, at_most FROM budget_cost('SELECT ` + metered + ` FROM half')`)
	if got := fmt.Sprint(rows); got != `[[predictive_value 17 kWh 1 20] [predictive_value 18 kWh 1 20]]` {
		t.Error(got)
	}
	d.answers(`SELECT count(*) FROM ledger_charges`, `[[0]]`)
	d.answers(`SELECT count(*) FROM trace_run(17)`, `[[0]]`)
}

// After a crash the trace of a meter goes on after a gap.
func TestPredictiveValueRestart(t *testing.T) {
	d := half(t, manyHalfHours)
	d.run(`SELECT predictive_value(17, 0, 0.25)`)
	path := d.path + "-ledger"
	d.close()
	plain(t, path, `UPDATE leased_trace SET user = x'00', held = 5000000000 WHERE trace = '17'`,
		`UPDATE balance SET reserved = reserved + 5000000000`)
	d = open(t, d.path)
	d.fails(`SELECT predictive_value(17, 60, 0.25)`, "trace '17' is in use, or was left by a crash", "trace_restart")
	d.run(`SELECT trace_restart(17)`)
	d.answers(`SELECT x NOT NULL, t NOT NULL FROM trace_run(17)`, `[[1 1] [0 0]]`)
	d.run(`SELECT ` + metered + ` FROM half`)
}

// valueDeclarations and valueUses are a corpus: steps over the readings of t, with noise for
// each, so that neither charges nor ends depend on draws.
var valueDeclarations = slices.Concat(declarations, []string{
	`SELECT budget_limit('poor', 'kWh', 2.5)`,
	`SELECT trace_policy('*', '*', 'independent', '{"universe": "u", "epsilon": 4, "steps": 4}')`,
})

var valueUses = []step{
	{`SELECT * FROM budget_cost('SELECT predictive_value(account, a, x) OVER (PARTITION BY account ORDER BY a ROWS UNBOUNDED PRECEDING) FROM t')`, ``},
	{`SELECT a, predictive_value(account, a, x) OVER (PARTITION BY account ORDER BY a ROWS UNBOUNDED PRECEDING) FROM t`, ``},
	{`SELECT t, hard, tested, epsilon, x FROM trace_run('ana')`, ``},
	{`SELECT a, predictive_value('one', a, x) FROM t GROUP BY a`, ``},
	{`SELECT a, predictive_value('all at once', a, x) FROM t`, `takes one row at a time`},
	{`SELECT a, predictive_value('back', -a, x) OVER (ORDER BY a ROWS UNBOUNDED PRECEDING) FROM t`, `t must be later`},
	{`SELECT a, predictive_value('poor', a, x) OVER (ORDER BY a ROWS UNBOUNDED PRECEDING) FROM t`, `account 'poor' has 0.5/kWh left`},
	{`SELECT a, predictive_value('words', a, iif(a < 3, x, 'many')) OVER (ORDER BY a ROWS UNBOUNDED PRECEDING) FROM t`, `x must be a number, got TEXT`},
}

// Readings of one value of the universe are indistinguishable, also for a test: with the same
// draws all that is shown is the same.
func TestPredictiveValueTwinsShowTheSame(t *testing.T) {
	predictive := append(slices.Clone(declarations),
		`SELECT trace_policy('*', '*', 'predictive', '{"universe": "u", "epsilon": 40, "alpha": 1, "eta": 0.25}')`)
	places := []any{40.0}
	one := cycle("one", places, places, []any{3.0, 10.0, 0.0, 4.5, 0.0})
	other := cycle("other", places, places, []any{int64(3), 1e308, -17.25, 4.6, 5e-324})
	list := []string{`SELECT a, predictive_value('one', a, x) OVER (ORDER BY a ROWS UNBOUNDED PRECEDING) FROM t`, `SELECT * FROM trace_run('one')`}
	shown := inhabit(t, one, 2, predictive...).watch(list, plainly)
	if _, is := difference(shown, inhabit(t, other, 2, predictive...).watch(list, plainly)); is != "" {
		t.Errorf("they differ: %s", is)
	}
	if kind, _ := difference(shown, inhabit(t, one, 3, predictive...).watch(list, plainly)); kind == "" {
		t.Error("other draws show the same")
	}
	if kind, _ := difference(shown, inhabit(t, worlds[0], 2, predictive...).watch(list, plainly)); kind == "" {
		t.Error("other secrets show the same")
	}
}

// Settings are decoded where they differ from those of the call before: from row to row, between
// calls of a row and of other statements, and after a call that failed.
func TestSettingsThatChange(t *testing.T) {
	d := declared(t)
	d.run(`SELECT geo_domain('far', -34.7, 150.9, -33.6, 151.3, 1)`,
		`SELECT budget_limit('ana', 'm', 100), budget_limit('bea', 'm', 100)`,
		`CREATE TABLE asked AS SELECT 1 AS id, 0.5 AS eps, 'far' AS place UNION SELECT 2, 1.0, 'beijing' UNION SELECT 3, 1, 'far' UNION SELECT 4, 1, 'far' UNION SELECT 5, 0.25, 'beijing'`)
	const south = `SELECT group_concat(g.lat < 0) FROM (SELECT * FROM asked ORDER BY id) a, `
	d.answers(south+`geoind_laplace('ana', 0, 0, a.eps, a.place) g`, "[[1,0,1,1,0]]")
	d.spends("ana", "m", 3.75)
	d.answers(`SELECT group_concat((geoind_laplace('bea', 0, 0, eps, place) LIKE 'POINT(15%') || (geoind_laplace('bea', 0, 0, 0.125, 'beijing') LIKE 'POINT(11%')) FROM (SELECT * FROM asked ORDER BY id)`,
		"[[11,01,11,11,01]]")
	d.spends("bea", "m", 3.75+5*0.125)

	d.answers(`SELECT geoind_laplace('ana', 0, 0, 1, 'far') LIKE 'POINT(15%'`, "[[1]]")
	d.fails(`SELECT geoind_laplace('ana', 0, 0, -1, 'beijing')`, "epsilon must be above 0")
	d.fails(`SELECT geoind_laplace('ana', 91, 0, 2, 'beijing')`, "lat must lie")
	d.fails(`SELECT geoind_laplace('ana', 0, 0, 1, 'nowhere')`, "nowhere")
	d.answers(`SELECT geoind_laplace('ana', 0, 0, 1, 'far') LIKE 'POINT(15%'`, "[[1]]")
	d.spends("ana", "m", 5.75)
}
