//go:build !geosql_loadable

package sqlitefn_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sqlitefn"
)

// snapshot returns all that a database and its ledger hold.
func (d *database) snapshot() string {
	d.Helper()
	var b strings.Builder
	for _, query := range []string{`SELECT * FROM ledger_charges ORDER BY id`, `SELECT * FROM ledger_balance ORDER BY account, unit`,
		`SELECT * FROM sqlite_schema`, `SELECT * FROM t`, `SELECT * FROM n`, `PRAGMA schema_version`, `PRAGMA integrity_check`} {
		fmt.Fprintln(&b, d.rows(query))
	}
	return b.String()
}

// broken is an entropy that must not be used.
type broken struct{ *testing.T }

func (b broken) Read([]byte) (int, error) {
	b.Error("a dry run draws")
	return 0, errors.New("no entropy")
}

var drySelects = []string{
	`SELECT dx_value(account, x, 1, 'u'), geoind_laplace(account, lat, lon, 0.1) FROM t`,
	`SELECT g.* FROM t, geoind_laplace(t.account, t.lat, t.lon, 0.1) g`,
	`SELECT dx_sum(account, x, 1, 'u'), dx_count(account, 1), dx_median(account, x, 1, 'u') FROM t GROUP BY a`,
	`SELECT dx_sum(NULL, NULL, 1, 'u') FROM t`,
	`SELECT z FROM (SELECT dx_value(account, x, 1, 'u') AS z FROM t) WHERE z < 5`,
	`SELECT budget_spent('ana', 'kWh'), budget_remaining('ana', 'm'), count(*) FROM ledger_balance, ledger_charges`,
}

var dryWrites = []string{
	`INSERT INTO n SELECT dx_value(account, x, 1, 'u') FROM t`,
	`REPLACE INTO n SELECT dx_value(account, x, 1, 'u') FROM t`,
	`UPDATE t SET x = dx_value(account, x, 1, 'u')`,
	`DELETE FROM t WHERE dx_value(account, x, 1, 'u') < 5 RETURNING a`,
	`CREATE TABLE made AS SELECT g.lat FROM t, geoind_laplace(t.account, t.lat, t.lon, 0.1) g`,
	`CREATE TEMP TABLE made AS SELECT dx_sum(account, x, 1, 'u') FROM t GROUP BY account`,
	`INSERT INTO unique_numbers SELECT 1 FROM t WHERE dx_value(account, x, 1, 'u') < 5`, // fails half way
}

// A dry run leaves no trace, in whatever transaction, and draws nothing.
func TestDryRunLeavesNoTrace(t *testing.T) {
	for name, around := range map[string][2]string{
		"no transaction":         {`SELECT 1`, `SELECT 1`},
		"transaction":            {`BEGIN`, `COMMIT`},
		"transaction it began":   {`SAVEPOINT geosql_dry_run`, `RELEASE geosql_dry_run`},
		"transaction in writing": {`BEGIN IMMEDIATE; INSERT INTO n VALUES (6)`, `COMMIT`},
	} {
		for _, journal := range []string{"DELETE", "WAL"} {
			t.Run(name+" "+journal, func(t *testing.T) {
				o := newObserved(t)
				o.run(`CREATE TABLE unique_numbers(i UNIQUE)`, `PRAGMA journal_mode = `+journal,
					`SELECT dx_value('ana', 3, 1, 'u'), geoind_laplace('bo', 39.9, 116.3, 0.1)`)
				o.close()
				d := open(t, o.path).drawing(broken{t})
				for _, statement := range strings.Split(around[0], "; ") {
					d.run(statement)
				}
				before := d.snapshot()
				for _, query := range append(drySelects, dryWrites...) {
					_, err := d.try(`SELECT * FROM budget_cost(?)`, query)
					if fails := strings.Contains(query, "unique"); fails != (err != nil) {
						t.Errorf("%s\n%v", query, err)
					}
					if after := d.snapshot(); after != before {
						t.Fatalf("%s\nbefore %s\nafter %s", query, before, after)
					}
				}
				d.run(around[1])
				if after := d.snapshot(); after != before {
					t.Errorf("before %s\nafter %s", before, after)
				}
				d.run(`BEGIN`, `COMMIT`) // no transaction is open
			})
		}
	}
}

func TestDryRunOfAReadOnlyDatabase(t *testing.T) {
	o := newObserved(t)
	o.close()
	d := open(t, "file:"+o.path+"?mode=ro").drawing(broken{t})
	before := d.snapshot()
	for _, query := range drySelects {
		d.rows(`SELECT * FROM budget_cost(?)`, query)
	}
	for _, query := range dryWrites[:5] {
		if _, err := d.try(`SELECT * FROM budget_cost(?)`, query); err == nil || err.Error() != "budget_cost: attempt to write a readonly database" {
			t.Errorf("%s\n%v", query, err)
		}
	}
	if after := d.snapshot(); after != before {
		t.Errorf("before %s\nafter %s", before, after)
	}
}

// A dry run does not create a ledger if nobody has set a limit.
func TestDryRunMakesNoLedger(t *testing.T) {
	d := newDatabase(t)
	d.run(declarations[:2]...)
	d.answers(`SELECT * FROM budget_cost('SELECT dx_value(''ana'', 3, 1, ''u'')')`, `[[dx_value ana kWh 1 1 1 0 <nil>]]`)
	if left, _ := filepath.Glob(d.path + "-ledger*"); left != nil {
		t.Errorf("made %v", left)
	}
	d.fails(`SELECT dx_value('ana', 3, 1, 'u')`, "account 'ana' has no budget")
}

func TestDryRunOfAMissingLedger(t *testing.T) {
	o := newObserved(t)
	o.close()
	if err := os.Remove(o.path + "-ledger"); err != nil {
		t.Fatal(err)
	}
	open(t, o.path).fails(`SELECT * FROM budget_cost('SELECT dx_value(''ana'', 3, 1, ''u'')')`, "budget_cost: ledger", "is missing")
}

// Dry runs cannot distinguish two databases that differ in their secrets only, whether the
// dry runs succeed or fail.
func TestDryRunsShowNoSecret(t *testing.T) {
	a, b := newObserved(t), newObserved(t)
	b.run(`UPDATE t SET x = 10 - x, lat = 40.9 - a / 10.0, lon = 117 - a / 7.0`)
	asked := append([]string{
		`SELECT dx_value(account, x, 1, 'u') || json('[') FROM t`,
		`SELECT json(geoind_laplace(account, lat, lon, 1)) FROM t`,
		`SELECT abs(-9223372036854775807 - dx_count(account, 1)) FROM t`,
		`SELECT json_extract(g.wkt, '$') FROM t, geoind_laplace(t.account, t.lat, t.lon, 1) g`,
		`SELECT dx_value(account, x, 1, 'nowhere') FROM t`,
		`SELECT dx_value(nullif(account, 'cy'), x, 1, 'u') FROM t`,
		`SELECT geoind_laplace(account, lat, lon, 1e-300) FROM t`,
		`SELECT dx_sum(account, x, a, 'u') FROM t`,
		`SELECT dx_sum(account, x, 1, 'u', 'dinf') FROM t`,
		`SELECT CASE WHEN max(z) > 3 THEN dx_value('max', 1, 1, 'u') END FROM (SELECT dx_value(account, x, 1, 'u') AS z FROM t)`,
	}, drySelects...)
	asked = append(asked, dryWrites...)
	for _, s := range costShapes() {
		a.run(s.setup...)
		b.run(s.setup...)
		asked = append(asked, s.queries...)
	}
	for _, query := range asked {
		rowsA, errA := a.try(`SELECT * FROM budget_cost(?)`, query)
		rowsB, errB := b.try(`SELECT * FROM budget_cost(?)`, query)
		if fmt.Sprint(rowsA, errA) != fmt.Sprint(rowsB, errB) {
			t.Errorf("%s\nanswers %v, %v\nor %v, %v", query, rowsA, errA, rowsB, errB)
		}
	}
}

// works checks that the connection charges as ever and has no transaction open.
func (d *database) works() {
	d.Helper()
	before := d.spent("afterwards", "kWh")
	d.answers(`SELECT dx_value('afterwards', 3, 100, 'u')`, `[[3]]`)
	d.spends("afterwards", "kWh", before+100)
	d.run(`BEGIN`, `COMMIT`)
}

func TestStatementsThatCannotBeDryRun(t *testing.T) {
	o := newObserved(t)
	o.run(`CREATE TABLE strict(i UNIQUE ON CONFLICT ROLLBACK)`)
	for query, want := range map[string]string{
		``:                               "sql holds no statement",
		" \n\t":                          "sql holds no statement",
		`-- nothing`:                     "sql holds no statement",
		`/* nothing */ -- at all`:        "sql holds no statement",
		`;`:                              "sql must be one of SELECT",
		`; SELECT 1`:                     "sql must be one of SELECT",
		`SELECT 1; SELECT 2`:             "sql holds more than one statement",
		`SELECT 1; PRAGMA cache_size=0`:  "sql holds more than one statement",
		`SELECT 1;;`:                     "sql holds more than one statement",
		`SELEC 1`:                        "sql must be one of SELECT",
		`SELECT`:                         "incomplete input",
		`SELECT 1 FROM`:                  "incomplete input",
		`SELECT nosuch`:                  "no such column: nosuch",
		`SELECT ?`:                       "sql has a parameter",
		`SELECT a FROM t WHERE a = :a`:   "sql has a parameter",
		`EXPLAIN SELECT 1`:               "sql must be one of SELECT",
		`BEGIN`:                          "sql must be one of SELECT",
		`COMMIT`:                         "sql must be one of SELECT",
		`ROLLBACK`:                       "sql must be one of SELECT",
		`SAVEPOINT a`:                    "sql must be one of SELECT",
		`PRAGMA user_version = 7`:        "sql must be one of SELECT",
		`/**/PRAGMA user_version = 7`:    "sql must be one of SELECT",
		"--\nPRAGMA user_version = 7":    "sql must be one of SELECT",
		`QUERY PLAN SELECT 1`:            "sql must be one of SELECT",
		`ATTACH 'x' AS x`:                "sql must be one of SELECT",
		`VACUUM`:                         "sql must be one of SELECT",
		`DROP TABLE t`:                   "sql must be one of SELECT",
		`CREATE VIEW v AS SELECT 1`:      "sql must be one of SELECT",
		`CREATE INDEX i ON t(a)`:         "sql must be one of SELECT",
		`CREATE VIRTUAL TABLE v USING x`: "sql must be one of SELECT",
		`CREATE`:                         "sql must be one of SELECT",
		`SELECT ` + "\x00":               "NUL",

		`SELECT geo_domain('other', 39, 115, 40, 116, 1)`:                                                "geo_domain: cannot be dry-run",
		`SELECT geo_region('beijing', 'POLYGON((116 40, 117 40, 117 41, 116 40))')`:                      "geo_region: cannot be dry-run",
		`SELECT dx_universe('other', 0, 1, 1, 'kWh')`:                                                    "dx_universe: cannot be dry-run",
		`SELECT budget_limit('ana', 'm', 1)`:                                                             "budget_limit: cannot be dry-run",
		`SELECT budget_reserve(account, 'm', 1) FROM t`:                                                  "budget_reserve: cannot be dry-run",
		`SELECT ledger_archive('x', 0)`:                                                                  "ledger_archive: cannot be dry-run",
		`SELECT * FROM budget_cost('SELECT 1')`:                                                          "budget_cost: budget_cost: cannot be dry-run",
		`SELECT a, dx_value(account, x, 1, 'u'), json('[' || CASE WHEN a < 3 THEN ']' END) FROM t`:       "",
		`SELECT dx_value(account, x, 1, 'u'), json(substr('[[]', 1 + (a < 3), 2)) FROM t`:                "malformed JSON",
		`SELECT dx_sum(account, x, 1, 'u'), sum(json(substr('[[]', 1 + (a < 3), 2))) FROM t`:             "malformed JSON",
		`INSERT INTO n SELECT dx_value(account, x, 1, 'u') + json(substr('[[]', 1 + (a < 3), 2)) FROM t`: "malformed JSON",
		`SELECT dx_value(account, x, -1, 'u') FROM t`:                                                    "dx_value: epsilon must be above 0, got -1",
		`SELECT dx_value(NULL, x, 1, 'u') FROM t`:                                                        "dx_value: account must be TEXT or INTEGER, got NULL",
	} {
		t.Run(query, func(t *testing.T) {
			o := o.with(t)
			_, err := o.try(`SELECT * FROM budget_cost(?)`, query)
			if want == "" != (err == nil) {
				t.Fatal(err)
			}
			if err != nil {
				o.mentions(err, "budget_cost: ", want)
			}
			o.works()
		})
	}
	o.answers(`PRAGMA user_version`, `[[0]]`)
	for _, argument := range []string{`NULL`, `1`, `x'00'`} {
		o.fails(`SELECT * FROM budget_cost(`+argument+`)`, "budget_cost: sql must be TEXT, got ")
	}
	if n := o.value(`SELECT count(*) FROM ledger_charges WHERE account <> 'afterwards'`); n != int64(0) {
		t.Errorf("%d charges", n)
	}
}

func TestDryRunAllows(t *testing.T) {
	o := newObserved(t)
	for _, query := range []string{
		`SELECT 1;`, ` SELECT 1 ; -- that is all`, `select 1/* */`, `VALUES (1)`, "WITH\nx AS (SELECT 1) SELECT * FROM x",
		`/* one */ -- two` + "\nSELECT 1", `SELECT ';'`, `CREATE /* a */ TEMP TABLE x(a)`, `create temporary table x AS SELECT 1`,
		`SELECT geosql_help('dx_sum'), geoind_radius(0.1, 0.5), dx_radius('count', 0.5, 1, NULL), geosql_version()`,
		`SELECT geo_outside('beijing', 1, 1), dx_outside('u', 11), budget_spent('ana', 'm'), budget_remaining('ana', 'm')`,
	} {
		o.answers(`SELECT function FROM budget_cost('`+strings.ReplaceAll(query, `'`, `''`)+`') WHERE function <> '*'`, `[]`)
	}
	o.works()
}

// A statement that may roll back the surrounding transaction could undo more than its
// own writes.
func TestDryRunOfRollback(t *testing.T) {
	o := newObserved(t)
	o.run(`CREATE TABLE strict(i UNIQUE ON CONFLICT ROLLBACK)`, `CREATE TABLE watched(i)`,
		`CREATE TRIGGER watch AFTER INSERT ON watched BEGIN SELECT raise(ROLLBACK, 'no'); END`)
	for _, query := range []string{`INSERT OR ROLLBACK INTO t(a) SELECT 1`, `INSERT INTO strict VALUES (1), (1)`, `INSERT INTO watched VALUES (1)`} {
		o.run(`BEGIN`, `INSERT INTO n VALUES (6)`)
		_, err := o.try(`SELECT * FROM budget_cost(?)`, query)
		if fails := !strings.Contains(query, "INTO t"); fails != (err != nil) {
			t.Errorf("%s\n%v", query, err)
		}
		o.run(`COMMIT`)
		o.answers(`SELECT count(*) FROM n`, `[[6]]`)
		o.run(`DELETE FROM n WHERE i = 6`)

		o.try(`SELECT * FROM budget_cost(?)`, query)
		o.works()
	}
}

func TestDryRunOfViews(t *testing.T) {
	o := newObserved(t)
	o.run(`CREATE VIEW released AS SELECT t.a, g.lat FROM t, geoind_laplace(t.account, t.lat, t.lon, 0.1) g`,
		`CREATE VIEW sums AS SELECT dx_sum(account, x, 2, 'u') AS s FROM t`)
	o.answers(`SELECT function, account, epsilon, at_most FROM budget_cost('SELECT lat FROM released WHERE a > 1')`,
		`[[geoind_laplace ana 0.2 0.2] [geoind_laplace bo 0.1 0.1] [geoind_laplace cy 0.1 0.1]]`)
	o.answers(`SELECT function, account, epsilon, at_most FROM budget_cost('SELECT s FROM sums')`,
		`[[dx_sum ana 2 2] [dx_sum bo 2 2] [dx_sum cy 2 2]]`)
}

// stopping is a database with an SQL function stop that interrupts the connection
// and answers its argument.
func stopping(t *testing.T) *observed {
	o := newObserved(t)
	err := o.conn.Raw(func(c any) error {
		conn, err := sqlite.FromDriver(c.(*sqlitefn.Conn).SQLiteConn)
		if err != nil {
			return err
		}
		return conn.Register(sqlite.Library{Scalars: []sqlite.Scalar{{Name: "stop", Args: []int{1}, Call: func(c *sqlite.Call) error {
			conn.Interrupt()
			c.ResultInt(0, c.Arg(0).Int())
			return nil
		}}}})
	})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// However a dry run is interrupted, nothing that it wrote stays. In the last
// statement the interrupt comes too late for the statement itself and hits the
// rollback.
func TestInterruptedDryRun(t *testing.T) {
	for _, query := range []string{
		`SELECT dx_value(account, stop(a), 1, 'u') FROM t`,
		`SELECT dx_sum(account, stop(a), 1, 'u') FROM t GROUP BY a`,
		`INSERT INTO n SELECT dx_value(account, stop(a), 1, 'u') FROM t`,
		`CREATE TABLE made AS SELECT dx_value(account, stop(a), 1, 'u') FROM t`,
		`INSERT INTO n VALUES (dx_value('ana', 3, 1, 'u') + stop(1))`,
	} {
		t.Run(query, func(t *testing.T) {
			o := stopping(t)
			before := o.snapshot()
			for range 3 {
				_, err := o.try(`SELECT * FROM budget_cost(?)`, query)
				if err == nil || !strings.Contains(err.Error(), "interrupted") {
					t.Fatal(err)
				}
				if after := o.snapshot(); after != before {
					t.Fatalf("before %s\nafter %s", before, after)
				}
			}
			o.works()

			// An interrupted write takes the transaction around it along, dry-run
			// or not; an interrupted read does not.
			o.run(`BEGIN`, `INSERT INTO n VALUES (6)`)
			if _, err := o.try(`SELECT * FROM budget_cost(?)`, query); err == nil {
				t.Error("succeeds")
			}
			if strings.HasPrefix(query, "SELECT") {
				o.run(`ROLLBACK`)
			}
			o.answers(`SELECT count(*) FROM n`, `[[5]]`)
			o.works()
		})
	}
}

// Rows of the ledger change with every charge, so nothing is proved of a
// statement that reads them.
func TestDryRunThatReadsTheLedger(t *testing.T) {
	o := newObserved(t)
	o.run(`SELECT dx_value('bo', 3, 1, 'u')`)
	for query, want := range map[string]string{
		`SELECT dx_value('ana', 3, 1, 'u') FROM ledger_charges`:                                  `[[ana 1 8.999999e+06] [* <nil> <nil>]]`,
		`SELECT dx_value('ana', 3, 1, 'u') FROM t WHERE a < 3 AND budget_spent('bo', 'kWh') > 0`: `[[ana 2 8.999999e+06] [* <nil> <nil>]]`,
	} {
		o.run(`SELECT budget_limit('ana', 'kWh', 8999999)`)
		if got := fmt.Sprint(o.rows(`SELECT account, epsilon, at_most FROM budget_cost(?)`, query)); got != want {
			t.Errorf("%s\nanswers %s, want %s", query, got, want)
		}
	}
}

// A cancelled context interrupts too.
func TestCancelledDryRun(t *testing.T) {
	o := newObserved(t)
	ctx, cancel := context.WithCancel(t.Context())
	err := o.conn.Raw(func(c any) error {
		return c.(*sqlitefn.Conn).RegisterFunc("cancel", func(i int64) int64 { cancel(); return i }, true)
	})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := o.conn.QueryContext(ctx, `SELECT * FROM budget_cost(?)`, numbered("1e9")+`SELECT dx_value('ana', cancel(i), 1, 'u') FROM s`)
	if err == nil {
		for rows.Next() {
		}
		err = rows.Err()
		rows.Close()
	}
	if err == nil {
		t.Error("succeeds")
	}
	o.works()
}

// To undo the creation of a table SQLite aborts every statement that is reading rows.
// Others are not harmed; the one that asks can be, which is an error.
func TestDryRunOfCreateTableBesideOtherStatements(t *testing.T) {
	o := newObserved(t)
	const create = `CREATE TABLE made AS SELECT dx_value(account, x, 1, 'u') AS z FROM t`
	rows, err := o.conn.QueryContext(t.Context(), `SELECT a FROM t`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for n := range 5 {
		if !rows.Next() {
			t.Fatalf("%d rows, %v", n, rows.Err())
		}
		_, err = o.try(`SELECT sum(epsilon) FROM budget_cost(?)`, create)
		if err == nil || err.Error() != "budget_cost: sql makes a table, which cannot be dry-run while other statements run" {
			t.Fatal(err)
		}
	}
	rows.Close()
	for range 100 {
		if _, err = o.try(`SELECT a, c.epsilon FROM t CROSS JOIN budget_cost(iif(a > 0, ?, '')) c`, create); err == nil || err.Error() != "abort due to ROLLBACK" {
			t.Fatal(err)
		}
		o.answers(`SELECT sum(epsilon) FROM budget_cost('`+strings.ReplaceAll(create, `'`, `''`)+`')`, `[[5]]`)
	}
	o.works()
}

// Dry runs do not depend on how a connection got the functions.
func TestDryRunOfPooledAndAutomaticConnections(t *testing.T) {
	path := declaredFile(t)
	db := pool(t, sqlitefn.Connector(path))
	a, b := pinned(t, db), pinned(t, db)
	auto(t)
	c := pinned(t, pool(t, plainConnector(path)))
	for _, d := range []*database{a, b, c} {
		d.answers(`SELECT * FROM budget_cost('SELECT dx_value(''ana'', 3, 1, ''u'')')`, `[[dx_value ana kWh 1 1 1 9e+06 <nil>]]`)
	}
	a.run(`SELECT dx_value('ana', 3, 1, 'u')`)
	for _, d := range []*database{a, b, c} {
		d.answers(`SELECT remaining FROM budget_cost('SELECT dx_value(''ana'', 3, 1, ''u'')')`, `[[8.999999e+06]]`)
		d.works()
	}
}

// Whatever the text is, a dry run of it leaves no trace.
func FuzzDryRun(f *testing.F) {
	for _, query := range append(append([]string{"", ";", "--", "/*", "/**/", "CREATE", "SELECT 1;PRAGMA user_version=1", "PRAGMA user_version=1",
		"EXPLAIN SELECT 1", "WITH x AS (SELECT 1) DELETE FROM t"}, drySelects...), dryWrites...) {
		f.Add(query)
	}
	f.Fuzz(func(t *testing.T, query string) {
		if strings.Contains(strings.ToUpper(query), "RECURSIVE") || strings.Contains(strings.ToUpper(query), "ZEROBLOB") {
			t.Skip("may take for ever")
		}
		d := inMemory(t)
		before := d.snapshot()
		if _, err := d.try(`SELECT * FROM budget_cost(?)`, query); err != nil {
			d.mentions(err, "budget_cost: ")
			if strings.Contains(err.Error(), "internal error") {
				t.Error(err)
			}
		}
		if after := d.snapshot(); after != before {
			t.Errorf("%q\nbefore %s\nafter %s", query, before, after)
		}
		d.answers(`PRAGMA user_version`, `[[0]]`)
		d.works()
	})
}
