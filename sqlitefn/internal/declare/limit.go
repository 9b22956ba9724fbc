package declare

import (
	"fmt"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/intern"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

var (
	argLimited = &frame.Arg{Name: "account", Is: "TEXT or INTEGER; '*' gives each account that has no limit of its own a limit of this size", Kind: frame.AnyAccount}
	argLimit   = &frame.Arg{Name: "epsilon", Is: "the limit, at most 9000000; 0 blocks the account at once", Kind: frame.Number}
	argWindow  = &frame.Arg{Name: "window_seconds", Is: "INTEGER: the budget reopens after this many seconds; without it, never", Kind: frame.Window, Optional: true}

	argReserveUnit = &frame.Arg{Name: "unit", Is: frame.ArgUnit.Is, Kind: frame.Unit, Setting: true}
	argReserve     = &frame.Arg{Name: "epsilon", Is: "amount to reserve for the account", Kind: frame.Positive}
)

var limitFunctions = []*frame.Function{
	{
		Name: "budget_limit", Section: frame.DeclaredByOwner, Returns: "TEXT", Flags: frame.OwnerOnly,
		Args: []*frame.Arg{argLimited, frame.ArgUnit, argLimit, argWindow},
		Does: "Sets a limit in the ledger. Without a limit every charge is refused.",
		Notes: "Commits at once, even if the surrounding transaction is rolled back. Raising a limit does not reset spent budget. " +
			"Lowering it takes back unused reservations. 0 blocks at once: whatever begins later is refused, and a statement that " +
			"another process is running makes at most 1,024 more releases. " +
			"An account's window starts with its first charge after the previous window ended. " +
			"**Reopening a budget is the owner's decision and not part of the proof**: losses add up across windows as they do within one. " +
			"If somebody's secrets in different windows are related, the bound is `spent`, the sum since the beginning. Setting the clock back reopens nothing; " +
			"setting it forward opens windows early. Reservations of a statement can be neither used nor returned after the window ends.",
		Examples: []string{"SELECT budget_limit('*', 'm', 0.1)", "SELECT budget_limit('*', 'kWh', 400)",
			"SELECT budget_limit('*', 'record', 100)", "SELECT budget_limit('*', 'set', 10)", "SELECT budget_limit('bo', 'm', 0.02, 86400)"},
		Scalar: budgetLimit,
	},
	{
		Name: "budget_reserve", Section: frame.DeclaredByOwner, Returns: "INTEGER", Flags: frame.OwnerOnly,
		Args: []*frame.Arg{frame.ArgAccount, argReserveUnit, argReserve},
		Does: "Reserves budget for many accounts in one transaction, so that a query over them does not commit once per account.",
		Notes: "Returns the number of accounts. It reserves for all of them or for none. A reservation counts as spent until it is used, " +
			"or until it is returned when the last connection to the database closes.",
		Examples:  []string{"SELECT budget_reserve(account, 'm', 0.01) FROM (SELECT 'ana' AS account UNION SELECT 'bo')"},
		Aggregate: newReserveGroup,
	},
}

// budgetLimit sets a limit. It commits at once, even if the surrounding transaction is rolled
// back.
func budgetLimit(c frame.Call) error {
	account, unit, window := c.Text(argLimited), c.Unit(frame.ArgUnit), int64(c.Number(argWindow))
	limit, err := budget.Limit(c.Decimal(argLimit))
	if err != nil {
		return err
	}
	l, err := c.Session.LedgerToLimit()
	if err != nil {
		return err
	}
	if err := l.SetLimit(account, unit, limit, window); err != nil {
		return err
	}
	who := "account " + frame.Quoted(account)
	if account == "*" {
		who = "every account without a limit of its own"
	}
	c.ResultString(0, fmt.Sprintf("%s: %s/%s%s", who, limit, unit, everyWindow(window)))
	return nil
}

// everyWindow describes a window in the answer of budget_limit.
func everyWindow(seconds int64) string {
	if seconds == 0 {
		return ""
	}
	return fmt.Sprintf(" per window of %d s (a policy, not a theorem: losses add up across windows)", seconds)
}

// reserveGroup collects the amounts that budget_reserve reserves for each account.
type reserveGroup struct {
	unit     budget.Unit
	accounts intern.Table
	amounts  []budget.Amount // of each account

	epsilon float64 // of the last row
	cost    budget.Amount
}

func newReserveGroup(*frame.Session) frame.Group { return new(reserveGroup) }

func (g *reserveGroup) Begin(c frame.Call) error {
	g.unit = c.Unit(argReserveUnit)
	return nil
}

func (g *reserveGroup) Row(c frame.Call) error {
	if eps := c.Number(argReserve); eps != g.epsilon {
		cost, err := budget.Cost(c.Decimal(argReserve))
		if err != nil {
			return err
		}
		g.epsilon, g.cost = eps, cost
	}
	account := c.Bytes(frame.ArgAccount)
	i := g.accounts.Number(account)
	if i == len(g.amounts) {
		g.amounts = append(g.amounts, 0)
	}
	if g.amounts[i] > budget.Max-g.cost {
		return fmt.Errorf("account %s would reserve more than any budget can hold", frame.Quoted(account))
	}
	g.amounts[i] += g.cost
	return nil
}

// Final reserves for all accounts or none and answers their number.
func (g *reserveGroup) Final(c frame.Call) error {
	l, err := c.Session.LedgerToCharge()
	if err != nil {
		return frame.SpendError(err, string(g.accounts.Name(0)), budget.Price{Unit: g.unit, Amount: g.amounts[0]})
	}
	items := make([]ledger.Item, len(g.amounts))
	for i, account := range g.accounts.Take() {
		items[i] = ledger.Item{Account: account, Epsilon: g.amounts[i]}
	}
	*g = reserveGroup{unit: g.unit} // since memory for its table is wanted elsewhere
	if err := l.Reserve(g.unit, items); err != nil {
		return err
	}
	c.ResultInt(0, int64(len(items)))
	return nil
}
