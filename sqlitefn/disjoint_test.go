package sqlitefn_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/sqlitefn"
)

// newReadings declares the tables r and s of eight readings each and k of four, views on them, the table out
// of groups, and public tables. The value x of a reading is a power of 8 of its own, so that a sum of several
// tells which readings it holds, as long as none is in it more than seven times.
func newReadings(t *testing.T) *database {
	d := open(t, ":memory:")
	d.run(declarations...)
	d.run(`CREATE TABLE r(id INTEGER PRIMARY KEY, a TEXT, g INTEGER, h INTEGER, x INTEGER)`,
		`CREATE TABLE s(id INTEGER PRIMARY KEY, a TEXT, g INTEGER, h INTEGER, x INTEGER)`,
		`CREATE TABLE out(g, y)`,
		`CREATE INDEX r_g ON r(g)`, `CREATE INDEX s_h ON s(h, x, a, g)`,
		`CREATE VIEW v AS SELECT * FROM r WHERE h < 3`,
		`CREATE VIEW w AS SELECT * FROM r UNION ALL SELECT * FROM s`,
		`CREATE TABLE k(a TEXT, id INTEGER, g INTEGER, h INTEGER, x INTEGER, PRIMARY KEY (id, a)) WITHOUT ROWID`,
		`CREATE INDEX r_h ON r(h, g)`, `CREATE INDEX k_g ON k(g)`, `CREATE INDEX k_h ON k(h)`, `CREATE INDEX s_id ON s(g DESC, a)`,
		// Keys of public tables are different, or look so.
		`CREATE TABLE numbered(key INTEGER PRIMARY KEY, n)`, `INSERT INTO numbered VALUES (0, 1), (1, 2), (2, 1)`,
		`CREATE TABLE named(key TEXT PRIMARY KEY, n)`, `INSERT INTO named VALUES ('1', 1), ('1.0', 2), ('01', 3), (NULL, 4), (NULL, 5), ('ana', 6), ('ANA', 7)`,
		`CREATE TABLE unique_(key INTEGER UNIQUE, n)`, `INSERT INTO unique_ VALUES (1, 1), (2, 2), (NULL, 3), (NULL, 4), (1.5, 5), ('x', 6)`,
		`CREATE TABLE untyped(key UNIQUE, n)`, `INSERT INTO untyped VALUES (1, 1), ('1', 2), (1.5, 3), ('1.0', 4), (NULL, 5), (x'31', 6), (2, 7)`,
		`CREATE TABLE partial(key INTEGER, n)`, `INSERT INTO partial VALUES (1, 1), (1, 2), (2, 3)`, `CREATE UNIQUE INDEX partial_key ON partial(key) WHERE n > 1`,
		`CREATE TABLE folded(key TEXT COLLATE NOCASE UNIQUE, n)`, `INSERT INTO folded VALUES ('ana', 1), ('1', 2), ('1.0', 3)`,
		`CREATE TABLE pairs(key INTEGER, n INTEGER, PRIMARY KEY (key, n)) WITHOUT ROWID`, `INSERT INTO pairs VALUES (1, 0), (1, 1), (2, 2)`)
	for i := range 8 {
		row := fmt.Sprintf("(%d, 'ana', %d, %d, %d)", i, i%3, i%4, int64(1)<<(6*i))
		d.run(`INSERT INTO r VALUES `+row, `INSERT INTO s SELECT id, a, g, h, 8 * x FROM r WHERE id = `+fmt.Sprint(i))
		if i < 4 {
			d.run(fmt.Sprintf(`INSERT INTO k VALUES ('ana', %d, %d, %d, %d)`, i, i%2, i%3, int64(1)<<(48+3*i)))
		}
	}
	d.run(`UPDATE s SET g = NULL WHERE id = 7`, `ANALYZE`)
	return d
}

// plan makes SQLite take another plan for most statements: as if the tables were large, or as if nothing were known of them.
func (d *database) plan(large bool) {
	d.Helper()
	d.run(`DELETE FROM sqlite_stat1`)
	if large {
		d.run(`INSERT INTO sqlite_stat1 VALUES ('r', 'r_g', '1000000 30'), ('r', 'r_h', '1000000 30 5'), ('s', 's_h', '1000000 30 5 4 3'), ('s', 's_id', '1000000 30 5'),
			('k', 'k', '1000000 1 1'), ('k', 'k_g', '1000000 30'), ('k', 'k_h', '1000000 30')`)
	}
	d.run(`ANALYZE sqlite_schema`)
}

// groupRules are statements over the tables of newReadings, each with the cost of its groups: "once",
// or why each of them costs. Without that reason, a reading would be charged too little.
var groupRules = []struct{ rule, sql string }{
	{"once", `SELECT g, dx_sum(a, x, 1, 'u') FROM r GROUP BY g`},
	{"once", `SELECT h, dx_sum(a, x, 1, 'u') FROM s GROUP BY h`}, // an index gives the groups
	{"once", `SELECT g, dx_sum(a, x, 1, 'u') FROM r WHERE g = 1 AND x > 8 GROUP BY h ORDER BY 2 DESC`},
	{"once", `SELECT g, dx_sum(a, x, 1, 'u') FILTER (WHERE h > 0) FROM v GROUP BY g HAVING count(*) > 1`},
	{"once", `SELECT g, dx_sum(a, y, 1, 'u') FROM (SELECT a, g, sum(x) AS y FROM r GROUP BY a, g, h) GROUP BY g`},
	{"once", `SELECT g, dx_sum(a, x, 1, 'u') FROM (SELECT * FROM r UNION ALL SELECT * FROM s) GROUP BY g`},
	{"once", `SELECT g, dx_sum(a, x, 1, 'u') FROM (SELECT DISTINCT a, g, x FROM r) GROUP BY g`},
	{"once", `SELECT g, dx_sum(a, x / 1000, 1, 'u') FROM r WHERE h IN (SELECT h FROM s WHERE x > 8) GROUP BY g`},
	{"once", `WITH c AS MATERIALIZED (SELECT * FROM r) SELECT g, dx_sum(a, x, 1, 'u') FROM c GROUP BY g UNION ALL SELECT h, dx_sum(a, x, 1, 'u') FROM c GROUP BY h`},
	{"once", `INSERT INTO out SELECT g, dx_sum(a, x, 1, 'u') FROM r GROUP BY g`},
	{"once", `INSERT INTO out SELECT g, dx_sum(a, x, 1, 'u') FROM r WHERE g NOT IN (SELECT g FROM out) GROUP BY g`},
	{"once", `CREATE TABLE new AS SELECT g, dx_sum(a, x, 1, 'u') FROM r GROUP BY g`},
	{"once", `SELECT g, dx_sum(a, x, 1, 'u', 'd1'), dx_median(a, x, 1, 'u') FROM r GROUP BY g`},
	{"once", `SELECT g, dx_sum(a, x, 1, 'u') FROM r GROUP BY g ORDER BY 2 DESC LIMIT 2`},
	{"once", `SELECT g, dx_sum(a, x, 1, 'u') AS y FROM r GROUP BY g HAVING y > 3 ORDER BY y LIMIT 2 OFFSET 1`},
	{"once", `SELECT DISTINCT dx_sum(a, x, 1, 'u') FROM r GROUP BY g ORDER BY 1 LIMIT 2`},
	{"once", `SELECT strftime('%H', id, 'unixepoch') AS t, dx_sum(a, x, 1, 'u') FROM r GROUP BY t ORDER BY 2 LIMIT 1`},
	{"once", `SELECT * FROM (SELECT g, dx_sum(a, x, 1, 'u') AS y FROM r GROUP BY g ORDER BY 2 LIMIT 2) WHERE y > 3`},
	{"once", `WITH c AS (SELECT g, dx_sum(a, x, 1, 'u') AS y FROM r GROUP BY g) SELECT * FROM c WHERE y > 3 ORDER BY y LIMIT 2`},
	{"once", `SELECT g, dx_sum(a, x, 1, 'u') FROM r GROUP BY g UNION ALL SELECT h, dx_sum(a, x, 1, 'u') FROM s GROUP BY h ORDER BY 2 LIMIT 3`},
	{"once", `SELECT g, sum(y) OVER (ORDER BY g) FROM (SELECT g, dx_sum(a, x, 1, 'u') AS y FROM r GROUP BY g)`},
	{"once", `SELECT g, dx_sum(a, x, 1, 'u') AS y, lag(dx_sum(a, x, 1, 'u')) OVER (ORDER BY g) FROM r GROUP BY g`},
	{"once", `SELECT g, rank() OVER (ORDER BY dx_sum(a, x, 1, 'u') DESC) AS n FROM r GROUP BY g ORDER BY n LIMIT 2`},
	{"once", `SELECT g, avg(dx_sum(a, x, 1, 'u')) OVER (ORDER BY g ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM r GROUP BY g`},
	{"once", `SELECT h, y, sum(y) OVER (PARTITION BY h % 2 ORDER BY h), first_value(y) OVER (ORDER BY h), ntile(2) OVER (ORDER BY y) FROM (SELECT h, dx_sum(a, x, 1, 'u') AS y FROM r GROUP BY h)`},
	{"once", `SELECT g, dx_sum(a, x, 1, 'u') / sum(dx_sum(a, x, 1, 'u')) OVER () FROM r GROUP BY g`},
	{"once", `SELECT g, row_number() OVER (), dx_sum(a, x, 1, 'u') FROM r GROUP BY g`},
	{"once", `SELECT r.g, dx_sum(s.a, r.x, 1, 'u') FROM r JOIN s ON s.id = r.g GROUP BY r.g`},
	{"once", `SELECT s.h, dx_sum(r.a, r.x, 1, 'u') FROM r LEFT JOIN s ON s.id = r.g WHERE s.x > 8 GROUP BY s.h ORDER BY 2 LIMIT 1`},
	{"once", `SELECT s.h, dx_sum(r.a, r.x, 1, 'u') FROM r LEFT JOIN s ON s.id = r.g LEFT JOIN s k ON k.id = s.h AND k.x > 8 GROUP BY s.h, k.g`},
	{"once", `SELECT r.g, dx_sum((SELECT a FROM s WHERE s.id = r.h), r.x, 1, 'u') FROM r GROUP BY r.g`},
	{"once", `SELECT g, dx_sum(a, x, 1, 'u') FROM r WHERE EXISTS (SELECT 1 FROM s WHERE s.g = r.g AND s.x > 8) GROUP BY g`},
	{"once", `SELECT g, dx_sum(a, x, 1, 'u') FROM r GROUP BY g ORDER BY (SELECT max(x) FROM s WHERE s.g = r.g) LIMIT 2`},
	{"once", `SELECT y, lag(y) OVER (ORDER BY y), rank() OVER () FROM (SELECT dx_sum(a, x, 1, 'u') AS y FROM r GROUP BY g UNION ALL SELECT x FROM s)`},
	{"once", `SELECT m.g, m.y, n.y FROM (SELECT g, dx_sum(a, x, 1, 'u') AS y FROM r GROUP BY g) m JOIN (SELECT h, dx_sum(a, x, 1, 'u') AS y FROM s GROUP BY h) n ON n.h = m.g`},
	{"once", `SELECT g, dx_sum(a, CASE WHEN x > 8 THEN 1 ELSE 0 END, 1, 'u') FROM r GROUP BY g`},
	{"once", `SELECT g, dx_sum(a, min(x, 3), 1, 'u') FROM r GROUP BY g`},
	{"once", `SELECT g, dx_sum(a, n, 1, 'u') FROM (SELECT a, g, count(*) AS n FROM r GROUP BY a, g) GROUP BY g`},
	{"once", `SELECT g, dx_sum(a, x, 1, 'u') FROM (SELECT a, g, x FROM r ORDER BY x LIMIT 5) GROUP BY g ORDER BY 2 LIMIT 1`},
	{"once", `SELECT g, dx_sum(a, x, 1, 'u') FROM (SELECT *, row_number() OVER (PARTITION BY h ORDER BY x DESC) AS n FROM r) WHERE n <= 2 GROUP BY g`},
	{"once", `SELECT g, dx_sum(a, x, 1, 'u') FROM (SELECT *, rank() OVER (PARTITION BY h ORDER BY x DESC) AS n FROM r) WHERE n <= 2 GROUP BY g`},
	{"once", `SELECT h, dx_sum(a, x, 1, 'u') FROM r WHERE id IN (1, 2, 3) GROUP BY h`},
	{"once", `SELECT h, dx_sum(a, x, 1, 'u') FROM r WHERE g IN (0, 1) AND h IN (SELECT n FROM named) GROUP BY h`},
	{"once", `SELECT id, dx_sum(a, x, 1, 'u') FROM r WHERE h IN (0, 1, 2) AND g IN (0, 1) GROUP BY id`},
	{"once", `SELECT h, dx_sum(a, x, 1, 'u') FROM k WHERE id IN (0, 1) AND a IN ('ana', 'ANA') GROUP BY h`},
	{"once", `SELECT h, dx_sum(a, x, 1, 'u') FROM r WHERE g = 1 OR h = 1 OR g = 0 GROUP BY h`},
	{"once", `SELECT h, dx_sum(a, x, 1, 'u') FROM r WHERE g IN (1, 2) OR h = 1 AND x > 8 GROUP BY h`},
	{"once", `SELECT h, dx_sum(a, x, 1, 'u') FROM r WHERE id = 2 OR h = 1 OR id IN (3, 4) GROUP BY h`},
	{"once", `SELECT h, dx_sum(a, x, 1, 'u') FROM k WHERE g = 1 GROUP BY h`},
	{"once", `SELECT h, dx_sum(a, x, 1, 'u') FROM k WHERE a = 'ana' AND id IN (0, 1) GROUP BY h`},
	{"once", `SELECT h, dx_sum(a, x, 1, 'u') FROM (SELECT * FROM r ORDER BY g, x LIMIT 5) GROUP BY h`},
	{"once", `SELECT n, dx_sum(a, x, 1, 'u') FROM r JOIN numbered ON key = g GROUP BY n`},
	{"once", `SELECT n, dx_sum(a, x, 1, 'u') FROM numbered CROSS JOIN r ON g = key GROUP BY n`},
	{"once", `SELECT key, dx_sum(a, x, 1, 'u') FROM numbered LEFT JOIN r ON g = key GROUP BY key`}, // a list of groups before the readings
	{"once", `SELECT key, dx_sum(a, x, 1, 'u') FROM numbered LEFT JOIN k ON g = key AND h > 0 GROUP BY key`},
	{"once", `SELECT n, dx_sum(a, x, 1, 'u') FROM unique_ CROSS JOIN r ON g = key GROUP BY n`},
	{"once", `SELECT n, dx_sum(a, x, 1, 'u') FROM unique_ LEFT JOIN r ON id = key GROUP BY n`},
	{"once", `SELECT h, dx_sum(a, x, 1, 'u') FROM k WHERE id IN (SELECT key FROM numbered) GROUP BY h`},
	{"once", `SELECT h, dx_sum(a, x, 1, 'u') FROM r WHERE (h, g) IN (SELECT n, key FROM numbered) GROUP BY h`},
	{"once", `SELECT h, dx_sum(a, x, 1, 'u') FROM r WHERE (g, h) IN (SELECT g, h FROM s WHERE x > 8) GROUP BY h`},
	{"once", `SELECT h, dx_sum(a, x, 1, 'u') FROM k WHERE (id, a) IN (SELECT h, a FROM r) GROUP BY h`},
	{"once", `SELECT n, dx_sum(k.a, k.x, 1, 'u') FROM named CROSS JOIN k ON a = key GROUP BY n`},
	{"once", `SELECT n, dx_sum(r.a, r.x, 1, 'u') FROM numbered CROSS JOIN r ON r.g = key CROSS JOIN s ON s.id = r.id GROUP BY n`},
	{"once", `SELECT n, dx_sum(r.a, r.x, 1, 'u') FROM numbered CROSS JOIN s ON s.id = key CROSS JOIN r ON r.id = s.rowid GROUP BY n`},

	{"several times", `SELECT n, dx_sum(a, x, 1, 'u') FROM unique_ CROSS JOIN r ON g IS key GROUP BY n`}, // two keys are NULL
	{"several times", `SELECT n, dx_sum(a, x, 1, 'u') FROM named CROSS JOIN r ON g = key GROUP BY n`},    // '1' and '1.0' are equal to 1
	{"several times", `SELECT n, dx_sum(a, x, 1, 'u') FROM untyped CROSS JOIN r ON g = key GROUP BY n`},
	{"several times", `SELECT n, dx_sum(a, x, 1, 'u') FROM untyped CROSS JOIN r ON id = key GROUP BY n`},
	{"several times", `SELECT n, dx_sum(a, x, 1, 'u') FROM partial CROSS JOIN r ON g = key GROUP BY n`},
	{"several times", `SELECT n, dx_sum(a, x, 1, 'u') FROM pairs CROSS JOIN r ON g = key GROUP BY n`},
	{"several times", `SELECT n, dx_sum(a, x, 1, 'u') FROM named CROSS JOIN r ON a = key COLLATE NOCASE GROUP BY n`},
	{"several times", `SELECT n, dx_sum(a, x, 1, 'u') FROM numbered CROSS JOIN r ON g >= key GROUP BY n`},
	{"several times", `SELECT n, dx_sum(a, x, 1, 'u') FROM numbered CROSS JOIN r ON g = key % 2 GROUP BY n`},
	{"several times", `SELECT n, dx_sum(a, x, 1, 'u') FROM (VALUES (1), (2)) CROSS JOIN numbered CROSS JOIN r ON g = key GROUP BY n`},
	{"several times", `SELECT n, dx_sum(a, x, 1, 'u') FROM (VALUES (1), (2)) CROSS JOIN numbered CROSS JOIN r ON g = 1 OR h = 1 GROUP BY n`},

	{"table r is read more than once", `SELECT g, dx_sum(a, x, 1, 'u') FROM (SELECT * FROM r UNION ALL SELECT * FROM r) GROUP BY g`},
	{"table r is read more than once", `WITH c AS MATERIALIZED (SELECT * FROM r) SELECT g, dx_sum(a, x, 1, 'u') FROM (SELECT * FROM c UNION ALL SELECT * FROM c) GROUP BY g`},
	{"table r is read more than once", `SELECT g, dx_sum(a, x, 1, 'u') FROM (SELECT a, g, x FROM r UNION ALL SELECT a, h, max(x) FROM r GROUP BY h) GROUP BY g`},
	{"table r is read more than once", `SELECT g, dx_sum(a, x, 1, 'u') FROM (SELECT a, g, x FROM r UNION ALL SELECT a, g, x FROM other.r) GROUP BY g`}, // perhaps the same file
	{"table r is read more than once", `SELECT g, dx_sum(a, x, 1, 'u') FROM (SELECT a, g, x FROM r UNION SELECT a, h, x FROM r INDEXED BY r_g WHERE g > 0) GROUP BY g`},
	{"a row of table r may be used several times", `SELECT r.g, dx_sum(r.a, r.x, 1, 'u') FROM (VALUES (1), (2)) CROSS JOIN r GROUP BY r.g`},
	{"a row of table r may be used several times", `SELECT r.g, dx_sum(r.a, r.x, 1, 'u') FROM r CROSS JOIN (VALUES (1), (2)) GROUP BY r.g`},
	{"a row of table r may be used several times", `SELECT l.g, (SELECT dx_sum(r.a, r.x, 1, 'u') FROM r WHERE r.g < l.g) FROM (SELECT 1 AS g UNION SELECT 2) l`},
	{"a row of table r may be used several times", `SELECT r.g, dx_sum(r.a, r.x, 1, 'u') FROM r, json_each('[1,2]') GROUP BY r.g`},
	{"several times", `SELECT s.g, dx_sum(r.a, r.x, 1, 'u') FROM r RIGHT JOIN s ON r.g = s.g GROUP BY s.id`},
	{"several times", `SELECT s.g, dx_sum('ana', r.x, 1, 'u') FROM r FULL JOIN s ON r.g = s.g GROUP BY s.id`},
	{"a row of a subquery may be used several times", `SELECT g, dx_sum(a, x, 1, 'u' ORDER BY x) FROM r GROUP BY g`},
	{"a row of a subquery may be used several times", `WITH RECURSIVE c(a, g, x) AS (SELECT a, g, x FROM r UNION ALL SELECT a, g + 1, x FROM c WHERE g < 5) SELECT g, dx_sum(a, x, 1, 'u') FROM c GROUP BY g`},
	{"table s may be used several times", `SELECT r.g, dx_sum(r.a, r.x + s.x, 1, 'u') FROM r JOIN s ON s.id = r.g GROUP BY r.g`},
	{"table s may be used several times", `SELECT r.g, dx_sum(r.a, CASE WHEN s.x > 8 THEN r.x ELSE 0 END, 1, 'u') FROM r JOIN s ON s.id = r.g GROUP BY r.g`},
	{"not read from one row of a table", `SELECT r.g, dx_sum(r.a, CASE WHEN s.x > 8 THEN (SELECT 5) ELSE r.x END, 1, 'u') FROM r JOIN s ON s.id = r.g GROUP BY r.g`},
	{"not read from one row of a table", `SELECT r.g, dx_sum(r.a, CASE WHEN s.x > 8 THEN (SELECT 5 FROM (SELECT DISTINCT h FROM r ORDER BY 1 LIMIT 1)) ELSE r.x END, 1, 'u') FROM r JOIN s ON s.id = r.g GROUP BY r.g`},
	{"not read from one row of a table", `WITH c AS MATERIALIZED (SELECT h FROM r) SELECT r.g, dx_sum(r.a, CASE WHEN s.x > 8 THEN (SELECT 5 FROM c LIMIT 1) ELSE r.x END, 1, 'u') FROM r JOIN s ON s.id = r.g WHERE r.h IN (SELECT h FROM c) GROUP BY r.g`},
	{"table s may be used several times", `SELECT r.g, dx_sum(r.a, iif(s.g = r.h, r.x, 0), 1, 'u') FROM r JOIN s ON s.id = r.g GROUP BY r.g`},
	{"not read from one row of a table", `SELECT r.g, dx_sum(r.a, CASE WHEN EXISTS (SELECT 1 FROM s WHERE s.g = r.g AND s.x > 8) THEN r.x ELSE 0 END, 1, 'u') FROM r GROUP BY r.g`},
	{"several times", `SELECT s.h, dx_sum(r.a, r.x, 1, 'u') FROM r LEFT JOIN s ON s.h = r.h GROUP BY s.h`},
	{"several times", `SELECT g, dx_sum(a, n, 1, 'u') FROM (SELECT r.a, r.g, count(*) AS n FROM r JOIN s ON s.h = r.h GROUP BY r.a, r.g) GROUP BY g`},
	{"not read from one row of a table", `SELECT g, dx_sum(a, 3, 1, 'u') FROM r GROUP BY g`},
	{"not read from one row of a table", `SELECT g, dx_sum(a, x - (SELECT avg(x) FROM s), 1, 'u') FROM r GROUP BY g`},
	{"not read from one row of a table", `SELECT g, dx_sum(a, x + random() % 2, 1, 'u') FROM r GROUP BY g`},
	{"not read from one row of a table", `SELECT value, dx_sum('ana', value, 1, 'u') FROM json_each('[1,2]') GROUP BY value`},
	{"not read from one row of a table", `SELECT y, dx_sum('ana', y, 1, 'u') FROM (SELECT dx_avg(a, x, 1, 'u') AS y FROM r GROUP BY g) GROUP BY y`},
	{"the statement writes table r, which it reads", `INSERT INTO r(g, x) SELECT g, dx_sum(a, x, 1, 'u') FROM r GROUP BY g`},
	{"the statement writes table r, which it reads", `UPDATE r SET h = (SELECT dx_sum(k.a, k.x, 1, 'u') FROM r k GROUP BY k.g LIMIT 1)`},
	{"the statement writes table r, which it reads", `UPDATE r SET h = (SELECT dx_sum(r.a, r.x + k.z, 1, 'u') FROM (SELECT 0 AS z) k)`},
	{"the statement fires triggers", `INSERT INTO watched SELECT g, dx_sum(a, x, 1, 'u') FROM r GROUP BY g`},
	{"may be used several times", `SELECT g, dx_sum(a, x, 1, 'u') FROM (SELECT a, g, lag(x) OVER (ORDER BY id) AS x FROM r) GROUP BY g`},
	{"may be used several times", `SELECT g, dx_sum(a, x, 1, 'u') FROM (SELECT a, g, sum(x) OVER (ORDER BY id ROWS 1 PRECEDING) AS x FROM r) GROUP BY g`},
}

func TestGroupRules(t *testing.T) {
	d := newReadings(t)
	d.run(`ATTACH ':memory:' AS other`, `CREATE TABLE other.r AS SELECT * FROM r`, `CREATE TABLE watched(g, y)`, `CREATE TRIGGER tr AFTER INSERT ON watched BEGIN INSERT INTO out VALUES (new.g, new.y); END`)
	for _, plan := range []string{"as analysed", "large", "not analysed"} { // does not change a price
		if plan != "as analysed" {
			d.plan(plan == "large")
		}
		for _, c := range groupRules {
			want := "once per group: "
			if c.rule == "once" {
				want = "once for all groups"
			}
			got := fmt.Sprint(d.rows(`SELECT DISTINCT rule FROM budget_cost(?) WHERE function = 'dx_sum'`, c.sql))
			if !strings.Contains(got, want) || !strings.Contains(got, strings.TrimPrefix(c.rule, "once")) {
				t.Errorf("%s\nrule %s, want %s%s, %s", c.sql, got, want, c.rule, plan)
			}
		}
	}
}

// SQLite may skip through an index by a column that no condition is about, starting anew for each of its values. Each group costs then.
func TestGroupsOfASkipScan(t *testing.T) {
	d := newReadings(t)
	d.run(`CREATE TABLE q(id INTEGER PRIMARY KEY, a TEXT, g INTEGER, h INTEGER, x INTEGER)`, `CREATE INDEX q_h ON q(h, g)`, `INSERT INTO q SELECT * FROM r`,
		`CREATE TABLE o(a TEXT, id INTEGER, g INTEGER, h INTEGER, x INTEGER, PRIMARY KEY (h, g, id)) WITHOUT ROWID`, `INSERT INTO o SELECT a, id, g, h, x FROM r`,
		`INSERT INTO sqlite_stat1 VALUES ('q', 'q_h', '1000000 100000 10'), ('o', 'o', '1000000 100000 10 1')`, `ANALYZE sqlite_schema`)
	for sql, groups := range map[string]int{
		`SELECT h, dx_sum(a, x, 1, 'u') FROM q WHERE g = 1 GROUP BY h`:                        3,
		`SELECT h, dx_sum(a, x, 1, 'u') FROM o WHERE g IN (0, 1) GROUP BY h`:                  4,
		`SELECT n, dx_sum(a, x, 1, 'u') FROM pairs CROSS JOIN q ON g = key GROUP BY n`:        3, // with some readings in two
		`SELECT n, dx_sum(a, x, 1, 'u') FROM numbered CROSS JOIN o ON g >= key GROUP BY n`:    2,
		`SELECT key, dx_sum(a, x, 1, 'u') FROM numbered CROSS JOIN q ON g < key GROUP BY key`: 2,
	} {
		if plan := fmt.Sprint(d.rows(`EXPLAIN QUERY PLAN ` + sql)); !strings.Contains(plan, "ANY(h)") {
			t.Errorf("%s\nit skips nothing: %s", sql, plan)
		}
		before := d.spent("ana", "kWh")
		d.run(sql)
		if got := d.spent("ana", "kWh") - before; got != float64(groups) {
			t.Errorf("%s\ncharged %v, want %d", sql, got, groups)
		}
	}
}

// An account pays the largest epsilon among its groups at a place: a later, larger one is
// charged the difference before its answer.
func TestDisjointGroupsCostTheLargestEpsilon(t *testing.T) {
	d := newReadings(t)
	// Of the groups 0, 1 and 2 of r, the first and the last have rows with an odd h.
	const each = `SELECT g, dx_sum(a, x, CASE g WHEN 0 THEN 1.5 WHEN 1 THEN 0.25 ELSE 4 END, 'u') FROM r GROUP BY g`
	for _, c := range []struct {
		want float64
		sql  string
	}{
		{4, each}, {4, each}, // a new run begins anew
		{1.5, each + ` LIMIT 1`}, {1.5, each + ` LIMIT 2`},
		{4, `SELECT * FROM (` + each + `) ORDER BY 1 DESC`},
		{8, each + ` UNION ALL ` + each}, // two places
		{5.75, strings.Replace(each, "dx_sum(", "dx_sum(a, x / 8, 1, 'u') + dx_sum(a, x, 0.75, 'u') + 0 * dx_sum(", 1)},
		{5.75, strings.Replace(each, "FROM r", "FROM r CROSS JOIN (VALUES (1))", 1)}, // each of them
		{0, strings.Replace(each, "dx_sum(a", "dx_sum('bo'", 1)},
		{3, `SELECT g, dx_median(a, x, 1, 'u'), dx_avg(a, x, 1, 'u', 'd1'), dx_stddev(a, x, 1, 'u') FROM r GROUP BY g`},
		{1, `SELECT g, dx_curve(a, x, 1, 'u', 2) FROM r GROUP BY g`},
		{3, `SELECT g, dx_avg(a, x, 1, 'u', 'dinf') FROM r GROUP BY g`}, // dinf adds up
		{2.5, `SELECT dx_sum(a, x, 1, 'u'), dx_sum(a, x, 1.5, 'u') FROM r`},
	} {
		before := d.spent("ana", "kWh")
		d.run(c.sql)
		if got := d.spent("ana", "kWh") - before; got != c.want {
			t.Errorf("%s\ncharged %v, want %v", c.sql, got, c.want)
		}
	}
	d.answers(`SELECT count(*), min(evaluations) FROM ledger_charges WHERE account = 'bo'`, `[[1 5]]`) // 1.5 for three rows, and 2.5 more for two, in one statement
	d.spends("bo", "kWh", 4)
}

// A parameter may hold a reading, which every group then tells about.
func TestGroupsOfAParameter(t *testing.T) {
	for query, want := range map[string]float64{
		`SELECT dx_sum('ana', ?, 1, 'u') FROM r GROUP BY g`:                                 3,
		`SELECT dx_sum('ana', x * 0 + ?, 1, 'u') FROM r GROUP BY g`:                         3,
		`SELECT dx_sum('ana', y, 1, 'u') FROM (SELECT x * 0 + ? AS y, * FROM r) GROUP BY g`: 3,
		`SELECT dx_sum('ana', x, ?, 'u') FROM r GROUP BY g`:                                 1,
	} {
		d := newReadings(t)
		if _, err := d.try(query, 1); err != nil {
			t.Fatal(err)
		}
		d.spends("ana", "kWh", want)
	}
}

// A unit of its own is a budget of its own, and a refused group leaves the others as they were.
func TestDisjointGroupsOfSeveralUnitsAndRefusals(t *testing.T) {
	d := newReadings(t)
	d.run(`SELECT dx_universe('v', 0, 10, 1, 'litre')`, `SELECT budget_limit('ana', 'litre', 1)`)
	d.run(`SELECT dx_sum(a, x, 0.5, CASE g WHEN 1 THEN 'v' ELSE 'u' END) FROM r GROUP BY g`)
	d.spends("ana", "kWh", 0.5)
	d.spends("ana", "litre", 0.5)
	rows := d.fails(`SELECT g, dx_sum(a, x, g / 2.0 + 0.25, 'v') FROM r GROUP BY g`, "0.25/litre left", "0.5")
	if len(rows) != 1 {
		t.Errorf("%d groups answered, want the first", len(rows))
	}
	d.spends("ana", "litre", 0.75)
}

// While rows change between two groups, a row may be in both.
func TestGroupsCostEachWhileRowsChange(t *testing.T) {
	const query = `SELECT h, dx_sum('ana', x, 1, 'u') FROM s GROUP BY h` // read in the order of an index
	for _, c := range []struct {
		between string
		before  []string
		once    bool
	}{
		{`SELECT 1`, nil, true},
		{`UPDATE s SET h = h + 1`, nil, false}, // moves the rows of a group into the next
		{`INSERT INTO out VALUES (1, 2)`, nil, false},
		{`CREATE TEMP TABLE s2(x)`, nil, false},
		{`CREATE TABLE s2(x)`, nil, false},
		{`ROLLBACK TO moved`, []string{`BEGIN`, `SAVEPOINT moved`, `UPDATE s SET h = h + 1`}, false},
		{`SELECT 1`, []string{`BEGIN`, `SELECT 1`}, true},
	} {
		d := newReadings(t)
		d.run(c.before...)
		rows, err := d.conn.QueryContext(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		rows.Next()
		d.run(c.between)
		groups := 1.0
		for rows.Next() {
			groups++
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		rows.Close()
		want := groups
		if c.once {
			want = 1
		}
		if got := d.spent("ana", "kWh"); got != want || groups < 3 {
			t.Errorf("%s: charged %v for %v groups, want %v", c.between, got, groups, want)
		}
	}
}

// probes records the values that each group of the aggregate probe saw.
type probes struct {
	groups   [][]int64
	complete int // groups
}

type probe struct {
	in *probes
	at int
}

func (p *probe) Step(_, x any) {
	if p.at == 0 {
		p.in.groups = append(p.in.groups, nil)
		p.at = len(p.in.groups)
	}
	if v, ok := x.(int64); ok {
		p.in.groups[p.at-1] = append(p.in.groups[p.at-1], v)
	}
}

func (p *probe) Done() int64 {
	p.in.complete++
	return 1
}

func (d *database) probes() *probes {
	p := new(probes)
	err := d.conn.Raw(func(c any) error {
		return c.(*sqlitefn.Conn).RegisterAggregator("probe", func() *probe { return &probe{in: p} }, true)
	})
	if err != nil {
		d.Fatal(err)
	}
	return p
}

// reached returns the largest number of groups, and of steps, that one reading reached.
func (p *probes) reached() (groups, steps int) {
	for digit := range 20 {
		g, s := 0, 0
		for _, values := range p.groups {
			before := s
			for _, v := range values {
				s += int(v >> (3 * digit) & 7)
			}
			if s > before {
				g++
			}
		}
		groups, steps = max(groups, g), max(steps, s)
	}
	return groups, steps
}

// randomSQL writes random statements.
type randomSQL struct{ *rand.Rand }

func (q randomSQL) of(list ...string) string { return list[q.IntN(len(list))] }

// source returns something with the columns a, g, h and x.
func (q randomSQL) source(depth int) string {
	if depth == 0 {
		return q.of("r", "r", "r", "s", "s", "v", "w", "c", "k")
	}
	one := func() string { return q.source(q.IntN(depth)) }
	table := func() string { return q.of("r", "r", "s", "k") }
	public := func() string {
		return q.of("numbered", "numbered", "unique_", "named", "untyped", "partial", "folded", "pairs")
	}
	switch q.IntN(26) {
	case 0, 1:
		return "(SELECT a, g, h, x FROM " + one() + " WHERE " + q.condition("") + ")"
	case 2:
		return "(SELECT a, g, h, x FROM " + one() + q.of(" UNION ALL ", " UNION ") + "SELECT a, g, h, x FROM " + one() + ")"
	case 3:
		return "(SELECT DISTINCT a, g, h, x FROM " + one() + ")"
	case 4, 5:
		return "(SELECT a, g, " + q.of("max(h) AS h", "h") + ", " + q.of("sum(x)", "max(x)", "x") + " AS x FROM " + one() + " GROUP BY a, " + q.of("g", "g, h") + ")"
	case 6, 7:
		return "(SELECT l.a, l.g, k.h, " + q.of("l.x", "k.x", "l.x + k.x", "coalesce(l.x, k.x)") + " AS x FROM " + one() + " l" +
			q.of(" JOIN ", " LEFT JOIN ", " RIGHT JOIN ", " FULL JOIN ") + one() + " k ON " + q.of("l.g = k.g", "l.h = k.h", "l.x = k.x", "l.x < k.x") + ")"
	case 8:
		return "(SELECT a, g, h, x FROM " + one() + " ORDER BY x LIMIT 5)"
	case 9:
		return "(SELECT l.a, l.g, l.h, (SELECT " + q.of("max(k.x)", "k.x", "sum(k.x)") + " FROM " + one() + " k" + q.of("", " WHERE k.g = l.g") + ") AS x FROM " + one() + " l)"
	case 10:
		return "(SELECT a, g, h, " + q.of("lag(x) OVER (ORDER BY x)", "x, count(*) OVER (PARTITION BY g) AS n") + " AS x FROM " + one() + ")"
	case 11:
		return "(SELECT a, g, h, " + q.of("x", "x", "x + 0 * n AS x") + " FROM (SELECT *, " + q.of("row_number()", "rank()", "count(*)", "sum(x)", "ntile(2)") + " OVER (" +
			q.of("", "PARTITION BY g ") + q.of("ORDER BY x", "ORDER BY h", "ORDER BY x ROWS 1 PRECEDING") + ") AS n FROM " + one() + ")" + q.of("", " WHERE n <= 2") + ")"
	case 12:
		return "(SELECT a, g, max(h) AS h, " + q.of("sum(x)", "max(x) + 0 * count(*)", "max(x)") + " AS x FROM " + one() + " GROUP BY a, g)"
	case 14, 15: // rows that are found by their keys
		return "(SELECT a, g, h, x FROM " + table() + " WHERE " + q.found() + ")"
	case 16, 17, 18: // the public table before the readings
		return "(SELECT l.a, " + q.of("p.n", "l.g") + " AS g, l.h, l.x FROM " + public() + " p" + q.of(" CROSS JOIN ", " LEFT JOIN ", " JOIN ", ", (SELECT 1 UNION SELECT 2) CROSS JOIN ") + q.of(table(), one()) + " l ON " +
			q.of("l.g = p.key", "l.g = p.key", "l.h = p.key", "l.a = p.key", "l.g IS p.key", "p.key = l.g AND l.h > 0", "l.g >= p.key", "l.h = p.key AND l.g = p.n", "+p.key = l.g") + ")"
	case 19: // and behind them
		return "(SELECT l.a, " + q.of("p.n", "l.g") + " AS g, l.h, l.x FROM " + q.of(table(), one()) + " l" + q.of(" CROSS JOIN ", " LEFT JOIN ", " JOIN ") + public() + " p ON " +
			q.of("l.g = p.key", "l.h = p.key", "l.a = p.key", "l.g IS p.key") + ")"
	case 20:
		return "(SELECT a, g, h, x FROM " + table() + " ORDER BY " + q.of("g, x", "h, x", "h, g, x", "g DESC, x") + q.of(" LIMIT 5", " LIMIT 3 OFFSET 1", "") + ")"
	case 21: // by numbers of rows, or by parts of a key
		return "(SELECT l.a, l.g, l.h, l.x FROM " + q.of("numbered", "unique_", "untyped") + " p CROSS JOIN " + q.of("r", "k", "s") + " l ON l.id = p." + q.of("rowid", "rowid", "n", "n + 0", "key") + q.of("", " WHERE l.a = 'ana'") + ")"
	case 13:
		return "(SELECT l.a, n.g, l.h, l.x FROM " + one() + " l, (VALUES (0), (1)) " + "AS z JOIN (SELECT DISTINCT g FROM r) n)"
	default:
		return one()
	}
}

func (q randomSQL) condition(t string) string {
	return q.of(t+"h > 0", t+"x > 8", t+"g IN (0, 1)", t+"g IN (SELECT g FROM s WHERE h > 1)", "EXISTS (SELECT 1 FROM s k WHERE k.g = "+t+"h)",
		t+"x < (SELECT max(x) FROM r)", t+"h = 2 OR "+t+"g = 1")
}

// found returns a random condition that finds rows of a table by a key or by several, perhaps by each again.
func (q randomSQL) found() string {
	one := func() string {
		return q.of("g = 1", "h = 1", "g IN (0, 1)", "h IN (1, '1', 2, NULL)", "id IN (1, 2, 3)", "id = 2", "g > 0", "h < 2 AND g = 1", "g = 1 AND h IN (0, 1, 3)",
			"g IN (SELECT key FROM named)", "g IN (SELECT key FROM unique_)", "h IN (SELECT n FROM untyped)", "h IN (SELECT key FROM untyped)", "id IN (SELECT key FROM named)",
			"id IN (SELECT key FROM numbered)", "(id, a) IN (SELECT n, 'ana' FROM numbered)", "(g, h) IN (SELECT key, n FROM pairs)", "a = 'ana' AND id IN (0, 1)", "a IN ('ana', 'ANA')")
	}
	condition := one()
	for q.IntN(2) == 0 {
		condition += q.of(" OR ", " OR ", " AND ") + one()
	}
	return condition
}

// with returns a random common table expression c.
func (q randomSQL) with() string {
	if q.IntN(8) == 0 {
		return "WITH RECURSIVE c(a, g, h, x) AS (SELECT a, g, h, x FROM r UNION ALL SELECT a, g + 1, h, x FROM c WHERE g < 3) "
	}
	return "WITH c AS " + q.of("", "MATERIALIZED ", "NOT MATERIALIZED ") + "(SELECT a, g, h, x FROM " + q.of("r", "s", "w", "r WHERE h > 1") + ") "
}

// groups returns a random SELECT of groups, with %s before the arguments of its aggregates.
func (q randomSQL) groups() string {
	call := func() string {
		return "%s('ana', " + q.of("x", "x", "x", "x + 0", "abs(x)", "CASE WHEN h > 1 THEN x END", "max(x, 0)", "CASE WHEN x > 8 THEN x ELSE 0 END") + ")" + q.of("", "", " FILTER (WHERE h < 3)")
	}
	keys := q.of("g", "g", "g", "h", "g, h", "g % 2", "x", "")
	query := "SELECT " + q.of("g", "1", "count(*)") + " AS k, " + call()
	if q.IntN(4) == 0 {
		query += " + " + call()
	}
	query += " AS y"
	if q.IntN(4) == 0 {
		query += ", " + q.window("max(g)", "count(*)")
	}
	query += " FROM " + q.source(q.IntN(4))
	if q.IntN(3) == 0 {
		query += " WHERE " + q.condition("")
	}
	if keys != "" {
		query += " GROUP BY " + keys + q.of("", "", " HAVING count(*) > 1")
	}
	return query
}

// statement returns a random statement with %s before the arguments of its aggregates.
func (q randomSQL) statement() string {
	with := q.with()
	switch q.IntN(10) {
	case 0:
		return with + q.groups() + " UNION ALL " + q.groups() + q.first()
	case 1:
		return with + "SELECT g, (SELECT %s('ana', k.x) FROM " + q.source(1) + " k WHERE k.g " + q.of("=", "<") + " l.g) FROM " + q.source(1) + " l"
	case 2:
		return "INSERT INTO " + q.of("out", "out", "r(g, h)") + " " + with + strings.Replace(q.groups(), "count(*) AS k", "1 AS k", 1)
	case 3:
		return with + "SELECT * FROM (" + q.groups() + q.first() + ")" + q.of(" ORDER BY 2", q.first())
	case 4:
		return with + "SELECT m.*, n.* FROM (" + q.groups() + ") m, (" + q.groups() + ") n LIMIT 20"
	case 5:
		return with + "SELECT k, y, " + q.window("k", "y") + ", " + q.window("y", "k") + " FROM (" + q.groups() + ")" + q.first()
	case 6: // rows that are no groups among those that windows look through
		return with + "SELECT k, " + q.window("k", "y") + " FROM (" + q.groups() + q.of(" UNION ALL SELECT g, x FROM r", " UNION ALL SELECT 1, 2") + ")"
	default:
		return with + q.groups() + q.first()
	}
}

// window returns a random window function of y in the order of k.
func (q randomSQL) window(k, y string) string {
	return q.of("sum("+y+")", "lag("+y+")", "max("+y+")", "first_value("+y+")", "rank()", "row_number()") + " OVER (" +
		q.of("", "", "PARTITION BY "+k+" % 2 ") + q.of("", "ORDER BY "+k, "ORDER BY "+y, "ORDER BY "+k+" ROWS 1 PRECEDING") + ")"
}

// first returns nothing, or a clause that asks for the first of a statement's rows.
func (q randomSQL) first() string {
	return q.of("", "", " ORDER BY "+q.of("1", "2", "2 DESC")+" LIMIT "+q.of("1", "2", "3", "2 OFFSET 1"))
}

// No statement charges less than one epsilon for each group that a reading reached, and if its
// groups cost once, it charges one for each step that a reading took part in.
func TestGroupsThatAReadingReachesAreCharged(t *testing.T) {
	t.Parallel()
	d := newReadings(t)
	p := d.probes()
	q := randomSQL{trials.Rand(t)}
	once, several, statements := 0, 0, trials.Count(t, "GEOSQL_STATEMENTS", 100)
	for i := range statements {
		if i%20 == 0 {
			d.plan(i%40 == 0)
		}
		statement := q.statement()
		*p = probes{}
		d.run(`SAVEPOINT probe`)
		_, err := d.try(strings.ReplaceAll(statement, "%s", "probe"))
		d.run(`ROLLBACK TO probe`, `RELEASE probe`)
		if err != nil {
			continue // not every random statement means something
		}
		groups, steps := p.reached()
		release := strings.ReplaceAll(statement, "%s(", "dx_sum(")
		release = withArguments(release)
		before := d.spent("ana", "kWh")
		rule := d.rows(`SELECT DISTINCT rule FROM budget_cost(?) WHERE function = 'dx_sum'`, release)
		d.run(`SAVEPOINT release`)
		d.run(release)
		d.run(`ROLLBACK TO release`, `RELEASE release`)
		charged := int(d.spent("ana", "kWh") - before)
		isOnce := len(rule) == 1 && strings.Contains(fmt.Sprint(rule), "once for all groups")
		if charged < groups || isOnce && charged < steps {
			t.Errorf("%s\ncharged %d, but a reading reached %d groups in %d steps; %v", release, charged, groups, steps, rule)
		}
		if isOnce && len(p.groups) > charged {
			once++
		} else if groups > 1 {
			several++
		}
	}
	t.Logf("%d statements whose groups cost once, %d with readings in several groups", once, several)
	if least := statements / 20; once < least || several < least { // a quarter or more are each; 4 of 100 or fewer: below 1e-7
		t.Error("too few to be a test")
	}
}

// withArguments completes the calls of dx_sum.
func withArguments(statement string) string {
	parts := strings.Split(statement, "dx_sum(")
	for i, part := range parts[1:] {
		depth := 1
		for at, c := range part {
			switch c {
			case '(':
				depth++
			case ')':
				depth--
			}
			if depth == 0 {
				parts[i+1] = part[:at] + ", 1, 'u'" + part[at:]
				break
			}
		}
	}
	return strings.Join(parts, "dx_sum(")
}
