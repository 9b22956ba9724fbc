package ledger

import (
	"fmt"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/printable"
)

// Item is what one account is charged.
type Item struct {
	Account     string
	Epsilon     budget.Amount
	Evaluations int64 // that it pays for
}

// checkItems refuses what nobody can be charged, and makes one item of those of
// an account: a charge reads every balance before it writes the first.
func checkItems(unit budget.Unit, items []Item) ([]Item, error) {
	merged := make([]Item, 0, len(items))
	at := make(map[string]int, len(items))
	for _, item := range items {
		if err := checkCharge(item.Account, unit, item.Epsilon); err != nil {
			return nil, err
		}
		i, again := at[item.Account]
		if !again {
			at[item.Account] = len(merged)
			merged = append(merged, item)
			continue
		}
		if item.Epsilon > budget.Max-merged[i].Epsilon {
			return nil, fmt.Errorf("ledger: account %s would be charged more than any budget holds", printable.SQL(item.Account))
		}
		merged[i].Epsilon += item.Epsilon
		merged[i].Evaluations += item.Evaluations
	}
	return merged, nil
}

// Charge charges all items or none, taking what [Ledger.Reserve] set aside
// first. When it returns nil the amounts are on disk. A refusal is a [*RefusalError].
// In [Ledger.Charges] every call is a charge of its own per account.
func (l *Ledger) Charge(function string, unit budget.Unit, items []Item) error {
	items, err := checkItems(unit, items)
	if err != nil || len(items) == 0 {
		return err
	}
	if err := l.lookIfHeld(false, unit); err != nil {
		return err
	}
	revision := l.revision.Load()
	drawn, covered := l.draw(unit, items)
	if covered {
		l.noteItems(function, unit, items, drawn)
		_ = l.flushMany() // the amounts are on disk already, as reserved; notes that stay are written later
		return nil
	}
	err = l.transact(func(t *transaction) error {
		return t.chargeItems(&origin{new(run), t.now, function, unit}, items, drawn)
	})
	if err != nil {
		l.putBack(unit, items, drawn, revision)
	}
	return err
}

// ChargeOnce charges an account that was never charged in the unit, as [Ledger.Charge]
// does but past what is set aside: for releases that do not add up, of which an
// account gets one, whatever its limit allows. An account that was charged, in any
// window, gets a [*AlreadyChargedError], and of several that ask at a time only the first is charged.
func (l *Ledger) ChargeOnce(function string, unit budget.Unit, item Item) error {
	items, err := checkItems(unit, []Item{item})
	if err != nil {
		return err
	}
	return l.transact(func(t *transaction) error {
		b, err := t.balance(item.Account, unit)
		if err != nil {
			return err
		}
		if b.Spent > 0 {
			return &AlreadyChargedError{item.Account, unit}
		}
		return t.chargeItems(&origin{new(run), t.now, function, unit}, items, make([]share, 1))
	})
}

// afford returns the balances of the items' accounts, or the refusal of the first
// that cannot pay with what its limit leaves and what was drawn for it.
func (t *transaction) afford(unit budget.Unit, items []Item, drawn []share) ([]Balance, error) {
	balances := make([]Balance, len(items))
	for i, item := range items {
		b, err := t.balance(item.Account, unit)
		if err != nil {
			return nil, err
		}
		if err := t.db.affords(&b, item.Epsilon, drawn[i].in(b.term)); err != nil {
			return nil, err
		}
		balances[i] = b
	}
	return balances, nil
}

// chargeItems charges what was not drawn from the pools to the limits.
func (t *transaction) chargeItems(from *origin, items []Item, drawn []share) error {
	balances, err := t.afford(from.unit, items, drawn)
	if err != nil {
		return err
	}
	for i, item := range items {
		b := &balances[i]
		err := t.post(&entry{
			origin:      from,
			account:     item.Account,
			spent:       item.Epsilon,
			reserved:    -drawn[i].in(b.term),
			evaluations: item.Evaluations,
		}, b)
		if err != nil {
			return err
		}
	}
	return nil
}
