package reading

import (
	"errors"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/interval"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/mechanism/scalar"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
	"github.com/geosql/geosql/sqlitefn/internal/unseal"
)

// argCounted is counted by dx_count and dx_accounts. Its type tells accounts from sealed values.
var argCounted = &frame.Arg{
	Name: "account", Kind: frame.OrNull(kindCounted),
	Is: "TEXT or INTEGER: the account that pays; or a value of a sealed column with the universe 0, 1; its ones are counted",
}

var kindCounted = frame.Kind{Expects: "TEXT, INTEGER or a sealed value", Public: true, Sealed: true, Decode: func(in *sqlite.Value, out *frame.Value) error {
	if out.Sealed = in.Type() == sqlite.Blob; out.Sealed {
		return unseal.Decode(in, out)
	}
	return frame.DecodeAccount(in, out)
}}

const sealedOnes = " Over sealed values it counts the ones: the number of rows is public there, so that count(column) is exact and free, and only the values are protected. A group has either accounts or sealed values."

var countFunctions = []*frame.Function{
	{
		Name: "dx_count", Section: frame.ReleasedValues, Returns: "INTEGER",
		Args:     []*frame.Arg{argCounted, frame.ArgEpsRecord},
		Does:     "Counts rows with geometric noise; the answer is clamped at 0.",
		Accuracy: "dx_radius('count', p, epsilon, NULL) rows before, dx_within(answer) after",
		Charges:  "epsilon in unit record to each account, for each of its rows", OnceAs: "dx_accounts",
		Notes: "epsilon must be constant within a group. A group charges all its accounts or none. " +
			"A row with NULL as account is not counted and charges nobody, but its group still has an answer." + sealedOnes,
		Examples:  []string{"SELECT dx_count(account, 0.5) FROM (SELECT 'ana' AS account UNION SELECT 'bo')"},
		Aggregate: func(*frame.Session) frame.Group { return &countGroup{} },
	},
	{
		Name: "dx_accounts", Section: frame.ReleasedValues, Returns: "INTEGER",
		Args:     []*frame.Arg{argCounted, frame.ArgEpsRecord},
		Does:     "Counts the different accounts with geometric noise; the answer is clamped at 0.",
		Accuracy: "that of dx_count: dx_radius('count', p, epsilon, NULL) accounts before, dx_within(answer) after",
		Charges:  "epsilon in unit record to each account, once per group, however many rows it has",
		Notes: "It protects whether an account is in the group at all: all its rows more or less change the answer by 1. " +
			"epsilon must be constant within a group. A group charges all its accounts or none. " +
			"A row with NULL as account is not counted and charges nobody, but its group still has an answer; a group without rows gives NULL." + sealedOnes,
		Examples:  []string{"SELECT dx_accounts(account, 0.5) FROM (SELECT 'ana' AS account UNION SELECT 'bo')"},
		Aggregate: func(*frame.Session) frame.Group { return &countGroup{accounts: true} },
	},
}

var countQuery = row{aggregate: always(scalar.Count), epsilon: frame.ArgEpsRecord}

// countGroup is a group of dx_count, or of dx_accounts. Nothing is charged or drawn before it is
// complete.
//
// # Privacy
//
// Let two worlds differ in rows of one account, in whatever way. The number of different
// accounts differs by 1 at most, so the noise of dx_count, which is for answers that do,
// keeps epsilon for all rows of the account together. So it does if the account's sealed values
// are replaced and the accounts that have a one are counted. A single value that is replaced
// changes the number of ones by 1 at most.
type countGroup struct {
	accounts bool // it counts accounts
	query    *scalar.Query
	paying   frame.Contributors
	sealed   *unseal.Group // instead of paying, if the group has sealed values
}

func (g *countGroup) Begin(c frame.Call) (err error) {
	g.query, err = countQuery.newQueryOn(c, nil)
	return err
}

var (
	errMixed = errors.New("a group has both accounts and sealed values")
	errOnes  = errors.New("must be of a column with the universe 0, 1: count(column) counts the rows of others, exactly and for free")
)

func (g *countGroup) Row(c frame.Call) error {
	switch v := c.Value(argCounted); {
	case !v.Given:
		return nil
	case v.Sealed && g.paying.Accounts() > 0, !v.Sealed && g.sealed != nil:
		return errMixed
	case v.Sealed:
		if g.sealed == nil {
			g.sealed = unseal.NewGroup(&sealedCountForm{accounts: g.accounts, query: g.query})
		}
		return g.sealed.Add(c, argCounted)
	}
	g.paying.Add(c.Bytes(argCounted))
	return nil
}

// Take adds sealed values.
func (g *countGroup) Take(values []sqlite.Value, each int) (rows int) {
	if g.sealed == nil {
		return 0
	}
	return g.sealed.Take(values, each)
}

// Final charges all accounts in one transaction and draws.
func (g *countGroup) Final(c frame.Call) error {
	return c.Result(g.Answer(c))
}

func (g *countGroup) Answer(c frame.Call) (frame.Answer, error) {
	if g.sealed != nil && !g.sealed.Empty() {
		return g.sealed.Answer(c)
	}
	paid, err := g.paying.Pay(c, g.query.Price(), !g.accounts)
	if err != nil {
		return frame.Answer{}, err
	}
	return countAnswer(c, paid, g.query, g.counted()), nil
}

// Release gives back the memory of sealed values.
func (g *countGroup) Release() {
	if g.sealed != nil {
		g.sealed.Release()
	}
}

// counted returns the true answer.
func (g *countGroup) counted() int64 {
	if g.accounts {
		return int64(g.paying.Accounts())
	}
	return g.paying.Rows()
}

// countAnswer draws a count.
func countAnswer(c frame.Call, paid frame.Receipt, q *scalar.Query, n int64) frame.Answer {
	var counted scalar.Accumulator
	for range n {
		q.AddIndex(&counted, 0)
	}
	return frame.WholeAnswer(int64(drawReading(c, paid, q, &counted).Value)) // whole, and at most 2^53
}

// sealedCountForm counts the ones of a sealed column, or the accounts that have one.
type sealedCountForm struct {
	accounts bool
	query    *scalar.Query
	universe *unseal.Universe
	ones     int64
	with     map[int]struct{} // accounts that have a one, if they are counted
}

func (f *sealedCountForm) Start(c frame.Call, of unseal.Range) (price unseal.Terms, err error) {
	u, err := unseal.UniverseOf(c.Session, of)
	if err == nil && !(u.Value(0) == 0 && u.Value(u.Last()) == 1 && u.Last() == 1) {
		err = errOnes
	}
	if err != nil {
		return price, c.Errorf(argCounted, "%w", err)
	}
	f.universe = u
	f.Clear()
	price = unseal.Terms{Price: f.query.Price(), Per: unseal.PerRow}
	if f.accounts {
		price.Per = unseal.PerAccount
	}
	return price, nil
}

func (f *sealedCountForm) Bytes(int64) int64 { return 0 } // accounts are counted as members

func (f *sealedCountForm) Add(account int, d sealed.Data) {
	if f.universe.Index(d) != 1 {
		return
	}
	f.ones++
	if f.accounts {
		f.with[account] = struct{}{}
	}
}

func (f *sealedCountForm) Clear() { f.ones, f.with = 0, map[int]struct{}{} }

func (f *sealedCountForm) Draw(c frame.Call, paid frame.Receipt) frame.Answer {
	n := f.ones
	if f.accounts {
		n = int64(len(f.with))
	}
	return countAnswer(c, paid, f.query, n)
}

func (f *sealedCountForm) Interval(int64) (interval.Interval, budget.Unit) {
	return intervalOf(f.query, 0), ""
}
