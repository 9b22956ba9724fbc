package sqlitefn

import "github.com/geosql/geosql/mechanism/scalar"

func init() {
	register(&function{
		name: "dx_accounts", section: released,
		args:    []*argument{argContributor, argEpsRecord},
		does:    "Counts the different accounts with geometric noise; the answer is clamped at 0.",
		charges: "epsilon in unit record to each account, once per group, however many rows it has",
		notes: "It protects whether an account is in the group at all: all its rows more or less change the answer by 1. The noise is that of dx_count: dx_radius('count', p, epsilon, NULL) tells how large it is. " +
			"epsilon must be constant within a group. A group charges all its accounts or none. " +
			"A row whose account is NULL is not counted and charges nobody, but its group still has an answer; a group without rows gives NULL.",
		example:   []string{"SELECT dx_accounts(account, 0.5) FROM (SELECT 'ana' AS account UNION SELECT 'bo')"},
		aggregate: newAccountsGroup,
	})
}

// accountsGroup is a group of dx_accounts. Nothing is charged or drawn before it is complete.
//
// # Privacy
//
// Let two worlds differ in rows of one account, in whatever way. The number of different
// accounts differs by 1 at most, so the noise of dx_count, which is for answers that do,
// keeps epsilon for all rows of the account together.
type accountsGroup struct {
	count  *scalar.Query
	paying contributors
}

func newAccountsGroup(*session) group { return new(accountsGroup) }

func (g *accountsGroup) begin(c call) (err error) {
	g.count, err = countQuery.newQuery(c)
	return err
}

func (g *accountsGroup) row(c call) error {
	if c.given(argContributor) {
		g.paying.add(c.bytes(argContributor))
	}
	return nil
}

// final charges all accounts in one transaction and draws.
func (g *accountsGroup) final(c call) error {
	paid, err := g.paying.pay(c, g.count.Price(), false)
	if err != nil {
		return err
	}
	var accounts scalar.Accumulator
	for range g.paying.rows {
		g.count.Add(&accounts, 0)
	}
	c.ResultInt(0, int64(drawReading(c.statement(), paid, g.count, &accounts))) // whole, and at most 2^53
	return nil
}
