package sqlitefn

import (
	"fmt"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/intern"
	"github.com/geosql/geosql/ledger"
)

var (
	argLimited = &argument{name: "account", is: "TEXT or INTEGER; '*' gives each account that has no limit of its own a limit of this size", kind: kindAnyAccount}
	argUnit    = &argument{name: "unit", is: "unit of the budget: 'm', 'm:NAME' (metres in the metric of mechanism NAME), 'm2' (rho per square metre, of geoind_gauss), 'record', 'set' (steps of pim_step), or a universe's unit", kind: kindUnit}
	argLimit   = &argument{name: "epsilon", is: "the limit, at most 9000000; 0 blocks the account at once", kind: kindNumber}
	argWindow  = &argument{name: "window_seconds", is: "INTEGER: the budget reopens after this many seconds; without it, never", kind: kindWindow, optional: true}

	argReserveUnit = &argument{name: "unit", is: argUnit.is, kind: kindUnit, setting: true}
	argReserve     = &argument{name: "epsilon", is: "amount to reserve for the account", kind: kindPositive}
)

var limitFunctions = []*function{
	&function{
		name: "budget_limit", section: declared, flags: ownerOnly,
		args: []*argument{argLimited, argUnit, argLimit, argWindow},
		does: "Sets a limit in the ledger. Without a limit every charge is refused.",
		notes: "Commits at once, even if the surrounding transaction is rolled back. Raising a limit does not reset what was spent. " +
			"Lowering it takes back what is reserved and not used. 0 blocks at once: whatever begins later is refused, and a statement that " +
			"another process is running makes at most 1,024 more releases. " +
			"An account's window starts with its first charge after the previous window ended. " +
			"**Reopening a budget is the owner's decision and not part of what is proved**: losses add up across windows as they do within one. " +
			"If somebody's secrets in different windows are related, the bound is `spent`, the sum since the beginning. Setting the clock back reopens nothing; " +
			"setting it forward opens windows early. What a statement has reserved can be neither used nor returned after the window ends.",
		example: []string{"SELECT budget_limit('*', 'm', 0.05)", "SELECT budget_limit('ana', 'kWh', 20)",
			"SELECT budget_limit('*', 'record', 12)", "SELECT budget_limit('*', 'set', 10)", "SELECT budget_limit('bo', 'm', 0.02, 86400)"},
		scalar: budgetLimit,
	},
	&function{
		name: "budget_reserve", section: declared, flags: ownerOnly,
		args: []*argument{argAccount, argReserveUnit, argReserve},
		does: "Reserves budget for many accounts in one transaction, so that a query over them does not commit once per account.",
		notes: "Returns the number of accounts. It reserves for all of them or for none. A reservation counts as spent until it is used, " +
			"or until it is returned when the last connection to the database closes.",
		example:   []string{"SELECT budget_reserve(account, 'm', 0.01) FROM (SELECT 'ana' AS account UNION SELECT 'bo')"},
		aggregate: newReserveGroup,
	},
}

// budgetLimit sets a limit. It commits at once, even if the surrounding transaction is rolled
// back.
func budgetLimit(c call) error {
	account, unit, window := c.text(argLimited), c.unit(argUnit), int64(c.number(argWindow))
	limit, err := budget.Limit(c.decimal(argLimit))
	if err != nil {
		return err
	}
	book, err := c.session.openOrCreateLedger()
	if err != nil {
		return err
	}
	if err := book.SetLimit(account, unit, limit, window); err != nil {
		return err
	}
	who := "account " + quoted(account)
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

// reserveGroup collects what budget_reserve reserves for each account.
type reserveGroup struct {
	unit     budget.Unit
	accounts intern.Table
	items    []ledger.Item // of each account
}

func newReserveGroup(*session) group { return new(reserveGroup) }

func (g *reserveGroup) begin(c call) error {
	g.unit = c.unit(argReserveUnit)
	return nil
}

func (g *reserveGroup) row(c call) error {
	cost, err := budget.Cost(c.decimal(argReserve))
	if err != nil {
		return err
	}
	account := c.bytes(argAccount)
	i := g.accounts.Number(account)
	if i == len(g.items) {
		g.items = append(g.items, ledger.Item{Account: string(account)})
	}
	if g.items[i].Epsilon > budget.Max-cost {
		return fmt.Errorf("account %s would reserve more than any budget can hold", quoted(account))
	}
	g.items[i].Epsilon += cost
	return nil
}

// final reserves for all accounts or none and answers their number.
func (g *reserveGroup) final(c call) error {
	book, err := c.session.chargeableLedger()
	if err != nil {
		return spendError(err, g.items[0].Account, budget.Price{Unit: g.unit, Amount: g.items[0].Epsilon})
	}
	if err := book.Reserve(g.unit, g.items); err != nil {
		return err
	}
	c.ResultInt(0, int64(len(g.items)))
	return nil
}
