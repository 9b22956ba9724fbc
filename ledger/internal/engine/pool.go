package engine

import (
	"context"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

// pool is the amount that Reserve has set aside for an account and nobody holds. It is on disk as
// reserved, so that using it takes no commit.
type pool struct {
	account string
	limit   budget.Amount // under which it was last filled
	note    *Change       // the last note of its use by groups
	lease   *lease        // that was taken last on the account, if any
	most    budget.Amount // that a trace may spend by it without being saved
	next    *pool         // made after it: accounts are often charged in the order in which they were reserved
	ledger.Share
}

// reserveFunction is the function of the entries that fill and empty pools.
const reserveFunction = "budget_reserve"

// Reserve implements [ledger.Ledger]. It writes one transaction and fills the pools.
func (c *Core) Reserve(unit budget.Unit, items []ledger.Item) error {
	items, err := ledger.MergeItems(unit, items)
	if err != nil || len(items) == 0 {
		return err
	}
	revision := c.revision.Load()
	var balances []ledger.Standing
	err = c.update(needsOf(unit, items), func(t Transaction) error {
		balances, err = reserveItems(t, &Origin{new(Run), t.Now(), reserveFunction, unit}, items)
		return err
	})
	if err != nil {
		return err
	}
	for !c.fillPools(unit, items, balances, revision) {
		revision = c.revision.Load()
		if items, err = c.returnLowered(unit, items, balances); err != nil {
			return err
		}
	}
	return nil
}

// reserveItems reserves items from the limits, and returns the standings before.
func reserveItems(t Transaction, from *Origin, items []ledger.Item) ([]ledger.Standing, error) {
	balances, err := standingsToCharge(t, from.Unit, items, make([]ledger.Share, len(items)))
	if err != nil {
		return nil, err
	}
	for i, item := range items {
		e := &Change{Origin: from, Account: item.Account, Reserved: item.Epsilon}
		if err := t.Post(e, &balances[i]); err != nil {
			return nil, err
		}
	}
	return balances, nil
}

// fillPools adds items that were reserved to the pools, unless limits were set since a revision of
// the ledger: setting them has emptied the pools, and relies on that.
func (c *Core) fillPools(unit budget.Unit, items []ledger.Item, balances []ledger.Standing, revision int64) (filled bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if revision != c.revision.Load() {
		return false
	}
	pools := c.pools[unit]
	if pools == nil {
		pools = make(map[string]*pool, len(items))
		c.pools[unit] = pools
	}
	var made []pool // allocated together
	for i, item := range items {
		q := pools[item.Account]
		if q == nil {
			if made == nil {
				made = make([]pool, 0, len(items)-i)
			}
			made = append(made, pool{account: item.Account})
			n := len(made)
			q = &made[n-1]
			if n > 1 {
				made[n-2].next = q
			}
			pools[item.Account] = q
		}
		q.limit = balances[i].Limit
		q.add(ledger.Share{Term: balances[i].Term, Left: item.Epsilon})
	}
	return true
}

// returnLowered returns to the limits the amounts reserved under limits that were lowered since. It
// moves the other items and their balances to the front, and returns those items. After an error
// everything returns.
func (c *Core) returnLowered(unit budget.Unit, items []ledger.Item, balances []ledger.Standing) (kept []ledger.Item, err error) {
	limits := make([]budget.Amount, len(items))
	err = Wrap(c.store.View(context.Background(), func(r Reader) error {
		for i, item := range items {
			b, err := r.Standing(Key{item.Account, unit})
			if err != nil {
				return err
			}
			limits[i] = b.Limit
		}
		return nil
	}))
	c.mu.Lock()
	defer c.mu.Unlock()
	from := &Origin{new(Run), c.store.Now(), reserveFunction, unit}
	kept = items[:0]
	for i, item := range items {
		if b := balances[i]; err != nil || limits[i] < b.Limit {
			c.addNote(Change{Origin: from, Account: item.Account, Reserved: -item.Epsilon, Term: b.Term})
		} else {
			balances[len(kept)] = b
			kept = append(kept, item)
		}
	}
	return kept, err
}

// nameAndPool returns the account as a string and its pool, if it has one. The string is then
// the pool's, so that a statement over many accounts makes no others. The pool may be the one after q.
func (c *Core) nameAndPool(unit budget.Unit, account []byte, q *pool) (string, *pool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if q != nil && q.next != nil && q.next.account == string(account) {
		return q.next.account, q.next
	}
	if q := c.pools[unit][string(account)]; q != nil {
		return q.account, q
	}
	return string(account), nil
}

// add adds a share that was reserved later than the pool.
func (q *pool) add(s ledger.Share) { q.Share = ledger.Share{Term: s.Term, Left: q.In(s.Term) + s.Left} }

// drawFromPools takes the amounts for items from the pools, and reports whether they cover all items.
// Under is the highest limit that any of it was reserved under. It takes nothing for a caller who
// has not looked for limits.
func (c *Core) drawFromPools(unit budget.Unit, items []ledger.Item, looked bool) (drawn []ledger.Share, under budget.Amount, covered bool) {
	drawn, covered = make([]ledger.Share, len(items)), true
	if !looked {
		return drawn, 0, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	pools, now := c.pools[unit], c.store.Now()
	for i, item := range items {
		if q := pools[item.Account]; q != nil && !q.Term.Over(now) {
			drawn[i], under = q.take(item.Epsilon), max(under, q.limit)
		}
		covered = covered && drawn[i].Left == item.Epsilon
	}
	return drawn, under, covered
}

// take takes from the pool, at most the amount.
func (q *pool) take(most budget.Amount) ledger.Share {
	s := ledger.Share{Term: q.Term, Left: min(q.Left, most)}
	q.Left -= s.Left
	return s
}

// returnToPools undoes drawFromPools, which was called at a revision of the ledger.
func (c *Core) returnToPools(unit budget.Unit, items []ledger.Item, drawn []ledger.Share, revision int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, s := range drawn {
		if s.Left > 0 {
			c.returnToPool(c.pools[unit][items[i].Account], s, unit, revision)
		}
	}
}

// returnToPool gives a pool back an amount taken from it at a revision of the ledger. Where
// limits were set since then the pool may have been emptied, and the share returns to the
// limit too: returnToPool reports whether it does. It is called under mu.
func (c *Core) returnToPool(q *pool, s ledger.Share, unit budget.Unit, revision int64) (toLimit bool) {
	if revision == c.revision.Load() {
		q.putBack(s)
		return false
	}
	from := &Origin{new(Run), c.store.Now(), reserveFunction, unit}
	c.addNote(Change{Origin: from, Account: q.account, Reserved: -s.Left, Term: s.Term})
	return true
}

// putBack adds a share that was taken earlier. The share is lost if the pool belongs to another
// term by now.
func (q *pool) putBack(s ledger.Share) {
	if q.Left == 0 {
		q.Term = s.Term
	}
	q.Left += s.In(q.Term)
}

// emptyPools notes that the rest of the pools is returned. It is called under mu.
func (c *Core) emptyPools() {
	r, at := new(Run), c.store.Now()
	for unit, pools := range c.pools {
		from := &Origin{r, at, reserveFunction, unit}
		for _, q := range pools {
			c.emptyPool(q, from)
		}
	}
}

// emptyPool notes that the rest of a pool is returned. It is called under mu.
func (c *Core) emptyPool(q *pool, from *Origin) {
	if q.Left > 0 {
		c.addNote(Change{Origin: from, Account: q.account, Reserved: -q.Left, Term: q.Term})
		q.Left = 0
	}
}
