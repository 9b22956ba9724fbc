package sqlitefn

import (
	"cmp"
	"slices"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

var argSQL = &argument{name: "sql", is: "TEXT: one SELECT, VALUES, INSERT, REPLACE, UPDATE, DELETE or CREATE TABLE AS, without parameters", kind: kindText}

var costFunctions = []*function{
	&function{
		name: "budget_cost", section: owners, flags: ownerOnly,
		args:    []*argument{argSQL},
		columns: costColumns,
		does:    "Tells what a statement will charge to whom, by a dry run that charges nothing, draws nothing and undoes what it writes.",
		notes: "There is one row per function, account and unit, with the sums of epsilon and evaluations. " +
			"at_most equals epsilon if the statement, as SQLite has compiled it, is proved not to let released values decide " +
			"what is evaluated. Such a statement charges exactly that if it runs to its end and neither data nor clock change in between. " +
			"Otherwise, as with a condition on a released value, DISTINCT, or a trigger, epsilon is a guess: " +
			"a dry run releases the middle of the domain's box, lo, or 0 for a sum or count. Then at_most is what the account has left, including its reservations, " +
			"which the ledger does not exceed before a window reopens or a limit is raised, and a last row '*' says that others may be charged too. " +
			"A dry run is never refused for lack of budget: compare epsilon with remaining, which is what budget_remaining returns. " +
			"rule says whether a dx_ aggregate costs once per row, and under d1 whether once for all groups or once per group, and why; elsewhere it is NULL. " +
			"A group that costs an account nothing more adds no evaluations either. " +
			"Functions that declare something or change the ledger cannot be dry-run; functions of the application run as always.",
		example: []string{"SELECT function, account, unit, evaluations, epsilon, at_most FROM budget_cost(\n" +
			"  'SELECT dx_sum(who, x, 2, ''halfhour'') FROM (SELECT ''ana'' AS who, 0.412 AS x UNION SELECT ''bo'', 0.388)')"},
		table: newCostCursor,
	},
}

var costColumns = []string{"function TEXT", "account TEXT", "unit TEXT", "evaluations INTEGER",
	"epsilon REAL", "at_most REAL", "remaining REAL", "rule TEXT"}

// cost is one row of budget_cost. A row without a total stands for everything that the dry
// run did not reach.
type cost struct {
	chargeKey
	*total
	balance ledger.Balance
	atMost  float64
	rule    string // how groups are charged, empty where that is always the same
}

func newCostCursor(s *session) cursor {
	return &rowsCursor[cost]{
		read: func(c call) ([]cost, error) {
			d, proved, err := s.runDry(c.text(argSQL))
			if err != nil {
				return nil, err
			}
			rows, err := s.costRows(d, proved)
			if err == nil {
				err = s.meter.keep(s, rows, proved)
			}
			return rows, err
		},
		show: showCost,
	}
}

// costRows compares what was counted with the ledger.
//
// If nothing is proved, a real execution may charge more than was counted, and other
// accounts too. But no account is charged more than it has left, including what is reserved
// for it.
func (s *session) costRows(d *dryRun, proved bool) ([]cost, error) {
	rows := make([]cost, 0, len(d.totals)+1)
	for of, total := range d.totals {
		b, err := s.balanceOf(of.account, of.unit)
		if err != nil {
			return nil, err
		}
		row := cost{of, total, b, total.float64(), d.rule(of.function, total)}
		if !proved {
			row.atMost = (b.Remaining() + b.Reserved).Float64()
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b cost) int {
		return cmp.Or(cmp.Compare(a.unit, b.unit), cmp.Compare(a.account, b.account),
			cmp.Compare(a.function.name, b.function.name))
	})
	if !proved {
		rows = append(rows, cost{})
	}
	return rows, nil
}

// manyRows is from how many rows of one account on a rule says how to make them one.
const manyRows = 11

// rule says how rows and groups are charged, where that depends on the statement. An account
// with many rows pays for each of them under dh and nd1, although most questions are about
// persons, and could be asked about one row for each.
func (d *dryRun) rule(f *function, t *total) string {
	switch {
	case t.perRow && t.evaluations >= manyRows:
		return "once per row: to pay once, make the rows of an account one first, with GROUP BY account in a subquery"
	case t.perRow:
		return "once per row"
	case t.byValue:
		return "once for each value: the largest sum of epsilon for any value of the account"
	}
	return d.rules[f]
}

// balanceOf returns the balance of an account, empty if there is no ledger.
func (s *session) balanceOf(account string, unit budget.Unit) (ledger.Balance, error) {
	book, err := s.ledger()
	if err != nil {
		return ledger.Balance{}, ignoreNoLedger(err)
	}
	return book.Balance(account, unit)
}

// showCost sets the columns of a row.
func showCost(c call, row cost) {
	if row.total == nil {
		for i := range 3 {
			c.ResultString(i, "*")
		}
		for i := 3; i < 8; i++ {
			c.ResultNull(i)
		}
		return
	}
	c.ResultString(0, row.function.name)
	c.ResultString(1, row.account)
	c.ResultString(2, string(row.unit))
	c.ResultInt(3, row.evaluations)
	c.ResultFloat(4, row.float64())
	c.ResultFloat(5, row.atMost)
	c.ResultFloat(6, row.balance.Remaining().Float64())
	if row.rule != "" {
		c.ResultString(7, row.rule)
	} else {
		c.ResultNull(7)
	}
}
