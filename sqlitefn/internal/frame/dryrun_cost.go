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
	rows := make([]Cost, 0, len(d.totals)+1)
	for of, total := range d.totals {
		b, err := d.session.Balance(of.Account, of.Unit)
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
	l, err := s.Ledger()
	if err != nil {
		return ledger.Balance{}, IgnoreNoLedger(err)
	}
	return l.Balance(account, unit)
}
