package owner

import (
	"errors"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

var argSQL = &frame.Arg{Name: "sql", Is: "TEXT: one SELECT, VALUES, INSERT, REPLACE, UPDATE, DELETE or CREATE TABLE AS, without parameters", Kind: frame.Text}

var costFunctions = []*frame.Function{
	{
		Name: "budget_cost", Section: frame.ForOwner, Flags: frame.OwnerOnly,
		Args:    []*frame.Arg{argSQL},
		Columns: costColumns,
		Does:    "Tells the charges of a statement by account, by a dry run that charges nothing, draws nothing and undoes its writes.",
		Notes: "There is one row per function, account and unit, with the sums of epsilon and evaluations. " +
			"at_most equals epsilon if the statement, as SQLite has compiled it, is proved not to let released values decide " +
			"what is evaluated. Such a statement charges exactly that if it runs to its end and neither data nor clock change in between. " +
			"Where the cost of a trace's steps depends on draws, epsilon is their cost if every test fails, and at_most the rest of the trace's budget from its second step on. " +
			"Otherwise, as with a function that charges behind a condition on a released value, or with a trigger, epsilon is a guess: " +
			"a dry run releases the middle of the domain's box, lo, or 0 for a sum or count. Then at_most is the remaining budget of the account, including its reservations, " +
			"which the ledger does not exceed before a window reopens or a limit is raised, and a last row '*' says that others may be charged too. " +
			"A dry run is never refused for lack of budget: compare epsilon with remaining, as budget_remaining returns it. " +
			"rule says whether a dx_ aggregate costs once per row, and under d1 whether once for all groups or once per group, why, and which form costs less; elsewhere it is NULL. " +
			"A group that costs an account nothing more adds no evaluations either. " +
			"Functions that declare something or change the ledger cannot be dry-run; functions of the application run as always.",
		Examples: []string{"SELECT function, account, unit, evaluations, epsilon, at_most FROM budget_cost(\n" +
			"  'SELECT dx_sum(who, x, 2, ''halfhour'') FROM (SELECT ''ana'' AS who, 0.412 AS x UNION SELECT ''bo'', 0.388)')"},
		Table: newCostCursor,
	},
	{
		Name: "budget_reserve_for", Section: frame.DeclaredByOwner, Returns: "INTEGER", Flags: frame.OwnerOnly,
		Args: []*frame.Arg{argSQL},
		Does: "Reserves the charges of a statement in one transaction, so that it does not commit once per account.",
		Notes: "Returns the number of accounts. A dry run counts the charges, as that of budget_cost. It reserves for all accounts or for none: " +
			"the first account that cannot pay for the whole statement is refused. A statement is an error if released or random values decide its charges. " +
			"Call it at once before the statement, on the same database in the same process. As with budget_reserve, a reservation counts as spent until it is used, or until it is " +
			"returned when the last connection to the database closes. The command reserves for a statement by itself.",
		Examples: []string{"SELECT budget_reserve_for('SELECT dx_count(who, 1) FROM (SELECT ''ana'' AS who UNION SELECT ''bo'')')"},
		Scalar:   reserveFor,
	},
}

// reserveFor reserves the charges that a dry run counts.
func reserveFor(c frame.Call) error {
	d, err := c.Session.RunDry(c.Text(argSQL))
	if err != nil {
		return err
	}
	rows, err := d.Costs()
	if err != nil {
		return err
	}
	if d.Certainty == frame.Guessed {
		return errors.New("the charges of the statement cannot be counted before it runs: " + d.Doubt)
	}
	accounts := map[string]bool{}
	demands := frame.Demands(rows, true)
	for _, demand := range demands {
		for _, item := range demand.Items {
			accounts[item.Account] = true
		}
	}
	if len(demands) > 0 {
		l, err := c.Session.LedgerToCharge()
		if err != nil {
			first := demands[0].Items[0]
			return frame.SpendError(err, first.Account, budget.Price{Unit: demands[0].Unit, Amount: first.Epsilon})
		}
		if err := l.ReserveAll(demands); err != nil {
			return err
		}
	}
	c.ResultInt(0, int64(len(accounts)))
	return nil
}

var costColumns = []string{"function TEXT", "account TEXT", "unit TEXT", "evaluations INTEGER",
	"epsilon REAL", "at_most REAL", "remaining REAL", "rule TEXT"}

func newCostCursor(s *frame.Session) frame.Cursor {
	return &frame.RowsCursor[frame.Cost]{
		Read: func(c frame.Call) ([]frame.Cost, error) {
			d, err := s.RunDry(c.Text(argSQL))
			if err != nil {
				return nil, err
			}
			return d.Costs()
		},
		Show: showCost,
	}
}

// showCost sets the columns of a row.
func showCost(c frame.Call, row frame.Cost) {
	if row.Total == nil {
		for i := range 3 {
			c.ResultString(i, "*")
		}
		for i := 3; i < 8; i++ {
			c.ResultNull(i)
		}
		return
	}
	c.ResultString(0, row.Function.Name)
	c.ResultString(1, row.Account)
	c.ResultString(2, string(row.Unit))
	c.ResultInt(3, row.Evaluations)
	c.ResultFloat(4, row.Float64())
	c.ResultFloat(5, row.AtMost)
	c.ResultFloat(6, row.Balance.Remaining().Float64())
	if row.Rule != "" {
		c.ResultString(7, row.Rule)
	} else {
		c.ResultNull(7)
	}
}
