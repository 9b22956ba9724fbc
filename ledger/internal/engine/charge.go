package engine

import (
	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

// Charge implements [ledger.Ledger]. It needs no transaction if the pools cover all items.
func (c *Core) Charge(function string, unit budget.Unit, items []ledger.Item) error {
	g := groupSpender{core: c, run: new(Run), function: function, unit: unit}
	return g.charge(items)
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
		return chargeItems(t, &Origin{new(Run), t.Now(), function, unit}, items, make([]ledger.Share, 1), nothingAhead)
	})
}

// standingsToCharge returns the standings of the items' accounts, or the refusal of the first
// account that cannot pay with the rest of its limit and the amount drawn for it.
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

// chargeItems charges items. Amounts not set aside are charged to the limits. Ahead returns how much to
// reserve beside an item.
func chargeItems(t Transaction, from *Origin, items []ledger.Item, aside []ledger.Share, ahead func(int, *ledger.Standing) budget.Amount) error {
	balances, err := standingsToCharge(t, from.Unit, items, aside)
	if err != nil {
		return err
	}
	for i, item := range items {
		b := &balances[i]
		err := t.Post(&Change{
			Origin:      from,
			Account:     item.Account,
			Spent:       item.Epsilon,
			Reserved:    ahead(i, b) - aside[i].In(b.Term),
			Evaluations: item.Evaluations,
		}, b)
		if err != nil {
			return err
		}
	}
	return nil
}

// nothingAhead reserves nothing beside an item.
func nothingAhead(int, *ledger.Standing) budget.Amount { return 0 }

// checkAffordable returns the refusal of a cost if the account cannot pay it with the amount set
// aside for it and the rest of its limit.
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
