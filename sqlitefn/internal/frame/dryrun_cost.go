package frame

import (
	"cmp"
	"slices"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

// Cost is one row of budget_cost. A row without a total stands for everything that the dry
// run did not reach.
type Cost struct {
	chargeKey
	*Total
	Balance ledger.Balance
	AtMost  float64
	Groups  *Groups // nil unless groups may cost once
	Rule    string  // how rows or groups are charged, empty where that is always the same
	Cure    string  // of a charge for many rows of the account, empty for others
}

// Costs compares the counted charges with the ledger.
//
// If nothing is proved, a real execution may charge more than was counted, and other
// accounts too. But no account is charged more than it has left, including the amount reserved
// for it.
func (d *DryRun) Costs() ([]Cost, error) {
	d.Certainty, d.Doubt = d.certainty()
	guessed := d.Certainty == Guessed
	balance, err := d.session.balances()
	if err != nil {
		return nil, err
	}
	rows := make([]Cost, 0, len(d.totals)+1)
	for of, total := range d.totals {
		b, err := balance(of.Account, of.Unit)
		if err != nil {
			return nil, err
		}
		most := total.Most()
		row := Cost{of, total, b, most.Float64(), d.groups[of.Function], d.rule(of.Function, total), d.cure(of.Function, total)}
		if guessed {
			row.AtMost = (b.Remaining() + b.Reserved).Float64()
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b Cost) int {
		return cmp.Or(cmp.Compare(a.Unit, b.Unit), cmp.Compare(a.Account, b.Account),
			cmp.Compare(a.Function.Name, b.Function.Name))
	})
	if guessed {
		rows = append(rows, Cost{})
	}
	return rows, nil
}

// Demands returns the counted charges, of [DryRun.Costs], that can be taken from amounts set aside. Traces says whether the charges
// for their steps are among them.
func Demands(rows []Cost, traces bool) (demands []ledger.Demand) {
	for _, row := range rows {
		if row.Total == nil || row.Once || row.Sum == (Sum{}) || row.trace && !traces {
			continue
		}
		n := len(demands)
		if n == 0 || demands[n-1].Unit != row.Unit {
			demands = append(demands, ledger.Demand{Unit: row.Unit})
			n++
		}
		items := &demands[n-1].Items
		*items = append(*items, ledger.Item{Account: row.Account, Epsilon: row.Sum.Capped(), Evaluations: row.Evaluations})
	}
	return demands
}

// Commits reports whether the statement would commit so often, charging accounts one after the other, that it is worth to write
// each of them once more.
func (d *DryRun) Commits() bool {
	return d.payments > 1 && d.payments > int64(len(d.totals))/accountsACommit
}

// accountsACommit is for how many accounts a transaction writes an entry in the time of a commit.
const accountsACommit = 128

// rule says how rows and groups are charged, where that depends on the statement.
func (d *DryRun) rule(f *Function, t *Total) string {
	switch cure := d.cure(f, t); {
	case cure != "":
		return "once per row: " + cure
	case t.perRow:
		return "once per row"
	case t.byValue:
		return "once for each value: the largest sum of epsilon for any value of the account"
	}
	return d.groups[f].rule()
}

// Balance returns the balance of an account, empty if there is no ledger.
func (s *Session) Balance(account string, unit budget.Unit) (ledger.Balance, error) {
	balance, err := s.balances()
	if err != nil {
		return ledger.Balance{}, err
	}
	return balance(account, unit)
}

// balances returns [Session.Balance] for many accounts.
func (s *Session) balances() (func(string, budget.Unit) (ledger.Balance, error), error) {
	l, err := s.Ledger()
	if err != nil {
		return func(string, budget.Unit) (ledger.Balance, error) { return ledger.Balance{}, nil }, IgnoreNoLedger(err)
	}
	return l.Balance, nil
}
