package misuse_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sqlitefn"
)

// sealedSchema makes a database with the sealed columns reading.kwh and reading.location.
const sealedSchema = `
	CREATE TABLE geosql_sealed_column(number INTEGER PRIMARY KEY, tbl TEXT, col TEXT, account TEXT, kind TEXT, name TEXT);
	INSERT INTO geosql_sealed_column VALUES (1, 'reading', 'kwh', 'home', 'universe', 'u'), (2, 'reading', 'location', 'home', 'domain', 'd'),
		(3, 'twin', 'KWH', 'home', 'universe', 'u');
	CREATE TABLE reading(id INTEGER PRIMARY KEY, home TEXT, at INTEGER, kwh BLOB, location BLOB, price REAL);
	CREATE TABLE twin(at INTEGER, kwh BLOB, tag TEXT, PRIMARY KEY(tag, at)) WITHOUT ROWID;
	CREATE TABLE plain(id INTEGER PRIMARY KEY, home TEXT, x REAL);
	CREATE INDEX reading_at ON reading(at, home);
	CREATE VIEW copied AS SELECT id, home, kwh AS k, price AS p FROM reading;
	CREATE VIEW summed AS SELECT home, sum(kwh) AS s, count(kwh) AS n, max(price) AS top FROM reading GROUP BY home;
	CREATE TABLE log(id INTEGER PRIMARY KEY, k, p);
	CREATE TABLE inbox(k BLOB, p REAL);
	CREATE TRIGGER inbox_k AFTER INSERT ON inbox BEGIN INSERT INTO log(k, p) VALUES (new.k, new.p + 1); END;
	CREATE TABLE inbox2(k BLOB, p REAL);
	CREATE TRIGGER inbox2_k AFTER INSERT ON inbox2 BEGIN INSERT INTO log(k, p) VALUES (new.k + 1, new.p); END;
	INSERT INTO reading(home, at, kwh, location, price) VALUES ('a', 1, zeroblob(56), zeroblob(56), 2), ('b', 2, zeroblob(56), zeroblob(56), 3);
	INSERT INTO plain VALUES (1, 'a', 2);`

// sealedGate opens a database of sealedSchema in memory.
func sealedGate(t *testing.T) (*sqlite.Conn, *sqlitefn.Gate) {
	t.Helper()
	conn, err := sqlite.Open(":memory:", sqlite.ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := sqlitefn.Attach(conn.Handle()); err != nil {
		t.Fatal(err)
	}
	if err := conn.Exec(sealedSchema); err != nil {
		t.Fatal(err)
	}
	var lib sqlite.Library
	for _, name := range []string{"dx_narrow", "dx_person"} {
		lib.Scalars = append(lib.Scalars, sqlite.Scalar{Name: name, Args: []int{3}, Call: func(*sqlite.Call) error { return nil }})
	}
	for _, name := range []string{"dx_sum", "dx_avg", "dx_min", "dx_max"} {
		lib.Aggregates = append(lib.Aggregates, sqlite.Aggregate{Name: name, Args: []int{2}, New: func() sqlite.Group { return new(rowsSeen) }})
	}
	if err := conn.Register(lib); err != nil {
		t.Fatal(err)
	}
	return conn, sqlitefn.NewGate(conn)
}

// rowsSeen stands in for an aggregate over sealed values: it counts rows.
type rowsSeen int64

func (n *rowsSeen) Step(*sqlite.Call) error { *n++; return nil }

func (n *rowsSeen) Final(c *sqlite.Call) error { c.ResultInt(0, int64(*n)); return nil }

// misused are statements over sealedSchema, each with the use of a sealed value and the place where that shows, as
// "through|sealed|result", and several of these separated by "; ". Nothing stands for a clean one.
var misused = []struct{ want, sql string }{
	// Clean uses.
	{"", `SELECT * FROM reading`},
	{"", `SELECT count(kwh), count(*), count(location), sum(price), max(at), min(id) FROM reading`},
	{"", `SELECT home, dx_sum(kwh, 0.1), sum(price), avg(price) FROM reading GROUP BY home HAVING sum(price) > 3 ORDER BY 2`},
	{"", `SELECT dx_sum(dx_narrow(kwh, 0, 5), 0.1) + 1 FROM reading`},
	{"", `SELECT home, dx_avg(dx_person(dx_narrow(kwh, 0, 5), 0, 50), 1) FROM reading GROUP BY home`},
	{"", `SELECT abs(dx_sum(kwh, 0.1)), max(dx_sum(kwh, 0.1), 3), printf('%d', sum(price)) FROM reading`},
	{"", `SELECT kwh, printf('%s %s', home, price), max(price, at, 3) FROM reading WHERE home LIKE 'a%' AND price > 1 ORDER BY price + 1 LIMIT 3`},
	{"", `SELECT hex(kwh), substr(kwh, 1, 4), quote(kwh), length(hex(kwh)) FROM reading`},
	{"", `SELECT typeof(kwh), length(kwh), kwh IS NULL, kwh IS NOT NULL, kwh NOTNULL FROM reading WHERE kwh IS NOT NULL`},
	{"", `SELECT coalesce(kwh, location), ifnull(kwh, 1), iif(price > 1, kwh, NULL), CASE WHEN at = 1 THEN kwh END FROM reading`},
	{"", `SELECT dx_sum(coalesce(kwh, NULL), 1) FILTER (WHERE at > 1) FROM reading WHERE at IN (1, 2, 3, 4) AND home IN (SELECT home FROM plain)`},
	{"", `SELECT p, k FROM copied ORDER BY p LIMIT 3`},
	{"", `SELECT DISTINCT home, price FROM reading`},
	{"", `WITH c AS MATERIALIZED (SELECT kwh AS k, price AS p FROM reading) SELECT dx_sum(k, 1), sum(p) FROM c`},
	{"", `SELECT r.kwh, p.x FROM reading r JOIN plain p ON p.home = r.home`},
	{"", `SELECT r.kwh, sum(p.x) OVER (ORDER BY r.at) FROM reading r LEFT JOIN plain p ON p.home = r.home`},
	{"", `SELECT lag(kwh) OVER (ORDER BY at), first_value(kwh) OVER (ORDER BY at), last_value(kwh) OVER (ORDER BY at), rank() OVER (ORDER BY at) FROM reading`},
	{"", `SELECT count(kwh) OVER (PARTITION BY home), sum(price) OVER (PARTITION BY home ORDER BY at ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING), kwh FROM reading`},
	{"", `SELECT kwh FROM reading UNION ALL SELECT location FROM reading`},
	{"", `SELECT home, kwh FROM reading UNION ALL SELECT home, kwh FROM reading ORDER BY 1`},
	{"", `SELECT k FROM (SELECT home, kwh AS k FROM reading UNION ALL SELECT tag, kwh FROM twin ORDER BY 1)`},
	{"", `SELECT tag FROM twin WHERE tag > 'a' GROUP BY tag ORDER BY at`},
	{"", `INSERT INTO plain(home, x) SELECT home, price FROM reading ORDER BY at`},
	{"", `INSERT INTO reading(home, kwh, price) SELECT home, kwh, price + 1 FROM reading`},
	{"", `CREATE TABLE made AS SELECT home, kwh, dx_sum(kwh, 1) AS s FROM reading GROUP BY home`},
	{"", `UPDATE reading SET price = price + 1, at = at + 1 WHERE price > 1 RETURNING id, kwh, price * 2`},
	{"", `DELETE FROM reading WHERE price > 100 OR at = 3 OR home = 'b'`},
	{"", `INSERT INTO inbox SELECT kwh, price FROM reading`}, // its trigger copies
	{"", `SELECT price FROM reading WHERE home = 'a' OR at = 3 OR id = 4`},
	{"", `SELECT (SELECT sum(x) FROM plain p WHERE p.home = r.home), kwh FROM reading r`},
	{"", `SELECT min(price), kwh FROM reading`}, // a bare column
	{"", `SELECT group_concat(home), json_group_array(price) FROM reading, json_each('[1,2]') WHERE value > 1 AND kwh IS NOT NULL`},
	{"", `WITH RECURSIVE c(n, k) AS (SELECT 1, kwh FROM reading UNION ALL SELECT n + 1, k FROM c WHERE n < 3) SELECT n, k FROM c`},
	{"", `SELECT sum(x) FROM plain`},
	{"", `SELECT 1 + 1`},
	{"", `EXPLAIN SELECT sum(kwh) FROM reading`},
	{"", `PRAGMA table_info(reading)`},

	// Aggregates.
	{"sum|reading.kwh|sum(kwh)", `SELECT sum(kwh) FROM reading`},
	{"sum|reading.kwh|a, b", `SELECT home, sum(kwh) AS a, 1 + sum(kwh) * 2 AS b FROM reading GROUP BY home`},
	{"sum|reading.kwh|rows", `SELECT home FROM reading GROUP BY home HAVING sum(kwh) > 3`},
	{"avg|reading.kwh|avg(k)", `SELECT avg(k) FROM (SELECT * FROM copied LIMIT 3)`},
	{"max|reading.kwh|m; min|reading.kwh|min(kwh)", `SELECT min(kwh), max(kwh) AS m FROM reading`},
	{"total|reading.kwh|t", `SELECT total(kwh) FILTER (WHERE at > 1) AS t FROM reading`},
	{"group_concat|reading.kwh|group_concat(kwh)", `SELECT group_concat(kwh) FROM reading`},
	{"group_concat|reading.kwh|group_concat(home, kwh)", `SELECT group_concat(home, kwh) FROM reading`},
	{"sum|reading.kwh|s", `SELECT s FROM summed`},
	{"sum|reading.kwh|rows", `SELECT home, n, top FROM summed WHERE top > 2`}, // computed, though nothing shows it
	{"sum|twin.KWH|sum(kwh)", `SELECT sum(kwh) FROM twin`},
	{"sum|reading.kwh|sum(dx_narrow(kwh, 0, 5))", `SELECT sum(dx_narrow(kwh, 0, 5)) FROM reading`},
	{"sum|reading.kwh|t", `SELECT sum(dx_person(dx_narrow(kwh, 0, 5), 0, 50)) AS t FROM reading`},
	{"sum|reading.kwh|t", `SELECT sum(kwh) OVER (ORDER BY at) AS t FROM reading`},
	{"sum|reading.kwh|t", `SELECT sum(kwh) OVER (ORDER BY at ROWS 2 PRECEDING) AS t FROM reading`},
	{"sum|reading.kwh|t", `SELECT sum(k) AS t FROM (SELECT lag(kwh) OVER (ORDER BY at) AS k FROM reading)`},
	{"sum|reading.kwh|t", `WITH c AS MATERIALIZED (SELECT price, kwh AS k FROM reading) SELECT sum(k) AS t FROM c`},
	{"sum|reading.kwh|t", `SELECT (SELECT sum(kwh) FROM reading r WHERE r.home = p.home) AS t FROM plain p`},
	{"sum|reading.kwh,twin.KWH|t", `SELECT sum(k) AS t FROM (SELECT kwh AS k FROM reading UNION ALL SELECT kwh FROM twin)`},
	{"sum|reading.kwh|t", `SELECT sum(coalesce(kwh, 0)) AS t FROM reading`},
	{"sum|reading.kwh|t", `SELECT sum(k) AS t FROM (SELECT home, kwh AS k FROM reading ORDER BY price LIMIT 4)`},
	{"sum|reading.kwh|t", `WITH RECURSIVE c(n, k) AS (SELECT 1, kwh FROM reading UNION ALL SELECT n + 1, k FROM c WHERE n < 3) SELECT sum(k) AS t FROM c`},
	{"sum|reading.kwh|dx_sum(s, 1)", `SELECT dx_sum(s, 1) FROM (SELECT sum(kwh) AS s FROM reading GROUP BY home)`},
	{"sum|reading.location|sum(location)", `SELECT sum(location) FROM reading`},

	// Functions and operators.
	{"abs|reading.kwh|abs(kwh)", `SELECT abs(kwh) FROM reading`},
	{"max|reading.kwh|max(price, kwh)", `SELECT max(price, kwh) FROM reading`},
	{"upper|reading.kwh|h", `SELECT upper(kwh) AS h FROM reading`},
	{"=|reading.kwh|same", `SELECT substr(kwh, 1, 4) = 'a' AS same FROM reading`},
	{"nullif|reading.kwh|n", `SELECT nullif(kwh, 0) AS n FROM reading`},
	{"*|reading.kwh|rows; +|reading.kwh|kwh + 1", `SELECT kwh + 1 FROM reading WHERE kwh * 2 IS NOT NULL`},
	{"*|reading.kwh|d", `SELECT dx_sum(kwh * 2, 1) AS d FROM reading`},
	{"-|reading.kwh|n", `SELECT -kwh AS n FROM reading`},
	{"/|reading.kwh|kwh / price", `SELECT kwh / price FROM reading`},
	{"%|reading.kwh|m; &|reading.kwh|a; >>|reading.kwh|r; ||reading.kwh|o", `SELECT kwh % 2 AS m, kwh & 1 AS a, kwh >> 1 AS r, kwh | 1 AS o FROM reading`},
	{"|||reading.kwh|c", `SELECT kwh || 'x' AS c FROM reading`},
	{"CAST|reading.kwh|c", `SELECT CAST(kwh AS REAL) AS c FROM reading`},
	{"~|reading.kwh|~kwh", `SELECT ~kwh FROM reading`},
	{"NOT|reading.kwh|NOT kwh", `SELECT NOT kwh FROM reading`},
	{"LIKE|reading.kwh|choice of rows", `SELECT id FROM reading WHERE kwh LIKE '3%'`},
	{"GLOB|reading.kwh|choice of rows", `SELECT id FROM reading WHERE kwh GLOB '3*'`},
	{"+|reading.kwh|k", `SELECT k FROM (SELECT kwh + 1 AS k FROM reading ORDER BY price)`},

	// Conditions.
	{">|reading.kwh|choice of rows", `SELECT id FROM reading WHERE kwh > 3`},
	{"BETWEEN|reading.kwh|choice of rows", `SELECT id FROM reading WHERE kwh BETWEEN 1 AND 3`},
	{"=|reading.kwh|choice of rows", `SELECT id FROM reading WHERE kwh = 3`},
	{"<>|reading.kwh|choice of rows", `SELECT id FROM reading WHERE 3 <> kwh`},
	{">|reading.kwh|kwh > 3", `SELECT kwh > 3 FROM reading`},
	{"IN|reading.kwh|choice of rows", `SELECT id FROM reading WHERE kwh IN (1, 2, 3, 4)`},
	{"IN|reading.kwh|choice of rows", `SELECT id FROM plain WHERE x IN (SELECT kwh FROM reading)`},
	{"CASE|reading.kwh|choice of rows", `SELECT CASE kwh WHEN 1 THEN 'one' END FROM reading`},
	{"CASE|reading.kwh|choice of rows", `SELECT CASE WHEN kwh THEN 'one' END FROM reading`},
	{"WHERE|reading.kwh|choice of rows", `SELECT id FROM reading WHERE kwh`},
	{"WHERE or FILTER|reading.kwh|choice of rows", `SELECT count(*) FILTER (WHERE kwh) FROM reading`},
	{"<|reading.kwh|choice of rows", `SELECT dx_sum(kwh, 1) FILTER (WHERE kwh < 3) FROM reading`},
	{"IS|reading.kwh|choice of rows", `SELECT id FROM reading WHERE kwh IS price`},
	{"=|reading.kwh,twin.KWH|choice of rows", `SELECT r.id FROM reading r JOIN twin t ON t.kwh = r.kwh`},
	{"=|reading.kwh|choice of rows", `SELECT p.id FROM reading r JOIN plain p ON p.id = r.kwh`},
	{"USING|reading.kwh,twin.KWH|choice of rows", `SELECT id FROM reading JOIN twin USING (kwh)`},
	{"=|reading.kwh|choice of rows", `DELETE FROM reading WHERE kwh = 3`},
	{">|reading.kwh|choice of rows", `UPDATE reading SET price = 0 WHERE kwh > 3`},
	{">|reading.kwh|choice of rows", `INSERT INTO plain(x) SELECT price FROM reading WHERE kwh > 3`},
	{"<|reading.kwh|choice of rows", `SELECT min(p) FROM copied, plain WHERE k < x`},

	// Order and sets.
	{"ORDER BY|reading.kwh|order of rows", `SELECT id FROM reading ORDER BY kwh`},
	{"ORDER BY|reading.kwh|order of rows", `SELECT id FROM reading ORDER BY price, kwh DESC LIMIT 3`},
	{"ORDER BY|reading.kwh|order of rows", `SELECT id FROM reading ORDER BY at, kwh`},
	{"GROUP BY|reading.kwh|order of rows", `SELECT count(*) FROM reading GROUP BY kwh`},
	{"GROUP BY|reading.kwh|order of rows", `SELECT home, count(*) FROM reading GROUP BY home, kwh`},
	{"OVER|reading.kwh|order of rows", `SELECT rank() OVER (PARTITION BY kwh) FROM reading`},
	{"DISTINCT|reading.kwh|choice of rows", `SELECT DISTINCT home, kwh FROM reading`},
	{"DISTINCT|reading.kwh|choice of rows", `SELECT count(DISTINCT kwh) FROM reading`},
	{"UNION|reading.kwh|choice of rows", `SELECT kwh FROM reading UNION SELECT x FROM plain`},
	{"EXCEPT|reading.kwh|choice of rows", `SELECT x FROM plain EXCEPT SELECT kwh FROM reading`},
	{"INTERSECT|reading.kwh|choice of rows", `SELECT x FROM plain INTERSECT SELECT kwh FROM reading`},
	{"UNION|reading.kwh|choice of rows", `WITH RECURSIVE c(k) AS (SELECT kwh FROM reading UNION SELECT k FROM c) SELECT count(*) FROM c`},
	{"ORDER BY|reading.kwh|order of rows", `SELECT kwh, home FROM reading UNION ALL SELECT x, home FROM plain ORDER BY 1`},
	{"INDEX|reading.kwh|order of rows", `CREATE INDEX reading_kwh ON reading(kwh)`},

	// Triggers and virtual tables.
	{"+|reading.kwh|rows", `INSERT INTO inbox2 SELECT kwh, price FROM reading`},
	{"a table-valued function|reading.kwh|value", `SELECT value FROM reading, json_each(kwh)`},
}

func summary(list []sqlitefn.Misuse) string {
	var texts []string
	for _, m := range list {
		texts = append(texts, m.Through+"|"+strings.Join(m.Sealed, ",")+"|"+m.Result)
	}
	slices.Sort(texts)
	return strings.Join(texts, "; ")
}

func TestMisuses(t *testing.T) {
	_, m := sealedGate(t)
	for _, c := range misused {
		list, err := m.Misuses(c.sql)
		if got := summary(list); err != nil || got != c.want {
			t.Errorf("%s\n\tfound %s, %v\n\twant  %s", c.sql, got, err, c.want)
		}
	}
}

// Statements as they are made private with epsilon 0.5, or after "!" the error.
var madePrivate = []struct{ sql, want string }{
	{`SELECT sum(kwh) FROM reading`, `SELECT dx_sum(kwh, 0.5) FROM reading`},
	{`SELECT SUM ( r.kwh ), avg(kwh) AS a, count(kwh), 'sum(kwh)', "price" /* sum(kwh) */ FROM reading r -- sum(kwh)`,
		`SELECT dx_sum( r.kwh , 0.5), dx_avg(kwh, 0.5) AS a, count(kwh), 'sum(kwh)', "price" /* sum(kwh) */ FROM reading r -- sum(kwh)`},
	{`SELECT min(kwh), max(kwh), max(price, at), total(kwh) FILTER (WHERE at > 1) FROM reading`,
		`SELECT dx_min(kwh, 0.5), dx_max(kwh, 0.5), max(price, at), dx_sum(kwh, 0.5) FILTER (WHERE at > 1) FROM reading`},
	{`SELECT home, total(kwh) FILTER (WHERE at > 1) AS "sum(kwh)" FROM reading GROUP BY home`,
		`SELECT home, dx_sum(kwh, 0.5) FILTER (WHERE at > 1) AS "sum(kwh)" FROM reading GROUP BY home`},
	{`SELECT max(kwh), max(price, at) FROM reading`, `SELECT dx_max(kwh, 0.5), max(price, at) FROM reading`},
	{`SELECT sum(coalesce(kwh, (SELECT kwh FROM reading))) FROM reading`, `SELECT dx_sum(coalesce(kwh, (SELECT kwh FROM reading)), 0.5) FROM reading`},
	{`SELECT sum(x) FROM plain`, `SELECT sum(x) FROM plain`},
	{`SELECT sum(kwh), sum(price) FROM reading`, `!sum is used over the sealed column reading.kwh and over public values: write dx_sum(x, 0.5) where it is over the sealed one`},
	{`SELECT sum(kwh) OVER () FROM reading`, `!sum over the sealed column reading.kwh would be a wrong number: write dx_sum(kwh, epsilon)`},
	{`SELECT sum(DISTINCT kwh) FROM reading`, `!DISTINCT over the sealed column reading.kwh`},
	{`SELECT s FROM summed`, `!sum over the sealed column reading.kwh would be a wrong number`},
	{`SELECT sum(location) FROM reading`, `!sum over the sealed column reading.location would be a wrong answer: write a private function, such as dx_centroid(location, epsilon)`},
	{`SELECT sum(kwh) FROM reading WHERE kwh > 3`, `!> over the sealed column reading.kwh would be a wrong answer: a condition on a sealed value is not possible; count with dx_histogram(kwh, epsilon, bins)`},
	{`SELECT "sum"(kwh) FROM reading`, `!sum over the sealed column reading.kwh`},
}

func TestPrivate(t *testing.T) {
	conn, m := sealedGate(t)
	for _, c := range madePrivate {
		got, err := m.Private(c.sql, "0.5")
		if text, fails := strings.CutPrefix(c.want, "!"); fails {
			if err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %s, %v; want error %s", c.sql, got, err, text)
			}
			continue
		}
		if got != c.want || err != nil {
			t.Errorf("%s\n\tbecame %s, %v\n\twant   %s", c.sql, got, err, c.want)
		} else if err := conn.Exec(got); err != nil {
			t.Errorf("%s: %v", got, err)
		}
	}
}

// An index may order and select rows by sealed values without an instruction.
func TestMisusesThroughIndexes(t *testing.T) {
	conn, m := sealedGate(t)
	if err := conn.Exec(`CREATE TABLE keyed(id INTEGER PRIMARY KEY, kwh BLOB UNIQUE, home TEXT, x REAL, up AS (kwh + 1) VIRTUAL);
		INSERT INTO geosql_sealed_column VALUES (4, 'KEYED', 'kwh', 'home', 'universe', 'u');
		CREATE INDEX part ON keyed(home) WHERE kwh > 3; CREATE INDEX abs_kwh ON keyed(abs(kwh), x); CREATE INDEX public ON keyed(home, x);
		CREATE INDEX up_i ON keyed(up, home)`); err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string]string{
		`SELECT id FROM keyed ORDER BY kwh`:                                           "index sqlite_autoindex_keyed_1",
		`SELECT home FROM keyed INDEXED BY part WHERE kwh > 3`:                        "index part",
		`SELECT id FROM keyed INDEXED BY abs_kwh WHERE abs(kwh) = 3`:                  "index abs_kwh",
		`SELECT sum(up) FROM keyed`:                                                   "+",
		`SELECT id FROM keyed WHERE up > 3`:                                           "index up_i",
		`SELECT id FROM keyed INDEXED BY sqlite_autoindex_keyed_1 WHERE kwh = 3`:      "index sqlite_autoindex_keyed_1",
		`SELECT home, x FROM keyed WHERE home = 'a' ORDER BY x`:                       "",
		`SELECT dx_sum(kwh, 1), sum(x) FROM keyed INDEXED BY public WHERE home = 'a'`: "",
	} {
		list, err := m.Misuses(sql)
		got := summary(list)
		if err != nil || !strings.Contains("; "+got, "; "+want) || want == "" && got != "" {
			t.Errorf("%s: %s, %v; want %s", sql, got, err, want)
		}
	}
}

// The sealed columns of attached and temporary databases have names with that of their database.
func TestMisusesInOtherDatabases(t *testing.T) {
	conn, m := sealedGate(t)
	if err := conn.Exec(`ATTACH ':memory:' AS other; CREATE TABLE other.geosql_sealed_column(number INTEGER PRIMARY KEY, tbl TEXT, col TEXT, account TEXT, kind TEXT, name TEXT);
		CREATE TABLE other.plain("a b" BLOB, x REAL); INSERT INTO other.geosql_sealed_column VALUES (1, 'plain', 'a b', 'h', 'universe', 'u');
		CREATE TEMP VIEW both AS SELECT kwh AS k FROM reading UNION ALL SELECT "a b" FROM other.plain`); err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string]string{
		`SELECT sum("a b") AS s FROM other.plain`:                   "sum|other.plain.a b|s",
		`SELECT sum(x) AS s FROM other.plain, main.plain USING (x)`: "",
		`SELECT avg(k) AS a FROM both`:                              "avg|other.plain.a b,reading.kwh|a",
	} {
		if list, err := m.Misuses(sql); err != nil || summary(list) != want {
			t.Errorf("%s: %s, %v; want %s", sql, summary(list), err, want)
		}
	}
	list, _ := m.Misuses(`SELECT sum("a b") FROM other.plain`)
	if got := list[0].Instead; got != `write dx_sum("a b", epsilon)` {
		t.Error(got)
	}
}
