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
	if err := ledger.CheckCharge(item.Account, unit, item.Epsilon); err != nil {
		return err
	}
	items := []ledger.Item{item}
	w := through(items)
	return c.update(w.needs(unit), func(t Transaction) error {
		b, err := t.Standing(Key{item.Account, unit})
		if err != nil {
			return err
		}
		if b.Spent > 0 {
			return &ledger.AlreadyChargedError{Account: item.Account, Unit: unit, Asked: item.Epsilon}
		}
		return chargeItems(t, &Origin{new(Run), t.Now(), function, unit}, items, w, nothingAside, nothingAhead)
	})
}

// chargeItems charges items: the amounts that are not set aside to the limits. Aside returns an amount that is set aside for an item,
// and ahead how much to reserve beside it.
func chargeItems(t Transaction, from *Origin, items []ledger.Item, w walk, aside func(int) ledger.Share, ahead func(int, *ledger.Standing) budget.Amount) error {
	return w.post(t, from, func(i int, s *ledger.Standing) error {
		return checkAffordable(t, s, items[i].Epsilon, aside(i).In(s.Term))
	}, func(i int, s *ledger.Standing) Change {
		return Change{
			Origin:      from,
			Account:     items[i].Account,
			Spent:       items[i].Epsilon,
			Reserved:    ahead(i, s) - aside(i).In(s.Term),
			Evaluations: items[i].Evaluations,
		}
	})
}

// nothingAside is the amount set aside where there are no pools.
func nothingAside(int) ledger.Share { return ledger.Share{} }

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
