package sqlitefn

import (
	"errors"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/mechanism/scalar"
	"github.com/geosql/geosql/sealed"
)

// argCounted is what dx_count and dx_accounts count. Its type tells accounts from sealed values.
var argCounted = &argument{
	name: "account", kind: orNull(kindCounted),
	is: "TEXT or INTEGER: whose budget pays; or a value of a sealed column with the universe 0, 1, of which the ones are counted",
}

var kindCounted = kind{expects: "TEXT, INTEGER or a sealed value", public: true, sealed: true, decode: func(in *sqlite.Value, out *value) error {
	if out.sealed = in.Type() == sqlite.Blob; out.sealed {
		return decodeSealed(in, out)
	}
	return decodeAccount(in, out)
}}

const sealedOnes = " Over sealed values it counts those that are 1: which rows exist is public there, so that count(column) is exact and free, and only what they hide is protected. A group has either accounts or sealed values."

var countFunctions = []*function{
	&function{
		name: "dx_count", section: released,
		args:    []*argument{argCounted, argEpsRecord},
		does:    "Counts rows with geometric noise; the answer is clamped at 0.",
		charges: "epsilon in unit record to each account, for each of its rows",
		notes: "epsilon must be constant within a group. A group charges all its accounts or none. " +
			"A row whose account is NULL is not counted and charges nobody, but its group still has an answer." + sealedOnes,
		example:   []string{"SELECT dx_count(account, 0.5) FROM (SELECT 'ana' AS account UNION SELECT 'bo')"},
		aggregate: func(*session) group { return &countGroup{} },
	},
	&function{
		name: "dx_accounts", section: released,
		args:    []*argument{argCounted, argEpsRecord},
		does:    "Counts the different accounts with geometric noise; the answer is clamped at 0.",
		charges: "epsilon in unit record to each account, once per group, however many rows it has",
		notes: "It protects whether an account is in the group at all: all its rows more or less change the answer by 1. The noise is that of dx_count: dx_radius('count', p, epsilon, NULL) tells how large it is. " +
			"epsilon must be constant within a group. A group charges all its accounts or none. " +
			"A row whose account is NULL is not counted and charges nobody, but its group still has an answer; a group without rows gives NULL." + sealedOnes,
		example:   []string{"SELECT dx_accounts(account, 0.5) FROM (SELECT 'ana' AS account UNION SELECT 'bo')"},
		aggregate: func(*session) group { return &countGroup{accounts: true} },
	},
}

var countQuery = queryArguments{aggregate: scalar.Count, epsilon: argEpsRecord}

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
	paying   contributors
	sealed   *sealedGroup // instead of paying, if the group has sealed values
}

func (g *countGroup) begin(c call) (err error) {
	g.query, err = countQuery.newQuery(c)
	return err
}

var (
	errMixed = errors.New("a group has both accounts and sealed values")
	errOnes  = errors.New("must be of a column with the universe 0, 1: count(column) counts the rows of others, exactly and for free")
)

func (g *countGroup) row(c call) error {
	switch v := c.value(argCounted); {
	case !v.given:
		return nil
	case v.sealed && len(g.paying.rows) > 0, !v.sealed && g.sealed != nil:
		return errMixed
	case v.sealed:
		if g.sealed == nil {
			g.sealed = newSealedGroup(&sealedCountForm{accounts: g.accounts, query: g.query})
		}
		return g.sealed.add(c, argCounted)
	}
	g.paying.add(c.bytes(argCounted))
	return nil
}

// final charges all accounts in one transaction and draws.
func (g *countGroup) final(c call) error {
	a, err := g.answer(c)
	if err == nil {
		c.result(a)
	}
	return err
}

func (g *countGroup) answer(c call) (answer, error) {
	if g.sealed != nil && g.sealed.of.column != nil {
		return g.sealed.answer(c)
	}
	paid, err := g.paying.pay(c, g.query.Price(), !g.accounts)
	if err != nil {
		return answer{}, err
	}
	return countAnswer(c, paid, g.query, g.counted()), nil
}

// release gives back the memory of sealed values.
func (g *countGroup) release() {
	if g.sealed != nil {
		g.sealed.release()
	}
}

// counted returns the true answer.
func (g *countGroup) counted() (n int64) {
	if g.accounts {
		return int64(len(g.paying.rows))
	}
	for _, rows := range g.paying.rows {
		n += rows
	}
	return n
}

// countAnswer draws a count.
func countAnswer(c call, paid receipt, q *scalar.Query, n int64) answer {
	var counted scalar.Accumulator
	for range n {
		q.Add(&counted, 0)
	}
	return answer{kind: ofWhole, whole: int64(drawReading(c, paid, q, &counted))} // whole, and at most 2^53
}

// sealedCountForm counts the ones of a sealed column, or the accounts that have one.
type sealedCountForm struct {
	accounts bool
	query    *scalar.Query
	universe *sealedUniverse
	ones     int64
	with     map[int]struct{} // accounts that have a one, if they are counted
}

func (f *sealedCountForm) start(c call, of sealedRange) (price sealedPrice, err error) {
	u, err := c.session.sealedUniverse(of)
	if err == nil && !(u.Value(0) == 0 && u.Value(u.Last()) == 1 && u.Last() == 1) {
		err = errOnes
	}
	if err != nil {
		return price, c.argErrorf(argCounted, "%w", err)
	}
	f.universe = u
	f.clear()
	price = sealedPrice{f.query.Price(), perRow}
	if f.accounts {
		price.per = perAccount
	}
	return price, nil
}

func (f *sealedCountForm) bytes(int64) int64 { return 0 } // accounts are counted as members

func (f *sealedCountForm) add(account int, d sealed.Data) {
	if f.universe.index(d) != 1 {
		return
	}
	f.ones++
	if f.accounts {
		f.with[account] = struct{}{}
	}
}

func (f *sealedCountForm) clear() { f.ones, f.with = 0, map[int]struct{}{} }

func (f *sealedCountForm) draw(c call, paid receipt) answer {
	n := f.ones
	if f.accounts {
		n = int64(len(f.with))
	}
	return countAnswer(c, paid, f.query, n)
}

func (f *sealedCountForm) radius(p float64, _ int64) (r float64, unit budget.Unit, err error) {
	r, err = f.query.Radius(p, 0)
	return r, "", err
}
