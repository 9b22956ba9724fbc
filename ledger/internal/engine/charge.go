package engine

import (
	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

// Charge implements [ledger.Ledger]. It needs no transaction if the pools cover all items.
func (c *Core) Charge(function string, unit budget.Unit, items []ledger.Item) error {
	items, err := ledger.MergeItems(unit, items)
	if err != nil || len(items) == 0 {
		return err
	}
	looked, err := c.checkForLimitsIfHeld(false, unit)
	if err != nil {
		return err
	}
	revision := c.revision.Load()
	drawn, _, covered := c.drawFromPools(unit, items, looked)
	if covered {
		c.noteItems(function, unit, items, drawn)
		_ = c.flushIfMany() // the amounts are on disk already, as reserved; notes that stay are written later
		return nil
	}
	err = c.update(needsOf(unit, items), func(t Transaction) error {
		return chargeItems(t, &Origin{new(Run), t.Now(), function, unit}, items, drawn)
	})
	if err != nil && !Is[*InDoubtError](err) {
		c.returnToPools(unit, items, drawn, revision)
	}
	return err
}

// ChargeOnce implements [ledger.Ledger].
func (c *Core) ChargeOnce(function string, unit budget.Unit, item ledger.Item) error {
	items, err := ledger.MergeItems(unit, []ledger.Item{item})
	if err != nil {
		return err
	}
	return c.update(needsOf(unit, items), func(t Transaction) error {
		b, err := t.Standing(Key{item.Account, unit})
		if err != nil {
			return err
		}
		if b.Spent > 0 {
			return &ledger.AlreadyChargedError{Account: item.Account, Unit: unit, Asked: item.Epsilon}
		}
		return chargeItems(t, &Origin{new(Run), t.Now(), function, unit}, items, make([]ledger.Share, 1))
	})
}

// standingsToCharge returns the standings of the items' accounts, or the refusal of the first
// account that cannot pay with what its limit leaves and what was drawn for it.
func standingsToCharge(t Transaction, unit budget.Unit, items []ledger.Item, drawn []ledger.Share) ([]ledger.Standing, error) {
	balances := make([]ledger.Standing, len(items))
	for i, item := range items {
		b, err := t.Standing(Key{item.Account, unit})
		if err != nil {
			return nil, err
		}
		if err := checkAffordable(t, &b, item.Epsilon, drawn[i].In(b.Term)); err != nil {
			return nil, err
		}
		balances[i] = b
	}
	return balances, nil
}

// chargeItems charges items. What was not drawn from the pools is charged to the limits.
func chargeItems(t Transaction, from *Origin, items []ledger.Item, drawn []ledger.Share) error {
	balances, err := standingsToCharge(t, from.Unit, items, drawn)
	if err != nil {
		return err
	}
	for i, item := range items {
		b := &balances[i]
		err := t.Post(&Change{
			Origin:      from,
			Account:     item.Account,
			Spent:       item.Epsilon,
			Reserved:    -drawn[i].In(b.Term),
			Evaluations: item.Evaluations,
		}, b)
		if err != nil {
			return err
		}
	}
	return nil
}

// checkAffordable returns the refusal of a cost if the account cannot pay it with what is set
// aside for it and what its limit leaves.
func checkAffordable(r Reader, s *ledger.Standing, cost, aside budget.Amount) error {
	refusal := s.Refuse(cost, aside)
	if refusal == nil {
		return nil
	}
	if !refusal.Limited {
		units, err := r.LimitedUnits(s.Account)
		if err != nil {
			return err
		}
		refusal.OtherUnits = units
	}
	return refusal
}
