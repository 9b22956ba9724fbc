package sqlitefn_test

import (
	"fmt"
	"testing"
)

// A thousand readings of ten accounts, 0 to 9 as often each.
var hundreds = []string{
	`CREATE TABLE many(account, x)`,
	`WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < 999) INSERT INTO many SELECT i % 10, i / 10 % 10 FROM n`,
}

func TestPercentiles(t *testing.T) {
	d := declared(t)
	d.run(hundreds...)
	const want = `[{"p":95,"value":9},{"p":5,"value":0},{"p":45.5,"value":4},{"p":95,"value":9}]`
	d.answers(`SELECT dx_percentiles(account, x, '[95, 5, 45.5, 95]', 40, 'u', 'dh') FROM many`, `[[`+want+`]]`)
	d.answers(`SELECT dx_percentiles(account, x, '[95, 5, 45.5, 95]', 40, 'u') FROM many`, `[[`+want+`]]`)
	d.answers(`SELECT unit, sum(epsilon), sum(evaluations) FROM ledger_charges WHERE function = 'dx_percentiles' GROUP BY unit ORDER BY unit`,
		`[[kWh 400 1000] [record 40000 1000]]`)
	d.answers(`SELECT each.value ->> 'p', each.value ->> 'value' FROM json_each((SELECT dx_percentiles(account, x, '[95, 5, 45.5]', 40, 'u', 'd1') FROM many)) AS each`,
		`[[95 9] [5 0] [45.5 4]]`)
	// The groups of a GROUP BY cost once under d1, and a row each under dh.
	d.answers(`SELECT DISTINCT unit, epsilon FROM budget_cost('SELECT account < 5, dx_percentiles(account, x, ''[25, 50, 75]'', 2, ''u'') FROM many GROUP BY 1, x')`, `[[kWh 2]]`)
	d.answers(`SELECT DISTINCT unit, epsilon FROM budget_cost('SELECT dx_percentiles(account, x, ''[25, 50, 75]'', 2, ''u'', ''dh'') FROM many GROUP BY x')`, `[[record 200]]`)
	d.answers(`SELECT dx_percentiles('ana', NULL, '[25, 75]', 1, 'u')`, `[[[{"p":25,"value":0},{"p":75,"value":0}]]]`)
	d.answers(`SELECT dx_percentiles('ana', 3, '[25, 75]', 1, 'u') FROM (SELECT 1) WHERE false`, `[[<nil>]]`)
}

func TestPercentilesRefuse(t *testing.T) {
	d := declared(t)
	const two = ` FROM (SELECT 1 AS i UNION SELECT 2)`
	d.fails(`SELECT dx_percentiles('ana', 3, '[' || i || ']', 1, 'u')`+two, "dx_percentiles: ps changes within a group")
	d.fails(`SELECT dx_percentiles('ana', 3, '[5, 50]', i, 'u', 'dh')`+two, "dx_percentiles: epsilon changes within a group")
	for _, metric := range []string{"nd1", "dinf"} {
		d.fails(fmt.Sprintf(`SELECT dx_percentiles('ana', 3, '[5, 50]', 1, 'u', '%s')`, metric), "dx_percentiles: metric "+metric+": several percentiles are released under d1 and dh only, as halving counts the readings that move")
	}
	d.fails(`SELECT dx_percentiles('ana', 3, '[5, 101]', 1, 'u')`, "dx_percentiles: ps: p is not in 0..100")
	d.fails(`SELECT dx_percentiles('ana', 3, '5, 50', 1, 'u')`, "dx_percentiles: ps: must be a JSON list of 1 to 10000 percentiles")
	if n := d.evaluations(); n != 0 {
		t.Errorf("%d evaluations charged", n)
	}
}

func TestSealedPercentiles(t *testing.T) {
	t.Parallel()
	d := newSealed(t, sealedRows)
	d.answers(`SELECT dx_percentiles(kwh, '[40, 100, 0]', 100) FROM s`, `[[[{"p":40,"value":4},{"p":100,"value":9},{"p":0,"value":2}]]]`)
	d.answers(`SELECT dx_percentiles(kwh, '[50]', 100, 'dh') FROM s`, `[[[{"p":50,"value":4}]]]`)
	for _, c := range []charge{
		{`SELECT dx_percentiles(kwh, '[25, 75]', 1), dx_sum(kwh, 0.5) FROM s GROUP BY zone`, "kWh", 1.5, 1.5},
		{`SELECT dx_percentiles(kwh, '[25, 75]', 1, 'dh') FROM s`, "record", 3, 1},
		{`SELECT dx_percentiles(dx_person(kwh, 0, 50), '[25, 50, 75]', 1) FROM s`, "record", 1, 1},
	} {
		d := newSealed(t, sealedRows)
		cost := fmt.Sprint(d.rows(`SELECT account, sum(epsilon) FROM budget_cost(?) WHERE account <> 'cy' GROUP BY 1`, c.query))
		if want := fmt.Sprintf("[[ana %v] [bo %v]]", c.ana, c.bo); cost != want {
			t.Errorf("%s: budget_cost says %s, want %s", c.query, cost, want)
		}
		d.rows(c.query)
		d.spends("ana", c.unit, c.ana)
		d.spends("bo", c.unit, c.bo)
	}
	d.fails(`SELECT dx_percentiles(kwh, '[25, 75]', 1, 'dh') FROM s, (SELECT 1 AS n UNION ALL SELECT 2)`, "a group has the same value more than once")
}
