package sqlitefn_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tenPoints is the setting of R45 to R48, of whatever kernel settings follow.
const tenPoints = `'[0,1,2,3,4,5,6,7,8,9]', '{"kernel":"rbf","variance":1,"radius":1,"lambda":2,`

func TestCIPLoss(t *testing.T) {
	d := declared(t)
	for settings, want := range map[string]string{
		`"family":"every-other","length_scale":1,"sigma2":1}`:    "9.17045",  // R45
		`"family":"every-other","length_scale":1,"sigma2":0.25}`: "33.07394", // R45
		`"family":"every-other","length_scale":2,"sigma2":4}`:    "3.67442",  // R46
		`"family":"every-other","length_scale":0.5,"sigma2":1}`:  "5.17425",  // R46
	} {
		d.answers(`SELECT round(cip_loss(`+tenPoints+settings+`'), 5)`, `[[`+want+`]]`)
	}
	// The declared policy and its text are the same; sigma2 undoes loss.
	const policy = `{"kernel":"rbf","variance":1,"radius":1,"lambda":2,"family":"every-other","length_scale":1,"sigma2":1,"epsilon":9.17045}`
	d.run(`SELECT cip_policy('ten', '` + policy + `')`)
	d.answers(`SELECT cip_loss('[3,1,2]', 'ten') = cip_loss('[1,2,3]', '`+policy+`')`, `[[1]]`)
	d.answers(`SELECT abs(cip_sigma('[0,1,2,3,4,5,6,7,8,9]', 'ten') - 1) < 1e-5`, `[[1]]`)
}

// usesDeclarations are for the statements that are run on databases which must not differ.
var usesDeclarations = append(slices.Clip(declarations),
	`SELECT budget_limit('*', 'cip:day', 1), cip_policy('day', '{"kernel": "rbf", "variance": 10000, "length_scale_max": 60, "radius": 10, "lambda": 2, "epsilon": 1, "family": "windows:2"}')`)

// townTraces is a policy for the domain of the tests.
const townTraces = `{"kernel":"rbf","variance":250000,"length_scale_max":600,"radius":50,"lambda":2,"epsilon":0.5,"family":"windows:2","domain":"beijing"}`

func TestCIPTrace(t *testing.T) {
	d := declared(t)
	d.run(`SELECT cip_policy('town', '`+townTraces+`')`, `SELECT budget_limit('*', 'cip:town', 100)`,
		`CREATE TABLE walk(who, t, lat, lon)`,
		`INSERT INTO walk VALUES ('ana', 600, 39.92, 116.32), ('ana', 0, 39.90, 116.30), ('ana', 300, NULL, 116.31), (NULL, 900, NULL, NULL),
			('bo', 60, 39.91, 116.31), ('bo', 120.5, 39.91, 116.31)`)
	d.answers(`SELECT account, unit, epsilon FROM budget_cost('SELECT who, cip_trace(who, t, lat, lon, ''town'') FROM walk WHERE who IS NOT NULL GROUP BY who') ORDER BY 1`,
		`[[ana cip:town 0.5] [bo cip:town 0.5]]`)
	if n := d.evaluations(); n != 0 {
		t.Errorf("a dry run charges %d evaluations", n)
	}
	d.run(`CREATE TABLE released AS SELECT who, cip_trace(who, t, lat, lon, 'town') AS trace FROM walk WHERE who IS NOT NULL GROUP BY who`)
	d.answers(`SELECT who, value ->> 't' AS t, abs((value ->> 'lat') - 39.91) < 0.1, abs((value ->> 'lon') - 116.31) < 0.1 FROM released, json_each(trace) ORDER BY who, key`,
		`[[ana 0 1 1] [ana 600 1 1] [bo 60 1 1] [bo 120.5 1 1]]`)
	d.spends("ana", "cip:town", 0.5)
	d.answers(`SELECT function, account, unit, epsilon, evaluations FROM ledger_charges ORDER BY account`,
		`[[cip_trace ana cip:town 0.5 1] [cip_trace bo cip:town 0.5 1]]`)

	// A second trace is refused, whatever the limit leaves, in whatever order.
	d.fails(`SELECT cip_trace(who, t, lat, lon, 'town') FROM walk WHERE who = 'ana'`, "cip_trace: account 'ana' was charged in unit 'cip:town' before")
	d.fails(`SELECT cip_trace('ana', 5000, 39.9, 116.3, 'town')`, "cip_trace: account 'ana' was charged in unit 'cip:town' before")
	d.run(`SELECT ledger_archive('` + filepath.Join(t.TempDir(), "archive.db") + `', '2200-01-01')`)
	d.fails(`SELECT cip_trace('ana', 5000, 39.9, 116.3, 'town')`, "cip_trace: account 'ana' was charged in unit 'cip:town' before")
	d.spends("ana", "cip:town", 0.5)
	d.answers(`SELECT cip_trace('cy', 1, NULL, NULL, 'town'), cip_trace(NULL, NULL, NULL, NULL, 'town')`, `[[[] []]]`)
	d.spends("cy", "cip:town", 0)
}

// A trace that is rolled back was released.
func TestCIPTraceRolledBack(t *testing.T) {
	d := declared(t)
	d.run(`SELECT cip_policy('town', '`+townTraces+`')`, `SELECT budget_limit('*', 'cip:town', 100)`,
		`BEGIN`, `SELECT cip_trace('ana', 5000, 39.9, 116.3, 'town')`, `ROLLBACK`)
	d.fails(`SELECT cip_trace('ana', 5000, 39.9, 116.3, 'town')`, "before")
}

// The noise has the variance that cip_sigma tells, but for the stretching by the frame.
// 800 coordinates, of 400 points: their mean square is chi-square with 800 degrees of
// freedom, within 40 % of its mean but for 5e-13.
func TestCIPTraceVariance(t *testing.T) {
	d := declared(t)
	d.run(`SELECT cip_policy('one', '{"kernel":"rbf","variance":1,"length_scale":1,"radius":50,"lambda":2,"epsilon":0.5,"family":"singles"}')`,
		`SELECT budget_limit('*', 'cip:one', 1)`)
	d.answers(`SELECT round(cip_sigma('[0]', 'one'), 3)`, `[[5000]]`) // lambda/2 r^2/epsilon
	rows := d.rows(numbered("400") + `SELECT p ->> '$[0].lat', p ->> '$[0].lon' FROM (SELECT cip_trace('a' || i, 0, 39.9, 116.3, 'one') AS p FROM s GROUP BY i)`)
	sum := 0.0
	for _, r := range rows {
		y, x := (r[0].(float64)-39.9)*111034, (r[1].(float64)-116.3)*85530
		sum += x*x + y*y
	}
	if mean := sum / 800; len(rows) != 400 || mean < 3000 || mean > 7000 {
		t.Errorf("%d points, mean square %v", len(rows), mean)
	}
}

func TestCIPRefuses(t *testing.T) {
	d := declared(t)
	const two = ` FROM (SELECT 1 AS i UNION SELECT 2)`
	d.run(`SELECT cip_policy('town', '`+townTraces+`')`, `SELECT cip_policy('loss', '{"kernel":"rbf","variance":1,"length_scale":1,"radius":1,"lambda":2,"family":"singles","sigma2":1}')`)
	d.fails(`SELECT cip_policy('town', '`+strings.Replace(townTraces, "600", "601", 1)+`')`, "cip_policy: policy 'town' is declared already and cannot change")
	d.fails(`SELECT cip_policy('t', '{"kernel":"rbf"}')`, "cip_policy: json cannot be used: ")
	d.fails(`SELECT cip_trace('ana', 0, 39.9, 116.3, 'none')`, "cip_trace: policy 'none' is not declared (there are: loss, town)")
	d.fails(`SELECT cip_trace('ana', 0, 39.9, 116.3, 'loss')`, "cip_trace: policy has no epsilon")
	d.fails(`SELECT cip_trace('ana', 0, 39.9, 116.3, 'town')`, "cip_trace: account 'ana' has no budget in unit 'cip:town'")
	d.fails(`SELECT cip_trace('a' || i, i, 39.9, 116.3, 'town')`+two, "cip_trace: account changes within a group")
	d.fails(`SELECT cip_trace('ana', i, 39.9, 116.3, iif(i = 1, 'town', 'loss'))`+two, "cip_trace: policy changes within a group")
	d.fails(`SELECT cip_trace('ana', 7, 39.9, 116.3, 'town')`+two, "cip_trace: t 7 is there twice")
	d.fails(`SELECT cip_trace('ana', NULL, 39.9, 116.3, 'town')`, "cip_trace: t must be")
	d.fails(`SELECT cip_trace('ana', 0, 95, 116.3, 'town')`, "cip_trace: lat must lie between -90 and 90")
	d.fails(`SELECT cip_loss('[0,1]', 'town')`, "cip_loss: policy has no sigma2")
	d.fails(`SELECT cip_sigma('[0,1]', 'loss')`, "cip_sigma: policy has no epsilon")
	d.fails(`SELECT cip_loss('[0,0]', 'loss')`, "cip_loss: times_json cannot be used: time 0 is there twice")
	d.fails(`SELECT cip_loss('x', 'loss')`, "cip_loss: times_json cannot be used: ")
	d.fails(`SELECT cip_trace('ana', iif(i = 1, '1000-01-01', '2000-01-01'), 39.9, 116.3, 'town')`+two, "cip_trace: t spans more than 9007199254 seconds")
	d.fails(numbered("300")+`SELECT cip_trace('ana', i, 39.9, 116.3, 'town') FROM s`, "cip_trace: a trace has at most 256 points")
	if n := d.evaluations(); n != 0 {
		t.Errorf("%d evaluations charged", n)
	}
}

// A time is the decimal that was written, which 1e6 times its float64 may miss.
func TestCIPTraceTimes(t *testing.T) {
	d := declared(t)
	d.run(`SELECT cip_policy('town', '`+townTraces+`')`, `SELECT budget_limit('*', 'cip:town', 100)`)
	d.answers(`SELECT value ->> 't' FROM json_each((SELECT cip_trace('ana', column1, 39.9, 116.3, 'town')
		FROM (VALUES (8423.3), (0.511091), (526.309))))`, `[[0.511091] [526.309] [8423.3]]`)
}

// A trace is not charged if its statement is interrupted before it is complete, so that
// it may be asked for again.
func TestCIPTraceInterrupted(t *testing.T) {
	o := stopping(t)
	o.run(`SELECT cip_policy('town', '`+strings.Replace(townTraces, `,"domain":"beijing"`, "", 1)+`')`, `SELECT budget_limit('*', 'cip:town', 100)`)
	o.fails(`SELECT cip_trace('ana', stop(column1), 39.9, 116.3, 'town') FROM (VALUES (1), (2))`, "interrupted")
	o.spends("ana", "cip:town", 0)
	o.run(`SELECT cip_trace('ana', 1, 39.9, 116.3, 'town')`)
	o.spends("ana", "cip:town", 0.5)
}
