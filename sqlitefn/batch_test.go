package sqlitefn_test

import (
	"fmt"
	"testing"
)

// mixed makes a table of 1,500 rows, which cross into Go in several batches. A group takes most rows
// many at a time; the others come alone, in pairs, and at every place of a batch.
var mixed = []string{
	`CREATE TABLE r(i INTEGER PRIMARY KEY, account, x)`,
	`INSERT INTO r WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500)
		SELECT i, iif(i % 31 < 2, i % 5, 'account' || (i % 11)), CASE WHEN i % 17 = 0 THEN NULL WHEN i % 29 < 2 THEN i % 11 ELSE (i % 11) * 1.0 END FROM n`,
	`UPDATE r SET account = NULL WHERE x IS NULL AND i % 2`,
}

// Every row of a batch counts once, for its account and in the answer, however it is read.
func TestRowsOfBatches(t *testing.T) {
	d := declared(t)
	d.run(mixed...)
	truth := d.rows(`SELECT sum(x), max(x) FROM r`)[0]
	d.answers(`SELECT dx_sum(account, x, 1000, 'u', 'dh'), dx_max(account, x, 1000, 'u', 'dinf') FROM r`, fmt.Sprintf("[%v]", truth))
	for _, row := range d.rows(`SELECT account, count(x) FROM r WHERE account NOT NULL GROUP BY 1`) {
		d.spends(fmt.Sprint(row[0]), "record", 1000*float64(row[1].(int64)))
	}
}

// A row of a batch that is wrong is refused, and nothing is charged.
func TestWrongRowsOfBatches(t *testing.T) {
	d := declared(t)
	d.run(mixed...)
	for _, wrong := range []struct{ set, message string }{
		{`account = '*'`, "account '*' stands for every account and cannot be charged"},
		{`account = NULL, x = 1.0`, "account must be TEXT or INTEGER, got NULL"},
		{`account = 1.5`, "account must be TEXT or INTEGER, got REAL 1.5"},
		{`account = x'41'`, "account must be TEXT or INTEGER, got BLOB"},
		{`x = 9e999`, "x must be finite"},
		{`x = '1'`, "x must be a number, got TEXT"},
	} {
		for _, i := range []int{1, 2, 600, 1500} {
			d.run(`BEGIN`, fmt.Sprintf(`UPDATE r SET %s WHERE i = %d`, wrong.set, i))
			d.fails(`SELECT dx_sum(account, x, 100, 'u') FROM r`, "dx_sum: "+wrong.message)
			d.run(`ROLLBACK`)
		}
	}
	if n := d.evaluations(); n != 0 {
		t.Errorf("%d evaluations were charged", n)
	}
}
