package ledger

import (
	"errors"
	"fmt"

	"github.com/geosql/geosql/budget"
)

// SetLimit sets what an account may spend of a unit, from 0, which blocks it, to
// [budget.Max]. The limit of account '*' holds for every account that is not
// named, each having its own of that size. The limit is on disk when SetLimit
// returns. It replaces an earlier one; what is spent or reserved stays so.
func (l *Ledger) SetLimit(account string, unit budget.Unit, eps budget.Amount) error {
	switch {
	case eps < 0 || eps > budget.Max:
		return fmt.Errorf("ledger: a limit must be between 0 and %v", budget.Max)
	case unit == "":
		return errNoUnit
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.transact(func(t *transaction) error {
		s := t.db.putLimit
		s.BindText(1, account)
		s.BindText(2, string(unit))
		s.BindInts(3, int64(eps), t.now)
		return s.Run()
	})
}

var (
	errNoUnit   = errors.New("ledger: unit is empty")
	errEveryone = errors.New("ledger: account '*' stands for every account that is not named and cannot be charged")
)

// checkCharge refuses what no account can be charged.
func checkCharge(account string, unit budget.Unit, eps budget.Amount) error {
	switch {
	case account == everyone:
		return errEveryone
	case unit == "":
		return errNoUnit
	case eps <= 0 || eps > budget.Max:
		return fmt.Errorf("ledger: a charge must be above 0 and at most %v", budget.Max)
	}
	return nil
}
