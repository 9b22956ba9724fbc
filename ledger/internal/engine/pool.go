package engine

import (
	"cmp"
	"context"
	"slices"

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

// Reserve implements [ledger.Ledger].
func (c *Core) Reserve(unit budget.Unit, items []ledger.Item) error {
	return c.ReserveAll([]ledger.Demand{{Unit: unit, Items: items}})
}

// ReserveAll implements [ledger.Ledger].
func (c *Core) ReserveAll(demands []ledger.Demand) error {
	_, err := c.reserve(demands, new(Run), reserveWhole)
	return err
}

// filling is an amount of each account of a demand that a transaction has reserved, to be added to the pools.
type filling struct {
	ledger.Demand
	balances []ledger.Standing // before
}

// reserve writes the reservations that choose makes of demands, in one transaction, and fills the pools with them. With an error
// it returns the fillings that are in the pools.
func (c *Core) reserve(demands []ledger.Demand, run *Run, choose func(Transaction, *filling) error) ([]filling, error) {
	all := make([]filling, 0, len(demands))
	for _, d := range demands {
		items, err := ledger.MergeItems(d.Unit, d.Items)
		if err != nil {
			return nil, err
		}
		if len(items) > 0 {
			all = append(all, filling{Demand: ledger.Demand{Unit: d.Unit, Items: items}})
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	revision := c.revision.Load()
	var chosen []filling
	err := c.update(needsOfAll(all), func(t Transaction) error {
		chosen = slices.Clone(all)
		for i := range chosen { // all before anything is written
			if err := choose(t, &chosen[i]); err != nil {
				return err
			}
		}
		for i := range chosen {
			if err := chosen[i].post(t, run); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range chosen { // every one, so that an error about one leaves none reserved and in no pool
		for f := &chosen[i]; !c.fillPools(f, revision); revision = c.revision.Load() {
			err = cmp.Or(c.returnLowered(f), err)
		}
	}
	return chosen, err
}

// needsOfAll are the needs of fillings.
func needsOfAll(all []filling) Needs {
	return func(yield func(Key) bool) {
		for _, f := range all {
			for _, item := range f.Items {
				if !yield(Key{item.Account, f.Unit}) {
					return
				}
			}
		}
	}
}

// reserveWhole chooses all of a demand, or refuses it.
func reserveWhole(t Transaction, f *filling) (err error) {
	f.balances, err = standingsToCharge(t, f.Unit, f.Items, make([]ledger.Share, len(f.Items)))
	return err
}

// reserveRest chooses the part of a demand that the pools do not cover, of the accounts that can pay it.
func (c *Core) reserveRest(t Transaction, f *filling) error {
	asked := f.Items
	f.Items = nil
	for _, item := range asked {
		b, err := t.Standing(Key{item.Account, f.Unit})
		if err != nil {
			return err
		}
		c.mu.Lock()
		if q := c.pools[f.Unit][item.Account]; q != nil {
			item.Epsilon -= q.In(b.Term)
		}
		c.mu.Unlock()
		if item.Epsilon > 0 && item.Epsilon <= b.Remaining() {
			f.Items, f.balances = append(f.Items, item), append(f.balances, b)
		}
	}
	return nil
}

// post writes the reservations.
func (f *filling) post(t Transaction, run *Run) error {
	from := run.Origin(t.Now(), reserveFunction, f.Unit)
	for i, item := range f.Items {
		if err := t.Post(&Change{Origin: from, Account: item.Account, Reserved: item.Epsilon}, &f.balances[i]); err != nil {
			return err
		}
	}
	return nil
}

// fillPools adds items that were reserved to the pools, unless limits were set since a revision of
// the ledger: setting them has emptied the pools, and relies on that.
func (c *Core) fillPools(f *filling, revision int64) (filled bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if revision != c.revision.Load() {
		return false
	}
	pools := c.pools[f.Unit]
	if pools == nil {
		pools = make(map[string]*pool, len(f.Items))
		c.pools[f.Unit] = pools
	}
	var made []pool // allocated together
	for i, item := range f.Items {
		q := pools[item.Account]
		if q == nil {
			if made == nil {
				made = make([]pool, 0, len(f.Items)-i)
			}
			made = append(made, pool{account: item.Account})
			n := len(made)
			q = &made[n-1]
			if n > 1 {
				made[n-2].next = q
			}
			pools[item.Account] = q
		}
		q.limit = f.balances[i].Limit
		q.add(ledger.Share{Term: f.balances[i].Term, Left: item.Epsilon})
	}
	return true
}

// returnLowered returns to the limits the amounts reserved under limits that were lowered since, and takes them
// out of the filling. After an error everything returns.
func (c *Core) returnLowered(f *filling) error {
	limits := make([]budget.Amount, len(f.Items))
	err := Wrap(c.store.View(context.Background(), func(r Reader) error {
		for i, item := range f.Items {
			b, err := r.Standing(Key{item.Account, f.Unit})
			if err != nil {
				return err
			}
			limits[i] = b.Limit
		}
		return nil
	}))
	c.mu.Lock()
	defer c.mu.Unlock()
	from := &Origin{new(Run), c.store.Now(), reserveFunction, f.Unit}
	n := 0
	for i, item := range f.Items {
		if b := f.balances[i]; err != nil || limits[i] < b.Limit {
			c.addNote(Change{Origin: from, Account: item.Account, Reserved: -item.Epsilon, Term: b.Term})
		} else {
			f.Items[n], f.balances[n] = item, b
			n++
		}
	}
	f.Items, f.balances = f.Items[:n], f.balances[:n]
	return err
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

// giveBack notes that the amounts of a filling return that the pools still have, and reports whether there are any. It
// is called under mu.
func (c *Core) giveBack(f *filling, run *Run) (returns bool) {
	from := run.Origin(c.store.Now(), reserveFunction, f.Unit)
	for i, item := range f.Items {
		q := c.pools[f.Unit][item.Account]
		if q.Term != f.balances[i].Term {
			continue // it has been emptied, or its rest is lost
		}
		if left := q.take(item.Epsilon); left.Left > 0 {
			c.addNote(Change{Origin: from, Account: item.Account, Reserved: -left.Left, Term: left.Term})
			returns = true
		}
	}
	return returns
}

// emptyPool notes that the rest of a pool is returned. It is called under mu.
func (c *Core) emptyPool(q *pool, from *Origin) {
	if q.Left > 0 {
		c.addNote(Change{Origin: from, Account: q.account, Reserved: -q.Left, Term: q.Term})
		q.Left = 0
	}
}
