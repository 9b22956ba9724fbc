package sqlitefn_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// meters opens a database of 600 readings of seven homes in three months.
func meters(t *testing.T) *database {
	t.Helper()
	d := declared(t)
	d.run(`SELECT dx_universe('fine', 0, 10, 0.001, 'kWh')`,
		`CREATE TABLE reading(home, month, kwh)`,
		`INSERT INTO reading WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600)
			SELECT i % 7, i % 3, (i % 97) * 0.1 FROM n`)
	return d
}

// Answers of a subquery, and answers that a statement names twice, have the distance that
// dx_radius foretells, and are released once.
func TestWithin(t *testing.T) {
	d := meters(t)
	d.answers(`SELECT month, dx_within(s) = dx_radius('sum', 0.95, 1, 'fine'), dx_within(s, 0.5) = dx_radius('sum', 0.5, 1, 'fine')
		FROM (SELECT month, dx_sum(home, kwh, 1, 'fine') AS s FROM reading GROUP BY month)`, `[[0 1 1] [1 1 1] [2 1 1]]`)
	d.answers(`SELECT count(*), max(epsilon) FROM ledger_charges WHERE function = 'dx_sum' AND account = '1'`, `[[1 1]]`)
	for query, radius := range map[string]string{
		`dx_sum(home, kwh, 0.1, 'fine')`:                 `dx_radius('sum', 0.95, 0.1, 'fine')`,
		`dx_sum(home, kwh, 0.1, 'fine', 'dh')`:           `dx_radius('sum', 0.95, 0.1, 'fine', 'dh')`,
		`dx_count(home, 0.1)`:                            `dx_radius('count', 0.95, 0.1, NULL)`,
		`dx_avg(home, kwh, 0.1, 'fine')`:                 `dx_radius('avg', 0.95, 0.1, 'fine', 'd1', 600)`,
		`dx_avg(home, kwh, 0.1, 'fine', 'dinf')`:         `dx_radius('avg', 0.95, 0.1, 'fine', 'dinf', 600)`,
		`dx_percentile(home, kwh, 9, 2, 'u', 'dinf')`:    `dx_radius('percentile', 0.95, 2, 'u', 'dinf')`,
		`dx_max(home, kwh, 2, 'u', 'dinf')`:              `dx_radius('max', 0.95, 2, 'u', 'dinf')`,
		`max(dx_value(1, 4, 0.5, 'u'))`:                  `dx_radius('value', 0.95, 0.5, 'u')`,
		`dx_median(home, kwh, 0.1, 'fine', 'd1/noise')`:  `dx_radius('median', 0.95, 0.1, 'fine', 'd1/noise')`,
		`dx_median(home, kwh, 0.1, 'fine')`:              `NULL`,
		`dx_median(home, kwh, 0.1, 'fine', 'd1/window')`: `NULL`,
		`dx_median(home, kwh, 0.1, 'fine', 'd1/score')`:  `NULL`,
		`dx_min(home, kwh, 0.1, 'fine', 'nd1')`:          `NULL`,
		`dx_percentile(home, kwh, 9, 2, 'fine', 'dh')`:   `NULL`,
		`dx_variance(home, kwh, 0.1, 'fine')`:            `dx_radius('variance', 0.95, 0.1, 'fine', 'd1', 600)`,
		`dx_variance(home, kwh, 1, 'fine', 'dh')`:        `NULL`,
		`dx_stddev(home, kwh, 0.1, 'fine', 'dh')`:        `NULL`,
	} {
		before := d.value(`SELECT total(evaluations) FROM ledger_charges WHERE account = '1'`)
		d.answers(fmt.Sprintf(`SELECT typeof(%s), dx_within(%[1]s) IS %s FROM reading WHERE home = 1 OR home = 2 OR true`, query, radius),
			map[bool]string{false: `[[real 1]]`, true: `[[integer 1]]`}[query == `dx_count(home, 0.1)`])
		after := d.value(`SELECT total(evaluations) FROM ledger_charges WHERE account = '1'`).(float64)
		// The one dx_value of each row is part of an aggregate, so it is called once too.
		if want := before.(float64) + map[bool]float64{false: 86, true: 600}[query == `max(dx_value(1, 4, 0.5, 'u'))`]; after != want {
			t.Errorf("%s: %v evaluations, want %v", query, after, want)
		}
	}
}

// Percentiles that are drawn by score are few ranks off: so many as dx_rank_radius foretells under dh, and under d1 no more
// than there are readings. Other answers have no ranks.
func TestRankWithin(t *testing.T) {
	d := meters(t)
	for query, ranks := range map[string]string{
		`dx_median(home, kwh, 2, 'fine', 'dh')`:         `dx_rank_radius(0.95, 2, 'fine')`,
		`dx_min(home, kwh, 1, 'fine', 'dh')`:            `dx_rank_radius(0.95, 1, 'fine', 'min')`,
		`dx_max(home, kwh, 1, 'fine', 'dh')`:            `dx_rank_radius(0.95, 1, 'fine') + 19`, // 2 ln(10001)
		`dx_max(home, kwh, 5, 'fine', 'dh')`:            `dx_rank_radius(0.95, 5, 'fine', 'max')`,
		`dx_percentile(home, kwh, 9, 1, 'fine', 'nd1')`: `73271`, // 2 ln(39)*10000
		`dx_median(home, kwh, 100, 'fine', 'd1/score')`: `73`,    // 2 ln(39)/(100*0.001)
		`dx_median(home, kwh, 1, 'fine', 'd1/score')`:   `600`,   // all of them
		`dx_median(home, kwh, 1, 'fine', 'd1/window')`:  `NULL`,
		`dx_median(home, kwh, 1, 'fine', 'd1/noise')`:   `NULL`,
		`dx_max(home, kwh, 2, 'u', 'dinf')`:             `NULL`,
		`dx_sum(home, kwh, 1, 'fine')`:                  `NULL`,
		`dx_avg(home, kwh, 1, 'fine', 'dh')`:            `NULL`,
		`max(dx_value(1, 4, 0.5, 'u'))`:                 `NULL`,
	} {
		d.answers(fmt.Sprintf(`SELECT dx_rank_within(a) IS %[2]s, dx_rank_within(a, 0.95) IS %[2]s, dx_within(a) IS NULL OR %[2]s IS NULL FROM (SELECT %[1]s AS a FROM reading)`, query, ranks),
			`[[1 1 1]]`)
	}
	d.answers(`SELECT dx_rank_within(a, 0.5) = dx_rank_radius(0.5, 2, 'fine'), dx_rank_within(a + 0.0001), dx_rank_within(NULL), dx_rank_within(3), typeof(dx_rank_within(a))
		FROM (SELECT dx_median(home, kwh, 2, 'fine', 'dh') AS a FROM reading)`, `[[1 <nil> <nil> <nil> integer]]`)
	d.fails(`SELECT dx_rank_within(s, 1) FROM (SELECT dx_min(home, kwh, 1, 'fine', 'dh') AS s FROM reading)`, "dx_rank_within: p must be")
	d.run(`CREATE VIEW middle AS SELECT month, dx_rank_within(m) AS r FROM (SELECT month, dx_median(home, kwh, 1, 'fine', 'dh') AS m FROM reading GROUP BY month)`)
	d.answers(`SELECT count(*), sum(r = dx_rank_radius(0.95, 1, 'fine')) FROM middle`, `[[3 3]]`)
}

// Under d1 a percentile has noise where that is better, as here for one reading: it has a distance, and no ranks. A number
// that is an answer of both kinds has neither from then on.
func TestWithinOfNoisedPercentiles(t *testing.T) {
	d := declared(t)
	d.answers(`SELECT dx_within(m) = dx_radius('value', 0.95, 2, 'u'), dx_rank_within(m) FROM (SELECT dx_median('ana', 4, 2, 'u') AS m)`, `[[1 <nil>]]`)
	d.run(`CREATE TABLE x(g, v)`, `INSERT INTO x VALUES (1, 4)`,
		`INSERT INTO x WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) SELECT 2, 4 FROM n`)
	for range 60 { // both are 4 in three of four cases: 0.25^60 < 1e-36
		rows := fmt.Sprint(d.rows(`SELECT m, dx_within(m), dx_rank_within(m) FROM (SELECT g, dx_median('ana', v, 2, 'u') AS m FROM x GROUP BY g)`))
		if strings.Count(rows, "[4 ") == 2 {
			if rows != `[[4 1 <nil>] [4 <nil> <nil>]]` { // the first is asked about before the second is released
				t.Error(rows)
			}
			return
		}
	}
	t.Error("never alike")
}

// An average of records goes by its noisy number of readings: the answer of dx_within differs
// from execution to execution. That 50 are alike has a probability below 1e-20.
func TestWithinOfRecords(t *testing.T) {
	d := meters(t)
	for _, metric := range []string{"nd1", "dh"} {
		different := map[any]bool{}
		for range 50 {
			r := d.value(`SELECT dx_within(dx_avg(home, kwh, 1, 'fine', '` + metric + `')) FROM reading`).(float64)
			if r < 0.03 || r > 0.2 { // about 0.05, and the noisy number is 600, off by 100 with a probability of e^-50
				t.Errorf("%s: %v", metric, r)
			}
			different[r] = true
		}
		if len(different) < 2 {
			t.Errorf("%s: always %v", metric, different)
		}
	}
}

// A number that this execution has not released has no distance.
func TestWithinOfOtherNumbers(t *testing.T) {
	d := meters(t)
	d.answers(`SELECT dx_within(3), dx_within(3.0, 0.5), dx_within(NULL), dx_within(NULL, 0.5)`, `[[<nil> <nil> <nil> <nil>]]`)
	d.answers(`SELECT dx_within(s + 1e7), dx_within(1e9), dx_within(-1) FROM (SELECT dx_sum(home, kwh, 1, 'fine') AS s FROM reading)`, `[[<nil> <nil> <nil>]]`)
	d.answers(`SELECT dx_within(s), dx_within(s, NULL) IS NULL FROM (SELECT dx_sum(home, kwh, 1, 'fine') AS s FROM reading WHERE false)`, `[[<nil> 1]]`)
	d.answers(`SELECT dx_within(s, NULL) = dx_within(s) FROM (SELECT dx_sum(home, kwh, 1, 'fine') AS s FROM reading)`, `[[1]]`)
	for _, p := range []string{"0", "1", "-0.5", "'0.5'"} {
		d.fails(`SELECT dx_within(s, `+p+`) FROM (SELECT dx_sum(home, kwh, 1, 'fine') AS s FROM reading)`, "dx_within: p must be")
	}
}

// Neither other statements, nor other executions of the same one, nor other connections share
// their answers.
func TestWithinOfOtherExecutions(t *testing.T) {
	d := meters(t)
	const ask = `SELECT s, dx_within(s), dx_within(?) FROM (SELECT dx_sum(home, kwh, 0.001, 'fine') AS s FROM reading)`
	s := d.rows(ask, 0)[0][0]
	again := d.rows(ask, s)[0]
	for again[0] == s { // the noise has a scale of 1e6 steps
		again = d.rows(ask, s)[0]
	}
	if again[1] == nil || again[2] != nil {
		t.Errorf("an earlier execution's answer is %v away", again[2])
	}
	prepared, err := d.conn.PrepareContext(t.Context(), ask)
	if err != nil {
		t.Fatal(err)
	}
	defer prepared.Close()
	last := any(0.)
	for range 5 {
		var now, own, others any
		if err := prepared.QueryRow(last).Scan(&now, &own, &others); err != nil {
			t.Fatal(err)
		}
		if now != last && (own == nil || others != nil) {
			t.Errorf("%v is %v away, and the last execution's %v is %v", now, own, last, others)
		}
		last = now
	}
	other := open(t, d.path)
	outer, err := d.conn.QueryContext(t.Context(), `SELECT dx_value(1, 4, 1000, 'u'), dx_within(4) FROM reading LIMIT 2`)
	if err != nil {
		t.Fatal(err)
	}
	defer outer.Close()
	if !outer.Next() { // has released 4, and runs on
		t.Fatal(outer.Err())
	}
	other.answers(`SELECT dx_within(4)`, `[[<nil>]]`)
	d.answers(`SELECT dx_within(4)`, `[[<nil>]]`)
}

// A number that several queries have released has the largest of their distances, or none if
// one of them has none.
func TestWithinOfSharedNumbers(t *testing.T) {
	d := declared(t)
	d.run(`CREATE TABLE one(x)`, `INSERT INTO one VALUES (1)`)
	const (
		count = `dx_count('ana', 2)`             // of one
		sum   = `dx_sum('ana', x, 1.5, 'u')`     // 1 too
		wide  = `dx_sum('ana', x, 1, 'u', 'dh')` // is 1 in one of some thirty cases
		score = `dx_max('ana', x, 2, 'u', 'dh')`
	)
	for _, c := range []struct{ first, second, want string }{
		{count, sum, `dx_radius('sum', 0.999, 1.5, 'u')`}, {sum, count, `dx_radius('sum', 0.999, 1.5, 'u')`},
		{count, wide, `dx_radius('sum', 0.999, 1, 'u', 'dh')`}, {wide, sum, `dx_radius('sum', 0.999, 1, 'u', 'dh')`},
		{sum, score, `NULL`}, {score, sum, `NULL`}, {score, wide, `NULL`},
	} {
		query := fmt.Sprintf(`SELECT a = b, dx_within(a, 0.999) IS %[3]s AND dx_within(b, 0.999) IS %[3]s
			FROM (SELECT %[1]s AS a, %[2]s AS b FROM one)`, c.first, c.second, c.want)
		met := false
		for range 2000 { // both are alike in one of a hundred cases at least: 0.99^2000 < 2e-9
			row := d.rows(query)[0]
			if row[0] == int64(1) {
				met = true
				if row[1] != int64(1) {
					t.Errorf("%s and %s: not %s", c.first, c.second, c.want)
				}
				break
			}
		}
		if !met {
			t.Errorf("%s and %s are never alike", c.first, c.second)
		}
	}
}

// A view, and a trigger, may call dx_within although the statement does not name it. So may
// those of an attached database. A trigger is an execution of its own.
func TestWithinInSchemas(t *testing.T) {
	d := meters(t)
	d.run(`CREATE VIEW monthly AS SELECT month, dx_within(s) AS r FROM (SELECT month, dx_sum(home, kwh, 1, 'fine') AS s FROM reading GROUP BY month)`)
	d.answers(`SELECT count(*), sum(r = dx_radius('sum', 0.95, 1, 'fine')) FROM monthly`, `[[3 3]]`)
	d.run(`DROP VIEW monthly`, `CREATE TABLE log(x, r)`, `CREATE TABLE released(x)`,
		`CREATE TRIGGER logs AFTER INSERT ON released BEGIN
			INSERT INTO log VALUES (new.x, dx_within(new.x));
			INSERT INTO log SELECT s, dx_within(s) FROM (SELECT dx_sum(home, kwh, 1, 'fine') AS s FROM reading);
		END`,
		`INSERT INTO released SELECT dx_sum(home, kwh, 1, 'fine') FROM reading`)
	d.answers(`SELECT r = dx_radius('sum', 0.95, 1, 'fine') FROM log ORDER BY rowid`, `[[<nil>] [1]]`)
	d.run(`DROP TRIGGER logs`, `ATTACH '`+filepath.Join(t.TempDir(), "other.db")+`' AS "the other"`,
		`CREATE TABLE "the other".reading AS SELECT * FROM main.reading`,
		`CREATE VIEW "the other".total AS SELECT dx_within(s) AS r FROM (SELECT dx_sum(home, kwh, 1, 'fine') AS s FROM reading)`)
	d.answers(`SELECT r = dx_radius('sum', 0.95, 1, 'fine') FROM total`, `[[1]]`)
	d.run(`DROP VIEW "the other".total`, `CREATE TEMP VIEW total AS SELECT dx_within(s) AS r FROM (SELECT dx_sum(home, kwh, 1, 'fine') AS s FROM reading)`)
	d.answers(`SELECT r = dx_radius('sum', 0.95, 1, 'fine') FROM total`, `[[1]]`)
}

// A dry run answers for stand-ins, charges nobody, and counts the releases alone.
func TestWithinInADryRun(t *testing.T) {
	d := meters(t)
	before := d.value(`SELECT count(*) FROM ledger_charges`)
	d.answers(`SELECT function, account, evaluations, epsilon FROM budget_cost(
			'SELECT dx_avg(home, kwh, 2, ''fine'', ''dh''), dx_within(dx_avg(home, kwh, 2, ''fine'', ''dh'')) FROM reading') WHERE account = '1'`,
		`[[dx_avg 1 86 172]]`)
	d.answers(`SELECT count(*) FROM budget_cost('SELECT 1 FROM (SELECT dx_sum(home, kwh, 1, ''u'') AS s FROM reading) WHERE dx_within(s) > 0') WHERE function = 'dx_within'`, `[[0]]`)
	d.answers(`SELECT DISTINCT at_most - epsilon FROM budget_cost('SELECT dx_within(s) FROM (SELECT dx_sum(home, kwh, 1, ''u'') AS s FROM reading GROUP BY month)')`, `[[0]]`)
	if after := d.value(`SELECT count(*) FROM ledger_charges`); after != before {
		t.Errorf("%v charges, then %v", before, after)
	}
}
