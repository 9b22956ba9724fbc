package engine

import (
	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

// LimitFunction is the function of the entries that set limits.
const LimitFunction = "budget_limit"

// SetLimit implements [ledger.Ledger].
func (c *Core) SetLimit(account string, unit budget.Unit, eps budget.Amount, window int64) error {
	return c.putLimit(Key{account, unit}, Limit{eps, window}, false)
}

// SetFirstLimit implements [ledger.Ledger].
func (c *Core) SetFirstLimit(account string, unit budget.Unit, eps budget.Amount) error {
	return c.putLimit(Key{account, unit}, Limit{eps, 0}, true)
}

// putLimit sets a limit, or only the first one that holds for the account.
func (c *Core) putLimit(of Key, to Limit, first bool) error {
	if err := ledger.CheckLimit(of.Unit, to.Epsilon, to.Seconds); err != nil {
		return err
	}
	err := c.update(one(of), func(t Transaction) error {
		if first {
			if s, err := t.Standing(of); err != nil || s.Limited {
				return err
			}
		}
		return t.SetLimit(&Change{
			Origin:  &Origin{new(Run), t.Now(), LimitFunction, of.Unit},
			Account: of.Account,
			Limit:   &to,
		})
	})
	if err != nil {
		return err
	}
	if err := c.recallNow(of); err != nil {
		return err
	}
	return c.Flush()
}
