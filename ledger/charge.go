package ledger

import (
	"github.com/geosql/geosql/budget"
)

// Item is what one account is charged.
type Item struct {
	Account     string
	Epsilon     budget.Amount
	Evaluations int64 // that it pays for
}

func checkItems(unit budget.Unit, items []Item) error {
	for i := range items {
		if err := checkCharge(items[i].Account, unit, items[i].Epsilon); err != nil {
			return err
		}
	}
	return nil
}

// Charge charges all items or none, taking what [Ledger.Reserve] set aside
// first. When it returns nil the amounts are on disk. A refusal is a [*Refusal].
// In [Ledger.Charges] every call is a charge of its own per account.
func (l *Ledger) Charge(function string, unit budget.Unit, items []Item) error {
	if err := checkItems(unit, items); err != nil || len(items) == 0 {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.db == nil {
		return errClosed
	}
	pooled, covered := l.draw(unit, items)
	if covered {
		l.noteItems(function, unit, items)
		_ = l.flushMany() // the amounts are on disk already, as reserved; notes that stay are written later
		return nil
	}
	err := l.chargeItems(function, unit, items, pooled)
	if err != nil {
		l.putBack(unit, items, pooled)
	}
	return err
}

// chargeItems charges in one transaction what the pools do not cover.
func (l *Ledger) chargeItems(function string, unit budget.Unit, items []Item, pooled []budget.Amount) error {
	r := new(run)
	return l.transact(func(t *transaction) error {
		from := &origin{r, t.now, function, unit}
		for i, item := range items {
			b, err := t.db.balance(item.Account, unit)
			if err != nil {
				return err
			}
			if left := b.Remaining() + pooled[i]; !b.Limited || item.Epsilon > left {
				return t.refuse(b, item.Epsilon, left)
			}
			err = t.post(&entry{
				origin:      from,
				account:     item.Account,
				spent:       item.Epsilon,
				reserved:    -pooled[i],
				evaluations: item.Evaluations,
			}, b)
			if err != nil {
				return err
			}
		}
		return nil
	})
}
