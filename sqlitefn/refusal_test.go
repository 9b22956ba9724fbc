//go:build !geosql_loadable

package sqlitefn_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sqlitefn"
	sqlite3 "github.com/mattn/go-sqlite3"
)

// lastRefusal is the answer of geosql_last_refusal.
type lastRefusal struct {
	Account, Unit      string
	Asked, Left, Short json.Number
	Reopens            *time.Time
	Function           string
}

// lastRefusal returns the connection's answer, nil for NULL.
func (d *database) lastRefusal() *lastRefusal {
	d.Helper()
	text, ok := d.value(`SELECT geosql_last_refusal()`).(string)
	if !ok {
		return nil
	}
	in, r := json.NewDecoder(strings.NewReader(text)), new(lastRefusal)
	in.DisallowUnknownFields()
	if err := in.Decode(r); err != nil {
		d.Fatalf("%s: %v", text, err)
	}
	return r
}

// refused checks that an error is a refusal, with the driver's error in it, and returns it.
func (d *database) refused(err error) *sqlitefn.RefusedError {
	d.Helper()
	var r *sqlitefn.RefusedError
	if !errors.As(err, &r) {
		d.Fatalf("%v (%T) is no refusal", err, err)
	}
	var coded sqlite3.Error
	if !errors.As(err, &coded) || coded.Code != sqlite3.ErrAuth || coded.Error() != err.Error() {
		d.Errorf("%v holds the driver's error %v", err, coded)
	}
	if r.Short != r.Asked-r.Left || r.Short <= 0 || r.Left < 0 {
		d.Errorf("%+v does not add up", r)
	}
	return r
}

// notRefused checks that an error is no refusal.
func (d *database) notRefused(err error) {
	d.Helper()
	var r *sqlitefn.RefusedError
	if err == nil || errors.As(err, &r) {
		d.Errorf("error %v, want one that is no refusal", err)
	}
}

// summary is a refusal without the time when the limit reopens.
func summary(r *sqlitefn.RefusedError) string {
	return fmt.Sprintf("%s %s %s: %s of %s, %s short", r.Function, r.Account, r.Unit, r.Left, r.Asked, r.Short)
}

// blocked has declarations, and accounts that are out of budget.
func blocked(t *testing.T) *database {
	d := declared(t)
	d.run(`SELECT dx_universe('v', 0, 1, 1, 'k"<Wh')`,
		`SELECT budget_limit('ana', unit, 0.25), budget_limit('bo', unit, 0) FROM (SELECT 'm' AS unit UNION SELECT 'kWh' UNION SELECT 'record')`,
		`SELECT trace_policy('walk', 'ana', 'predictive', '{"epsilon": 0.5, "alpha": 200, "domain": "beijing", "manager": "fixed-rate", "steps": 1}')`,
		`SELECT trace_policy('run', 'bo', 'predictive', '{"epsilon": 0.5, "alpha": 200, "domain": "beijing", "manager": "fixed-rate", "steps": 1}')`,
		`CREATE TABLE t(a, x)`, `INSERT INTO t VALUES ('cy', 1), ('ana', 3), ('bo', 4)`)
	return d
}

// Every form of function is refused with the same error, which has the facts of the text.
func TestRefusedError(t *testing.T) {
	d := blocked(t)
	for query, want := range map[string]string{
		`SELECT geoind_laplace('ana', 39.9, 116.3, 0.5)`:                                           "geoind_laplace ana m: 0.25 of 0.5, 0.25 short",
		`SELECT lat FROM geoind_laplace('ana', 39.9, 116.3, 0.5)`:                                  "geoind_laplace ana m: 0.25 of 0.5, 0.25 short",
		`SELECT dx_sum('bo', 3, 1, 'u')`:                                                           "dx_sum bo kWh: 0 of 1, 1 short",
		`SELECT dx_count(a, 1) FROM t GROUP BY a HAVING a = 'bo'`:                                  "dx_count bo record: 0 of 1, 1 short",
		`SELECT budget_reserve(a, 'kWh', 0.7) FROM t WHERE a = 'bo'`:                               "budget_reserve bo kWh: 0 of 0.7, 0.7 short",
		`SELECT predictive_step('run', 1000, 40.0, 116.3)`:                                         "predictive_step bo m: 0 of 0.5, 0.5 short",
		`CREATE TABLE released AS SELECT dx_value(a, x, 1, 'u') FROM t`:                            "dx_value ana kWh: 0.25 of 1, 0.75 short",
		`INSERT INTO t SELECT a, dx_value(a, x, 1, 'u') FROM t`:                                    "dx_value ana kWh: 0.25 of 1, 0.75 short",
		`SELECT geoind_gauss('bo', 39.9, 116.3, 0.5) WHERE budget_limit('bo', 'm2', 0) <> ''`:      "geoind_gauss bo m2: 0 of 0.5, 0.5 short",
		`SELECT dx_value('bo', 3, 1, 'v')`:                                                         `dx_value bo k"<Wh: 0 of 1, 1 short`,
		"SELECT dx_value('a\u0007b', 3, 1, 'v') /* a text that is printed with escapes */":         "dx_value a\u0007b k\"<Wh: 0 of 1, 1 short",
		`SELECT * FROM (SELECT dx_value('bo', 3, 1, 'u') AS v UNION ALL SELECT 1) ORDER BY v`:      "dx_value bo kWh: 0 of 1, 1 short",
		`UPDATE t SET x = dx_value(a, x, 1, 'u') WHERE a = 'bo'`:                                   "dx_value bo kWh: 0 of 1, 1 short",
		`SELECT dx_sum('ana', 3, 1, 'u'), dx_sum('bo', 3, 2, 'u')`:                                 "dx_sum ana kWh: 0.25 of 1, 0.75 short",
		`SELECT dx_sum(a, x, 1, 'u'), dx_count(a, 1), dx_max(a, x, 1, 'u') FROM t WHERE a <> 'cy'`: "dx_sum ana kWh: 0.25 of 1, 0.75 short",
	} {
		for how, ask := range map[string]func() error{
			"query": func() error { _, err := d.try(query); return err },
			"exec":  func() error { _, err := d.conn.ExecContext(context.Background(), query); return err },
			"row":   func() error { return d.conn.QueryRowContext(context.Background(), query).Scan(new(any)) },
			"prepared query": func() error {
				s, err := d.conn.PrepareContext(context.Background(), query)
				if err != nil {
					return err
				}
				defer s.Close()
				return s.QueryRow().Scan(new(any))
			},
			"prepared exec": func() error {
				s, err := d.conn.PrepareContext(context.Background(), query)
				if err != nil {
					return err
				}
				defer s.Close()
				_, err = s.Exec()
				return err
			},
			"transaction": func() error {
				tx, err := d.conn.BeginTx(context.Background(), nil)
				if err != nil {
					return err
				}
				defer tx.Rollback()
				_, err = tx.Exec(query)
				return err
			},
			"cancellable": func() error {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				_, err := d.conn.ExecContext(ctx, query)
				return err
			},
		} {
			t.Run(query+"/"+how, func(t *testing.T) {
				d := d.with(t)
				r := d.refused(ask())
				if got := summary(r); got != want {
					t.Errorf("%s, want %s", got, want)
				}
				if !r.Reopens.IsZero() {
					t.Errorf("reopens %v", r.Reopens)
				}
				last := d.lastRefusal()
				if last == nil {
					t.Fatal("the connection knows of no refusal")
				}
				told := fmt.Sprintf("%s %s %s: %s of %s, %s short", last.Function, last.Account, last.Unit, last.Left, last.Asked, last.Short)
				if told != want || last.Reopens != nil {
					t.Errorf("geosql_last_refusal tells %s, reopens %v", told, last.Reopens)
				}
			})
		}
	}
}

// The rows before a refusal are answered, and rows.Err reports it.
func TestRefusalInMidAnswer(t *testing.T) {
	d := blocked(t)
	for _, query := range []string{
		`SELECT geoind_laplace(a, 39.9, 116.3, ?) FROM t`,
		`SELECT g.lat FROM t, geoind_laplace(a, 39.9, 116.3, ?) g`,
	} {
		rows, err := d.try(query, 0.5)
		if got := summary(d.refused(err)); got != "geoind_laplace ana m: 0.25 of 0.5, 0.25 short" || len(rows) != 1 {
			t.Errorf("%s after %d rows", got, len(rows))
		}
		s, err := d.conn.PrepareContext(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		answer, err := s.Query(0.5)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second time it is at its end
			for answer.Next() {
			}
			d.refused(answer.Err())
		}
		answer.Close()
	}
}

// The form of the answer is part of the interface.
func TestLastRefusalText(t *testing.T) {
	d := blocked(t)
	d.answers(`SELECT geosql_last_refusal()`, `[[<nil>]]`)
	d.fails(`SELECT dx_value('bo', 3, 0.1, 'u')`)
	const says = `[[{"account":"bo","unit":"kWh","asked":0.1,"left":0,"short":0.1,"reopens":null,"function":"dx_value"}]]`
	d.answers(`SELECT geosql_last_refusal()`, says)
	d.answers(`SELECT geosql_last_refusal()`, says)
	d.answers(`SELECT geosql_last_refusal() ->> 'short', typeof(geosql_last_refusal()) FROM t LIMIT 1`, `[[0.1 text]]`)
}

func TestRefusalOfAWindowReopens(t *testing.T) {
	d := declared(t)
	d.run(`SELECT budget_limit('ana', 'kWh', 1, 3600)`, `SELECT dx_value('ana', 3, 0.75, 'u')`)
	begins := time.Now()
	_, err := d.try(`SELECT dx_value('ana', 3, 0.5, 'u')`)
	r := d.refused(err)
	if in := r.Reopens.Sub(begins); in < 59*time.Minute || in > 61*time.Minute {
		t.Errorf("reopens in %v", in)
	}
	d.mentions(err, r.Reopens.Format(time.RFC3339))
	if last := d.lastRefusal(); last == nil || last.Reopens == nil || !last.Reopens.Equal(r.Reopens.Truncate(time.Second)) {
		t.Errorf("tells %+v, want %v", last, r.Reopens)
	}
	_, err = d.try(`SELECT dx_value('ana', 3, 1.5, 'u')`)
	if r := d.refused(err); r.Asked != 3*budget.One/2 {
		t.Errorf("%+v", r)
	}
}

// A unit in which an account is charged once refuses with nothing left.
func TestRefusalOfASecondCharge(t *testing.T) {
	d := declared(t)
	d.run(`SELECT cip_policy('one', '{"kernel":"rbf","variance":1,"length_scale":1,"radius":50,"lambda":2,"epsilon":0.5,"family":"singles"}')`,
		`SELECT budget_limit('*', 'cip:one', 100)`)
	trace := `SELECT cip_trace('ana', t, lat, lon, 'one') FROM (SELECT 0 AS t, 39.9 AS lat, 116.3 AS lon)`
	d.run(trace)
	_, err := d.try(trace)
	r := d.refused(err)
	if r.Account != "ana" || r.Unit != "cip:one" || r.Left != 0 || r.Function != "cip_trace" {
		t.Errorf("%+v", r)
	}
}

// Without a ledger, and without a limit in the unit, nothing is left.
func TestRefusalWithoutALimit(t *testing.T) {
	d := newDatabase(t)
	d.run(`SELECT dx_universe('u', 0, 10, 1, 'kWh')`)
	for range 2 {
		for query, want := range map[string]string{
			`SELECT dx_value('ana', 3, 0.5, 'u')`: "dx_value ana kWh: 0 of 0.5, 0.5 short",
			`SELECT dx_sum('ana', 3, 0.5, 'u')`:   "dx_sum ana kWh: 0 of 0.5, 0.5 short",
		} {
			_, err := d.try(query)
			if got := summary(d.refused(err)); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
		d.run(`SELECT budget_limit('ana', 'm', 1)`)
	}
}

// An error that is no refusal is never given an earlier refusal.
func TestRefusalIsNotAttachedToOtherErrors(t *testing.T) {
	d := blocked(t)
	err := d.conn.Raw(func(c any) error { // a function of somebody else, with the same code
		conn, err := sqlite.FromDriver(c.(*sqlitefn.Conn).SQLiteConn)
		if err != nil {
			return err
		}
		return conn.Register(sqlite.Library{Scalars: []sqlite.Scalar{{Name: "denied", Args: []int{0}, Call: func(*sqlite.Call) error {
			return &sqlite.Error{Code: sqlite.CodeDenied, Message: "denied"}
		}}}})
	})
	if err != nil {
		t.Fatal(err)
	}
	for query, keeps := range map[string]bool{
		`SELECT geoind_laplace('bo', 39.9, 116.3, -1)`: false,
		`SELECT geo_domain('x', 1, 2, 3, 4, -5)`:       false,
		`SELECT * FROM budget_cost('SELECT nobody()')`: false,
		`SELECT * FROM geoind_laplace('bo')`:           false,
		`SELEC 1`:                                      true,
		`SELECT * FROM nowhere`:                        true,
		`SELECT json('[')`:                             true,
		`INSERT INTO one VALUES (1)`:                   true,
		`SELECT denied()`:                              true,
		`SELECT * FROM budget_cost(1)`:                 false,
	} {
		t.Run(query, func(t *testing.T) {
			d := d.with(t)
			d.run(`DROP TABLE IF EXISTS one`, `CREATE TABLE one(i UNIQUE)`, `INSERT INTO one VALUES (1)`)
			_, err := d.try(`SELECT dx_value('bo', 3, 1, 'u')`)
			d.refused(err)
			_, err = d.try(query)
			d.notRefused(err)
			if last := d.lastRefusal(); (last != nil) != keeps {
				t.Errorf("geosql_last_refusal tells %+v", last)
			}
		})
	}
	d.run(`SELECT dx_value('cy', 3, 1, 'u')`)
}

// A statement that fails ends its other groups and partitions, which may be refused then. Its
// error is the first.
func TestRefusalThatEndedTheStatement(t *testing.T) {
	d := blocked(t)
	d.run(`CREATE TABLE log(v)`, `CREATE TABLE queue(i)`,
		`CREATE TEMP TRIGGER release AFTER INSERT ON queue BEGIN
			INSERT INTO log SELECT dx_sum(a, x, 1, 'u') + dx_sum('bo', x, 2, 'u') FROM t WHERE a = 'ana';
		END`)
	for query, want := range map[string]string{
		`SELECT dx_sum(a, x, 1, 'u'), dx_sum('bo', x, 2, 'u') FROM t WHERE a = 'ana'`:                                               "dx_sum ana kWh: 0.25 of 1, 0.75 short",
		numbered("300") + `SELECT dx_sum('ana', 3, 1, 'u'), dx_sum('bo', 3, 2, 'u') FROM s`:                                         "dx_sum ana kWh: 0.25 of 1, 0.75 short",
		numbered("3") + `SELECT dx_sum('bo', i, 1, 'u') FROM s, geoind_laplace(iif(i < 3, 'cy', 'ana'), 39, 116, 0.5)`:              "geoind_laplace ana m: 0.25 of 0.5, 0.25 short",
		numbered("3") + `SELECT dx_sum('bo', i, 1, 'u'), sum(length(geoind_laplace(iif(i < 3, 'cy', 'ana'), 39, 116, 0.5))) FROM s`: "geoind_laplace ana m: 0.25 of 0.5, 0.25 short",
		`SELECT predictive_step('walk', 1000, 40.0, 116.3), predictive_step('run', 1000, 40.0, 116.3)`:                              "predictive_step ana m: 0.25 of 0.5, 0.25 short",
		`SELECT dx_sum('ana', 3, 1, 'u'), predictive_step('run', 1000, 40.0, 116.3)`:                                                "dx_sum ana kWh: 0.25 of 1, 0.75 short",
		`INSERT INTO queue VALUES (1)`: "dx_sum ana kWh: 0.25 of 1, 0.75 short",
	} {
		t.Run(query, func(t *testing.T) {
			d := d.with(t)
			_, err := d.try(query)
			if got := summary(d.refused(err)); got != want {
				t.Errorf("%s, want %s", got, want)
			}
			if last := d.lastRefusal(); last == nil || last.Function+" "+last.Account != strings.Join(strings.Fields(want)[:2], " ") {
				t.Errorf("geosql_last_refusal tells %+v", last)
			}
		})
	}
	for _, query := range []string{ // the error is no refusal, those of the groups that end come after it
		numbered("3") + `SELECT dx_sum('bo', i, 1, 'u'), sum(length(geoind_laplace('cy', 39, 116, 2 - i))) FROM s`,
		`SELECT predictive_step('run', 1000, 40.0, 116.3), sum(dx_value('cy', x, -1, 'u')) FROM t WHERE a = 'ana'`,
	} {
		_, err := d.try(query)
		d.notRefused(err)
		if last := d.lastRefusal(); last != nil {
			t.Errorf("%s\ngeosql_last_refusal tells %+v", query, last)
		}
	}
}

// Two statements that run on one connection at a time each get their own.
func TestRefusalsOfStatementsThatRunTogether(t *testing.T) {
	d := blocked(t)
	groups := `SELECT g, dx_sum(iif(g = 2, 'ana', 'cy'), 3, g, 'u') FROM (SELECT 1 AS g UNION SELECT 2) GROUP BY g`
	rows, err := d.conn.QueryContext(context.Background(), groups)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	if !rows.Next() {
		t.Fatal(rows.Err())
	}
	_, err = d.try(`SELECT dx_value('bo', 3, 1, 'u')`)
	if got := summary(d.refused(err)); got != "dx_value bo kWh: 0 of 1, 1 short" {
		t.Error(got)
	}
	if rows.Next() {
		t.Fatal("ana's group is answered")
	}
	if got := summary(d.refused(rows.Err())); got != "dx_sum ana kWh: 0.25 of 2, 1.75 short" {
		t.Error(got)
	}
	if last := d.lastRefusal(); last == nil || last.Account != "ana" {
		t.Errorf("geosql_last_refusal tells %+v", last)
	}
}

// Goroutines that share a pool each get the refusal of their own statement.
func TestRefusalsInAPool(t *testing.T) {
	d := declared(t)
	const goroutines, statements = 8, 40
	for g := range goroutines {
		d.run(fmt.Sprintf(`SELECT budget_limit('a%d', 'kWh', 0)`, g))
	}
	db := pool(t, sqlitefn.Connector(d.path))
	db.SetMaxOpenConns(3)
	var wait sync.WaitGroup
	for g := range goroutines {
		account := fmt.Sprintf("a%d", g)
		wait.Go(func() {
			for i := range statements {
				asked := budget.Amount(i+1) * budget.One / 1000
				err := db.QueryRow(`SELECT dx_value(?, 3, ?, 'u')`, account, asked.Float64()).Scan(new(float64))
				var r *sqlitefn.RefusedError
				if !errors.As(err, &r) || r.Account != account || r.Asked != asked {
					t.Errorf("%s is refused %v: %+v", account, err, r)
				}
				err = db.QueryRow(`SELECT dx_value(?, 3, -1, 'u')`, account).Scan(new(float64))
				if err == nil || errors.As(err, &r) && r.Asked < 0 {
					t.Error(err)
				}
				if r = nil; errors.As(err, &r) {
					t.Errorf("%v is a refusal", err)
				}
			}
		})
	}
	wait.Wait()
}

// A program with a driver of its own gets the driver's errors, and asks the connection.
func TestLastRefusalWithADriverOfOnesOwn(t *testing.T) {
	d := blocked(t)
	for name, db := range map[string]*sql.DB{
		"Register": pool(t, hooked{d.path, func(c *sqlite3.SQLiteConn) error { return sqlitefn.Register(c) }}),
		"Auto":     func() *sql.DB { auto(t); return pool(t, plainConnector(d.path)) }(),
	} {
		t.Run(name, func(t *testing.T) {
			own := pinned(t, db)
			_, err := own.try(`SELECT dx_value('bo', 3, 1, 'u')`)
			own.notRefused(err)
			var coded sqlite3.Error
			if !errors.As(err, &coded) || coded.ExtendedCode != 279 {
				t.Errorf("%#v", err)
			}
			if last := own.lastRefusal(); last == nil || last.Account != "bo" {
				t.Errorf("geosql_last_refusal tells %+v", last)
			}
			if last := pinned(t, db).lastRefusal(); last != nil {
				t.Errorf("on another connection it tells %+v", last)
			}
		})
	}
}

// It shows balances, so the schema of a database may not call it.
func TestLastRefusalInASchema(t *testing.T) {
	d := blocked(t)
	d.run(`CREATE VIEW v AS SELECT geosql_last_refusal()`, `CREATE TABLE w(a)`,
		`CREATE TRIGGER r AFTER INSERT ON w BEGIN SELECT geosql_last_refusal(); END`)
	d.fails(`SELECT * FROM v`, "unsafe use of geosql_last_refusal()")
	d.fails(`INSERT INTO w VALUES (1)`, "unsafe use of geosql_last_refusal()")
	d.run(`CREATE TEMP VIEW mine AS SELECT geosql_last_refusal() IS NULL AS none`)
	d.answers(`SELECT none FROM mine`, `[[1]]`)
}

// A dry run is neither refused nor counted as a failure.
func TestLastRefusalAfterADryRun(t *testing.T) {
	d := blocked(t)
	d.fails(`SELECT dx_value('bo', 3, 1, 'u')`)
	d.run(`SELECT * FROM budget_cost('SELECT dx_value(''ana'', 3, 1, ''u''), geosql_last_refusal()')`)
	if last := d.lastRefusal(); last == nil || last.Account != "bo" {
		t.Errorf("geosql_last_refusal tells %+v", last)
	}
}

// sql.Conn.Raw passes the driver's connection within one of the connector.
func TestRawConnection(t *testing.T) {
	d := blocked(t)
	if err := d.conn.Raw(func(c any) error { return sqlitefn.Register(c.(*sqlitefn.Conn).SQLiteConn) }); err != nil {
		t.Error(err)
	}
}
