package file

import (
	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

// limit is what an account may spend, in all or in a window.
type limit struct {
	epsilon budget.Amount
	seconds int64
}

// limitFunction is the function of the entries that set limits.
const limitFunction = "budget_limit"

// SetLimit implements [ledger.Ledger].
func (l *Ledger) SetLimit(account string, unit budget.Unit, eps budget.Amount, window int64) error {
	return l.putLimit(account, unit, limit{eps, window}, func(*transaction) (bool, error) { return true, nil })
}

// SetFirstLimit implements [ledger.Ledger].
func (l *Ledger) SetFirstLimit(account string, unit budget.Unit, eps budget.Amount) error {
	return l.putLimit(account, unit, limit{eps, 0}, func(t *transaction) (bool, error) {
		b, err := t.db.standing(account, unit, t.now)
		return !b.Limited, err
	})
}

// putLimit sets a limit if wanted, which it asks in the transaction that sets the limit, says so.
func (l *Ledger) putLimit(account string, unit budget.Unit, to limit, wanted func(*transaction) (bool, error)) error {
	if err := ledger.CheckLimit(unit, to.epsilon, to.seconds); err != nil {
		return err
	}
	err := l.transact(func(t *transaction) error {
		if wanted, err := wanted(t); !wanted || err != nil {
			return err
		}
		return t.setLimit(&change{
			origin:  &origin{new(run), t.now, limitFunction, unit},
			account: account,
			limit:   &to,
		})
	})
	if err != nil {
		return err
	}
	if err := l.recallNow(accountUnit{account, unit}); err != nil {
		return err
	}
	return l.flush()
}

// setLimit writes the entry of a change that sets a limit, and the limit.
func (t *transaction) setLimit(e *change) error {
	if err := t.addEntry(e, 0, ledger.WindowUse{}); err != nil {
		return err
	}
	s := t.db.putLimit
	s.BindText(1, e.account)
	s.BindText(2, string(e.unit))
	s.BindInts(3, int64(e.limit.epsilon), e.limit.seconds, e.time, t.head.ID)
	return s.Run()
}
