package file

import (
	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
)

// Charge implements [ledger.Ledger]. It needs no transaction if the pools cover all items.
func (l *Ledger) Charge(function string, unit budget.Unit, items []ledger.Item) error {
	items, err := ledger.MergeItems(unit, items)
	if err != nil || len(items) == 0 {
		return err
	}
	if err := l.checkForLimitsIfHeld(false, unit); err != nil {
		return err
	}
	revision := l.revision.Load()
	drawn, covered := l.drawFromPools(unit, items)
	if covered {
		l.noteItems(function, unit, items, drawn)
		_ = l.flushIfMany() // the amounts are on disk already, as reserved; notes that stay are written later
		return nil
	}
	err = l.transact(func(t *transaction) error {
		return t.chargeItems(&origin{new(run), t.now, function, unit}, items, drawn)
	})
	if err != nil {
		l.returnToPools(unit, items, drawn, revision)
	}
	return err
}

// ChargeOnce implements [ledger.Ledger].
func (l *Ledger) ChargeOnce(function string, unit budget.Unit, item ledger.Item) error {
	items, err := ledger.MergeItems(unit, []ledger.Item{item})
	if err != nil {
		return err
	}
	return l.transact(func(t *transaction) error {
		b, err := t.standing(item.Account, unit)
		if err != nil {
			return err
		}
		if b.Spent > 0 {
			return &ledger.AlreadyChargedError{Account: item.Account, Unit: unit, Asked: item.Epsilon}
		}
		return t.chargeItems(&origin{new(run), t.now, function, unit}, items, make([]ledger.Share, 1))
	})
}

// standingsToCharge returns the standings of the items' accounts, or the refusal of the first
// account that cannot pay with what its limit leaves and what was drawn for it.
func (t *transaction) standingsToCharge(unit budget.Unit, items []ledger.Item, drawn []ledger.Share) ([]ledger.Standing, error) {
	balances := make([]ledger.Standing, len(items))
	for i, item := range items {
		b, err := t.standing(item.Account, unit)
		if err != nil {
			return nil, err
		}
		if err := t.db.checkAffordable(&b, item.Epsilon, drawn[i].In(b.Term)); err != nil {
			return nil, err
		}
		balances[i] = b
	}
	return balances, nil
}

// chargeItems charges items. What was not drawn from the pools is charged to the limits.
func (t *transaction) chargeItems(from *origin, items []ledger.Item, drawn []ledger.Share) error {
	balances, err := t.standingsToCharge(from.unit, items, drawn)
	if err != nil {
		return err
	}
	for i, item := range items {
		b := &balances[i]
		err := t.post(&change{
			origin:      from,
			account:     item.Account,
			spent:       item.Epsilon,
			reserved:    -drawn[i].In(b.Term),
			evaluations: item.Evaluations,
		}, b)
		if err != nil {
			return err
		}
	}
	return nil
}

// checkAffordable returns the refusal of a cost if the account cannot pay it with what is set
// aside for it and what its limit leaves.
func (db *store) checkAffordable(s *ledger.Standing, cost, aside budget.Amount) error {
	refusal := s.Refuse(cost, aside)
	if refusal == nil {
		return nil
	}
	if !refusal.Limited {
		units, err := db.limitedUnits(s.Account)
		if err != nil {
			return err
		}
		refusal.OtherUnits = units
	}
	return refusal
}

// limitedUnits returns the units in which a limit holds for an account.
func (db *store) limitedUnits(account string) (units []budget.Unit, err error) {
	err = db.query(`SELECT DISTINCT unit FROM budget WHERE account IN (?1, '*') ORDER BY unit`, func(s *sqlite.Stmt) error {
		unit := s.Column(0)
		units = append(units, budget.Unit(unit.Text()))
		return nil
	}, account)
	return units, err
}
