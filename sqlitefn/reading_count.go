package sqlitefn

import (
	"errors"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/mechanism/scalar"
)

// argCounted is what dx_count and dx_accounts count. Its type tells accounts from sealed values.
var argCounted = &argument{
	name: "account", kind: orNull(kindCounted),
	is: "TEXT or INTEGER: whose budget pays; or a value of a sealed column with the universe 0, 1, of which the ones are counted",
}

var kindCounted = kind{expects: "TEXT, INTEGER or a sealed value", public: true, decode: func(in *sqlite.Value, out *value) error {
	if out.sealed = in.Type() == sqlite.Blob; out.sealed {
		return decodeSealed(in, out)
	}
	return decodeAccount(in, out)
}}

const sealedOnes = " Over sealed values it counts those that are 1: which rows exist is public there, so that count(column) is exact and free, and only what they hide is protected. A group has either accounts or sealed values."

func init() {
	register(
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
	)
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
	values   *sealedRows // instead of paying, if the group has sealed values
	ones     int64       // among them
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
	case v.sealed && len(g.paying.rows) > 0, !v.sealed && g.values != nil:
		return errMixed
	case v.sealed:
		return g.rowOfValue(c)
	}
	g.paying.add(c.bytes(argCounted))
	return nil
}

// rowOfValue counts a sealed value.
func (g *countGroup) rowOfValue(c call) error {
	if g.values == nil {
		g.values = new(sealedRows)
	}
	m, o, err := g.values.open(c, argCounted)
	if m == nil || err != nil {
		return err
	}
	u, err := c.session.sealedUniverse(o.of)
	if err == nil && !(u.Value(0) == 0 && u.Value(u.Last()) == 1 && u.Last() == 1) {
		err = errOnes
	}
	if err != nil {
		return c.argErrorf(argCounted, "%w", err)
	}
	if u.index(o.Data) == 1 {
		g.ones++
		m.one = true
	}
	return nil
}

// final charges all accounts in one transaction and draws.
func (g *countGroup) final(c call) error {
	paid, err := g.pay(c)
	if err != nil {
		return err
	}
	var counted scalar.Accumulator
	for range g.counted() {
		g.query.Add(&counted, 0)
	}
	c.ResultInt(0, int64(drawReading(c.statement(), paid, g.query, &counted))) // whole, and at most 2^53
	return nil
}

// pay pays for the group.
func (g *countGroup) pay(c call) (receipt, error) {
	if g.values != nil {
		return g.values.pay(c, g.query.Price(), !g.accounts)
	}
	return g.paying.pay(c, g.query.Price(), !g.accounts)
}

// counted returns the true answer.
func (g *countGroup) counted() (n int64) {
	switch {
	case g.values != nil && !g.accounts:
		return g.ones
	case g.values != nil:
		for _, m := range g.values.order {
			if m.one {
				n++
			}
		}
	case g.accounts:
		n = int64(len(g.paying.rows))
	default:
		for _, rows := range g.paying.rows {
			n += rows
		}
	}
	return n
}
