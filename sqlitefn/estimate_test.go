package sqlitefn_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/paulmach/orb"
	orbplanar "github.com/paulmach/orb/planar"

	"github.com/geosql/geosql/mechanism/planar"
)

// estimate is the JSON object that pim_estimate answers.
type estimate struct {
	T        string
	Lat, Lon float64
	Cell     struct{ Lat, Lon, Probability float64 }
	Area     json.RawMessage
}

// estimateOf asks for an estimate, as text and decoded.
func (d *database) estimateOf(args string) (text string, e estimate) {
	d.Helper()
	text, _ = d.value(`SELECT pim_estimate(` + args + `)`).(string)
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		d.Fatalf("%s: %v", text, err)
	}
	return text, e
}

// The answer on line after each step is that of the table afterwards. Nothing is charged
// for it and nothing drawn, and no step is any different. At this epsilon reports are hundreds
// of kilometres away from the domain, where its lattice points are found again.
func TestPIMEstimate(t *testing.T) {
	d := popular(t)
	d.run(`SELECT trace_policy('bus', 'bus', 'pim', '{"model":"popular","epsilon":0.02,"min_set":9}')`)
	d.answers(`SELECT pim_estimate('bus'), (SELECT count(*) FROM pim_estimate('bus'))`, `[[<nil> 0]]`)
	var want []string
	for i := range 10 {
		d.run(fmt.Sprintf(`SELECT pim_step('bus', %d, 40.25, %v)`, 70*i, 116.3+0.02*float64(i)))
		text, e := d.estimateOf(`'bus'`)
		if seconds := d.value(`SELECT unixepoch(?)`, e.T); seconds != int64(70*i) {
			t.Errorf("step %d is estimated at %s", i, e.T)
		}
		want = append(want, fmt.Sprint(e.T, " ", e.Lat, " ", e.Lon, " ", e.Cell.Lat, " ", e.Cell.Lon, " ", e.Cell.Probability, " ", string(e.Area)))
		if again := d.value(`SELECT pim_estimate('bus', 0.9)`); again != text {
			t.Errorf("p is 0.9 by default: %v, not %v", again, text)
		}
	}
	charges := fmt.Sprint(d.rows(`SELECT * FROM ledger_charges`), d.rows(`SELECT * FROM ledger_balance`))
	d.close()
	d = open(t, d.path).drawing(broken{t})
	rows := d.rows(`SELECT t || ' ', lat, ' ', lon, ' ', cell_lat, ' ', cell_lon, ' ', cell_probability, ' ', area, area_probability FROM pim_estimate('bus')`)
	if len(rows) != len(want) {
		t.Fatalf("%d rows", len(rows))
	}
	for i, row := range rows {
		if got := fmt.Sprint(row[:len(row)-1]...); got != want[i] {
			t.Errorf("step %d: %s, not %s", i, got, want[i])
		}
	}
	d.run(`CREATE VIEW shown AS SELECT pim_estimate('bus') AS e, (SELECT max(t) FROM pim_estimate('bus')) AS t`)
	d.answers(`SELECT e ->> 't' = t FROM shown`, `[[1]]`)
	d.answers(`SELECT * FROM budget_cost('SELECT pim_estimate(''bus'')')`, `[]`)
	d.answers(`SELECT * FROM budget_cost('SELECT t FROM pim_estimate(''bus'')') WHERE function <> '*'`, `[]`)
	if now := fmt.Sprint(d.rows(`SELECT * FROM ledger_charges`), d.rows(`SELECT * FROM ledger_balance`)); now != charges {
		t.Errorf("charged %s, before %s", now, charges)
	}
	d.answers(`SELECT count(*) FROM trace_run('bus')`, `[[10]]`)
}

// An area is GeoJSON. It grows with p from the likeliest cell on, and has its probability.
func TestPIMEstimatedArea(t *testing.T) {
	d := popular(t)
	d.run(`SELECT pim_step('bus', 0, 40.25, 116.3)`)
	last := 0.0
	for _, p := range []float64{0, 0.1, 0.5, 0.9, 0.999999} {
		_, e := d.estimateOf(fmt.Sprint(`'bus', `, p))
		var area struct {
			Type        string
			Coordinates orb.MultiPolygon
			Probability float64
		}
		if err := json.Unmarshal(e.Area, &area); err != nil || area.Type != "MultiPolygon" {
			t.Fatalf("%s: %v", e.Area, err)
		}
		if area.Probability < max(p, last) || p == 0 && area.Probability != e.Cell.Probability {
			t.Errorf("p %v: an area of %v, the last of %v", p, area.Probability, last)
		}
		last = area.Probability
		polygons := area.Coordinates
		if p == 0 {
			corner := polygons[0][0][0]
			side := planar.Distance(e.Cell.Lat, e.Cell.Lon, corner.Lat(), corner.Lon()) / 3535.5 // half a diagonal of 5 km
			if len(polygons) != 1 || len(polygons[0][0]) != 5 || side < 0.99 || side > 1.01 {
				t.Errorf("the cell is %v", polygons)
			}
		}
		if !orbplanar.MultiPolygonContains(polygons, orb.Point{e.Cell.Lon, e.Cell.Lat}) {
			t.Errorf("p %v: the likeliest cell is not in it", p)
		}
	}
}

// Everything but the trace and p is unknown to it, so no secret can be passed.
func TestPIMEstimateTakesNoSecret(t *testing.T) {
	d := popular(t)
	d.run(`SELECT pim_step('bus', 0, 40.25, 116.3)`)
	d.fails(`SELECT pim_estimate('bus', 0.5, 40.25)`, "wrong number of arguments")
	d.fails(`SELECT pim_estimate()`, "wrong number of arguments")
	d.fails(`SELECT * FROM pim_estimate('bus', 0.5, 40.25)`, "too many arguments")
}

func TestPIMEstimateRefuses(t *testing.T) {
	d := popular(t)
	d.run(`SELECT trace_policy('walk', 'ana', 'predictive', '`+thirtySteps+`')`, `SELECT pim_step('bus', 0, 40.25, 116.3)`)
	for _, call := range []string{`SELECT pim_estimate(%s)`, `SELECT count(*) FROM pim_estimate(%s)`} {
		for args, want := range map[string]string{
			`'walk'`:       "trace 'walk' has a policy of mechanism 'predictive'",
			`NULL`:         "trace must be TEXT or INTEGER, got NULL",
			`'bus', 1`:     "p must be at least 0 and less than 1, got 1",
			`'bus', 'all'`: "p must be a number, got TEXT",
		} {
			d.fails(fmt.Sprintf(call, args), "pim_estimate: "+want)
		}
	}

	// Under other policies than the steps were taken.
	d.run(`SELECT pim_step('a', 0, 40.25, 116.3), pim_step('b', 0, 40.25, 116.3), pim_step('c', 0, 40.25, 116.3)`,
		`SELECT markov_store('coarse', markov_train(trace, t, lat, lon, 'beijing', 20000, 60)) FROM seen`,
		`SELECT trace_policy('a', 'a', 'pim', '{"model":"coarse","epsilon":1}')`,
		`SELECT trace_policy('b', 'b', 'pim', '{"model":"popular","epsilon":2,"min_set":3}')`,
		`SELECT trace_policy('c', 'c', 'pim', '{"model":"popular","epsilon":1,"delta":0.5}')`)
	d.fails(`SELECT pim_estimate('a')`, "pim_estimate: not the state of a run of this model")
	d.fails(`SELECT * FROM pim_estimate('a')`, "pim_estimate: not the state of a run of this model")
	d.answers(`SELECT pim_estimate('b') NOT NULL, pim_estimate('c') NOT NULL`, `[[1 1]]`)
	const other = "has taken a step at 1970-01-01T00:00:00Z under another policy than it has now"
	d.fails(`SELECT * FROM pim_estimate('b')`, "pim_estimate: trace 'b' "+other)
	d.fails(`SELECT * FROM pim_estimate('c')`, "pim_estimate: trace 'c' "+other)

	none := declared(t)
	none.fails(`SELECT pim_estimate('bus')`, "pim_estimate: trace 'bus' has no policy; declare one: SELECT trace_policy('bus', ACCOUNT, 'pim', JSON)")
	empty := newDatabase(t)
	empty.run(declarations[0], `SELECT markov_store('popular', markov_train('tram', 0, 40.25, 116.3, 'beijing', 5000, 60))`, `SELECT trace_policy('*', '*', 'pim', '`+wary+`')`)
	empty.answers(`SELECT pim_estimate('bus'), (SELECT count(*) FROM pim_estimate('bus'))`, `[[<nil> 0]]`)
}

// A trace that a crash has left has an estimate once it is restarted: that of the steps
// that were saved.
func TestPIMEstimateAfterCrash(t *testing.T) {
	d := popular(t)
	d.run(`SELECT pim_step('ride', 0, 40.25, 116.3)`)
	before := d.value(`SELECT pim_estimate('ride')`)
	d.close()
	plain(t, d.path+"-ledger", `UPDATE leased_trace SET user = x'00', held = 3000000000000 WHERE trace = 'ride'`,
		`UPDATE balance SET reserved = reserved + 3000000000000 WHERE account = 'ride'`)
	d = open(t, d.path)
	d.fails(`SELECT pim_estimate('ride')`, "pim_estimate: trace 'ride' is in use, or was left by a crash", "trace_restart")
	d.run(`SELECT trace_restart('ride')`)
	if after := d.value(`SELECT pim_estimate('ride')`); after != before {
		t.Errorf("%v, before %v", after, before)
	}
	d.run(`SELECT pim_step('ride', 60, 40.25, 116.3)`)
	d.answers(`SELECT count(*), max(lat) IN (SELECT lat FROM pim_estimate('ride')), (SELECT pim_estimate('ride') ->> 'lat') IN (SELECT lat FROM pim_estimate('ride')) FROM pim_estimate('ride')`, `[[2 1 1]]`)
}
