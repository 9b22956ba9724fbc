package sqlitefn_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/geosql/geosql/sqlitefn"
)

// A shape is a way to put a released value into a query. SQLite alone decides
// how often it evaluates one, so the numbers are those of the version linked in;
// whatever they are, the ledger must charge every evaluation.
type shape struct {
	name        string
	setup       []string
	query       string // {f}: a release of the row's x; {c}: of a constant; {g}: of the row's location, as a table
	show        string // the rows that the query has stored, when it answers nothing itself
	evaluations int64
	rows        int
}

// scalarShapes release 1, 2, .., 5, exactly in the first of two runs.
var scalarShapes = []shape{
	{name: "plain", query: `SELECT {f} FROM t`, evaluations: 5, rows: 5},
	{name: "constant in every row", query: `SELECT {c} FROM t`, evaluations: 5, rows: 5},
	{name: "uncorrelated subquery is evaluated once", query: `SELECT (SELECT {c}) FROM t`, evaluations: 1, rows: 5},
	{name: "correlated subquery", query: `SELECT (SELECT {f}) FROM t`, evaluations: 5, rows: 5},

	{name: "subquery shown twice draws twice", query: `SELECT z, z FROM (SELECT {f} AS z FROM t)`, evaluations: 10, rows: 5},
	{name: "CTE shown twice draws twice", query: `WITH c AS (SELECT {f} AS z FROM t) SELECT z, z FROM c`, evaluations: 10, rows: 5},
	{name: "NOT MATERIALIZED", query: `WITH c AS NOT MATERIALIZED (SELECT {f} AS z FROM t) SELECT z, z FROM c`, evaluations: 10, rows: 5},
	{name: "view shown twice draws twice", setup: []string{`CREATE VIEW twice AS SELECT {f} AS z FROM t`},
		query: `SELECT z, z FROM twice`, evaluations: 10, rows: 5},
	{name: "inner ORDER BY is no fence", query: `SELECT z, z FROM (SELECT {f} AS z FROM t ORDER BY a)`, evaluations: 10, rows: 5},
	{name: "fence LIMIT OFFSET", query: `SELECT z, z FROM (SELECT {f} AS z FROM t LIMIT -1 OFFSET 0)`, evaluations: 5, rows: 5},
	{name: "fence DISTINCT", query: `SELECT z, z FROM (SELECT DISTINCT {f} AS z FROM t)`, evaluations: 5, rows: 5},
	{name: "fence MATERIALIZED", query: `WITH c AS MATERIALIZED (SELECT {f} AS z FROM t) SELECT z, z FROM c`, evaluations: 5, rows: 5},
	{name: "fence window function", query: `SELECT z, z FROM (SELECT {f} AS z, row_number() OVER () FROM t)`, evaluations: 5, rows: 5},
	{name: "CTE joined with itself", query: `WITH c AS (SELECT a, {f} AS z FROM t) SELECT p.z, q.z FROM c p JOIN c q USING (a)`, evaluations: 10, rows: 5},
	{name: "CTE twice in UNION ALL", query: `WITH c AS (SELECT {f} AS z FROM t) SELECT z FROM c UNION ALL SELECT z FROM c`, evaluations: 10, rows: 10},
	{name: "MATERIALIZED joined with itself", query: `WITH c AS MATERIALIZED (SELECT a, {f} AS z FROM t) SELECT p.z, q.z FROM c p JOIN c q USING (a)`, evaluations: 5, rows: 5},
	{name: "MATERIALIZED twice in UNION ALL", query: `WITH c AS MATERIALIZED (SELECT {f} AS z FROM t) SELECT z FROM c UNION ALL SELECT z FROM c`, evaluations: 5, rows: 10},

	{name: "WHERE and ORDER BY", query: `SELECT a FROM t WHERE {f} > 0 ORDER BY {f}`, evaluations: 10, rows: 5},
	{name: "WHERE alias tests another draw", query: `SELECT {f} AS z FROM t WHERE z > 0`, evaluations: 10, rows: 5},
	{name: "WHERE around a subquery, per conjunct", query: `SELECT z FROM (SELECT {f} AS z FROM t) WHERE z > 2 AND z < 100`, evaluations: 11, rows: 3},
	{name: "BETWEEN", query: `SELECT a FROM t WHERE {f} BETWEEN 0 AND 100`, evaluations: 5, rows: 5},
	{name: "BETWEEN around a subquery", query: `SELECT z FROM (SELECT {f} AS z FROM t) WHERE z BETWEEN 2 AND 5`, evaluations: 9, rows: 4},
	{name: "CASE", query: `SELECT CASE WHEN {f} > 2 THEN {f} END FROM t`, evaluations: 8, rows: 5},
	{name: "ORDER BY alias", query: `SELECT {f} AS z FROM t ORDER BY z`, evaluations: 5, rows: 5},
	{name: "ORDER BY column number", query: `SELECT {f} FROM t ORDER BY 1`, evaluations: 5, rows: 5},
	{name: "GROUP BY alias", query: `SELECT {f} AS z, count(*) FROM t GROUP BY z`, evaluations: 5, rows: 5},
	{name: "HAVING alias", query: `SELECT a, {f} AS z FROM t GROUP BY a HAVING z > 0`, evaluations: 10, rows: 5},
	{name: "DISTINCT", query: `SELECT DISTINCT {f} FROM t`, evaluations: 5, rows: 5},
	{name: "LIMIT", query: `SELECT {f} FROM t LIMIT 2`, evaluations: 2, rows: 2},
	{name: "OFFSET skips without evaluating", query: `SELECT {f} FROM t LIMIT 2 OFFSET 2`, evaluations: 2, rows: 2},
	{name: "ORDER BY LIMIT evaluates what it does not show", query: `SELECT {f} FROM t ORDER BY a DESC LIMIT 2`, evaluations: 5, rows: 2},
	{name: "ORDER BY LIMIT by an index", setup: []string{`CREATE INDEX by_a ON t(a)`},
		query: `SELECT {f} FROM t INDEXED BY by_a ORDER BY a DESC LIMIT 2`, evaluations: 2, rows: 2},

	{name: "two aggregates", query: `SELECT sum({f}), avg({f}) FROM t`, evaluations: 10, rows: 1},
	{name: "same aggregate twice", query: `SELECT sum({f}), sum({f}) FROM t`, evaluations: 5, rows: 1},
	{name: "aggregates around a subquery", query: `SELECT sum(z), avg(z), count(z) FROM (SELECT {f} AS z FROM t)`, evaluations: 15, rows: 1},

	{name: "join fan-out", query: `SELECT {f} FROM t CROSS JOIN n`, evaluations: 25, rows: 25},
	{name: "join condition", query: `SELECT 1 FROM t CROSS JOIN n ON {f} > 0`, evaluations: 5, rows: 25},
	{name: "LEFT JOIN of a subquery, WHERE", query: `SELECT z FROM n LEFT JOIN (SELECT a, {f} AS z FROM t) s ON s.a = n.i WHERE z`, evaluations: 10, rows: 5},
	{name: "LEFT JOIN of a subquery, shown twice, WHERE", query: `SELECT z, z FROM n LEFT JOIN (SELECT a, {f} AS z FROM t) s ON s.a = n.i WHERE z`, evaluations: 15, rows: 5},

	{name: "INSERT SELECT", setup: []string{`CREATE TABLE copied(z)`}, query: `INSERT INTO copied SELECT {f} FROM t`,
		show: `SELECT z FROM copied`, evaluations: 5, rows: 5},
	{name: "CREATE TABLE AS", query: `CREATE TABLE made AS SELECT {f} AS z FROM t`, show: `SELECT z FROM made`, evaluations: 5, rows: 5},
	{name: "UPDATE", setup: []string{`CREATE TABLE updated AS SELECT * FROM t`}, query: `UPDATE updated SET x = {f}`,
		show: `SELECT x FROM updated`, evaluations: 5, rows: 5},
	{name: "UPSERT", setup: []string{`CREATE TABLE upserted AS SELECT * FROM t`, `CREATE UNIQUE INDEX upsert ON upserted(a)`},
		query: `INSERT INTO upserted(a, account, x) SELECT a, account, x FROM t WHERE true
			ON CONFLICT(a) DO UPDATE SET x = dx_value(tick(excluded.account), excluded.x, {epsilon}, {universe})`,
		show: `SELECT x FROM upserted`, evaluations: 5, rows: 5},
	{name: "RETURNING twice shows one draw", setup: []string{`CREATE TABLE returned(z)`},
		query: `INSERT INTO returned SELECT {f} FROM t RETURNING z, z`, evaluations: 5, rows: 5},
	{name: "OR IGNORE", setup: []string{`CREATE TABLE ignored(i UNIQUE, z)`, `INSERT INTO ignored VALUES (1, NULL)`},
		query: `INSERT OR IGNORE INTO ignored SELECT 1, {f} FROM t`, show: `SELECT z FROM ignored`, evaluations: 5, rows: 1},
	{name: "DEFAULT", setup: []string{`CREATE TABLE defaulted(i, z DEFAULT ({c}))`},
		query: `INSERT INTO defaulted(i) SELECT a FROM t`, show: `SELECT z FROM defaulted`, evaluations: 5, rows: 5},
	{name: "CHECK", setup: []string{`CREATE TABLE checked(i, CHECK ({c} >= 0))`},
		query: `INSERT INTO checked SELECT a FROM t`, show: `SELECT i FROM checked`, evaluations: 5, rows: 5},
	{name: "trigger", setup: []string{`CREATE TABLE watched(account, x)`, `CREATE TABLE log(z)`,
		`CREATE TRIGGER watch AFTER INSERT ON watched BEGIN
			INSERT INTO log VALUES (dx_value(tick(new.account), new.x, {epsilon}, {universe})); END`},
		query: `INSERT INTO watched SELECT account, x FROM t`, show: `SELECT z FROM log`, evaluations: 5, rows: 5},

	{name: "unused column of a subquery", query: `SELECT a FROM (SELECT a, {f} AS z FROM t)`, evaluations: 0, rows: 5},
	{name: "unused column of a view", setup: []string{`CREATE VIEW unused AS SELECT a, {f} AS z FROM t`},
		query: `SELECT a FROM unused`, evaluations: 0, rows: 5},
	{name: "count over a subquery", query: `SELECT count(*) FROM (SELECT {f} AS z FROM t)`, evaluations: 0, rows: 1},
	{name: "EXISTS", query: `SELECT EXISTS (SELECT {f} FROM t)`, evaluations: 0, rows: 1},
	{name: "MATERIALIZED and unused", query: `WITH c AS MATERIALIZED (SELECT a, {f} AS z FROM t) SELECT a FROM c`, evaluations: 5, rows: 5},
	{name: "EXPLAIN", query: `EXPLAIN SELECT {f} FROM t`, evaluations: 0, rows: -1},
	{name: "EXPLAIN QUERY PLAN", query: `EXPLAIN QUERY PLAN SELECT {f} FROM t`, evaluations: 0, rows: -1},
}

// tableShapes evaluate the table-valued form once per row of the tables to its
// left, unless they name it more than once.
var tableShapes = []shape{
	{name: "plain", query: `SELECT g.lat FROM t, {g}`, evaluations: 5, rows: 5},
	{name: "shown twice is one draw", query: `SELECT g.lat, g.lat FROM t, {g}`, evaluations: 5, rows: 5},
	{name: "subquery shown twice is one draw", query: `SELECT z, z FROM (SELECT g.lat AS z FROM t, {g})`, evaluations: 5, rows: 5},
	{name: "WHERE tests what is shown", query: `SELECT g.lat FROM t, {g} WHERE g.lat > -90 AND g.lat < 90`, evaluations: 5, rows: 5},
	{name: "WHERE that keeps nothing", query: `SELECT g.lat FROM t, {g} WHERE g.lat > 90`, evaluations: 5, rows: 0},
	{name: "WHERE OR", query: `SELECT g.lat FROM t, {g} WHERE g.lat > 0 OR g.lon > 0`, evaluations: 5, rows: 5},
	{name: "ORDER BY", query: `SELECT g.lat FROM t, {g} ORDER BY g.lat`, evaluations: 5, rows: 5},
	{name: "DISTINCT", query: `SELECT DISTINCT g.wkt FROM t, {g}`, evaluations: 5, rows: 5},
	{name: "GROUP BY", query: `SELECT g.wkt, count(*) FROM t, {g} GROUP BY g.wkt`, evaluations: 5, rows: 5},
	{name: "aggregates share one draw", query: `SELECT min(g.lat), max(g.lat) FROM t, {g}`, evaluations: 5, rows: 1},
	{name: "third table after", query: `SELECT g.lat FROM t, {g}, n`, evaluations: 5, rows: 25},
	{name: "third table before", query: `SELECT g.lat FROM t, n, {g}`, evaluations: 5, rows: 25},
	{name: "third table held before", query: `SELECT g.lat FROM t CROSS JOIN n CROSS JOIN {g}`, evaluations: 25, rows: 25},
	{name: "LEFT JOIN", query: `SELECT g.lat FROM t LEFT JOIN {g}`, evaluations: 5, rows: 5},
	{name: "LEFT JOIN ON false", query: `SELECT g.lat FROM t LEFT JOIN {g} ON g.lat > 90`, evaluations: 5, rows: 5},
	{name: "RIGHT JOIN", query: `SELECT g.lat FROM (SELECT 'ana' AS account, 39.5 AS lat, 116.1 AS lon) t JOIN {g} RIGHT JOIN n ON true`, evaluations: 1, rows: 5},
	{name: "FULL JOIN", query: `SELECT g.lat FROM geoind_laplace(tick('ana'), 39.5, 116.1, 0.001) g FULL JOIN n ON true`, evaluations: 1, rows: 5},
	{name: "view", setup: []string{`CREATE VIEW released AS SELECT t.a, g.lat, g.lon FROM t, {g}`},
		query: `SELECT lat FROM released`, evaluations: 5, rows: 5},
	{name: "INSERT SELECT", setup: []string{`CREATE TABLE inserted(z)`}, query: `INSERT INTO inserted SELECT g.lat FROM t, {g}`,
		show: `SELECT z FROM inserted`, evaluations: 5, rows: 5},
	{name: "UPDATE FROM", setup: []string{`CREATE TABLE moved AS SELECT * FROM t`},
		query: `UPDATE moved SET lat = g.lat FROM t, {g} WHERE moved.a = t.a`, show: `SELECT lat FROM moved`, evaluations: 5, rows: 5},
	{name: "LIMIT", query: `SELECT g.lat FROM t, {g} LIMIT 2`, evaluations: 2, rows: 2},
	{name: "CTE twice in UNION ALL", query: `WITH c AS (SELECT g.lat AS z FROM t, {g}) SELECT z FROM c UNION ALL SELECT z FROM c`, evaluations: 10, rows: 10},
	{name: "MATERIALIZED twice in UNION ALL", query: `WITH c AS MATERIALIZED (SELECT g.lat AS z FROM t, {g}) SELECT z FROM c UNION ALL SELECT z FROM c`, evaluations: 5, rows: 10},
	{name: "two scalar subqueries", query: `SELECT (SELECT g.lat FROM {g}), (SELECT g.lat FROM {g}) FROM t`, evaluations: 10, rows: 5},
	{name: "constant arguments are one draw for the whole join", query: `SELECT g.lat FROM n, geoind_laplace(tick('ana'), 39.5, 116.1, 0.001) g`, evaluations: 1, rows: 5},
	{name: "unused is drawn all the same", query: `SELECT a FROM t, {g}`, evaluations: 5, rows: 5},
	{name: "IN list on an argument draws for each", query: `SELECT lat FROM geoind_laplace
		WHERE arg_account IN (tick('ana'), tick('bo')) AND arg_lat = 39.5 AND arg_lon = 116.1 AND arg_epsilon = 0.001`, evaluations: 2, rows: 2},
	{name: "EXPLAIN", query: `EXPLAIN SELECT g.lat FROM t, {g}`, evaluations: 0, rows: -1},
}

var shapeTables = []string{
	`CREATE TABLE t(a INTEGER, account TEXT, x REAL, lat REAL, lon REAL)`,
	`INSERT INTO t VALUES (1, 'ana', 1, 39.5, 116.1), (2, 'bo', 2, 39.6, 116.2), (3, 'ana', 3, 39.7, 116.3),
		(4, 'ana', 4, 39.8, 116.4), (5, 'cy', 5, 39.9, 116.5)`,
	`CREATE TABLE n(i INTEGER)`, `INSERT INTO n VALUES (1), (2), (3), (4), (5)`,
	`SELECT dx_universe('fine', 0, 10, 0.000000001, 'kWh')`,
}

// observed is a database with an SQL function tick that passes its argument on and
// counts how often it is evaluated.
type observed struct {
	*database
	ticks *int64
}

func newObserved(t *testing.T) *observed {
	o := &observed{declared(t), new(int64)}
	o.run(shapeTables...)
	tick := func(account any) any { *o.ticks++; return account }
	err := o.conn.Raw(func(c any) error { return c.(*sqlitefn.Conn).RegisterFunc("tick", tick, false) })
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// measure runs query and returns how many evaluations were charged. It fails the
// test unless they are as many as were counted and the balances tell the same.
func (o *observed) measure(query string, epsilon float64, unit string) (charged int64, rows [][]any, err error) {
	o.Helper()
	const all = `SELECT coalesce(sum(evaluations), 0) FROM ledger_charges WHERE unit = ?`
	const spent = `SELECT coalesce(sum(spent + reserved), 0.0) FROM ledger_balance WHERE account <> '*' AND unit = ?`
	before, spentBefore := o.value(all, unit).(int64), o.value(spent, unit).(float64)
	*o.ticks = 0
	rows, err = o.try(query)
	charged = o.value(all, unit).(int64) - before
	if charged != *o.ticks {
		o.Errorf("%s\n%d evaluations charged, %d made", query, charged, *o.ticks)
	}
	paid := (o.value(spent, unit).(float64) - spentBefore) / epsilon
	if math.Abs(paid-float64(*o.ticks)) > 1e-3 {
		o.Errorf("%s\n%v epsilons spent, %d evaluations made", query, paid, *o.ticks)
	}
	return charged, rows, err
}

// noisy releases differ from one another, so that those shown can be counted.
var (
	exact = strings.NewReplacer(
		`{f}`, `dx_value(tick(account), x, 100, 'u')`,
		`{c}`, `dx_value(tick('ana'), 3, 100, 'u')`,
		`{epsilon}`, `100`, `{universe}`, `'u'`)
	noisy = strings.NewReplacer(
		`{f}`, `dx_value(tick(account), x, 2, 'fine')`,
		`{c}`, `dx_value(tick('ana'), 3, 2, 'fine')`,
		`{epsilon}`, `2`, `{universe}`, `'fine'`)
	located = strings.NewReplacer(
		`{g}`, `geoind_laplace(tick(t.account), t.lat, t.lon, 0.001) AS g`)
)

// draws is how many draws the rows show at least: how many different values that
// are not whole numbers.
func draws(rows [][]any) int64 {
	seen := map[any]bool{}
	for _, row := range rows {
		for _, v := range row {
			switch x := v.(type) {
			case float64:
				seen[x] = x != math.Trunc(x)
			case string:
				seen[x] = strings.HasPrefix(x, "POINT(")
			}
		}
	}
	n := int64(0)
	for _, drawn := range seen {
		if drawn {
			n++
		}
	}
	return n
}

// check runs a shape and returns the rows it leads to.
func (o *observed) check(s shape, with *strings.Replacer, epsilon float64, unit string) (charged int64, rows [][]any) {
	o.Helper()
	for _, statement := range s.setup {
		o.run(with.Replace(statement))
	}
	charged, rows, err := o.measure(with.Replace(s.query), epsilon, unit)
	if err != nil {
		o.Fatal(err)
	}
	if s.show != "" {
		rows = o.rows(s.show)
	}
	return charged, rows
}

func (s shape) compare(t *testing.T, charged int64, rows [][]any) {
	t.Helper()
	if charged != s.evaluations {
		t.Errorf("%s\n%d evaluations, want %d", s.query, charged, s.evaluations)
	}
	if s.rows >= 0 && len(rows) != s.rows {
		t.Errorf("%s\n%d rows, want %d", s.query, len(rows), s.rows)
	}
}

func TestScalarShapes(t *testing.T) {
	o := newObserved(t)
	for _, s := range scalarShapes {
		t.Run(s.name, func(t *testing.T) {
			charged, rows := o.with(t).check(s, exact, 100, "kWh")
			s.compare(t, charged, rows)
		})
	}
}

// The charges of an account bound the answers shown of it: never fewer charges than
// different answers.
func TestScalarShapesShowNoMoreThanTheyCharge(t *testing.T) {
	o := newObserved(t)
	for _, s := range scalarShapes {
		t.Run(s.name, func(t *testing.T) {
			charged, rows := o.with(t).check(s, noisy, 2, "kWh")
			if shown := draws(rows); shown > charged {
				t.Errorf("%s\nshows %d draws, %d charged", s.query, shown, charged)
			}
		})
	}
}

func TestTableShapes(t *testing.T) {
	o := newObserved(t)
	for _, s := range tableShapes {
		t.Run(s.name, func(t *testing.T) {
			charged, rows := o.with(t).check(s, located, 0.001, "m")
			s.compare(t, charged, rows)
			if shown := draws(rows); shown > charged {
				t.Errorf("%s\nshows %d draws, %d charged", s.query, shown, charged)
			}
		})
	}
}

// with is o reporting to a subtest.
func (o *observed) with(t *testing.T) *observed { return &observed{o.database.with(t), o.ticks} }

// Rows before an error have left already; they and the row of the error are
// charged.
func TestErrorInARow(t *testing.T) {
	o := newObserved(t)
	const failing = `CASE WHEN a = 3 THEN json('[' || a) END`
	for name, query := range map[string]string{
		"scalar":       `SELECT dx_value(tick(account), x, 100, 'u'), ` + failing + ` FROM t`,
		"table-valued": `SELECT g.lat, ` + failing + ` FROM t, geoind_laplace(tick(t.account), t.lat, t.lon, 100) g`,
	} {
		t.Run(name, func(t *testing.T) {
			unit := "kWh"
			if name == "table-valued" {
				unit = "m"
			}
			charged, rows, err := o.with(t).measure(query, 100, unit)
			if err == nil || charged != 3 || len(rows) != 2 {
				t.Errorf("%d charged, %d rows, error %v; want 3, 2 and an error", charged, len(rows), err)
			}
		})
	}
}

func TestSchemaThatWouldFreezeADrawIsRefused(t *testing.T) {
	o := newObserved(t)
	release := `dx_value('ana', x, 100, 'u')`
	for name, ddl := range map[string]string{
		"generated column":        `CREATE TABLE bad(x, z AS (` + release + `))`,
		"stored generated column": `CREATE TABLE bad(x, z AS (` + release + `) STORED)`,
		"index on an expression":  `CREATE INDEX bad ON t(` + release + `)`,
		"partial index":           `CREATE INDEX bad ON t(x) WHERE ` + release + ` > 0`,
	} {
		t.Run(name, func(t *testing.T) { o.with(t).fails(ddl, "non-deterministic") })
	}
	o.spends("ana", "kWh", 0)
}

// ownersCalls are calls of everything that only the owner may call.
var ownersCalls = []string{
	`geo_domain('other', 39, 115, 40, 116, 1)`,
	`geo_region('beijing', 'POLYGON((116 40, 117 40, 117 41, 116 40))')`,
	`dx_universe('other', 0, 1, 1, 'kWh')`,
	`markov_train('tram', 0, 39.9, 116.3, 'beijing', 5000, 60)`,
	`markov_store('popular', x'00')`,
	`trace_policy('*', '*', 'pim', '{}')`,
	`budget_limit('ana', 'm', 1)`,
	`budget_reserve('ana', 'm', 1)`,
	`budget_spent('ana', 'm')`,
	`budget_remaining('ana', 'm')`,
	`geo_outside('beijing', 42, 116)`,
	`dx_outside('u', 12)`,
	`(SELECT count(*) FROM ledger_balance)`,
	`(SELECT count(*) FROM ledger_charges)`,
	`(SELECT count(*) FROM budget_cost('SELECT 1'))`,
}

func TestOwnersCallsAreDirectOnly(t *testing.T) {
	for _, call := range ownersCalls {
		t.Run(strings.Trim(call, "("), func(t *testing.T) {
			d := declared(t)
			if _, err := d.try(`CREATE VIEW sneaky AS SELECT ` + call + ` AS z`); err == nil {
				d.fails(`SELECT z FROM sneaky`, "unsafe use of")
			}
			d.run(`CREATE TABLE s(a)`, `CREATE TABLE o(z)`)
			if _, err := d.try(`CREATE TRIGGER sneak AFTER INSERT ON s BEGIN INSERT INTO o SELECT ` + call + `; END`); err == nil {
				d.fails(`INSERT INTO s VALUES (1)`, "unsafe use of")
			}
			if _, err := d.try(`CREATE TABLE late(i, z DEFAULT (` + call + `))`); err == nil {
				d.fails(`INSERT INTO late(i) VALUES (1)`)
			}
			d.answers(`SELECT count(*) FROM o`, `[[0]]`)
			d.answers(`SELECT count(*) FROM geosql_domain`, `[[1]]`)
			d.answers(`SELECT epsilon_limit FROM ledger_balance WHERE unit = 'm'`, `[[9e+06]]`)
		})
	}
}

// A view is how an owner hands out a sanitised table.
func TestReleasesMayStandInViews(t *testing.T) {
	o := newObserved(t)
	o.run(`CREATE VIEW released AS SELECT a, geoind_laplace(account, lat, lon, 100) AS place FROM t`,
		`CREATE VIEW released_table AS SELECT a, g.lat, g.lon FROM t, geoind_laplace(t.account, t.lat, t.lon, 100) g`,
		`CREATE VIEW sums AS SELECT dx_sum(account, x, 100, 'u') AS s FROM t`,
		`SELECT place FROM released`, `SELECT lat FROM released_table`)
	o.answers(`SELECT s FROM sums`, `[[15]]`)
	o.spends("ana", "m", 600)
	o.spends("ana", "kWh", 100)
}

var aggregateShapes = []struct {
	name, query, want string
	ana, bo           float64 // the amounts that they spend
}{
	{"once", `SELECT dx_sum(account, x, 100, 'u') FROM t`, `[[15]]`, 100, 100},
	{"same aggregate twice is evaluated once", `SELECT dx_sum(account, x, 100, 'u'), dx_sum(account, x, 100, 'u') FROM t`, `[[15 15]]`, 100, 100},
	{"two aggregates are two", `SELECT dx_sum(account, x, 100, 'u'), dx_max(account, x, 100, 'u') FROM t`, `[[15 5]]`, 200, 200},
	{"subquery shown twice is one", `SELECT z, z FROM (SELECT dx_sum(account, x, 100, 'u') AS z FROM t)`, `[[15 15]]`, 100, 100},
	{"CTE joined with itself is one", `WITH c AS (SELECT dx_sum(account, x, 100, 'u') AS z FROM t) SELECT p.z, q.z FROM c p, c q`, `[[15 15]]`, 100, 100},
	{"GROUP BY", `SELECT account, dx_sum(account, x, 100, 'u') FROM t GROUP BY account`, `[[ana 8] [bo 2] [cy 5]]`, 100, 100},
	{"GROUP BY, several groups of one account", `SELECT dx_sum(account, x, 100, 'u') FROM t GROUP BY a`, `[[1] [2] [3] [4] [5]]`, 100, 100},
	{"GROUP BY of a join", `SELECT dx_sum(t.account, t.x, 100, 'u') FROM t, (SELECT 1 UNION SELECT 2) GROUP BY t.a`, `[[2] [4] [6] [8] [10]]`, 300, 100},
	{"GROUP BY LIMIT completes no more groups", `SELECT account, dx_sum(account, x, 100, 'u') FROM t GROUP BY account LIMIT 1`, `[[ana 8]]`, 100, 0},
	{"GROUP BY ORDER BY LIMIT completes all", `SELECT account, dx_sum(account, x, 100, 'u') AS z FROM t GROUP BY account ORDER BY z DESC LIMIT 1`, `[[ana 8]]`, 100, 100},
	{"HAVING shares the draw", `SELECT dx_sum(account, x, 100, 'u') AS z FROM t HAVING z > 0`, `[[15]]`, 100, 100},
	{"FILTER", `SELECT dx_sum(account, x, 100, 'u') FILTER (WHERE a > 2) FROM t`, `[[12]]`, 100, 0},
	{"ORDER BY inside", `SELECT dx_sum(account, x, 100, 'u' ORDER BY x) FROM t`, `[[15]]`, 100, 100},
	{"no row", `SELECT dx_sum(account, x, 100, 'u') FROM t WHERE false`, `[[<nil>]]`, 0, 0},
	{"unused", `SELECT a FROM (SELECT min(a) AS a, dx_sum(account, x, 100, 'u') AS z FROM t)`, `[[1]]`, 100, 100},
	{"never run", `SELECT 1 FROM (SELECT 1) WHERE false AND (SELECT dx_sum(account, x, 100, 'u') FROM t)`, `[]`, 0, 0},
}

func TestAggregateShapes(t *testing.T) {
	for _, s := range aggregateShapes {
		t.Run(s.name, func(t *testing.T) {
			o := newObserved(t)
			o.answers(s.query, s.want)
			o.spends("ana", "kWh", s.ana)
			o.spends("bo", "kWh", s.bo)
		})
	}
}

func TestAggregatesRefuse(t *testing.T) {
	o := newObserved(t)
	for _, call := range sqlitefn.AggregateCalls() {
		o.fails(`SELECT `+fmt.Sprintf(call, "DISTINCT ")+` FROM t`, "DISTINCT aggregates must have exactly one argument")
		if !strings.HasPrefix(call, "geoind_smooth(") { // which charges nothing
			o.fails(`SELECT `+fmt.Sprintf(call, "")+` OVER () FROM t`, "may not be used as a window function")
		}
	}
	if n := o.evaluations(); n != 0 {
		t.Errorf("%d evaluations charged", n)
	}
}

// SQLite completes a group also when its statement fails elsewhere. That may
// charge, but shows nothing, and leaves everything usable.
func TestAggregateOfAFailingStatement(t *testing.T) {
	o := newObserved(t)
	rows := o.fails(`SELECT account, dx_sum(account, x, 100, 'u'), sum(json('[' || CASE WHEN a = 2 THEN '' ELSE ']' END)) FROM t GROUP BY account`, "JSON")
	if len(rows) != 1 {
		t.Errorf("%d groups before the error, want 1", len(rows))
	}
	o.spends("ana", "kWh", 100)
	if spent := o.spent("bo", "kWh"); spent != 0 && spent != 100 {
		t.Errorf("bo spent %v", spent)
	}
	o.spends("cy", "kWh", 0)
	o.answers(`SELECT dx_sum(account, x, 100, 'u') FROM t`, `[[15]]`)
}

// A failing row of the aggregate itself charges nobody.
func TestFailingAggregateChargesNobody(t *testing.T) {
	o := newObserved(t)
	o.fails(`SELECT dx_sum(account, CASE a WHEN 3 THEN 'three' ELSE x END, 100, 'u') FROM t`, "dx_sum: x must be a number, got TEXT")
	if n := o.evaluations(); n != 0 {
		t.Errorf("%d evaluations charged", n)
	}
}

// Each run of a prepared statement is a statement of its own.
func TestPreparedStatementRunsAgain(t *testing.T) {
	o := newObserved(t)
	s, err := o.conn.PrepareContext(t.Context(), `SELECT geoind_laplace(account, lat, lon, ?) FROM t WHERE account = 'ana'`)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 3 {
		rows, err := s.Query(0.5)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
	}
	o.answers(`SELECT epsilon, evaluations FROM ledger_charges`, `[[1.5 3] [1.5 3] [1.5 3]]`)
}
