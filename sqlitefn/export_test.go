package sqlitefn

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sealed/catalog"
	"github.com/geosql/geosql/sealed/sealedtest"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
	"github.com/geosql/geosql/sqlitefn/internal/meter"
	"github.com/geosql/geosql/sqlitefn/internal/unseal"
)

// Seal makes a sealed database of the connection's, which must have a ledger.
func (c *Conn) Seal(t testing.TB, key sealed.PublicKey, columns ...catalog.Column) *sealedtest.Database {
	t.Helper()
	l, err := c.session.Ledger()
	if err != nil {
		t.Fatal(err)
	}
	return sealedtest.Seal(t, c.session.Conn, l, key, columns...)
}

// Collect returns a sealed database as another collector writes it over the connection.
func (c *Conn) Collect(t testing.TB, d *sealedtest.Database, collector *sealed.PrivateKey) *sealedtest.Database {
	t.Helper()
	return d.Collector(t, c.session.Conn, collector)
}

// Opens returns a function that reports whether a value opens.
func (c *Conn) Opens(t testing.TB) func(value []byte) bool {
	t.Helper()
	k, err := unseal.FreshKeeper(c.session)
	if err != nil {
		t.Fatal(err)
	}
	return func(value []byte) bool {
		_, _, err := k.Open(value)
		return err != sealed.ErrValue
	}
}

// Rewind makes the connection draw from the beginning of entropy.
func (c *Conn) Rewind(entropy io.Reader) { c.session.DrawFrom(entropy) }

// Meter returns a meter of the connection.
func (c *Conn) Meter() (*Meter, error) { return meter.New(c.session) }

// Record records facts in the ledger of the connection.
func (c *Conn) Record(facts ...ledger.Fact) error {
	l, err := c.session.Ledger()
	if err != nil {
		return err
	}
	return l.Record(facts...)
}

// ReadRecord returns the owner's record in the ledger of the connection.
func (c *Conn) ReadRecord() (*catalog.Record, error) {
	l, err := c.session.Ledger()
	if err != nil {
		return nil, err
	}
	return catalog.ReadRecord(context.Background(), l)
}

// Releases returns statements that call every function which releases a value, in
// every form and with every number of arguments, on the table
// t(account, lat, lon, x); the public arguments are good ones. Functions over
// traces are left out: their charges depend on draws. dx_heatmap comes last: how many
// bits it reads depends on how many cells have a location.
func Releases(t *testing.T) (statements []string) {
	t.Helper()
	columns := []string{"account", "lat", "lon", "x"}
	for _, c := range forms() {
		if c.f.Section != frame.ReleasedValues || c.f.Window != nil || c.f.Name == "cip_trace" {
			continue // a function of traces has its own statements among the uses
		}
		args := goodArgs(c.f, t)
		for i, a := range c.f.Args {
			if slices.Contains(columns, a.Name) {
				args[i] = "t." + a.Name
			}
		}
		for _, n := range c.f.Arities() {
			call := c.f.Name + "(" + strings.Join(args[:n], ", ") + ")"
			if c.table {
				statements = append(statements, "SELECT t.a, r.* FROM t, "+call+" r")
			} else {
				statements = append(statements, "SELECT "+call+" FROM t")
			}
		}
	}
	slices.SortStableFunc(statements, func(a, b string) int {
		return cmp.Compare(strings.Count(a, "dx_heatmap"), strings.Count(b, "dx_heatmap"))
	})
	return statements
}

// ReadingAggregates returns a call of every aggregate over readings that answers a number, by the function's name.
// The account is {a} and the reading {x}; dx_count, which counts rows, has none.
func ReadingAggregates() map[string]string {
	expressions := map[string]string{"account": "{a}", "x": "{x}", "p": "50", "epsilon": "100", "universe": "'u'"}
	calls := map[string]string{}
	for _, f := range functions {
		var args []string
		for _, a := range f.Args[:f.Required()] {
			if e, ok := expressions[a.Name]; ok {
				args = append(args, e)
			}
		}
		if f.Section == frame.ReleasedValues && f.Aggregate != nil && f.Returns != "TEXT" && len(args) == f.Required() {
			calls[f.Name] = f.Name + "(" + strings.Join(args, ", ") + ")"
		}
	}
	return calls
}

// AggregateCalls returns a call of every aggregate, with NULL for its arguments and %s before
// the first.
func AggregateCalls() (calls []string) {
	for _, f := range functions {
		if f.Aggregate != nil {
			calls = append(calls, f.Name+"(%sNULL"+strings.Repeat(", NULL", f.Required()-1)+")")
		}
	}
	return calls
}

// ScalarNames returns the names of all functions but the ones that are table-valued only.
func ScalarNames() (names []string) {
	for _, c := range forms() {
		if !c.table {
			names = append(names, c.f.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Functions is the table of all functions.
var Functions = functions

// ReferenceExamples returns the examples of the reference, in its order, except those of
// the owner's functions, which release nothing, and of functions over sealed values, which need such a table.
func ReferenceExamples() (statements []string) {
	for _, f := range functions {
		if f.Section != frame.ForOwner && f.Section != frame.OverSealed {
			statements = append(statements, f.Examples...)
		}
	}
	return statements
}

// Evaluator returns an evaluator on the connection.
func (c *Conn) Evaluator(t testing.TB, key [32]byte) *unseal.Evaluator {
	t.Helper()
	e, err := NewEvaluator(c.session.Conn.Handle(), key)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Ledger returns the ledger of the connection.
func (c *Conn) Ledger(t testing.TB) ledger.Ledger {
	t.Helper()
	l, err := c.session.Ledger()
	if err != nil {
		t.Fatal(err)
	}
	return l
}
