package sqlitefn_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger/file"
	"github.com/geosql/geosql/mechanism/markov"
	"github.com/geosql/geosql/mechanism/pim"
	"github.com/geosql/geosql/mechanism/planar"
)

// hidden is pim_step over the table fix, as the reference writes predictive_step.
const hidden = `pim_step(trace, t, lat, lon) OVER (PARTITION BY trace ORDER BY t ROWS UNBOUNDED PRECEDING)`

// rides is popular with two traces of ten points each, the last two without
// a location.
func rides(t *testing.T) *database {
	t.Helper()
	d := popular(t)
	d.run(`CREATE TABLE fix(trace TEXT, t INTEGER, lat REAL, lon REAL)`,
		`INSERT INTO fix `+numbered("10")+`SELECT trace, 60 * i, iif(i < 9, lat, NULL), lon + 0.01 * i FROM s, (SELECT 'bus' AS trace, 40.25 AS lat, 116.3 AS lon UNION ALL SELECT 'car', 40.9, 117.2)`)
	return d
}

// Over a table and on line each step with a location is reported, charges epsilon,
// and is in the run.
func TestPIMStep(t *testing.T) {
	d := rides(t)
	rows := d.rows(`SELECT trace, t, ` + hidden + ` AS z FROM fix`)
	if len(rows) != 20 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, trace := range []string{"bus", "car"} {
		run := d.rows(`SELECT unixepoch(t), printf('POINT(%.7f %.7f)', lon, lat), epsilon, hard, tested, set_size FROM trace_run('` + trace + `') ORDER BY t`)
		if len(run) != 8 {
			t.Fatalf("%s: a run of %d", trace, len(run))
		}
		for _, row := range rows {
			if row[0] != trace {
				continue
			}
			i := int(row[1].(int64)/60) - 1
			if i >= len(run) {
				if row[2] != nil {
					t.Errorf("%s: no location is reported as %v", trace, row[2])
				}
				continue
			}
			p := run[i]
			if got := fmt.Sprint(p[:5]); got != fmt.Sprint([]any{row[1], row[2], 1, 1, 0}) {
				t.Errorf("%s: reported %v, in the run %s", trace, row, got)
			}
			if set := p[5].(int64); set < 3 {
				t.Errorf("%s: a set of %d cells", trace, set)
			}
		}
		d.spends(trace, "set", 8)
	}
	d.answers(`SELECT function, account, unit, epsilon, evaluations FROM ledger_charges ORDER BY account`, `[[pim_step bus set 8 8] [pim_step car set 8 8]]`)
	d.answers(`SELECT max(reserved) FROM ledger_balance`, `[[0]]`)

	// On line the trace goes on where it was, with later times only.
	d.fails(`SELECT pim_step('bus', 480, 40.25, 116.3)`, "pim_step: t must be later than the last one of trace 'bus'")
	d.answers(`SELECT pim_step('bus', 481, NULL, 116.3), pim_step('car', 481, 40.25, NULL)`, `[[<nil> <nil>]]`)
	d.answers(`SELECT pim_step('bus', 481.5, 40.25, 116.3) LIKE 'POINT(%'`, `[[1]]`)
	d.spends("bus", "set", 9)
	d.fails(`SELECT pim_step('bus', 481.5, 40.25, 116.3)`, "pim_step: t must be later")
	d.fails(`SELECT pim_step(trace, t, lat, lon) FROM fix`, "pim_step: takes one row at a time")
	d.spends("bus", "set", 9)
	d.answers(`SELECT set_size NOT NULL FROM trace_run('bus') LIMIT 1 OFFSET 8`, `[[1]]`)
	d.run(`SELECT trace_policy('*tram', 'ana', 'predictive', '{"epsilon": 0.02, "steps": 2}')`, `SELECT predictive_step('*tram', 1, 40.25, 116.3)`)
	d.answers(`SELECT set_size FROM trace_run('*tram')`, `[[<nil>]]`)
}

func TestPIMPolicy(t *testing.T) {
	d := commuters(t)
	const policy = `SELECT trace_policy('ride', 'ana', 'pim', '` + wary + `')`
	d.fails(policy, "trace_policy: json: model 'popular' is not stored; store one: SELECT markov_store(NAME, MODEL)")
	d.run(`SELECT markov_store('popular', ` + train + `) FROM seen`)
	d.answers(policy, `[[trace 'ride', charged to account 'ana': pim, model 'popular', 1/set a step, delta 0.01, sets of at least 3 cells]]`)
	d.run(policy) // harmless
	d.fails(`SELECT trace_policy('ride', 'ana', 'pim', '{"model":"popular","epsilon":2}')`, "trace_policy: trace 'ride' has a policy already")
	d.fails(`SELECT trace_policy('ride', 'ana', 'predictive', '`+thirtySteps+`')`, "trace_policy: trace 'ride' has a policy already")
	for settings, key := range map[string]string{
		`{"epsilon":1}`:                               "model is missing",
		`{"model":"popular"}`:                         "epsilon is missing",
		`{"model":"popular","epsilon":0}`:             "epsilon ",
		`{"model":"popular","epsilon":1,"delta":1}`:   "delta ",
		`{"model":"popular","epsilon":1,"min_set":0}`: "min_set ",
		`{"model":"popular","epsilon":1,"steps":30}`:  `key "steps"`,
		`{"model":7,"epsilon":1}`:                     "model ",
		`[]`:                                          "settings must be one JSON object",
	} {
		d.fails(`SELECT trace_policy('y', 'ana', 'pim', '`+settings+`')`, "trace_policy: json: "+key)
	}

	// Each mechanism has its function, which a trace without a policy is told.
	d.run(`SELECT trace_policy('walk', 'ana', 'predictive', '`+thirtySteps+`')`, `SELECT trace_policy('stroll', 'ana', 'independent', '`+thirtySteps+`')`)
	d.fails(`SELECT predictive_step('ride', 1, 40.25, 116.3)`, "predictive_step: trace 'ride' has a policy of mechanism 'pim'; its steps are taken by pim_step(trace, t, lat, lon)")
	d.fails(`SELECT pim_step('walk', 1, 40.25, 116.3)`, "pim_step: trace 'walk' has a policy of mechanism 'predictive'; its steps are taken by predictive_step(trace, t, lat, lon)")
	d.fails(`SELECT pim_step('stroll', 1, 40.25, 116.3)`, "pim_step: trace 'stroll' has a policy of mechanism 'independent'; its steps are taken by predictive_step")
	d.fails(`SELECT pim_step('new', 1, 40.25, 116.3)`, "pim_step: trace 'new' has no policy", "trace_policy('new', ACCOUNT, 'pim', JSON)")

	// A report is never moved into a region.
	d.run(`SELECT geo_region('beijing', 'POLYGON((116 40, 117 40, 117 41, 116 40))')`)
	d.fails(`SELECT pim_step('ride', 1, 40.25, 116.3)`, "pim_step: ", "region")
	d.fails(`SELECT trace_policy('y', 'ana', 'pim', '`+wary+`')`, "trace_policy: json: ", "region")
	d.answers(`SELECT count(*) FROM ledger_charges`, `[[0]]`)
}

// A trace that has begun under the policy of all traces keeps its unit and its grid.
func TestPIMRunUnderAnotherPolicy(t *testing.T) {
	d := popular(t)
	d.run(`SELECT pim_step('a', 0, 40.25, 116.3), pim_step('b', 0, 40.25, 116.3)`,
		`SELECT markov_store('coarse', markov_train(trace, t, lat, lon, 'beijing', 20000, 60)) FROM seen`,
		`SELECT trace_policy('a', 'a', 'predictive', '`+thirtySteps+`'), trace_policy('b', 'b', 'pim', '{"model":"coarse","epsilon":1}')`)
	d.fails(`SELECT predictive_step('a', 60, 40.25, 116.3)`, "predictive_step: ledger: trace 'a' is charged to account 'a' in 'set'")
	d.fails(`SELECT pim_step('b', 60, 40.25, 116.3)`, "pim_step: not the state of a run of this model")
	d.answers(`SELECT sum(spent), sum(reserved) FROM ledger_balance`, `[[2 0]]`)
}

// A step is refused before anything is drawn, which leaves the trace as it
// was.
func TestPIMStepRefusesBeforeItDraws(t *testing.T) {
	d := popular(t)
	d.run(`SELECT trace_policy('ride', 'ana', 'pim', '`+wary+`')`, `SELECT budget_limit('ana', 'set', 2.5)`,
		`SELECT pim_step('ride', 0, 40.25, 116.3)`, `SELECT pim_step('ride', 60, 40.25, 116.3)`, `SELECT budget_limit('bo', 'set', 0)`)
	d.close()
	d = open(t, d.path).drawing(broken{t})
	d.fails(`SELECT pim_step('ride', 120, 40.25, 116.3)`, "pim_step: account 'ana' has 0.5/set left of 2.5/set, 1.0/set asked, 0.5/set short")
	d.fails(`SELECT pim_step('bo', 120, 40.25, 116.3)`, "pim_step: account 'bo' has 0/set left of 0/set, 1/set asked")
	d.fails(`SELECT pim_step('ride', 60, 40.25, 116.3)`, "pim_step: t must be later")
	d.fails(`SELECT pim_step('eve', 'noon', 40.25, 116.3)`, "pim_step: t must be seconds")
	d.fails(`SELECT pim_step('eve', 1, 91, 116.3)`, "pim_step: lat must lie")
	d.answers(`SELECT pim_step('eve', 1, NULL, 116.3)`, `[[<nil>]]`)
	d.spends("ana", "set", 2)
	d.spends("eve", "set", 0)
	d.answers(`SELECT count(*), sum(reserved) FROM trace_run('ride'), ledger_balance WHERE account = 'ana'`, `[[2 0]]`)

	none := newDatabase(t)
	none.run(declarations[0], `SELECT markov_store('popular', markov_train('tram', 0, 40.25, 116.3, 'beijing', 5000, 60))`, `SELECT trace_policy('*', '*', 'pim', '`+wary+`')`)
	none.fails(`SELECT pim_step('ride', 1, 40.25, 116.3)`, "pim_step: account 'ride' has no budget in unit 'set'")
}

// A dry run draws nothing, does not occupy the trace, changes no belief, and is exact: a
// step costs the same whatever is drawn.
func TestPIMStepDryRun(t *testing.T) {
	d := rides(t)
	d.run(`SELECT pim_step('bus', 0, 40.25, 116.3)`)
	writer := d
	d = open(t, d.path).drawing(broken{t})
	const want = `[[pim_step bus set 8 8 8] [pim_step car set 8 8 8]]`
	d.answers(`SELECT function, account, unit, evaluations, epsilon, at_most FROM budget_cost('SELECT trace, `+hidden+` FROM fix')`, want)
	d.answers(`SELECT function, account, unit, evaluations, epsilon, at_most FROM budget_cost('SELECT pim_step(''bus'', 1, 40.25, 116.3)')`, `[[pim_step bus set 1 1 1]]`)
	d.answers(`SELECT epsilon FROM budget_cost('CREATE TABLE made AS SELECT `+hidden+` AS z FROM fix')`, `[[8] [8]]`)
	d.answers(`SELECT * FROM budget_cost('SELECT pim_step(''bus'', 1, NULL, 116.3)')`, `[]`)

	// Times are looked at as they will be.
	d.fails(`SELECT * FROM budget_cost('SELECT pim_step(''bus'', 0, 40.25, 116.3)')`, "budget_cost: pim_step: t must be later")
	d.fails(`SELECT * FROM budget_cost('SELECT pim_step(trace, t, lat, lon) OVER (PARTITION BY trace ORDER BY t DESC ROWS UNBOUNDED PRECEDING) FROM fix')`, "budget_cost: pim_step: t must be later")

	// The answer is the middle of the domain.
	lat, lon := beijing(t).Centre()
	for point, epsilon := range map[string]string{fmt.Sprintf("POINT(%.7f %.7f)", lon, lat): "[[1] [2]]", "POINT(0 0)": "[[1]]"} {
		query := `SELECT CASE WHEN (SELECT pim_step('bus', 1, 39.5, 115.5)) = '` + point + `' THEN dx_value('bus', 1, 2, 'u') END`
		if got := fmt.Sprint(d.rows(`SELECT epsilon FROM budget_cost(?) WHERE function <> '*' ORDER BY epsilon`, query)); got != epsilon {
			t.Errorf("%s: %s, want %s", point, got, epsilon)
		}
	}
	d.answers(`SELECT count(*) FROM ledger_charges`, `[[1]]`)
	d.answers(`SELECT sum(reserved) FROM ledger_balance`, `[[0]]`)
	d.close()
	if real := writer.really(`CREATE TABLE made AS SELECT ` + hidden + ` AS z FROM fix`); fmt.Sprint(real) != `map[{pim_step bus set}:{8 8} {pim_step car set}:{8 8}]` {
		t.Errorf("charged %v, foretold %s", real, want)
	}
}

func beijing(t testing.TB) *planar.Domain {
	t.Helper()
	domain, err := planar.NewDomain("beijing", 39.4, 115.4, 41.1, 117.6, 1)
	if err != nil {
		t.Fatal(err)
	}
	return domain
}

// A run that continues on another connection is the same as if it had continued on the
// first: its belief follows from the reports and their times, bit by bit.
func TestPIMRunGoesOn(t *testing.T) {
	d := popular(t)
	const settings = `{"model":"popular","epsilon":100,"min_set":4}`
	d.run(`SELECT trace_policy('ride', 'ana', 'pim', '` + settings + `')`)
	data := []byte(d.rows(`SELECT model FROM geosql_markov`)[0][0].([]byte))
	d.run(`SELECT budget_limit('ana', 'set', 9000000)`)
	for i := range 12 {
		if i%3 == 0 {
			d.close()
			d = open(t, d.path)
		}
		if i == 5 {
			d.answers(`SELECT pim_step('ride', 700, NULL, NULL)`, `[[<nil>]]`)
		}
		d.run(fmt.Sprintf(`SELECT pim_step('ride', %d, 40.25, %v)`, 50*i*i, 116.3+0.01*float64(i)))
	}
	d.close()

	model, err := markov.ParseModel(data, func(string) (*planar.Domain, error) { return beijing(t), nil })
	if err != nil {
		t.Fatal(err)
	}
	policy, err := pim.ParsePolicy([]byte(settings))
	if err != nil {
		t.Fatal(err)
	}
	m, err := pim.New(model, pim.PIM, policy)
	if err != nil {
		t.Fatal(err)
	}
	l, err := file.Open(d.path+"-ledger", false)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	points, err := l.TraceRun("ride")
	if err != nil || len(points) != 12 {
		t.Fatalf("a run of %d, %v", len(points), err)
	}
	run := m.Start()
	for i, p := range points {
		if want := time.UnixMicro(int64(50*i*i) * 1e6).UTC(); p.Time != want {
			t.Errorf("point %d is at %v, want %v", i, p.Time, want)
		}
		plan, err := run.Plan(p.Time.UnixMicro())
		if err != nil {
			t.Fatal(err)
		}
		if len(plan.Set()) != p.SetSize {
			t.Errorf("point %d: a set of %d, %d in the run", i, len(plan.Set()), p.SetSize)
		}
		// At epsilon 100 a report is beyond the domain, where it would be moved, with
		// probability below 1e-12: then its distance in the norm of the set is over 1/2.
		run.Add(plan, model.Grid().Domain().Cell(p.Lat, p.Lon))
	}
	saved, state, _, err := l.OpenTrace("ride", "ana", budget.Set, "pim_step")
	if err != nil {
		t.Fatal(err)
	}
	if err := saved.Close(nil); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(state, run.AppendBinary(nil)) {
		t.Error("the state is not that of a run which was not interrupted")
	}
}

// After a crash the trace is refused until it is restarted, and then goes on with
// the saved points, whatever was reserved.
func TestPIMRestart(t *testing.T) {
	d := popular(t)
	d.run(`SELECT pim_step('ride', 0, 40.25, 116.3)`, `SELECT budget_limit('ride', 'set', 6)`)
	d.close()
	plain(t, d.path+"-ledger", `UPDATE leased_trace SET user = x'00', held = 3000000000000 WHERE trace = 'ride'`,
		`UPDATE balance SET reserved = reserved + 3000000000000 WHERE account = 'ride'`)
	d = open(t, d.path)
	d.fails(`SELECT pim_step('ride', 60, 40.25, 116.3)`, "pim_step: trace 'ride' is in use, or was left by a crash", "trace_restart")
	d.run(`SELECT trace_restart('ride')`)
	d.run(`SELECT pim_step('ride', 60, 40.25, 116.3)`, `SELECT pim_step('ride', 61, 40.25, 116.3)`)
	d.fails(`SELECT pim_step('ride', 62, 40.25, 116.3)`, "account 'ride' has 0/set left of 6/set")
	d.answers(`SELECT epsilon, set_size NOT NULL, t IS NULL FROM trace_run('ride')`, `[[1 1 0] [3 0 1] [1 1 0] [1 1 0]]`)
}

// A state that is none of the model's is an error, which leaves the trace to others.
func TestPIMSpoiltState(t *testing.T) {
	d := popular(t)
	d.run(`SELECT pim_step('ride', 0, 40.25, 116.3)`)
	d.close()
	plain(t, d.path+"-ledger", `UPDATE leased_trace SET state = x'01020304' WHERE trace = 'ride'`)
	d = open(t, d.path).drawing(broken{t})
	for range 2 {
		d.fails(`SELECT pim_step('ride', 60, 40.25, 116.3)`, "pim_step: not the state of a run")
	}
	d.spends("ride", "set", 1)
}

// pimDeclarations and pimUses are a corpus: steps over the places of t, which are in
// the order of their times, in all forms, with refusals and dry runs. That steps
// follow on each other is public, how large the sets after the first are is not the
// same for other reports.
var pimDeclarations = slices.Concat(declarations, []string{
	`SELECT budget_limit('*', 'set', 100), budget_limit('poor', 'set', 2.5)`,
	`SELECT markov_store('popular', markov_train('tram', i, 39.9 + 0.1 * i, 116 + 0.1 * i, 'beijing', 20000, 1)) FROM n`,
	`SELECT trace_policy('*', '*', 'pim', '` + wary + `')`,
})

var pimUses = []step{
	{`SELECT * FROM budget_cost('SELECT pim_step(account, a, lat, lon) OVER (PARTITION BY account ORDER BY a ROWS UNBOUNDED PRECEDING) FROM t')`, ``},
	{`SELECT a, pim_step(account, a, lat, lon) OVER (PARTITION BY account ORDER BY a ROWS UNBOUNDED PRECEDING) FROM t`, ``},
	{`SELECT t, hard, tested, epsilon, set_size > 2, lat, lon FROM trace_run('ana')`, ``},
	{`SELECT set_size FROM trace_run('bo') LIMIT 1`, ``},
	{`SELECT a, pim_step('one', a, lat, lon) FROM t WHERE a < 6 GROUP BY a`, ``},
	{`SELECT a, pim_step('all at once', a, lat, lon) FROM t`, `takes one row at a time`},
	{`SELECT a, pim_step('back', -a, lat, lon) OVER (ORDER BY a ROWS UNBOUNDED PRECEDING) FROM t`, `t must be later`},
	{`SELECT a, pim_step('poor', a, lat, lon) OVER (ORDER BY a ROWS UNBOUNDED PRECEDING) FROM t`, `account 'poor' has 0.5/set left`},
	{`SELECT pim_step('one', 1, lat, lon) FROM t WHERE a = 1`, `t must be later`},
	{`SELECT pim_step(a, 7, lat, lon), pim_step(a, 8, lat, lon) FROM t GROUP BY a`, ``},
	{`INSERT INTO n SELECT pim_step('two', 100 + a, lat, lon) OVER (ORDER BY a ROWS UNBOUNDED PRECEDING) FROM t RETURNING i IS NULL`, ``},
	{`SELECT markov_info('popular')`, ``},
	{`SELECT pim_estimate('ana', 0.5) ->> 't', pim_estimate('di') ->> 't'`, ``},
	{`SELECT t, lat, lon, cell_lat, cell_lon, cell_probability, area <> '', area_probability FROM pim_estimate('ana')`, ``},
	{`SELECT * FROM budget_cost('SELECT pim_estimate(''ana''), t FROM pim_estimate(''ana'')')`, ``},
}

// Locations of one cell are indistinguishable: with the same draws even the reports are
// the same, and so is everything that depends on them.
func TestPIMCellTwinsShowTheSame(t *testing.T) {
	const north = 0.1801 // degrees, a cell
	xs := []any{1.0}
	one := cycle("one", []any{40.25, 40.25 + north}, []any{116.5}, xs)
	other := cycle("other", []any{40.30, 40.20 + north}, []any{116.45, 116.55, 116.5}, xs)
	third := cycle("third", []any{40.25 + north, 40.25}, []any{116.5}, xs)
	list := append(statements(pimUses), `SELECT t, lat, lon, set_size FROM trace_run('ana') UNION ALL SELECT * FROM (SELECT t, lat, lon, set_size FROM trace_run('one'))`)
	shown := inhabit(t, one, 2, pimDeclarations...).watch(list, plainly)
	if _, is := difference(shown, inhabit(t, other, 2, pimDeclarations...).watch(list, plainly)); is != "" {
		t.Errorf("they differ: %s", is)
	}
	if kind, _ := difference(shown, inhabit(t, one, 3, pimDeclarations...).watch(list, plainly)); kind == "" {
		t.Error("other draws show the same")
	}
	if kind, _ := difference(shown, inhabit(t, third, 2, pimDeclarations...).watch(list, plainly)); kind == "" {
		t.Error("other cells show the same")
	}
}

// Where no more is believed than one cell, and a set may be so small, the report is
// that cell's wherever the secret is; min_set makes it depend on the secret again.
func TestPIMSetOfOneCell(t *testing.T) {
	d := declared(t)
	d.run(`SELECT budget_limit('*', 'set', 1000)`,
		`SELECT markov_store('still', markov_train('house', 60 * value, 40.25, 116.5, 'beijing', 20000, 60)) FROM json_each('[1,2,3,4,5,6,7,8,9]')`,
		`SELECT trace_policy('sure', 'ana', 'pim', '{"model":"still","epsilon":1,"delta":0.5}')`)
	lat, lon := beijing(t).Centre()
	want := fmt.Sprintf("POINT(%.7f %.7f)", lon, lat)
	for i, place := range []string{`40.25, 116.5`, `39.4, 115.4`, `41, 117.5`} {
		d.answers(fmt.Sprintf(`SELECT pim_step('sure', %d, %s)`, i, place), `[[`+want+`]]`)
	}
	d.answers(`SELECT DISTINCT set_size FROM trace_run('sure')`, `[[1]]`)
	d.spends("ana", "set", 3) // whatever the set is
	d.run(`SELECT trace_policy('unsure', 'ana', 'pim', '{"model":"still","epsilon":1,"delta":0.5,"min_set":2}')`)
	seen := map[string]bool{}
	for i := range 60 { // of 60 reports with noise all are one point with probability below 1e-60
		seen[d.value(fmt.Sprintf(`SELECT pim_step('unsure', %d, 40.25, 116.5)`, i)).(string)] = true
	}
	if len(seen) < 2 || strings.Count(fmt.Sprint(seen), "POINT") != len(seen) {
		t.Errorf("reports %v", seen)
	}
}
