package engine

import (
	"context"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

// A limit that is lowered takes back unused reservations from every holder. A limit
// of 0 blocks at once. An amount reserved under the higher limit is neither drawn from a pool
// nor used by a statement or a trace any more.
//
// The ledger's revision changes when limits were set. Each hold and trace remembers the
// revision at which its limit was last checked, and the limit that it was reserved under. When
// the revision is another one it compares the limits. Limits set by another process are noticed
// before anything is taken from a pool, and by a running statement after at most CheckAfter
// evaluations.

// CheckAfter is how many evaluations a statement or a trace makes before it looks for new
// limits again.
const CheckAfter = 1024

// checkForLimits looks for limits that were set since the last time, and empties the pools
// with lowered limits.
func (c *Core) checkForLimits() error {
	return Wrap(c.store.LimitsSet(func(r Reader, set []Key) error { return c.recall(r, set...) }))
}

// recall empties the pools with lowered limits, of the accounts and units with limits that
// were set. It changes the revision for the holders of reservations.
func (c *Core) recall(r Reader, set ...Key) error {
	// The revision changes before the pools are emptied and after, so that an amount taken
	// from a pool in between does not come back to it later, and an amount reserved before
	// does not come into it.
	c.revision.Add(1)
	defer c.revision.Add(1)
	for _, of := range set {
		if err := c.recallPools(r, of); err != nil {
			return err
		}
	}
	return nil
}

// recallNow is recall for a limit that this process has set.
func (c *Core) recallNow(of Key) error {
	return Wrap(c.store.View(context.Background(), func(r Reader) error { return c.recall(r, of) }))
}

// checkForLimitsIfHeld looks for limits if something is held, or if there are pools of the
// unit to draw from. Otherwise the limit is read in the transaction that charges it. It reports
// whether it has looked: a caller that has not must not draw from pools that are filled later.
func (c *Core) checkForLimitsIfHeld(held bool, unit budget.Unit) (looked bool, err error) {
	c.mu.Lock()
	held = held || c.pools[unit].len() > 0
	c.mu.Unlock()
	if !held {
		return false, nil
	}
	return true, c.checkForLimits()
}

// recallPools empties the pools of a limit that was lowered.
func (c *Core) recallPools(r Reader, of Key) error {
	pools := c.poolsOf(of)
	from := &Origin{new(Run), c.store.Now(), reserveFunction, of.Unit}
	return walkThrough(len(pools), func(i int) string { return pools[i].account }).each(r, of.Unit, func(i int, s *ledger.Standing) error {
		if q := pools[i]; s.Limit < q.limit {
			c.mu.Lock()
			c.emptyPool(q, from)
			c.mu.Unlock()
		}
		return nil
	})
}

// poolsOf returns the pools that a limit holds for.
func (c *Core) poolsOf(of Key) []*pool {
	c.mu.Lock()
	defer c.mu.Unlock()
	pools := c.pools[of.Unit]
	if of.Account == ledger.Everyone {
		all := make([]*pool, pools.len())
		for i := range all {
			all[i] = pools.all.at(i)
		}
		return all
	}
	if q := pools.of(of.Account); q != nil {
		return []*pool{q}
	}
	return nil
}

// recall returns a hold if the account's limit was lowered since it was reserved.
func (p *spender) recall(h *hold) error {
	c := p.statement.core
	now := c.revision.Load()
	b, err := c.Balance(h.account, p.unit)
	if err != nil {
		return err
	}
	if b.Limit < h.Limit && h.Left > 0 {
		c.mu.Lock()
		p.note(h, h.Left)
		h.Drop()
		c.mu.Unlock()
		if err := c.Flush(); err != nil { // so that the account can be charged again
			return err
		}
	}
	h.revision = now
	return nil
}

// checkLimits looks for limits from time to time, and returns the hold if its limit
// was lowered.
func (p *spender) checkLimits(h *hold) error {
	c := p.statement.core
	if p.unchecked == 0 || !p.looked { // there may be pools by now
		due := p.unchecked == 0
		var err error
		if p.looked, err = c.checkForLimitsIfHeld(due && p.held, p.unit); err != nil {
			return err
		}
		if due || p.looked {
			p.unchecked = CheckAfter
		}
	}
	if h.revision == c.revision.Load() {
		return nil
	}
	return p.recall(h)
}
