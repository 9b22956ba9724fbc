package owner

import (
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

// argAnyAccount is an account that is asked about.
var argAnyAccount = &frame.Arg{Name: "account", Is: frame.ArgAccount.Is, Kind: frame.AnyAccount}

var budgetFunctions = []*frame.Function{
	{
		Name: "budget_spent", Section: frame.ForOwner, Returns: "REAL", Flags: frame.OwnerOnly, Reads: true,
		Args:     []*frame.Arg{argAnyAccount, frame.ArgUnit},
		Does:     "Returns the spent budget of an account since the beginning, including reservations; 0 if it has spent nothing, never NULL.",
		Examples: []string{"SELECT budget_spent('ana', 'm')"},
		Scalar:   budgetSpent,
	},
	{
		Name: "budget_remaining", Section: frame.ForOwner, Returns: "REAL", Flags: frame.OwnerOnly, Reads: true,
		Args:     []*frame.Arg{argAnyAccount, frame.ArgUnit},
		Does:     "Returns the remaining budget of an account, in the current window if its limit has one; 0 without a limit.",
		Examples: []string{"SELECT budget_remaining('ana', 'm')"},
		Scalar:   budgetRemaining,
	},
}

// balance returns the balance that a call asks for. If there is no ledger or it cannot be
// read, nothing can be charged, and the balance is empty.
func balance(c frame.Call) ledger.Balance {
	l, err := c.Session.Ledger()
	if err != nil {
		return ledger.Balance{}
	}
	b, err := l.Balance(c.Text(argAnyAccount), c.Unit(frame.ArgUnit))
	if err != nil {
		return ledger.Balance{}
	}
	return b
}

func budgetSpent(c frame.Call) error {
	b := balance(c)
	c.ResultFloat(0, (b.Spent + b.Reserved).Float64())
	return nil
}

func budgetRemaining(c frame.Call) error {
	c.ResultFloat(0, balance(c).Remaining().Float64())
	return nil
}
