package sqlitefn_test

import (
	"fmt"
	"strings"
	"testing"
)

// commuters is a database with public traces: three trams that go east along one
// line and back, with a stop that is longer than a period.
func commuters(t *testing.T) *database {
	t.Helper()
	d := declared(t)
	d.run(`SELECT budget_limit('*', 'set', 1000)`, `CREATE TABLE seen(trace, t, lat, lon)`,
		`INSERT INTO seen `+numbered("20")+`SELECT 'tram ' || n, 60 * i + 600 * (i > 10), 40.25, 116.3 + 0.02 * min(i, 20 - i) + 0.01 * n
			FROM s, (SELECT 1 AS n UNION ALL SELECT 2 UNION ALL SELECT 3)`)
	return d
}

const train = `markov_train(trace, t, lat, lon, 'beijing', 5000, 60)`

// popular is commuters with a model of them and a policy for all traces, which
// are accounts of their names.
func popular(t *testing.T) *database {
	t.Helper()
	d := commuters(t)
	d.run(`SELECT markov_store('popular', `+train+`) FROM seen`, `SELECT trace_policy('*', '*', 'pim', '`+wary+`')`)
	return d
}

const wary = `{"model":"popular","epsilon":1,"delta":0.01,"min_set":3}`

// A model that can be counted by hand: of cells 20 km wide a stands in the middle of
// the domain for two periods, goes one to the north, and after a gap is seen in the
// west; b is seen once.
func TestMarkovTrain(t *testing.T) {
	d := declared(t)
	d.run(`CREATE TABLE seen(trace, t, lat, lon)`, `INSERT INTO seen VALUES
		('a', 0, 40.25, 116.5), ('a', 59, 41, 116), ('a', '1970-01-01T00:01:00Z', 40.25, 116.5), ('a', 130, 40.43, 116.5), ('a', 600, 40.25, 115.4),
		('a', 180, NULL, 116.5), ('a', 181, 40.25, NULL), ('a', NULL, 40.25, 116.5), ('c', NULL, 40.25, 116.5), ('b', 7, 40.25, 116.5)`)
	line := d.value(`SELECT markov_store('by hand', markov_train(trace, t, lat, lon, 'beijing', 20000, 60)) FROM seen`)
	if want := "model 'by hand': 11 x 11 cells of 20000 m in domain 'beijing', a transition in 60 s, 5 visits of 2 traces; " +
		"it is public: training it on secrets releases them"; line != want {
		t.Errorf("markov_store answers %s", line)
	}
	d.answers(`SELECT markov_info('by hand')`, `[[{"name":"by hand","domain":"beijing","cell_m":20000,"period_seconds":60,"width":11,"height":11,`+
		`"cells":121,"traces":2,"visits":5,"visited_cells":3,"transitions":2,"nonzero":2}]]`)
	d.answers(`SELECT budget_spent('a', 'set'), count(*) FROM ledger_charges`, `[[0 0]]`)

	// The order of rows and the way a domain is named make no difference, other
	// parameters do.
	const all = `SELECT count(DISTINCT m) FROM (SELECT markov_train(trace, t, lat, lon, 'beijing', 20000, 60) AS m FROM seen UNION ALL `
	for _, same := range []string{
		`SELECT markov_train(trace, t, lat, lon, 'beijing', 20000, 60.0) FROM (SELECT * FROM seen ORDER BY random())`,
		`SELECT markov_train(trace, t, lat, lon, NULL, 20000.0, 60) FROM (SELECT * FROM seen ORDER BY t DESC)`,
		`SELECT markov_train(trace, t, lat, lon, 'beijing', 20000, 60) FILTER (WHERE lat + lon + t NOT NULL) FROM (SELECT trace, CASE WHEN t LIKE '%T%' THEN 60 ELSE t END AS t, lat, lon FROM seen)`,
	} {
		d.answers(all+same+`)`, `[[1]]`)
	}
	for _, other := range []string{
		`SELECT markov_train(trace, t, lat, lon, 'beijing', 20000, 61) FROM seen`,
		`SELECT markov_train(trace, t, lat, lon, 'beijing', 10000, 60) FROM seen`,
		`SELECT markov_train(1, t, lat, lon, 'beijing', 20000, 60) FROM seen`,
	} {
		d.answers(all+other+`)`, `[[2]]`)
	}
	d.answers(`SELECT trace, typeof(markov_train(trace, t, lat, lon, 'beijing', 20000, 60)) FROM seen GROUP BY trace`, `[[a blob] [b blob] [c null]]`)
	d.answers(`SELECT typeof(`+train+`) FROM seen WHERE false`, `[[null]]`)
	d.answers(`SELECT typeof(`+train+`) FROM seen WHERE lat IS NULL`, `[[null]]`)
}

func TestMarkovTrainRefuses(t *testing.T) {
	d := commuters(t)
	for call, want := range map[string]string{
		`markov_train(trace, t, lat, lon, 'mars', 5000, 60)`:                           "domain 'mars' is not declared (there are: beijing)",
		`markov_train(trace, t, lat, lon, iif(t = 60, 'beijing', NULL), 5000, 60)`:     "domain changes within a group",
		`markov_train(trace, t, lat, lon, 'beijing', iif(t = 60, 5000, 6000), 60)`:     "cell_m changes within a group",
		`markov_train(trace, t, lat, lon, 'beijing', 5000, iif(t = 60, 60, 61))`:       "period_seconds changes within a group",
		`markov_train(trace, t, lat, lon, 'beijing', 0.5, 60)`:                         "cell_m ",
		`markov_train(trace, t, lat, lon, 'beijing', 1, 60)`:                           "cell_m ",
		`markov_train(trace, t, lat, lon, 'beijing', 5000, 0.0000001)`:                 "period_seconds must be at least 0.000001 and at most 1000000000, got 0.0000001",
		`markov_train(trace, t, lat, lon, 'beijing', 5000, 1e10)`:                      "period_seconds must be",
		`markov_train(trace, t, lat + 80, lon, 'beijing', 5000, 60)`:                   "lat must lie between -90 and 90",
		`markov_train(trace, 'noon', lat, lon, 'beijing', 5000, 60)`:                   "t must be seconds",
		`markov_train(nullif(trace, 'tram 2'), t, lat, lon, 'beijing', 5000, 60)`:      "trace must be TEXT or INTEGER, got NULL",
		`markov_train(trace, t, iif(t = 60, 'north', lat), lon, 'beijing', 5000, 60)`:  "lat must be a number, got TEXT",
		`markov_train(trace, t, iif(t = 120, 'north', lat), lon, 'beijing', 5000, 60)`: "lat must be a number, got TEXT",
	} {
		d.fails(`SELECT `+call+` FROM seen`, "markov_train: "+want)
	}
	d.run(`CREATE VIEW sneaky AS SELECT ` + train + ` AS m FROM seen`)
	d.fails(`SELECT m FROM sneaky`, "unsafe use of")
	d.answers(`SELECT * FROM budget_cost('SELECT markov_train(trace, t, lat, lon, ''beijing'', 5000, 60) FROM seen')`, `[]`)
}

func TestMarkovStore(t *testing.T) {
	d := commuters(t)
	d.fails(`SELECT markov_info('popular')`, "markov_info: name 'popular' is not declared (none is)")
	first := d.value(`SELECT markov_store('popular', ` + train + `) FROM seen`)
	if again := d.value(`SELECT markov_store('popular', ` + train + `) FROM seen`); again != first {
		t.Errorf("stored again: %v, first %v", again, first)
	}
	d.fails(`SELECT markov_store('popular', `+train+`) FROM seen WHERE trace <> 'tram 2'`, "markov_store: model 'popular' is stored already and cannot change")
	d.fails(`SELECT markov_store('empty', `+train+`) FROM seen WHERE false`, "markov_store: model is NULL: there was nothing to train it on")
	d.fails(`SELECT markov_store('', `+train+`) FROM seen`, "markov_store: name ")
	for _, model := range []string{`1`, `'model'`, `x''`, `x'00'`, `x'01'`, `randomblob(100)`,
		`(SELECT model || x'00' FROM geosql_markov)`, `(SELECT CAST(substr(model, 1, length(model) - 1) AS BLOB) FROM geosql_markov)`} {
		d.fails(`SELECT markov_store('other', `+model+`)`, "markov_store: model ")
	}
	d.fails(`SELECT markov_info('other')`, "markov_info: name 'other' is not declared (there are: popular)")
	d.fails(`SELECT * FROM budget_cost('SELECT markov_store(''other'', NULL)')`, "markov_store: cannot be dry-run")
	d.run(`BEGIN`, `SELECT markov_store('other', `+train+`) FROM seen WHERE trace <> 'tram 2'`, `ROLLBACK`)
	d.answers(`SELECT name FROM geosql_markov`, `[[popular]]`)
	d.run(`CREATE TEMP TABLE geosql_markov(name, model)`, `INSERT INTO temp.geosql_markov SELECT 'fake', model FROM main.geosql_markov`)
	d.fails(`SELECT markov_info('fake')`, "is not declared")

	// A model is of a domain, by its name.
	other := newDatabase(t)
	d.run(`ATTACH '` + other.path + `' AS other`)
	d.run(`CREATE TABLE other.carried AS SELECT model FROM main.geosql_markov`)
	other.fails(`SELECT markov_store('popular', model) FROM carried`, "markov_store: model cannot be used: domain 'beijing' is not declared")
	other.run(`SELECT geo_domain('beijing', 39.4, 115.4, 40.2, 117.6, 1)`)
	other.fails(`SELECT markov_store('popular', model) FROM carried`, "markov_store: model cannot be used: ")
}

// A connection reads a model again after its declaration was rolled back or changed.
func TestModelsAreReadAgain(t *testing.T) {
	d := commuters(t)
	other := open(t, d.path)
	for i := range 3 {
		d.run(`BEGIN`, fmt.Sprintf(`SELECT markov_store('m', `+train+`) FROM seen WHERE trace <= 'tram %d'`, i+1))
		d.answers(`SELECT markov_info('m') ->> 'traces'`, fmt.Sprintf(`[[%d]]`, i+1))
		d.run(`ROLLBACK`)
		d.fails(`SELECT markov_info('m')`, "is not declared")
	}
	d.run(`SELECT markov_store('m', ` + train + `) FROM seen`)
	if a, b := d.value(`SELECT markov_info('m')`), other.value(`SELECT markov_info('m')`); a != b || !strings.Contains(a.(string), `"traces":3`) {
		t.Errorf("%v and %v", a, b)
	}
	d.run(`UPDATE geosql_markov SET model = x'0102'`)
	other.fails(`SELECT markov_info('m')`, "markov_info: model 'm': ")
}
