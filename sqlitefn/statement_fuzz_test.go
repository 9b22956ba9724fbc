package sqlitefn_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/fuzz/fuzztest"
	"github.com/geosql/geosql/internal/trials"
)

// fuzzTables are the tables that statements of scripts and pages speak of, after shapeTables.
var fuzzTables = []string{
	`CREATE TABLE reading(meter, x, month, day, person, hours, district, at, kwh, household)`,
	`INSERT INTO reading VALUES ('a', 1, 1, 'mon', 1, 2, 'north', 0, 3, 'h'), ('a', 2, 1, 'tue', 1, 3, 'north', 1, 4, 'h'),
		('b', 6, 2, 'mon', 2, 8, 'south', 2, 5, 'i'), (NULL, NULL, 2, NULL, NULL, NULL, NULL, NULL, NULL, NULL)`,
	`CREATE TABLE fix(trace, t, lat, lon, who, day)`,
	`INSERT INTO fix VALUES ('x', 0, 39.9, 116.3, 'ana', 1), ('x', 60, 39.91, 116.31, 'ana', 2), ('y', 0, 40, 116.4, 'bo', 3)`,
	`CREATE TABLE trip(person, started, lat, lon, mode, fare)`, `INSERT INTO trip SELECT account, a, lat, lon, 'bus', x FROM t`,
	`CREATE TABLE district(name)`, `INSERT INTO district VALUES ('north'), ('south'), ('west')`,
	`SELECT trace_policy('*', 'ana', 'predictive', '{"epsilon": 0.1, "steps": 5, "domain": "beijing"}')`,
	`SELECT budget_limit('*', 'm', 3), budget_limit('*', 'kWh', 3), budget_limit('*', 'record', 3), budget_limit('*', 'm2', 3)`,
}

// FuzzStatement runs a statement of any text over tables with declarations and limits. It ends, its
// error is one plain line, nobody spends more than a limit, the ledger verifies, and the charges
// are not more than a dry run has foretold.
func FuzzStatement(f *testing.F) {
	seeds := append(fuzztest.Statements(f, "../internal/conformance/scripts/*.sql", "../examples/sql/*.sql", "../README.md", "../docs/*.md", "../docs/reference/*.md"), append(drySelects, dryWrites...)...)
	for _, query := range trials.Some(f, len(seeds)/3, seeds...) {
		f.Add(query)
	}
	f.Fuzz(func(t *testing.T, query string) {
		if upper := strings.ToUpper(query); strings.Contains(upper, "ATTACH") || strings.Contains(upper, "VACUUM") || strings.Contains(upper, "LEDGER_ARCHIVE") || strings.Contains(upper, "PRAGMA") {
			t.Skip("writes files, or changes how the connection works")
		}
		fuzztest.Limit(t, 20*time.Second)
		d := inMemory(t)
		d.run(fuzzTables...)
		ask := func(query string, args ...any) (rows [][]any, err error) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			r, err := d.conn.QueryContext(ctx, query, args...)
			if err != nil {
				return nil, err
			}
			defer r.Close()
			columns, err := r.Columns()
			if err != nil {
				return nil, err
			}
			for r.Next() && len(rows) < 1000 {
				row, into := make([]any, len(columns)), make([]any, len(columns))
				for i := range row {
					into[i] = &row[i]
				}
				if err := r.Scan(into...); err != nil {
					return nil, err
				}
				rows = append(rows, row)
			}
			return rows, r.Err()
		}
		const spent = `SELECT account, unit, spent + reserved FROM ledger_balance WHERE account <> '*'`
		balances := func() map[[2]string]float64 {
			all := map[[2]string]float64{}
			for _, row := range d.rows(spent) {
				all[[2]string{row[0].(string), row[1].(string)}] = row[2].(float64)
			}
			return all
		}
		foretold, notForetold := ask(`SELECT account, unit, at_most FROM budget_cost(?)`, query)
		before := balances()
		_, err := ask(query)
		if err != nil {
			d.mentions(err)
			if strings.Contains(err.Error(), "internal error") || strings.Contains(err.Error(), "runtime error") {
				t.Errorf("%q: %v", query, err)
			}
		}
		ask(`ROLLBACK`) // of a transaction that the statement may have begun
		after := balances()
		if !strings.Contains(strings.ToLower(query), "budget_limit") { // it may set a limit below the amount spent
			if beyond := d.rows(spent + ` AND spent + reserved > epsilon_limit`); beyond != nil {
				t.Errorf("%q spends %v, beyond the limits", query, beyond)
			}
		}
		if most, all := limitsOf(foretold); all && notForetold == nil && err == nil {
			for w, s := range after {
				if s-before[w] > most[w]*(1+1e-12) {
					t.Errorf("%q charges %v %v, at most %v was foretold", query, w, s-before[w], most[w])
				}
			}
		}
		if _, err := d.try(`SELECT * FROM ledger_verify()`); err != nil {
			t.Errorf("%q: %v", query, err)
		}
	})
}

// limitsOf returns the amounts that accounts may be charged, and whether these are all.
func limitsOf(foretold [][]any) (most map[[2]string]float64, all bool) {
	most = map[[2]string]float64{}
	for _, row := range foretold {
		account, named := row[0].(string)
		unit, known := row[1].(string)
		atMost, bounded := row[2].(float64)
		if !named || !known || !bounded || account == "*" {
			return nil, false
		}
		most[[2]string{account, unit}] += atMost
	}
	return most, true
}
