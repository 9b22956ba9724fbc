package sqlitefn

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sealed/catalog"
	"github.com/geosql/geosql/sealed/sealedtest"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

// inner is one connection to a database in memory that has the functions, with
// the domain beijing, the universe u, the model popular, the mechanism homes, a reading and a
// place that are sealed, and room for everybody.
type inner struct{ conn *sql.Conn }

func newInner(t testing.TB) inner {
	t.Helper()
	key := sealedtest.NewKey(t)
	d := newBare(t, WithKeyring(sealed.NewKeyring(key)))
	for _, declaration := range []string{
		`SELECT geo_domain('beijing', 39.4, 115.4, 41.1, 117.6, 1), dx_universe('u', 0, 10, 1, 'kWh')`,
		`SELECT budget_limit('*', 'm', 9000000), budget_limit('*', 'kWh', 9000000), budget_limit('*', 'record', 9000000), budget_limit('*', 'set', 9000000), budget_limit('*', 'm2', 9000000)`,
		`SELECT trace_policy('*', 'ana', 'predictive', '{"epsilon": 0.1, "steps": 5, "domain": "beijing"}')`,
		`SELECT markov_store('popular', markov_train('tram', 0, 39.9, 116.3, 'beijing', 20000, 60))`,
		`SELECT budget_limit('*', 'cip:day', 1), cip_policy('day', '{"kernel": "rbf", "variance": 1, "length_scale": 60, "radius": 10, "lambda": 2, "epsilon": 1, "family": "singles"}')`,
		`SELECT optql_store('homes', optql_build(39.9 + 0.1 * i, 116.3, 1, 0.001, 1, 'beijing'))` + rowsOf["optql_build"],
		`SELECT prior_store('squares', prior_build(39.9, 116.3, 1, 'beijing'))`,
	} {
		if _, err := d.ask(declaration); err != nil {
			t.Fatal(err)
		}
	}
	d.seal(t, key.Public())
	return d
}

// newBare opens a database in memory in which nothing is declared, in a folder of its own.
func newBare(t testing.TB, opts ...Option) inner {
	t.Helper()
	t.Chdir(t.TempDir()) // for the files that functions write
	pool := sql.OpenDB(Connector(":memory:", opts...))
	t.Cleanup(func() { pool.Close() })
	conn, err := pool.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return inner{conn}
}

// Columns of the sealed values of tests.
var (
	sealedReadings = catalog.Column{Table: "sealed", Name: "reading", Account: "account", Universe: &catalog.Universe{Name: "u", Lo: 0, Hi: 10, Step: 1, Unit: "kWh"}}
	sealedPlaces   = catalog.Column{Table: "sealed", Name: "place", Account: "account",
		Domain: &catalog.Domain{Name: "beijing", South: 39.4, West: 115.4, North: 41.1, East: 117.6, StepM: 1}}
)

// seal adds the table sealed.
func (d inner) seal(t testing.TB, key sealed.PublicKey) {
	t.Helper()
	err := d.conn.Raw(func(conn any) error {
		s := conn.(*Conn).session
		l, err := s.Ledger()
		if err != nil {
			return err
		}
		if err := s.Conn.Exec("CREATE TABLE sealed(reading, place)"); err != nil {
			return err
		}
		place := sealedtest.Seal(t, s.Conn, l, key, sealedReadings, sealedPlaces)
		return s.Conn.Exec("INSERT INTO sealed VALUES (" +
			place.Reading(1, "ana", 3) + ", " + place.Location(2, "ana", 39.9, 116.3) + ")")
	})
	if err != nil {
		t.Fatal(err)
	}
}

// ask runs one statement and returns the first value of its first row.
func (d inner) ask(query string, args ...any) (first any, err error) {
	rows, err := d.conn.QueryContext(context.Background(), query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	values := make([]any, len(columns))
	into := make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	for n := 0; rows.Next(); n++ {
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		if n == 0 {
			first = values[0]
		}
	}
	return first, rows.Err()
}

// charged returns how many evaluations have been charged, and the amount spent or reserved.
func (d inner) charged(t testing.TB) string {
	t.Helper()
	v, err := d.ask(`SELECT coalesce((SELECT sum(evaluations) FROM ledger_charges), 0) || ' ' ||
		coalesce((SELECT sum(spent + reserved) FROM ledger_balance), 0)`)
	if err != nil {
		t.Fatal(err)
	}
	return v.(string)
}

// A form is a way to call a function.
type form struct {
	f     *frame.Function
	table bool
}

// forms returns all ways to call all functions.
func forms() (list []form) {
	for _, f := range functions {
		if f.Scalar != nil || f.Aggregate != nil || f.Window != nil {
			list = append(list, form{f, false})
		}
		if f.Table != nil {
			list = append(list, form{f, true})
		}
	}
	return list
}

func (c form) String() string {
	if c.table {
		return c.f.Name + " as a table"
	}
	return c.f.Name
}

// rowsOf holds the rows for aggregates that need more than one.
var rowsOf = map[string]string{"optql_build": ` FROM (SELECT 1 AS i UNION ALL SELECT 2)`}

// query calls the function with SQL expressions for arguments.
func (c form) query(args ...string) string {
	call := c.f.Name + "(" + strings.Join(args, ", ") + ")"
	if c.table {
		return "SELECT * FROM " + call
	}
	return "SELECT " + call + rowsOf[c.f.Name]
}

// checkError checks the form of all errors: they are one line that starts with
// the function's name and does not mention a panic.
func (c form) checkError(t testing.TB, query string, err error) {
	t.Helper()
	text := err.Error()
	if strings.ContainsAny(text, "\n\r") {
		t.Errorf("%s\nerror of several lines: %q", query, text)
	}
	if strings.Contains(text, "internal error") {
		t.Errorf("%s\n%s", query, text)
	}
	if !strings.HasPrefix(text, c.f.Name+": ") {
		t.Errorf("%s\nerror does not start with the function's name: %s", query, text)
	}
}

// Each row names the type of its answers, and its examples have it.
func TestReturns(t *testing.T) {
	d := newInner(t)
	seen := 0
	for _, f := range functions {
		if f.Scalar == nil && f.Aggregate == nil && f.Window == nil {
			continue
		}
		if !slices.Contains([]string{"INTEGER", "REAL", "TEXT", "BLOB"}, f.Returns) {
			t.Errorf("%s returns %q", f.Name, f.Returns)
		}
		for _, example := range f.Examples {
			var got string
			if !strings.HasPrefix(example, "SELECT "+f.Name+"(") || strings.Contains(example, "->") || d.conn.QueryRowContext(t.Context(), "SELECT typeof(("+example+"))").Scan(&got) != nil || got == "null" {
				continue // it needs a table, or has several columns
			}
			if seen++; !strings.EqualFold(got, f.Returns) {
				t.Errorf("%s returns %s, want %s: %s", f.Name, got, f.Returns, example)
			}
		}
	}
	if seen < 20 {
		t.Errorf("%d examples have an answer", seen)
	}
}
