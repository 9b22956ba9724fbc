package sqlitefn_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sealed/catalog"
	"github.com/geosql/geosql/sealed/sealedtest"
	"github.com/geosql/geosql/sqlitefn"
)

// The columns of the sealed tables of tests.
const (
	columnKWh = iota + 1
	columnOne
	columnPlace
	columnOther
)

var (
	sealedU   = &catalog.Universe{Name: "u", Lo: 0, Hi: 10, Step: 1, Unit: "kWh"}
	sealedBit = &catalog.Universe{Name: "bit", Lo: 0, Hi: 1, Step: 1, Unit: "yes"}
	sealedBox = &catalog.Domain{Name: "beijing", South: 39.4, West: 115.4, North: 41.1, East: 117.6, StepM: 1}

	sealedColumns = []catalog.Column{
		{Table: "s", Name: "kwh", Account: "who", Universe: sealedU},
		{Table: "s", Name: "one", Account: "who", Universe: sealedBit},
		{Table: "s", Name: "place", Account: "who", Domain: sealedBox},
		{Table: "other", Name: "v", Account: "who", Universe: &catalog.Universe{Name: "wide", Lo: -5, Hi: 100, Step: 0.5, Unit: "kWh"}},
	}
)

// A sealedRow is a row of the tables p, plain, and s, sealed.
type sealedRow struct {
	who      string
	zone     int
	kwh, one int64
	lat, lon float64
}

var sealedRows = []sealedRow{
	{"ana", 1, 3, 1, 39.9, 116.3}, {"ana", 2, 4, 0, 39.95, 116.35}, {"ana", 2, 5, 1, 40, 116.4},
	{"bo", 1, 2, 0, 40.5, 117}, {"cy", 2, 9, 1, 39.5, 115.5},
}

// sealedDatabase is a declared database with the same rows in p and s.
type sealedDatabase struct {
	*database
	key  *sealed.PrivateKey
	seal *sealedtest.Database
}

// raw calls fn with the connection.
func (d *database) raw(fn func(*sqlitefn.Conn)) {
	d.Helper()
	err := d.conn.Raw(func(c any) error {
		fn(c.(*sqlitefn.Conn))
		return nil
	})
	if err != nil {
		d.Fatal(err)
	}
}

// newSealed opens a new database of rows, with epsilon of 1000 for everybody in every unit.
func newSealed(tb testing.TB, rows []sealedRow, opts ...sqlitefn.Option) *sealedDatabase {
	tb.Helper()
	return sealRows(tb, tb.TempDir()+"/sealed.db?_sync=OFF", sealedtest.NewKey(tb), rows, opts...)
}

// sealRows opens a new database as newSealed does, with a name and a key.
func sealRows(tb testing.TB, dsn string, key *sealed.PrivateKey, rows []sealedRow, opts ...sqlitefn.Option) *sealedDatabase {
	tb.Helper()
	d := &sealedDatabase{database: open(tb, dsn, append(opts, sqlitefn.WithKeyring(sealed.NewKeyring(key)))...), key: key}
	d.run(`SELECT geo_domain('beijing', 39.4, 115.4, 41.1, 117.6, 1), dx_universe('u', 0, 10, 1, 'kWh'), dx_universe('bit', 0, 1, 1, 'yes'), dx_universe('wide', -5, 100, 0.5, 'kWh')`,
		`SELECT budget_limit('*', unit.value, 1000000) FROM json_each('["m","kWh","record","yes"]') unit`,
		`CREATE TABLE p(id INTEGER PRIMARY KEY, who, zone, kwh, one, lat, lon)`,
		`CREATE TABLE s(id INTEGER PRIMARY KEY, who, zone, kwh, one, place)`,
		`CREATE TABLE other(id INTEGER PRIMARY KEY, v)`)
	d.raw(func(c *sqlitefn.Conn) { d.seal = c.Seal(tb, key.Public(), sealedColumns...) })
	for i, r := range rows {
		d.run(fmt.Sprintf(`INSERT INTO p VALUES(%d, '%s', %d, %d, %d, %v, %v)`, i+1, r.who, r.zone, r.kwh, r.one, r.lat, r.lon),
			fmt.Sprintf(`INSERT INTO s VALUES(%d, '%s', %d, %s, %s, %s)`, i+1, d.seal.Account(r.who).Pseudonym, r.zone,
				d.seal.Reading(columnKWh, r.who, r.kwh), d.seal.Reading(columnOne, r.who, r.one), d.seal.Location(columnPlace, r.who, r.lat, r.lon)))
	}
	return d
}

// With an epsilon of 100 per step the noise is 0 but for a probability of 1e-43 an answer.
func TestSealedAnswers(t *testing.T) {
	d := newSealed(t, sealedRows)
	for query, want := range map[string]string{
		`SELECT dx_sum(kwh, 100), dx_avg(kwh, 100), dx_min(kwh, 100), dx_max(kwh, 100), dx_median(kwh, 100) FROM s`:                                                                                  "[[23 4.6 2 9 4]]",
		`SELECT dx_percentile(kwh, 50, 100, 'dh'), dx_percentile(kwh, 100, 100, 'dinf') FROM s`:                                                                                                      "[[4 9]]",
		`SELECT dx_variance(kwh, 1000) BETWEEN 5.83 AND 5.85, dx_stddev(kwh, 1000) BETWEEN 2.415 AND 2.418 FROM s`:                                                                                   "[[1 1]]",
		`SELECT zone, dx_sum(kwh, 100) FROM s GROUP BY zone`:                                                                                                                                         "[[1 5] [2 18]]",
		`SELECT dx_count(one, 100), dx_accounts(one, 100) FROM s`:                                                                                                                                    "[[3 2]]",
		`SELECT id, dx_value(kwh, 100) FROM s`:                                                                                                                                                       "[[1 3] [2 4] [3 5] [4 2] [5 9]]",
		`SELECT dx_histogram(kwh, 100, 11) ->> '$[9].count', count(kwh) FROM s`:                                                                                                                      "[[1 5]]",
		`SELECT dx_curve(kwh, 100, 2) -> '$.sums', dx_curve_percentile(dx_curve(kwh, 100, 2), 95) FROM s`:                                                                                            "[[[5,18] 6]]",
		`SELECT dx_curve_share(c, 4), dx_curve_mean(c, 60, 100) FROM (SELECT dx_curve(kwh, 100, 5) AS c FROM s)`:                                                                                     "[[0.6 7]]",
		`SELECT geo_distance(lat, lon, 39.9, 116.3) < 2 FROM s, geoind_laplace(s.place, 100) WHERE id = 1`:                                                                                           "[[1]]",
		`SELECT geoind_laplace(place, 100) LIKE 'POINT(116._______ 39._______)' FROM s WHERE id = 1`:                                                                                                 "[[1]]",
		`SELECT geo_distance(CAST(substr(w, 19) AS REAL), CAST(substr(w, 7) AS REAL), 39.95, 116.35) < 20 FROM (SELECT dx_centroid(place, 100) AS w FROM s WHERE who = (SELECT who FROM s LIMIT 1))`: "[[1]]",
		`SELECT sum(value ->> '$.properties.count') FROM json_each((SELECT dx_heatmap(place, 200, 20000, 'adaptive') FROM s), '$.features')`:                                                         "[[5]]",
		`SELECT json_array_length(dx_heatmap(place, 100, 20000) -> 'features') FROM s`:                                                                                                               "[[4]]",
		`SELECT dx_sum(dx_narrow(kwh, 3, 5), 100), dx_avg(dx_narrow(kwh, 3, 5), 100, 'nd1'), dx_max(dx_narrow(kwh, 3, 5), 100) FROM s`:                                                               "[[20 4 5]]",
		`SELECT dx_sum(kwh, 100) FROM s WHERE 0`:                                                                                                                                                     "[[<nil>]]",
		`SELECT dx_sum(NULL, 100), dx_value(NULL, 100), dx_count(NULL, 100) FROM s`:                                                                                                                  "[[<nil> <nil> 0]]",
		`SELECT dx_sum(a, 100) FROM (SELECT kwh AS a FROM s UNION ALL SELECT NULL)`:                                                                                                                  "[[23]]",
		`SELECT dx_within(y, 0.5) FROM (SELECT dx_sum(kwh, 100) AS y FROM s)`:                                                                                                                        "[[0]]",
		`SELECT dx_rank_within(y) FROM (SELECT dx_median(kwh, 2, 'dh') AS y FROM s)`:                                                                                                                 "[[5]]", // ln(10*19)
	} {
		d.with(t).answers(query, want)
	}
}

// charge is a statement and its cost for ana and bo.
type charge struct {
	query, unit string
	ana, bo     float64
}

// An account pays the largest sum of epsilon of any of its values, whatever the statement's shape.
func TestSealedCharges(t *testing.T) {
	t.Parallel()
	for _, c := range []charge{
		{`SELECT dx_sum(kwh, 1) FROM s`, "kWh", 1, 1},
		{`SELECT dx_sum(kwh, 1) FROM s GROUP BY zone`, "kWh", 1, 1},
		{`SELECT dx_sum(kwh, zone) FROM s GROUP BY zone`, "kWh", 2, 1},
		{`SELECT dx_sum(kwh, 3 - zone) FROM s GROUP BY zone ORDER BY zone DESC`, "kWh", 2, 2},
		{`SELECT dx_sum(kwh, 1), dx_avg(kwh, 2) FROM s`, "kWh", 3, 3},
		{`SELECT dx_sum(kwh, 1) FILTER (WHERE zone = 1), dx_avg(kwh, 2) FILTER (WHERE zone = 2) FROM s`, "kWh", 2, 1},
		{`SELECT (SELECT dx_sum(kwh, 1) FROM s WHERE s.zone = z.zone) FROM (SELECT DISTINCT zone FROM s) z`, "kWh", 1, 1},
		{`SELECT (SELECT dx_sum(kwh, 1) FROM s WHERE s.zone >= z.zone) FROM (SELECT DISTINCT zone FROM s) z`, "kWh", 2, 1},
		{`SELECT dx_sum(kwh, 1) FROM s UNION ALL SELECT dx_sum(kwh, 1) FROM s`, "kWh", 2, 2},
		{`SELECT dx_sum(kwh, 1) FROM s UNION ALL SELECT dx_max(kwh, 2, 'dinf') FROM s`, "kWh", 3, 3},
		{`SELECT dx_max(kwh, 2, 'dinf') FROM s GROUP BY zone`, "kWh", 4, 2},
		{`SELECT dx_sum(kwh, 1, 'dh') FROM s`, "record", 3, 1},
		{`SELECT dx_sum(kwh, 1, 'dh') FROM s GROUP BY zone`, "record", 3, 1},
		{`SELECT dx_count(one, 1) FROM s`, "record", 3, 1},
		{`SELECT dx_accounts(one, 1) FROM s`, "record", 1, 1},
		{`SELECT dx_accounts(one, 1) FROM s GROUP BY zone`, "record", 2, 1},
		{`SELECT dx_histogram(kwh, 1, 2) FROM s`, "record", 3, 1},
		{`SELECT dx_curve(kwh, 1), dx_curve(kwh, 0.5, 2) FROM s GROUP BY zone`, "kWh", 1.5, 1.5},
		{`SELECT dx_curve_percentile(dx_curve(kwh, 1), 50), dx_curve_percentile(dx_curve(kwh, 1), 95) FROM s`, "kWh", 1, 1},
		{`SELECT dx_heatmap(place, 1, 20000) FROM s`, "record", 3, 1},
		{`SELECT dx_heatmap(place, 1, 20000, 'adaptive') FROM s`, "record", 3, 1},
		{`SELECT dx_value(kwh, 1) FROM s`, "kWh", 3, 1},
		{`SELECT geoind_laplace(place, 1) FROM s`, "m", 3, 1},
		{`SELECT g.wkt FROM s, geoind_laplace(s.place, 1) g`, "m", 3, 1},
		{`SELECT dx_centroid(place, 1) FROM s`, "m", 1, 1},
		{`SELECT dx_sum(dx_narrow(kwh, 3, 5), 1), dx_sum(dx_narrow(kwh, 0, 4), 1) FROM s`, "kWh", 2, 2},
		{`WITH w AS MATERIALIZED (SELECT zone, kwh AS v FROM s) SELECT dx_sum(v, 1) FROM w GROUP BY zone`, "kWh", 1, 1},
		{`SELECT dx_sum(v, 1) FROM (SELECT kwh AS v, row_number() OVER (ORDER BY id) % 3 AS g FROM s) GROUP BY g`, "kWh", 1, 1},
	} {
		t.Run(c.query, func(t *testing.T) {
			d := newSealed(t, sealedRows)
			cost := fmt.Sprint(d.rows(`SELECT account, sum(epsilon), sum(at_most) FROM budget_cost(?) WHERE account <> 'cy' GROUP BY 1`, c.query))
			d.rows(c.query)
			d.spends("ana", c.unit, c.ana)
			d.spends("bo", c.unit, c.bo)
			if want := fmt.Sprintf("[[ana %v %[1]v] [bo %v %[2]v]]", c.ana, c.bo); cost != want {
				t.Errorf("budget_cost says %s, want %s", cost, want)
			}
		})
	}
}

// A repeated value costs its multiplicity, up to the allowed one.
func TestRepeatedValues(t *testing.T) {
	twice := `SELECT dx_sum(kwh, 1%s) FROM s, (SELECT 1 AS n UNION ALL SELECT 2)`
	d := newSealed(t, sealedRows)
	for _, f := range []string{"dx_sum(kwh, 1)", "dx_sum(kwh, 1, 'dh')", "dx_max(kwh, 1, 'dinf')", "dx_histogram(kwh, 1, 2)", "dx_curve(kwh, 1)", "dx_count(one, 1)", "dx_accounts(one, 1)", "dx_centroid(place, 1)", "dx_heatmap(place, 1, 20000)"} {
		d.fails(`SELECT `+f+` FROM s, (SELECT 1 AS n UNION ALL SELECT 2)`, "a group has the same value more than once", "--max-repeat")
	}
	if n := d.evaluations(); n != 0 {
		t.Errorf("%d evaluations were charged before the error", n)
	}
	d = newSealed(t, sealedRows, sqlitefn.WithMaxRepeat(2))
	d.rows(fmt.Sprintf(twice, ""))
	d.spends("ana", "kWh", 2)
	d.rows(fmt.Sprintf(twice, ", 'dh'"))
	d.spends("ana", "record", 6)
	d.rows(`SELECT dx_max(kwh, 1, 'dinf') FROM s, (SELECT 1 AS n UNION ALL SELECT 2)`)
	d.spends("ana", "kWh", 3)
	d.rows(`SELECT dx_curve(kwh, 1) FROM s, (SELECT 1 AS n UNION ALL SELECT 2)`)
	d.spends("ana", "kWh", 5)
	d.fails(`SELECT dx_sum(s.kwh, 1) FROM s, s AS s2 WHERE s.zone = s2.zone`, "more than 2 times")
	d.answers(`SELECT dx_sum(kwh, 100) FROM s, (SELECT 1 AS n UNION ALL SELECT 2)`, "[[46]]")
}

func TestSealedMisuse(t *testing.T) {
	d := newSealed(t, sealedRows)
	d.run(`INSERT INTO other VALUES(1, ` + d.seal.Reading(columnOther, "ana", 7) + `)`)
	const notSealed = "is not a value that was sealed for this database"
	for query, want := range map[string]string{
		`SELECT dx_sum(x'00', 1)`:                                                         "dx_sum: sealed " + notSealed,
		`SELECT dx_sum(zeroblob(56), 1)`:                                                  "dx_sum: sealed " + notSealed,
		`SELECT dx_sum(kwh || x'00', 1) FROM s`:                                           "got TEXT",
		`SELECT dx_value(zone, 1) FROM s`:                                                 "dx_value: sealed must be a sealed value (a call on plain columns has more arguments), got INTEGER in zone",
		`SELECT dx_count(zeroblob(56), 1)`:                                                "dx_count: account " + notSealed,
		`SELECT dx_count(kwh, 1) FROM s`:                                                  "dx_count: account must be of a column with the universe 0, 1",
		`SELECT dx_count(CASE id WHEN 1 THEN one ELSE who END, 1) FROM s`:                 "a group has both accounts and sealed values",
		`SELECT dx_count(CASE id WHEN 1 THEN who ELSE one END, 1) FROM s`:                 "a group has both accounts and sealed values",
		`SELECT dx_sum(place, 1) FROM s`:                                                  "dx_sum: sealed is a location, where a reading belongs",
		`SELECT dx_centroid(kwh, 1) FROM s`:                                               "dx_centroid: sealed is a reading, where a location belongs",
		`SELECT dx_sum(CASE id WHEN 1 THEN kwh ELSE one END, 1) FROM s`:                   "changes its universe, domain or range within a group",
		`SELECT dx_sum(v, 1) FROM (SELECT kwh AS v FROM s UNION ALL SELECT v FROM other)`: "changes its universe",
		`SELECT dx_sum(dx_narrow(kwh, id, 10), 1) FROM s`:                                 "changes its universe, domain or range",
		`SELECT dx_sum(dx_narrow(kwh, 0, 11), 1) FROM s`:                                  "sealed is narrowed to 0..11, and 11 is not a value of",
		`SELECT dx_sum(dx_narrow(kwh, 0.5, 2), 1) FROM s`:                                 "sealed is narrowed to 0.5..2, and 0.5 is not",
		`SELECT dx_sum(dx_narrow(kwh, 3, 3), 1) FROM s`:                                   "dx_narrow: lo must be below hi",
		`SELECT dx_sum(dx_narrow(dx_narrow(kwh, 3, 5), 3, 4), 1) FROM s`:                  "dx_narrow: sealed is narrowed already",
		`SELECT dx_centroid(dx_narrow(place, 3, 5), 1) FROM s`:                            "a location, which cannot be narrowed",
		`SELECT dx_sum(kwh, zone) FROM s`:                                                 "epsilon changes within a group",
		`SELECT dx_sum(kwh, 1, 'dinf') FROM s`:                                            "dinf",
		`SELECT dx_percentile(kwh, 0.95, 1) FROM s`:                                       "p is 0.95: percentiles go from 0 to 100, so write 95",
		`SELECT dx_percentile(kwh, 101, 1) FROM s`:                                        "p is not in 0..100",
	} {
		d.with(t).fails(query, want)
	}
	if n := d.evaluations(); n != 0 {
		t.Errorf("%d evaluations were charged", n)
	}
}

// An erased account, or one with a revoked collector, counts as NULL from the next statement on.
func TestErasedAndRevoked(t *testing.T) {
	d := newSealed(t, sealedRows)
	d.answers(`SELECT dx_sum(kwh, 100) FROM s`, "[[23]]")
	d.raw(func(c *sqlitefn.Conn) {
		if err := c.Record(catalog.Erased("ana")); err != nil {
			t.Fatal(err)
		}
	})
	before := d.spent("ana", "kWh")
	d.answers(`SELECT dx_sum(kwh, 100) FROM s`, "[[11]]")
	d.answers(`SELECT dx_value(kwh, 100), geoind_laplace(place, 1) FROM s WHERE id = 1`, "[[<nil> <nil>]]")
	d.answers(`SELECT count(*) FROM s, geoind_laplace(s.place, 1) g WHERE g.lat IS NULL`, "[[3]]")
	d.answers(`SELECT dx_count(one, 100), dx_accounts(one, 100) FROM s`, "[[1 1]]")
	d.answers(`SELECT dx_sum(kwh, 100) FROM s WHERE id <= 3`, "[[<nil>]]")
	d.spends("ana", "kWh", before)
	var collector catalog.Collector
	d.raw(func(c *sqlitefn.Conn) {
		record, err := c.ReadRecord()
		if err != nil {
			t.Fatal(err)
		}
		collector = record.Collectors[0]
		if err := c.Record(collector.Revoked()); err != nil {
			t.Fatal(err)
		}
	})
	d.answers(`SELECT dx_sum(kwh, 100), dx_count(one, 100), dx_accounts(one, 100) FROM s`, "[[<nil> 0 0]]")
}

// Without a key, or with another one, nothing opens, and nothing is charged.
func TestSealedWithoutKey(t *testing.T) {
	d := newSealed(t, sealedRows)
	path := strings.TrimSuffix(d.path, "?_sync=OFF")
	const want = "sealed values open with their owner's key only: geosql --key KEY DB"
	without := open(t, path)
	for _, call := range []string{"dx_sum(kwh, 1)", "dx_value(kwh, 1)", "dx_count(one, 1)", "dx_accounts(one, 1)", "dx_histogram(kwh, 1, 2)", "geoind_laplace(place, 1)", "dx_centroid(place, 1)", "dx_heatmap(place, 1, 20000)"} {
		without.fails(`SELECT `+call+` FROM s`, want)
	}
	without.fails(`SELECT * FROM s, geoind_laplace(s.place, 1)`, want)
	without.answers(`SELECT count(kwh), count(*) FROM s`, "[[5 5]]")
	other := open(t, path, sqlitefn.WithKeyring(sealed.NewKeyring(sealedtest.NewKey(t))))
	other.fails(`SELECT dx_sum(kwh, 1) FROM s`, "is not a value that was sealed for this database")
	if n := d.evaluations(); n != 0 {
		t.Errorf("%d evaluations were charged", n)
	}
	plain := declared(t)
	plain.run(`CREATE TABLE s(kwh)`, `INSERT INTO s VALUES(zeroblob(56))`)
	keyed := open(t, plain.path, sqlitefn.WithKeyring(sealed.NewKeyring(sealedtest.NewKey(t))))
	keyed.fails(`SELECT dx_sum(kwh, 1) FROM s`, "this database is not sealed")
}

// The ledger keeps the universe of a column: the database's own word for it does not count.
func TestDeclarationsInTheDatabaseDoNotCount(t *testing.T) {
	d := newSealed(t, sealedRows)
	d.run(`UPDATE geosql_universe SET hi = 1000000, step = 100000 WHERE name = 'u'`,
		`UPDATE geosql_sealed_column SET name = 'bit' WHERE number = 1`, `DELETE FROM geosql_domain`)
	d.answers(`SELECT dx_sum(kwh, 100) FROM s`, "[[23]]")
	d.answers(`SELECT dx_centroid(place, 100) LIKE 'POINT(%' FROM s`, "[[1]]")
}
