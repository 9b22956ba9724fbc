package sqlitefn

import "github.com/geosql/geosql/ledger"

// argAnyAccount is an account that is asked about.
var argAnyAccount = &argument{name: "account", is: argAccount.is, kind: kindAnyAccount}

var budgetFunctions = []*function{
	&function{
		name: "budget_spent", section: owners, flags: ownerOnly, reads: true,
		args:    []*argument{argAnyAccount, argUnit},
		does:    "Returns what an account has spent since the beginning, including reservations; 0 if it has spent nothing, never NULL.",
		example: []string{"SELECT budget_spent('ana', 'm')"},
		scalar:  budgetSpent,
	},
	&function{
		name: "budget_remaining", section: owners, flags: ownerOnly, reads: true,
		args:    []*argument{argAnyAccount, argUnit},
		does:    "Returns what an account has left, in the current window if its limit has one; 0 without a limit.",
		example: []string{"SELECT budget_remaining('ana', 'm')"},
		scalar:  budgetRemaining,
	},
}

// balance returns the balance that a call asks for. If there is no ledger or it cannot be
// read, nothing can be charged, and the balance is empty.
func (c call) balance() ledger.Balance {
	book, err := c.session.ledger()
	if err != nil {
		return ledger.Balance{}
	}
	b, err := book.Balance(c.text(argAnyAccount), c.unit(argUnit))
	if err != nil {
		return ledger.Balance{}
	}
	return b
}

func budgetSpent(c call) error {
	b := c.balance()
	c.ResultFloat(0, (b.Spent + b.Reserved).Float64())
	return nil
}

func budgetRemaining(c call) error {
	c.ResultFloat(0, c.balance().Remaining().Float64())
	return nil
}
