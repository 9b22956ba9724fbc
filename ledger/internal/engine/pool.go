package engine

import (
	"cmp"
	"context"
	"slices"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

// pool is the amount that Reserve has set aside for an account and nobody holds. It is on disk as
// reserved, so that using it takes no commit. There may be millions of pools.
type pool struct {
	account string
	*under  // that it was last filled under
	left    budget.Amount
	note    *Change // the last note of its use by groups
	leased  *leased // nil if no lease was taken on the account
}

// under is the limit and the term that an amount was reserved under. Many amounts share it.
type under struct {
	limit budget.Amount
	term  ledger.Term
}

// leased is the lease that was taken last on an account.
type leased struct {
	by   *lease
	most budget.Amount // that a trace may spend by it without being saved
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

// filling is an amount of each account of a demand that a transaction has reserved, to be added to the pools. The amount of an
// account that cannot pay is 0.
type filling struct {
	ledger.Demand
	walk           // through the accounts that can
	under []*under // of the items
}

// reserve writes the reservations that choose makes of demands, in one transaction, and fills the pools with them. With an error
// it returns the fillings that are in the pools.
func (c *Core) reserve(demands []ledger.Demand, run *Run, choose func(Transaction, *filling) error) ([]filling, error) {
	all := make([]filling, 0, len(demands))
	for _, d := range byUnit(demands) {
		items, w, err := merged(d.Unit, d.Items)
		if err != nil {
			return nil, err
		}
		if len(items) > 0 {
			all = append(all, filling{Demand: ledger.Demand{Unit: d.Unit, Items: items}, walk: w})
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	revision := c.revision.Load()
	var chosen []filling
	needs := func(yield func(Key) bool) {
		for _, f := range all {
			for k := range f.needs(f.Unit) {
				if !yield(k) {
					return
				}
			}
		}
	}
	err := c.update(needs, func(t Transaction) error {
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

// byUnit joins the demands of each unit: an account pays them from one limit.
func byUnit(demands []ledger.Demand) []ledger.Demand {
	joined := make([]ledger.Demand, 0, len(demands))
	for _, d := range demands {
		i := slices.IndexFunc(joined, func(other ledger.Demand) bool { return other.Unit == d.Unit })
		if i < 0 {
			joined = append(joined, d)
			continue
		}
		joined[i].Items = slices.Concat(joined[i].Items, d.Items)
	}
	return joined
}

// reserveWhole chooses all of a demand, or refuses it.
func reserveWhole(t Transaction, f *filling) error {
	return f.each(t, f.Unit, func(i int, s *ledger.Standing) error { return checkAffordable(t, s, f.Items[i].Epsilon, 0) })
}

// reserveRest chooses the part of a demand that the pools do not cover, of the accounts that can pay it.
func (c *Core) reserveRest(t Transaction, f *filling) error {
	f.Items = slices.Clone(f.Items)
	var chosen []int32
	err := f.each(t, f.Unit, func(i int, s *ledger.Standing) error {
		item := &f.Items[i]
		c.mu.Lock()
		if q := c.pools[f.Unit].of(item.Account); q != nil {
			item.Epsilon -= q.share().In(s.Term)
		}
		c.mu.Unlock()
		if item.Epsilon > 0 && item.Epsilon <= s.Remaining() {
			chosen = append(chosen, int32(i))
		} else {
			item.Epsilon = 0
		}
		return nil
	})
	f.order = chosen
	return err
}

// post writes the reservations.
func (f *filling) post(t Transaction, run *Run) error {
	from := run.Origin(t.Now(), reserveFunction, f.Unit)
	f.under = make([]*under, len(f.Items))
	last := new(under)
	return f.walk.post(t, from, nil, func(i int, s *ledger.Standing) Change {
		item := f.Items[i]
		if s.Limit != last.limit || s.Term != last.term {
			last = &under{s.Limit, s.Term}
		}
		f.under[i] = last
		return Change{Origin: from, Account: item.Account, Reserved: item.Epsilon}
	})
}

// fillPools adds items that were reserved to the pools, unless limits were set since a revision of
// the ledger: setting them has emptied the pools, and relies on that.
func (c *Core) fillPools(f *filling, revision int64) (filled bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if revision != c.revision.Load() {
		return false
	}
	p := c.pools[f.Unit]
	if p == nil {
		p = new(pools)
		p.grow(len(f.Items))
		c.pools[f.Unit] = p
	}
	for i, item := range f.Items {
		if item.Epsilon == 0 {
			continue
		}
		q := p.of(item.Account)
		if q == nil {
			q = p.add(item.Account, f.under[i])
		}
		q.add(f.under[i], item.Epsilon)
	}
	return true
}

// returnLowered returns to the limits the amounts reserved under limits that were lowered since, and takes them
// out of the filling. After an error everything returns.
func (c *Core) returnLowered(f *filling) error {
	limits := make([]budget.Amount, len(f.Items))
	err := Wrap(c.store.View(context.Background(), func(r Reader) error {
		return f.each(r, f.Unit, func(i int, s *ledger.Standing) error {
			limits[i] = s.Limit
			return nil
		})
	}))
	c.mu.Lock()
	defer c.mu.Unlock()
	from := &Origin{new(Run), c.store.Now(), reserveFunction, f.Unit}
	f.Items = slices.Clone(f.Items)
	f.order = slices.DeleteFunc(f.order, func(i int32) bool {
		item, u := &f.Items[i], f.under[i]
		if err == nil && limits[i] >= u.limit {
			return false
		}
		c.addNote(Change{Origin: from, Account: item.Account, Reserved: -item.Epsilon, Term: u.term})
		item.Epsilon = 0
		return true
	})
	return err
}

// nameAndPool returns the account as a string and its pool, if it has one. The string is then
// the pool's, so that a statement over many accounts makes no others.
func (c *Core) nameAndPool(unit budget.Unit, account []byte) (string, *pool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if q := c.pools[unit].of(string(account)); q != nil {
		return q.account, q
	}
	return string(account), nil
}

// share returns the amount of the pool.
func (q *pool) share() ledger.Share { return ledger.Share{Term: q.term, Left: q.left} }

// add adds an amount that was reserved later than the pool.
func (q *pool) add(u *under, amount budget.Amount) {
	q.left, q.under = q.share().In(u.term)+amount, u
}

// shares are shares by number. They have no terms where all of them have an endless one, as under limits without windows.
type shares struct {
	left  []budget.Amount
	terms []ledger.Term
}

// at returns share i: there are zero ones as long as none was set.
func (s *shares) at(i int) ledger.Share {
	switch {
	case s.left == nil:
		return ledger.Share{}
	case s.terms == nil:
		return ledger.Share{Left: s.left[i]}
	}
	return ledger.Share{Term: s.terms[i], Left: s.left[i]}
}

// set sets share i of n.
func (s *shares) set(i, n int, share ledger.Share) {
	if s.left == nil {
		s.left = make([]budget.Amount, n)
	}
	if s.terms == nil && share.Term != (ledger.Term{}) {
		s.terms = make([]ledger.Term, n)
	}
	s.left[i] = share.Left
	if s.terms != nil {
		s.terms[i] = share.Term
	}
}

// drawFromPools takes the amounts for items from the pools, and reports whether they cover all items.
// Under is the highest limit that any of it was reserved under. It takes nothing for a caller who
// has not looked for limits.
func (c *Core) drawFromPools(unit budget.Unit, items []ledger.Item, looked bool) (drawn shares, under budget.Amount, covered bool) {
	if !looked {
		return shares{}, 0, false
	}
	covered = true
	c.mu.Lock()
	defer c.mu.Unlock()
	pools, now := c.pools[unit], c.store.Now()
	for i, item := range items {
		q := pools.of(item.Account)
		if q == nil || q.term.Over(now) {
			covered = false
			continue
		}
		s := q.take(item.Epsilon)
		drawn.set(i, len(items), s)
		under, covered = max(under, q.limit), covered && s.Left == item.Epsilon
	}
	return drawn, under, covered
}

// take takes from the pool, at most the amount.
func (q *pool) take(most budget.Amount) ledger.Share {
	s := ledger.Share{Term: q.term, Left: min(q.left, most)}
	q.left -= s.Left
	return s
}

// returnToPools undoes drawFromPools, which was called at a revision of the ledger.
func (c *Core) returnToPools(unit budget.Unit, items []ledger.Item, drawn shares, revision int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range drawn.left {
		if s := drawn.at(i); s.Left > 0 {
			c.returnToPool(c.pools[unit].of(items[i].Account), s, unit, revision)
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
	if q.left == 0 && q.term != s.Term {
		q.under = &under{q.limit, s.Term}
	}
	q.left += s.In(q.term)
}

// ReturnPools writes the notes that wait, and returns the rest of Reserve. The engine calls it when the ledger closes, and nobody uses the
// pools any more.
func (c *Core) ReturnPools() error {
	c.returnWithNotes()
	err := c.Flush()
	run := new(Run)
	for unit, pools := range c.pools {
		whole := walkThrough(pools.n, func(i int) string { return pools.all.at(i).account })
		whole.order = slices.DeleteFunc(whole.order, func(i int32) bool { return pools.all.at(int(i)).left == 0 })
		for part := range slices.Chunk(whole.order, ManyNotes) {
			w := walk{whole.account, part}
			returning := c.update(w.needs(unit), func(t Transaction) error {
				from := run.Origin(t.Now(), reserveFunction, unit)
				return w.post(t, from, nil, func(i int, _ *ledger.Standing) Change {
					q := pools.all.at(i)
					return Change{Origin: from, Account: q.account, Reserved: -q.left, Term: q.term}
				})
			})
			if err = cmp.Or(err, returning); returning != nil {
				break
			}
			for _, i := range part {
				pools.all.at(int(i)).left = 0
			}
		}
	}
	return err
}

// giveBack notes that the amounts of a filling return that the pools still have, and reports whether there are any. It
// is called under mu.
func (c *Core) giveBack(f *filling, run *Run) (returns bool) {
	from := run.Origin(c.store.Now(), reserveFunction, f.Unit)
	for i, item := range f.Items {
		q := c.pools[f.Unit].of(item.Account)
		if item.Epsilon == 0 || q.term != f.under[i].term {
			continue // nothing was reserved, or it has been emptied, or its rest is lost
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
	if q.left > 0 {
		c.addNote(Change{Origin: from, Account: q.account, Reserved: -q.left, Term: q.term})
		q.left = 0
	}
}
