package sqlitefn_test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/geosql/geosql/sqlitefn"
)

// database is one connection that has the functions. A method fails the test
// where its SQL contradicts its name.
//
// Tests that compare answers with exact ones use an epsilon of at least
// 100 per step of the lattice, at which the noise is 0 except with probability
// 2e^-100 < 1e-43. They draw fewer than 1e6 such answers.
type database struct {
	testing.TB
	path string
	pool *sql.DB
	conn *sql.Conn // the pool's only one
}

// open opens a connection to dsn that the end of the test closes.
func open(tb testing.TB, dsn string, opts ...sqlitefn.Option) *database {
	tb.Helper()
	d := &database{TB: tb, path: dsn, pool: sql.OpenDB(sqlitefn.Connector(dsn, opts...))}
	tb.Cleanup(func() { d.pool.Close() })
	var err error
	if d.conn, err = d.pool.Conn(context.Background()); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { d.conn.Close() })
	return d
}

// with returns d, reporting to a subtest.
func (d *database) with(t *testing.T) *database { return &database{t, d.path, d.pool, d.conn} }

// drawing returns d, with draws from the beginning of entropy.
func (d *database) drawing(entropy io.Reader) *database {
	d.Helper()
	d.raw(func(c *sqlitefn.Conn) { c.Rewind(entropy) })
	return d
}

// newDatabase opens a new file. It does not wait for the disk, which the ledger
// beside it does all the same.
func newDatabase(tb testing.TB) *database {
	tb.Helper()
	d := open(tb, filepath.Join(tb.TempDir(), "main.db")+"?_sync=OFF")
	d.path = strings.TrimSuffix(d.path, "?_sync=OFF")
	return d
}

// declared opens a new file with the domain beijing, the universe u of the whole
// numbers 0..10 in kWh, room in every unit, the mechanism homes on three places, and the prior
// squares on two.
func declared(tb testing.TB) *database {
	tb.Helper()
	d := newDatabase(tb)
	d.run(declarations...)
	return d
}

var declarations = []string{
	`SELECT geo_domain('beijing', 39.4, 115.4, 41.1, 117.6, 1)`,
	`SELECT dx_universe('u', 0, 10, 1, 'kWh')`,
	`SELECT budget_limit('*', 'm', 9000000), budget_limit('*', 'kWh', 9000000), budget_limit('*', 'record', 9000000), budget_limit('*', 'm2', 9000000)`,
	`SELECT optql_store('homes', optql_build(lat, lon, people, 0.001, 1, 'beijing'))
		FROM (SELECT 39.9 AS lat, 116.3 AS lon, 3 AS people UNION ALL SELECT 39.95, 116.35, 2 UNION ALL SELECT 40.8, 117.5, 1)`,
	`SELECT prior_store('squares', prior_build(lat, lon, people))
		FROM (SELECT 39.9 AS lat, 116.3 AS lon, 3 AS people UNION ALL SELECT 39.95, 116.35, 2)`,
}

// close closes the connection before the end of the test. Doing so twice is
// harmless.
func (d *database) close() {
	d.conn.Close()
	d.pool.Close()
}

// run runs statements to their ends.
func (d *database) run(statements ...string) {
	d.Helper()
	for _, s := range statements {
		if _, err := d.try(s); err != nil {
			d.Fatalf("%s\n%v", s, err)
		}
	}
}

// try runs one statement up to its end or first error and returns the rows that
// were delivered before.
func (d *database) try(query string, args ...any) (rows [][]any, err error) {
	_, rows, err = d.tryNamed(query, args...)
	return rows, err
}

// tryNamed is try, and also returns the names of the columns.
func (d *database) tryNamed(query string, args ...any) (columns []string, rows [][]any, err error) {
	r, err := d.conn.QueryContext(context.Background(), query, args...)
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	if columns, err = r.Columns(); err != nil {
		return nil, nil, err
	}
	for r.Next() {
		row := make([]any, len(columns))
		into := make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		if err := r.Scan(into...); err != nil {
			return columns, rows, err
		}
		rows = append(rows, row)
	}
	return columns, rows, r.Err()
}

func (d *database) rows(query string, args ...any) [][]any {
	d.Helper()
	rows, err := d.try(query, args...)
	if err != nil {
		d.Fatalf("%s\n%v", query, err)
	}
	return rows
}

// value returns the only value of the only row.
func (d *database) value(query string, args ...any) any {
	d.Helper()
	rows := d.rows(query, args...)
	if len(rows) != 1 || len(rows[0]) != 1 {
		d.Fatalf("%s\nanswers %v, want one value", query, rows)
	}
	return rows[0][0]
}

// answers checks all rows, printed as fmt does.
func (d *database) answers(query, want string) {
	d.Helper()
	if got := fmt.Sprint(d.rows(query)); got != want {
		d.Errorf("%s\nanswers %s, want %s", query, got, want)
	}
}

// fails checks that the statement fails with an error on one line that contains
// all parts, and returns the rows before it.
func (d *database) fails(query string, parts ...string) [][]any {
	d.Helper()
	rows, err := d.try(query)
	if err == nil {
		d.Errorf("%s\nanswers %v, want an error with %q", query, rows, parts)
		return rows
	}
	d.mentions(err, parts...)
	return rows
}

func (d *database) mentions(err error, parts ...string) {
	d.Helper()
	if strings.Contains(err.Error(), "\n") {
		d.Errorf("error of several lines: %q", err)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			d.Errorf("error %q lacks %q", err, part)
		}
	}
}

// spent returns the amount that the account has spent, including reservations.
func (d *database) spent(account, unit string) float64 {
	d.Helper()
	return d.value(`SELECT budget_spent(?, ?)`, account, unit).(float64)
}

// spends checks the amount that the account has spent, including reservations.
func (d *database) spends(account, unit string, want float64) {
	d.Helper()
	if got := d.spent(account, unit); got != want {
		d.Errorf("%s spent %v/%s, want %v", account, got, unit, want)
	}
}

// evaluations returns how many evaluations the ledger has charged in all.
func (d *database) evaluations() int64 {
	d.Helper()
	return d.value(`SELECT coalesce(sum(evaluations), 0) FROM ledger_charges`).(int64)
}

// reserved returns how much is reserved and not spent, for all accounts together.
func (d *database) reserved() float64 {
	d.Helper()
	return d.value(`SELECT coalesce(sum(reserved), 0.0) FROM ledger_balance`).(float64)
}
