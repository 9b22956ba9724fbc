package sqlitefn_test

import "testing"

// readings is a table of readings of four accounts, with rows that contribute nothing.
var readings = []string{
	`CREATE TABLE r(g, account, x)`,
	`INSERT INTO r VALUES (1, 'ana', 4), (1, 'ana', 4), (2, 'ana', 9), (1, 'bo', 0), (2, 42, 1e300), (2, '42', -7), (1, 'cy', NULL), (1, NULL, NULL)`,
}

func TestHistogram(t *testing.T) {
	d := declared(t)
	d.run(readings...)
	d.answers(`SELECT dx_histogram(account, x, 200, 'u', 3) FROM r`,
		`[[[{"lo":0,"hi":2,"count":2},{"lo":3,"hi":6,"count":2},{"lo":7,"hi":10,"count":2}]]]`)
	d.answers(`SELECT account, function, unit, epsilon, evaluations FROM ledger_charges ORDER BY account`,
		`[[42 dx_histogram record 400 2] [ana dx_histogram record 600 3] [bo dx_histogram record 200 1]]`)
	d.answers(`SELECT account, unit, epsilon, at_most FROM budget_cost('SELECT dx_histogram(account, x, 7, ''u'', 11) FROM r') ORDER BY 1`,
		`[[42 record 14 14] [ana record 21 21] [bo record 7 7]]`)
	d.answers(`SELECT g, dx_histogram(account, x, 200, 'u', 2) FROM r GROUP BY g ORDER BY g`,
		`[[1 [{"lo":0,"hi":4,"count":3},{"lo":5,"hi":10,"count":0}]] [2 [{"lo":0,"hi":4,"count":1},{"lo":5,"hi":10,"count":2}]]]`)
	// The array is one of every version of SQLite that knows JSON.
	d.answers(`SELECT sum(json_extract(value, '$.count')), count(*) FROM json_each((SELECT dx_histogram(account, x, 200, 'u', 11) FROM r))`, `[[6 11]]`)
	d.run(`SELECT dx_universe('w', -0.3, 1.1, 0.1, 'kW')`)
	d.answers(`SELECT dx_histogram('ana', 0.16, 200, 'w', 4)`,
		`[[[{"lo":-0.3,"hi":-0.1,"count":0},{"lo":0,"hi":0.3,"count":1},{"lo":0.4,"hi":0.7,"count":0},{"lo":0.8,"hi":1.1,"count":0}]]]`)
}

// Without a reading nobody pays, and the answer is noise on no readings; without a row it is
// NULL.
func TestHistogramWithoutReadings(t *testing.T) {
	d := declared(t)
	d.answers(`SELECT dx_histogram('ana', NULL, 200, 'u', 1), dx_histogram(NULL, NULL, 200, 'u', 1)`,
		`[[[{"lo":0,"hi":10,"count":0}] [{"lo":0,"hi":10,"count":0}]]]`)
	d.answers(`SELECT dx_histogram('ana', 3, 200, 'u', 1) FROM (SELECT 1) WHERE false`, `[[<nil>]]`)
	if n := d.evaluations(); n != 0 {
		t.Errorf("%d evaluations charged", n)
	}
	noisy := false
	for range 100 { // all counts are 0 with probability below 0.63^200 < 1e-40
		for _, n := range d.counts(d.value(`SELECT dx_histogram('ana', NULL, 1, 'u', 2)`)) {
			noisy = noisy || n != 0
		}
	}
	if !noisy {
		t.Error("no readings are counted without noise")
	}
}

func TestHistogramRefuses(t *testing.T) {
	d := declared(t)
	d.run(`SELECT budget_limit('poor', 'record', 1)`, `SELECT dx_universe('wide', 0, 1000000, 1, 'kWh'), dx_universe('v', 0, 10, 1, 'kWh')`)
	const two = ` FROM (SELECT 1 AS i UNION SELECT 2)`
	d.fails(`SELECT dx_histogram('ana', 3, i, 'u', 3)`+two, "dx_histogram: epsilon changes within a group")
	d.fails(`SELECT dx_histogram('ana', 3, 1, iif(i = 1, 'u', 'v'), 3)`+two, "dx_histogram: universe changes within a group")
	d.fails(`SELECT dx_histogram('ana', 3, 1, 'u', i)`+two, "dx_histogram: bins changes within a group")
	d.fails(`SELECT dx_histogram('ana', 3, 1, 'nothing', 3)`, "dx_histogram: universe 'nothing' is not declared")
	for _, bins := range []string{"0", "-1", "10001", "3.0", "'3'", "NULL"} {
		d.fails(`SELECT dx_histogram('ana', 3, 1, 'wide', `+bins+`)`, "dx_histogram: bins must be a whole number from 1 to 10000")
	}
	d.fails(`SELECT dx_histogram('ana', 3, 1, 'u', 12)`, "dx_histogram: bins must be at most 11, the number of values of universe 'u', not 12")
	d.fails(`SELECT dx_histogram(NULL, 3, 1, 'u', 3)`, "dx_histogram: account must be TEXT or INTEGER, got NULL")
	d.fails(`SELECT dx_histogram('ana', 'three', 1, 'u', 3)`, "dx_histogram: x must be a number, got TEXT")
	d.fails(`SELECT dx_histogram('poor', 3, 1, 'u', 3)`+two, "account 'poor' has 1/record left of 1/record, 2/record asked")
	d.fails(`SELECT dx_histogram('ana', 3, 1, 'u', 3) OVER ()`, "may not be used as a window function")
	if n := d.evaluations(); n != 0 {
		t.Errorf("%d evaluations charged", n)
	}
}

// Accounts are counted once, and pay once for each group, however many rows they have.
func TestAccounts(t *testing.T) {
	d := declared(t)
	d.run(readings...)
	d.answers(`SELECT dx_accounts(account, 100), dx_count(account, 100) FROM r`, `[[4 7]]`)
	d.answers(`SELECT account, epsilon, evaluations FROM ledger_charges WHERE function = 'dx_accounts' ORDER BY account`,
		`[[42 100 2] [ana 100 3] [bo 100 1] [cy 100 1]]`)
	d.answers(`SELECT account, epsilon, at_most FROM budget_cost('SELECT dx_accounts(account, 7) FROM r') ORDER BY 1`, `[[42 7 7] [ana 7 7] [bo 7 7] [cy 7 7]]`)
	d.answers(`SELECT g, dx_accounts(account, 100) FROM r GROUP BY g ORDER BY g`, `[[1 3] [2 2]]`)
	d.spends("ana", "record", 100+300+200)
	d.answers(`SELECT dx_accounts(NULL, 100), typeof(dx_accounts(NULL, 100))`, `[[0 integer]]`)
	d.answers(`SELECT dx_accounts('ana', 100) FROM (SELECT 1) WHERE false`, `[[<nil>]]`)
	d.fails(`SELECT dx_accounts('ana', i) FROM (SELECT 1 AS i UNION SELECT 2)`, "dx_accounts: epsilon changes within a group")
	d.fails(`SELECT dx_accounts('ana', 0)`, "dx_accounts: epsilon must be above 0, got 0")
	d.fails(`SELECT dx_accounts(1.5, 1)`, "dx_accounts: account must be TEXT, INTEGER or a sealed value, got REAL")
	below := 0
	for _, row := range d.rows(numbered("200") + `SELECT dx_accounts('ana', 0.01) FROM s GROUP BY i`) {
		if n := row[0].(int64); n < 0 {
			t.Errorf("%d accounts", n)
		} else if n == 0 {
			below++
		}
	}
	// An answer is 0 with probability over 0.49 at this epsilon: 200 are not with one below 1e-58.
	if below == 0 {
		t.Error("no answer of 200 is clamped at 0")
	}
}
