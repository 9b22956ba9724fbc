package sqlitefn_test

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/sqlitefn"
	"pgregory.net/rapid"
)

// aggregates are calls of every aggregate over readings, with account {a} and reading {x}.
var aggregates = sqlitefn.ReadingAggregates()

// call is a call of an aggregate with that account and reading.
func call(name, account, x string) string {
	return strings.NewReplacer("{a}", account, "{x}", x).Replace(aggregates[name])
}

// countsRows tells the aggregates that have no reading: they release rows or accounts.
var countsRows = map[string]bool{"dx_count": true, "dx_accounts": true}

func TestNullSecretOfARow(t *testing.T) {
	d := declared(t)
	d.answers(`SELECT geoind_laplace('ana', NULL, 116.3, 0.5), geoind_laplace('ana', 39.9, NULL, 0.5), geoind_laplace('ana', 0.0 * 1e999, NULL, 0.5)`,
		`[[<nil> <nil> <nil>]]`)
	d.answers(`SELECT * FROM geoind_laplace('ana', NULL, 116.3, 0.5)`, `[[<nil> <nil> <nil>]]`)
	d.answers(`SELECT dx_value('ana', NULL, 0.5, 'u'), dx_value('ana', 0.0 * 1e999, 0.5, 'u')`, `[[<nil> <nil>]]`)
	if n := d.evaluations(); n != 0 {
		t.Errorf("%d evaluations charged", n)
	}
	d.run(`SELECT budget_limit('poor', 'm', 0)`)
	d.answers(`SELECT geoind_laplace('poor', NULL, NULL, 0.5)`, `[[<nil>]]`)
}

// A NULL secret does not make a bad argument good.
func TestNullSecretIsStillChecked(t *testing.T) {
	d := declared(t)
	d.fails(`SELECT geoind_laplace(NULL, NULL, NULL, 0.5)`, "geoind_laplace: account must be TEXT or INTEGER, got NULL")
	d.fails(`SELECT geoind_laplace('ana', NULL, NULL, 0)`, "geoind_laplace: epsilon must be above 0")
	d.fails(`SELECT geoind_laplace('ana', NULL, 'x', 0.5)`, "geoind_laplace: lon must be a number, got TEXT")
	d.fails(`SELECT geoind_laplace('ana', NULL, 181, 0.5)`, "geoind_laplace: lon must lie between -180 and 180")
	d.fails(`SELECT dx_value('ana', NULL, 0.5, 'v')`, "dx_value: universe 'v' is not declared (there are: u)")
	d.fails(`SELECT dx_sum(NULL, NULL, 0.5, 'v')`, "dx_sum: universe 'v' is not declared")
	d.fails(`SELECT dx_sum(x'00', NULL, 0.5, 'u')`, "dx_sum: account must be TEXT or INTEGER, got BLOB")
}

// A group that has rows and no secret answers as if its true answer were 0 or lo,
// so that its answer does not show that it is empty, and charges nobody.
func TestGroupWithoutSecrets(t *testing.T) {
	d := declared(t)
	d.run(`SELECT dx_universe('v', 3, 10, 1, 'kWh')`)
	for name := range aggregates {
		t.Run(name, func(t *testing.T) {
			d := d.with(t)
			query := strings.ReplaceAll(call(name, `NULL`, `NULL`), `'u'`, `'v'`)
			want := `[[3]]`
			switch name {
			case "dx_sum", "dx_count", "dx_accounts", "dx_variance", "dx_stddev":
				want = `[[0]]`
			}
			d.answers(`SELECT `+query, want)
			d.answers(`SELECT `+query+` FROM (SELECT 1 UNION SELECT 2)`, want)
			d.answers(`SELECT `+query+` FROM (SELECT 1) WHERE false`, `[[<nil>]]`)
			if !countsRows[name] {
				d.answers(`SELECT `+strings.Replace(query, "NULL", "'ana'", 1), want)
				d.fails(`SELECT `+strings.Replace(query, "NULL, NULL", "NULL, 4", 1), name+": account must be TEXT or INTEGER, got NULL")
			}
		})
	}
	if n := d.evaluations(); n != 0 {
		t.Errorf("%d evaluations charged", n)
	}
}

// Rows without a secret add nothing to a group that has one.
func TestNullRowsContributeNothing(t *testing.T) {
	d := declared(t)
	d.run(`CREATE TABLE r(account, x)`, `INSERT INTO r VALUES (NULL, NULL), ('ana', 4), ('bo', NULL), ('ana', NULL), ('cy', 6), (NULL, NULL)`)
	for name, want := range map[string]string{
		"dx_sum": `[[10]]`, "dx_avg": `[[5]]`, "dx_min": `[[4]]`, "dx_max": `[[6]]`, "dx_median": `[[6]]`, "dx_percentile": `[[6]]`, "dx_count": `[[4]]`,
	} {
		d.answers(`SELECT `+call(name, `account`, `x`)+` FROM r`, want)
	}
	d.spends("ana", "kWh", 600)
	d.spends("ana", "record", 200)
	d.spends("bo", "kWh", 0)
	d.spends("bo", "record", 100)
}

// The way to hide which groups are empty: drive the query from a public list.
func TestLeftJoinFromAPublicList(t *testing.T) {
	d := declared(t)
	d.run(`CREATE TABLE streets(name)`, `INSERT INTO streets VALUES ('elm'), ('oak'), ('yew')`,
		`CREATE TABLE r(street, account, x)`, `INSERT INTO r VALUES ('elm', 'ana', 4), ('elm', 'bo', 5), ('yew', 'cy', 7)`)
	const from = ` FROM streets s LEFT JOIN r ON r.street = s.name GROUP BY s.name ORDER BY s.name`
	d.answers(`SELECT s.name, dx_sum(r.account, r.x, 100, 'u'), dx_count(r.account, 100), dx_max(r.account, r.x, 100, 'u')`+from,
		`[[elm 9 2 5] [oak 0 0 0] [yew 7 1 7]]`)
	d.fails(`SELECT dx_sum(r.account, r.x, -1, 'u')`+from, "dx_sum: epsilon must be above 0, got -1")
}

func TestAccountKeys(t *testing.T) {
	d := declared(t)
	d.run(`SELECT budget_limit(42, 'm', 2), budget_limit('042', 'm', 1)`)
	for _, account := range []string{`42`, `'42'`, `40 + 2`, `CAST('42' AS INTEGER)`} {
		d.run(`SELECT geoind_laplace(` + account + `, 39.9, 116.3, 0.25)`)
	}
	d.run(`SELECT geoind_laplace('042', 39.9, 116.3, 0.5)`)
	d.spends("42", "m", 1)
	d.spends("042", "m", 0.5)
	d.answers(`SELECT budget_spent(42, 'm'), budget_remaining(42, 'm'), budget_remaining('42', 'm'), budget_remaining('042', 'm')`, `[[1 1 1 0.5]]`)
	d.fails(`SELECT geoind_laplace(42, 39.9, 116.3, 1.5)`, "account '42' has 1.0/m left")
	for _, account := range []string{`-9223372036854775808`, `9223372036854775807`, `''`, `'Ana'`, `'ана'`, `' 42'`, `'42.0'`} {
		d.run(`SELECT geoind_laplace(` + account + `, 39.9, 116.3, 0.5)`)
		d.answers(`SELECT budget_spent(`+account+`, 'm')`, `[[0.5]]`)
	}
	d.answers(`SELECT budget_spent('ana', 'm'), budget_spent('-9223372036854775808', 'm')`, `[[0 0.5]]`)
	for _, account := range []string{`42.0`, `x'3432'`, `NULL`} {
		d.fails(`SELECT geoind_laplace(`+account+`, 39.9, 116.3, 0.5)`, "geoind_laplace: account must be TEXT or INTEGER, got ")
	}
	for _, query := range []string{
		`SELECT geoind_laplace('*', 39.9, 116.3, 0.5)`, `SELECT dx_value('*', 3, 0.5, 'u')`, `SELECT dx_sum('*', 3, 0.5, 'u')`,
		`SELECT dx_sum('*', NULL, 0.5, 'u')`, `SELECT dx_count('*', 0.5)`, `SELECT budget_reserve('*', 'm', 1)`,
	} {
		d.fails(query, "account '*' stands for every account and cannot be charged")
	}
}

func TestConstantsWithinAGroup(t *testing.T) {
	d := declared(t)
	d.run(`SELECT dx_universe('v', 0, 10, 1, 'kWh')`,
		`CREATE TABLE r(g, account, x, epsilon, universe, metric, p, unit)`,
		`INSERT INTO r VALUES (1, 'ana', 3, 100, 'u', 'd1', 50, 'm'), (2, 'ana', 4, 2000, 'v', 'nd1', 60, 'kWh')`)
	for argument, call := range map[string]string{
		"epsilon":  `dx_sum(account, x, epsilon, 'u')`,
		"universe": `dx_sum(account, x, 100, universe)`,
		"metric":   `dx_sum(account, x, 100, 'u', metric)`,
		"p":        `dx_percentile(account, x, p, 100, 'u')`,
		"unit":     `budget_reserve(account, unit, 1)`,
	} {
		d.fails(`SELECT `+call+` FROM r`, ": "+argument+" changes within a group")
		d.fails(`SELECT `+strings.ReplaceAll(call, ` x,`, ` NULL,`)+` FROM r ORDER BY 1 DESC`, ": "+argument+" changes within a group")
	}
	d.fails(`SELECT dx_sum(account, x, 100, 'u', nullif(metric, 'd1')) FROM r`, "dx_sum: metric changes within a group")
	d.fails(`SELECT dx_count(account, epsilon) FROM r`, "dx_count: epsilon changes within a group")
	if n := d.evaluations(); n != 0 {
		t.Errorf("%d evaluations charged", n)
	}
	d.answers(`SELECT dx_sum(account, x, epsilon, universe, metric) FROM r GROUP BY g`, `[[3] [4]]`)
	d.spends("ana", "kWh", 100)
	d.spends("ana", "record", 2000)
}

func TestDefaultDomain(t *testing.T) {
	d := newDatabase(t)
	d.run(`SELECT budget_limit('*', 'm', 9000000)`)
	const missing = "geoind_laplace: domain is missing: "
	d.fails(`SELECT geoind_laplace('ana', 39.9, 116.3, 1)`, missing+"none is declared", "SELECT geo_domain(")
	d.fails(`SELECT geoind_laplace('ana', 39.9, 116.3, 1, 'beijing')`, "geoind_laplace: domain 'beijing' is not declared (none is; declare it with SELECT geo_domain(name, south, west, north, east, step_m))")
	d.run(`SELECT geo_domain('beijing', 39.4, 115.4, 41.1, 117.6, 1)`,
		`SELECT geoind_laplace('ana', 39.9, 116.3, 1)`, `SELECT geoind_laplace('ana', 39.9, 116.3, 1, NULL)`,
		`SELECT * FROM geoind_laplace('ana', 39.9, 116.3, 1)`, `SELECT geoind_laplace('ana', 39.9, 116.3, 1, 'beijing')`)
	d.spends("ana", "m", 4)
	d.run(`SELECT geo_domain('rome', 41.7, 12.2, 42.1, 12.8, 1)`)
	d.fails(`SELECT geoind_laplace('ana', 39.9, 116.3, 1)`, missing+"several are declared (beijing, rome)")
	d.fails(`SELECT * FROM geoind_laplace('ana', 39.9, 116.3, 1)`, missing+"several are declared (beijing, rome)")
	d.fails(`SELECT geoind_laplace('ana', 39.9, 116.3, 1, 'paris')`, "geoind_laplace: domain 'paris' is not declared (there are: beijing, rome)")
	d.spends("ana", "m", 4)
	if got := d.value(`SELECT geoind_laplace('ana', 41.9, 12.5, 100, 'rome')`).(string); !strings.HasPrefix(got, "POINT(12.") {
		t.Errorf("in rome: %s", got)
	}
}

// Numbers are the decimals that people wrote: ten charges of 0.1 are 1 exactly.
func TestDecimals(t *testing.T) {
	for name, release := range map[string]string{
		"scalar":       `SELECT geoind_laplace('ana', 39.9, 116.3, 0.1)`,
		"table-valued": `SELECT * FROM geoind_laplace('ana', 39.9, 116.3, 0.1)`,
		"in one scan":  numbered("10") + `SELECT count(geoind_laplace('ana', 39.9, 116.3, 0.1)) FROM s`,
	} {
		t.Run(name, func(t *testing.T) {
			d := declared(t)
			d.run(`SELECT budget_limit('ana', 'm', 1)`)
			if name == "in one scan" {
				d.run(release)
			} else {
				for range 10 {
					d.run(release)
				}
			}
			d.spends("ana", "m", 1)
			d.answers(`SELECT budget_remaining('ana', 'm')`, `[[0]]`)
			d.fails(`SELECT geoind_laplace('ana', 39.9, 116.3, 0.1)`, "geoind_laplace: account 'ana' has 0.0/m left of 1.0/m, 0.1/m asked, 0.1/m short")
			d.spends("ana", "m", 1)
		})
	}
	d := declared(t)
	d.run(`SELECT dx_universe('tenths', 0.1, 0.7, 0.1, 'kWh')`)
	d.answers(`SELECT dx_sum('ana', x, 1000, 'tenths') FROM (SELECT 0.1 AS x UNION ALL SELECT 0.2)`, `[[0.3]]`)
	d.run(`SELECT budget_limit('bo', 'm', 0.3)`,
		`SELECT geoind_laplace('bo', 39.9, 116.3, 0.1)`, `SELECT geoind_laplace('bo', 39.9, 116.3, 0.2)`)
	d.answers(`SELECT spent, remaining FROM ledger_balance WHERE account = 'bo'`, `[[0.3 0]]`)
	// Finer costs round up, finer limits down.
	d.run(`SELECT dx_value('cy', 3, 0.0000000000011, 'u')`)
	d.answers(`SELECT printf('%.15f', budget_spent('cy', 'kWh'))`, `[[0.000000000002000]]`)
	d.run(`SELECT budget_limit('cy', 'kWh', 0.0000000000029)`)
	d.fails(`SELECT dx_value('cy', 3, 0.0000000000001, 'u')`, "0.000000000000/kWh left of 0.000000000002/kWh, 0.000000000001/kWh asked")
}

// The charges of a group: accounts, unit, number.
func TestMetricsCharge(t *testing.T) {
	const rows = `(SELECT 'ana' AS account, 3 AS x UNION ALL SELECT 'ana', 4 UNION ALL SELECT 'ana', 3 UNION ALL SELECT 'bo', 5 UNION ALL SELECT 'cy', NULL)`
	for _, c := range []struct {
		call             string
		unit             string
		ana, bo, rowsAna float64
	}{
		{`dx_count(account, 2)`, "record", 6, 2, 3},
		{`dx_sum(account, x, 2, 'u')`, "kWh", 2, 2, 3},
		{`dx_sum(account, x, 2, 'u', 'd1')`, "kWh", 2, 2, 3},
		{`dx_sum(account, x, 2, 'u', NULL)`, "kWh", 2, 2, 3},
		{`dx_sum(account, x, 2, 'u', 'nd1')`, "record", 6, 2, 3},
		{`dx_sum(account, x, 2, 'u', 'dh')`, "record", 6, 2, 3},
		{`dx_avg(account, x, 2, 'u', 'dinf')`, "kWh", 2, 2, 3},
		{`dx_min(account, x, 2, 'u', 'dinf')`, "kWh", 2, 2, 3},
		{`dx_max(account, x, 2, 'u', 'nd1')`, "record", 6, 2, 3},
		{`dx_median(account, x, 2, 'u', 'dh')`, "record", 6, 2, 3},
		{`dx_percentile(account, x, 95, 2, 'u', 'dinf')`, "kWh", 2, 2, 3},
	} {
		t.Run(c.call, func(t *testing.T) {
			d := declared(t)
			d.run(`SELECT ` + c.call + ` FROM ` + rows)
			d.spends("ana", c.unit, c.ana)
			d.spends("bo", c.unit, c.bo)
			d.spends("cy", "kWh", 0)
			name, _, _ := strings.Cut(c.call, "(")
			cy := ``
			if name == "dx_count" {
				cy = fmt.Sprintf(` [%s cy record 2 1]`, name)
			}
			d.answers(`SELECT function, account, unit, epsilon, evaluations FROM ledger_charges ORDER BY account`,
				fmt.Sprintf(`[[%s ana %s %v 3] [%s bo %s %v 1]%s]`, name, c.unit, c.ana, name, c.unit, c.bo, cy))
		})
	}
}

func TestMetricsThatMeanNothingAreErrors(t *testing.T) {
	d := declared(t)
	d.fails(`SELECT dx_sum('ana', 3, 2, 'u', 'dinf')`, "dx_sum: metric ", "no finite sensitivity")
	d.fails(`SELECT dx_sum('ana', 3, 2, 'u', 'd2')`, "dx_sum: metric ")
	d.fails(`SELECT dx_radius('sum', 0.5, 2, 'u', 'dinf')`, "dx_radius: metric ")
	d.fails(`SELECT dx_radius('value', 0.5, 2, 'u', 'dh')`, "dx_radius: metric ")
	if n := d.evaluations(); n != 0 {
		t.Errorf("%d evaluations charged", n)
	}
}

// One account that cannot pay keeps the whole group unanswered and uncharged.
func TestGroupChargesAllOrNone(t *testing.T) {
	for name := range aggregates {
		t.Run(name, func(t *testing.T) {
			d := declared(t)
			d.run(`SELECT budget_limit('cy', 'kWh', 50), budget_limit('cy', 'record', 50)`)
			unit := "kWh"
			if countsRows[name] {
				unit = "record"
			}
			from := ` FROM (SELECT 'ana' AS account, 1 AS g UNION SELECT 'bo', 1 UNION SELECT 'cy', 2 UNION SELECT 'di', 2)`
			d.fails(`SELECT `+call(name, `account`, `3`)+from, name+": account 'cy' has 50/"+unit+" left of 50/"+unit+", 100/"+unit+" asked, 50/"+unit+" short")
			for _, account := range []string{"ana", "bo", "cy", "di"} {
				d.spends(account, unit, 0)
			}
			rows := d.fails(`SELECT `+call(name, `account`, `3`)+from+` GROUP BY g`, "account 'cy'")
			if len(rows) != 1 {
				t.Errorf("%d groups answered before the refusal, want 1", len(rows))
			}
			d.spends("ana", unit, 100)
			d.spends("di", unit, 0)
		})
	}
	t.Run("budget_reserve", func(t *testing.T) {
		d := declared(t)
		d.run(`SELECT budget_limit('cy', 'm', 5)`)
		d.fails(`SELECT budget_reserve(account, 'm', 6) FROM (SELECT 'ana' AS account UNION SELECT 'cy')`, "budget_reserve: account 'cy' has 5/m left")
		d.spends("ana", "m", 0)
		d.answers(`SELECT budget_reserve(account, 'm', 5) FROM (SELECT 'ana' AS account UNION ALL SELECT 'cy' UNION ALL SELECT 'ana')`, `[[2]]`)
		d.spends("ana", "m", 10)
		d.answers(`SELECT spent, reserved FROM ledger_balance WHERE account = 'ana'`, `[[0 10]]`)
	})
}

func TestRefusalsTellTheCure(t *testing.T) {
	d := newDatabase(t)
	d.run(declarations[:2]...)
	const cure = "set one: SELECT budget_limit('ana', 'm', EPSILON) or budget_limit('*', 'm', EPSILON)"
	d.fails(release, "geoind_laplace: account 'ana' has no budget in unit 'm'; "+cure)
	d.run(`SELECT budget_limit('*', 'kwh', 5)`)
	d.fails(release, "geoind_laplace: account 'ana' has no budget in unit 'm' (limits exist for 'kwh'); "+cure)
	d.fails(`SELECT dx_value('ana', 3, 0.5, 'u')`, "dx_value: account 'ana' has no budget in unit 'kWh' (limits exist for 'kwh'); set one: SELECT budget_limit('ana', 'kWh', EPSILON)")
	d.fails(`SELECT dx_sum('o''hara', 3, 0.5, 'u')`, "dx_sum: account 'o''hara' has no budget in unit 'kWh'")
	d.run(`SELECT budget_limit('ana', 'm', 0.023)`, `SELECT geoind_laplace('ana', 39.9, 116.3, 0.0209)`)
	d.fails(`SELECT geoind_laplace('ana', 39.9, 116.3, 0.0069)`, "geoind_laplace: account 'ana' has 0.0021/m left of 0.0230/m, 0.0069/m asked, 0.0048/m short")
	d.run(`SELECT budget_limit('ana', 'm', 0)`)
	d.fails(release, "geoind_laplace: account 'ana' has 0.0/m left of 0.0/m, 0.5/m asked")
}

func TestDeclarationsAreImmutable(t *testing.T) {
	d := declared(t)
	d.run(declarations[:2]...)
	for _, changed := range []string{
		`geo_domain('beijing', 39.3, 115.4, 41.1, 117.6, 1)`, `geo_domain('beijing', 39.4, 115.3, 41.1, 117.6, 1)`,
		`geo_domain('beijing', 39.4, 115.4, 41.2, 117.6, 1)`, `geo_domain('beijing', 39.4, 115.4, 41.1, 117.7, 1)`,
		`geo_domain('beijing', 39.4, 115.4, 41.1, 117.6, 2)`,
		`dx_universe('u', 1, 10, 1, 'kWh')`, `dx_universe('u', 0, 11, 1, 'kWh')`, `dx_universe('u', 0, 10, 0.5, 'kWh')`,
		`dx_universe('u', 0, 10, 1, 'kwh')`,
	} {
		d.fails(`SELECT `+changed, " is declared already and cannot change")
	}
	const polygon = `POLYGON((116 40, 117 40, 117 41, 116 40))`
	first := d.value(`SELECT geo_region('beijing', '` + polygon + `')`)
	if again := d.value(`SELECT geo_region('beijing', '` + polygon + `')`); again != first {
		t.Errorf("declared again: %v, first %v", again, first)
	}
	d.fails(`SELECT geo_region('beijing', 'POLYGON((116 40, 117 40, 117 40.9, 116 40))')`, "geo_region: ", "cannot change")
	d.fails(`SELECT geo_region('rome', '`+polygon+`')`, "geo_region: domain 'rome' is not declared (there are: beijing)")
	d.run(declarations[0])
	d.answers(`SELECT count(*) FROM geosql_domain WHERE region IS NOT NULL`, `[[1]]`)
	again := open(t, d.path)
	again.fails(`SELECT dx_universe('u', 1, 10, 1, 'kWh')`, "cannot change")
}

// A declaration that was rolled back was never made.
func TestDeclarationsRollBack(t *testing.T) {
	d := declared(t)
	d.run(`BEGIN`, `SELECT dx_universe('v', 0, 5, 1, 'kWh')`, `SELECT geo_domain('rome', 41.7, 12.2, 42.1, 12.8, 1)`,
		`SELECT dx_value('ana', 3, 1, 'v')`, `SELECT geoind_laplace('ana', 41.9, 12.5, 1, 'rome')`, `ROLLBACK`)
	d.fails(`SELECT dx_value('ana', 3, 1, 'v')`, "'v' is not declared")
	d.fails(`SELECT geoind_laplace('ana', 41.9, 12.5, 1, 'rome')`, "'rome' is not declared")
	d.run(`SELECT dx_universe('v', 0, 9, 1, 'kWh')`)
	d.answers(`SELECT dx_value('ana', 9, 100, 'v')`, `[[9]]`)
}

// So was one in a statement that failed.
func TestDeclarationOfAFailedStatement(t *testing.T) {
	d := declared(t)
	d.run(`CREATE TABLE once(z UNIQUE)`)
	d.fails(`INSERT INTO once SELECT dx_value('ana', 1, 100, 'v') FROM (SELECT dx_universe('v', 0, 2, 1, 'kWh') AS line LIMIT 1)
		WHERE line NOT NULL UNION ALL SELECT 1`, "UNIQUE")
	d.answers(`SELECT name FROM geosql_universe`, `[[u]]`)
	d.fails(`SELECT dx_value('ana', 1, 100, 'v')`, "'v' is not declared")
}

// A temporary table cannot take the place of the owner's declarations.
func TestDeclarationsCannotBeShadowed(t *testing.T) {
	d := declared(t)
	d.run(`CREATE TEMP TABLE geosql_universe(name, lo, hi, step, unit)`,
		`INSERT INTO temp.geosql_universe VALUES ('fake', 0, 1, 1, 'kWh')`,
		`CREATE TEMP TABLE geosql_ledger(id)`, `INSERT INTO temp.geosql_ledger VALUES ('fake')`)
	d.fails(`SELECT dx_value('ana', 1, 1, 'fake')`, "'fake' is not declared")
	d.run(release)
	d.spends("ana", "m", 0.5)
}

// A region that one connection declares applies to all.
func TestRegionIsSeenByOtherConnections(t *testing.T) {
	d := declared(t)
	other := open(t, d.path)
	other.run(release)
	d.run(`SELECT geo_region('beijing', 'POLYGON((117 40, 117.5 40, 117.5 40.5, 117 40))')`)
	if got := other.value(`SELECT lon >= 117 FROM geoind_laplace('ana', 39.9, 116.3, 1)`); got != int64(1) {
		t.Error("released outside the region")
	}
}

func TestLimitsReplace(t *testing.T) {
	d := declared(t)
	d.answers(`SELECT budget_limit('ana', 'm', 1.50)`, `[[account 'ana': 1.5/m]]`)
	d.answers(`SELECT budget_limit('*', 'm', 7)`, `[[every account without a limit of its own: 7/m]]`)
	d.run(release)
	d.answers(`SELECT budget_remaining('ana', 'm'), budget_remaining('bo', 'm'), budget_remaining('*', 'm'), budget_remaining('ana', 'km')`, `[[1 7 7 0]]`)
	d.run(`SELECT budget_limit('ana', 'm', 0.7)`)
	d.answers(`SELECT budget_remaining('ana', 'm'), budget_spent('ana', 'm')`, `[[0.2 0.5]]`)
	d.run(`SELECT budget_limit('ana', 'm', 0.2)`)
	d.answers(`SELECT budget_remaining('ana', 'm'), budget_spent('ana', 'm')`, `[[0 0.5]]`)
	d.fails(release, "0.0/m left of 0.2/m")
	d.run(`SELECT budget_limit('ana', 'm', 9000000)`, release)
	d.fails(`SELECT budget_limit('ana', 'm', 9000001)`, "budget_limit: epsilon ", "9000000")
	d.fails(`SELECT budget_limit('ana', 'm', -1)`, "budget_limit: epsilon ")
	for _, window := range []string{"0", "-1", "1.5", "'1'", "9223372036854775807", "3153600001"} {
		d.fails(`SELECT budget_limit('ana', 'm', 1, `+window+`)`, "budget_limit: window_seconds")
	}
	d.fails(`SELECT budget_limit('ana', '', 1)`, "budget_limit: unit ")
	d.answers(`SELECT epsilon_limit, spent, reserved, remaining, window_seconds, reopens FROM ledger_balance WHERE account = 'ana'`,
		`[[9e+06 1 0 8.999999e+06 <nil> <nil>]]`)
	d.answers(`SELECT last_charge LIKE '20__-__-__T__:__:__Z' FROM ledger_balance WHERE account = 'ana'`, `[[1]]`)
}

func TestLedgersOfNobody(t *testing.T) {
	d := newDatabase(t)
	d.answers(`SELECT budget_spent('ana', 'm'), budget_remaining('ana', 'm'), budget_spent('*', 'm')`, `[[0 0 0]]`)
	d.answers(`SELECT * FROM ledger_balance`, `[]`)
	d.answers(`SELECT * FROM ledger_charges`, `[]`)
}

var point = regexp.MustCompile(`^POINT\((-?\d+\.\d{7}) (-?\d+\.\d{7})\)$`)

// Coordinates and WKT print the same 7 decimals.
func TestCoordinates(t *testing.T) {
	d := declared(t)
	rows := d.rows(numbered("300") + `SELECT g.lat, g.lon, g.wkt FROM s CROSS JOIN geoind_laplace(substr('ana', 1, 3 + i), 39.9, 116.3, 0.0001) g`)
	for _, row := range rows {
		lat, lon, wkt := row[0].(float64), row[1].(float64), row[2].(string)
		if want := fmt.Sprintf("POINT(%.7f %.7f)", lon, lat); wkt != want {
			t.Errorf("wkt %s, want %s", wkt, want)
		}
		if lat != math.Round(lat*1e7)/1e7 || lon != math.Round(lon*1e7)/1e7 {
			t.Errorf("%v %v have more than 7 decimals", lat, lon)
		}
	}
	if len(rows) != 300 {
		t.Errorf("%d rows", len(rows))
	}
	for _, row := range d.rows(numbered("300") + `SELECT geoind_laplace('ana', 39.9, 116.3, 0.0001) FROM s`) {
		if !point.MatchString(row[0].(string)) {
			t.Errorf("scalar answers %q", row[0])
		}
	}
	d.answers(`SELECT typeof(lat), typeof(lon), typeof(wkt) FROM geoind_laplace('ana', 39.9, 116.3, 1)`, `[[real real text]]`)
	d.answers(`SELECT typeof(geoind_laplace('ana', 39.9, 116.3, 1))`, `[[text]]`)
}

// At a large epsilon a release is the lattice point nearest to the location, in
// both forms, and a location outside the box is moved to it.
func TestNearestLatticePoint(t *testing.T) {
	d := declared(t)
	const metre = 1 / 111_000.0 // of latitude, in degrees
	for _, c := range []struct{ lat, lon, atLat, atLon float64 }{
		{39.9, 116.3, 39.9, 116.3},
		{40.123456, 117.123456, 40.123456, 117.123456},
		{50, 116.3, 41.1, 116.3},
		{39.9, -180, 39.9, 117.6},
		{-90, 0, 39.4, 115.4},
	} {
		row := d.rows(`SELECT lat, lon, wkt FROM geoind_laplace('ana', ?, ?, 100)`, c.lat, c.lon)[0]
		lat, lon := row[0].(float64), row[1].(float64)
		if math.Abs(lat-c.atLat) > metre || math.Abs(lon-c.atLon)*math.Cos(c.atLat*math.Pi/180) > metre {
			t.Errorf("%v %v is released as %v %v", c.lat, c.lon, lat, lon)
		}
		if scalar := d.value(`SELECT geoind_laplace('ana', ?, ?, 100)`, c.lat, c.lon); scalar != row[2] {
			t.Errorf("scalar %v, table-valued %v", scalar, row[2])
		}
	}
}

func TestTypesOfAnswers(t *testing.T) {
	d := declared(t)
	for name := range aggregates {
		want := `[[real]]`
		if countsRows[name] {
			want = `[[integer]]`
		}
		d.answers(`SELECT typeof(`+call(name, `'ana'`, `3`)+`)`, want)
	}
	d.answers(`SELECT typeof(dx_value('ana', 3, 1, 'u')), typeof(budget_spent('ana', 'kWh')), typeof(budget_remaining('ana', 'kWh')), typeof(geo_outside('beijing', 1, 1)), typeof(dx_outside('u', 11))`,
		`[[real real real integer integer]]`)
}

// Values of a universe print as the decimals they are.
func TestUniverseValuesPrintAsDecimals(t *testing.T) {
	d := declared(t)
	d.run(`SELECT dx_universe('w', -0.3, 1.1, 0.001, 'kW')`, `SELECT budget_limit('*', 'kW', 9000000)`)
	decimal := regexp.MustCompile(`^-?\d\.\d{1,3}$`)
	for _, row := range d.rows(numbered("500") + `SELECT CAST(dx_value('ana', 0.4, 2, 'w') AS TEXT), CAST(i AS TEXT) FROM s`) {
		if !decimal.MatchString(row[0].(string)) {
			t.Errorf("a value prints as %s", row[0])
		}
	}
	d.answers(`SELECT dx_value('ana', 0.1234, 100000, 'w'), dx_value('ana', -5, 100000, 'w'), dx_value('ana', 1e300, 100000, 'w'), dx_value('ana', 0.0005, 100000, 'w')`,
		`[[0.123 -0.3 1.1 0.001]]`)
	d.answers(`SELECT dx_sum('ana', -0.3, 100000, 'w') FROM (SELECT 1 UNION SELECT 2 UNION SELECT 3)`, `[[-0.9]]`)
}

// At a large epsilon the answers of aggregates follow their definition, for readings on the
// universe's grid and off it.
func TestAggregatesAgainstDefinitions(t *testing.T) {
	d := declared(t)
	rapid.Check(t, func(t *rapid.T) {
		readings := rapid.SliceOfN(rapid.Float64Range(-2, 12), 1, 30).Draw(t, "readings")
		p := rapid.IntRange(0, 100).Draw(t, "p")
		values := make([]int, len(readings))
		sum := 0
		for i, x := range readings {
			values[i] = int(math.Floor(min(10, max(0, x)) + 0.5)) // the nearest, halves up
			sum += values[i]
		}
		slices.Sort(values)
		list, err := json.Marshal(readings)
		if err != nil {
			t.Fatal(err)
		}
		m := len(values)
		rank := func(p int) int { return values[min(m, p*m/100+1)-1] }
		grains := 1e5 // in 1: the noise of the average has a scale of 0.01/m
		for n := 1; n < m; n *= 10 {
			grains *= 10
		}
		avg := math.Round(float64(sum)/float64(m)*grains) / grains
		want := fmt.Sprint([]any{int64(m), sum, avg, values[0], values[m-1], rank(50), rank(p), rank(0), rank(100)})
		row := d.rows(`SELECT dx_count('ana', 100), dx_sum('ana', x, 100, 'u'), dx_avg('ana', x, 100, 'u'), dx_min('ana', x, 100, 'u'),
			dx_max('ana', x, 100, 'u'), dx_median('ana', x, 100, 'u'), dx_percentile('ana', x, ?, 100, 'u'),
			dx_percentile('ana', x, 0, 100, 'u'), dx_percentile('ana', x, 100, 100, 'u')
			FROM (SELECT value AS x FROM json_each(?))`, p, string(list))[0]
		if got := fmt.Sprint(row); got != want {
			t.Fatalf("of %v with p = %d: got %s, want %s", values, p, got, want)
		}
	})
}

// dx_sum is clamped at 0 where the universe has no negative values, and there only.
func TestClamping(t *testing.T) {
	d := declared(t)
	d.run(`SELECT dx_universe('signed', -10, 10, 1, 'kWh')`)
	// At epsilon 0.01 the noise is below 0 with probability over 0.49, so that
	// 200 draws are all of one sign with probability below 1e-58.
	below := func(universe string) (n int) {
		for _, row := range d.rows(numbered("200") + `SELECT dx_sum('ana', 0, 0.01, '` + universe + `') FROM s GROUP BY i`) {
			if row[0].(float64) < 0 {
				n++
			}
		}
		return n
	}
	if n := below("u"); n != 0 {
		t.Errorf("%d of 200 sums of readings from 0 are negative", n)
	}
	if n := below("signed"); n == 0 {
		t.Error("no sum of signed readings is negative")
	}
	for _, row := range d.rows(numbered("200") + `SELECT dx_avg('ana', 5, 0.01, 'u'), dx_value('ana', 5, 0.01, 'u'), dx_count('ana', 0.01) FROM s GROUP BY i`) {
		for _, v := range row[:2] {
			if x := v.(float64); x < 0 || x > 10 || x != math.Trunc(x) {
				t.Errorf("%v is no value of the universe", x)
			}
		}
		if row[2].(int64) < 0 {
			t.Errorf("a count of %v", row[2])
		}
	}
}

func TestErrorsAreOneLine(t *testing.T) {
	d := declared(t)
	for _, query := range []string{
		`SELECT geoind_laplace('ana', 39.9, 116.3, 0.5, 'bei' || char(10) || 'jing')`,
		`SELECT geo_region('bei' || char(10) || 'jing', 'POLYGON((116 40, 117 40, 117 41, 116 40))')`,
		`SELECT dx_value('ana', 3, 0.5, 'u' || char(10))`,
		`SELECT geosql_help('dx' || char(10))`,
		`SELECT dx_universe('u' || char(10), 0, 1, 1, 'kWh')`,
	} {
		d.fails(query)
	}
	if line := d.value(`SELECT budget_limit('a' || char(10) || 'b', 'm', 1)`).(string); strings.Contains(line, "\n") {
		t.Errorf("budget_limit answers %q", line)
	}
}

func TestFreeFunctionsAnswerFiniteNumbers(t *testing.T) {
	d := declared(t)
	for _, call := range []string{
		`geoind_epsilon(1e308, 1e-308)`, `geoind_factor(1e308, 1e308)`, `geoind_radius(5e-324, 0.5)`, `geoind_radius(5e-324, 0.5, 'beijing')`,
		`geoind_epsilon_for(5e-324, 0.5)`, `geoind_epsilon_for(1e308, 0.5)`, `geoind_epsilon_for(1e308, 0.999999, 'beijing')`, `dx_epsilon_for('sum', 1e308, 0.5, 'u')`,
		`lbs_radius(0.5, 0.95, 1e308)`, `geoind_confidence(1e308, 1e308)`, `geoind_confidence(1e308, 1e308, 'beijing')`,
	} {
		v, err := d.try(`SELECT abs(` + call + `) < 1e999`)
		if err == nil && fmt.Sprint(v) != `[[1]]` {
			t.Errorf("%s answers %v", call, d.rows(`SELECT `+call))
		}
	}
}

// A lattice finer than the arithmetic of its frame is no lattice.
func TestStepBelowTheFramesPrecision(t *testing.T) {
	d := declared(t)
	d.fails(`SELECT geo_domain('atom', 39.4, 115.4, 39.40000001, 115.400000001, 0.000000000001)`, "geo_domain: step_m ")
}
