package engine

import (
	"slices"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

// groupSpender charges the groups of one function in one statement: all items of a group or none.
type groupSpender struct {
	core      *Core
	run       *Run
	statement *statement // nil for a single group
	function  string
	unit      budget.Unit

	groups    int               // charged so far
	ahead     map[string]*ahead // of the accounts that limits were charged for, from the second group on
	noted     *Origin           // of its notes
	revision  int64             // of the ledger, when limits were last compared
	unchecked int64             // evaluations until it looks for limits again
	looked    bool              // whether it has looked, and may draw from pools
	taken     []use             // of a group
}

// ahead is a reservation for an account that may be charged again. Nobody but the statement uses it.
type ahead struct {
	pool
	granted int64 // evaluations reserved so far
}

// charge charges all items or none. It needs no transaction if the pools, or the reservations ahead, cover each of them.
func (g *groupSpender) charge(items []ledger.Item) error {
	evaluations := int64(1) // at least, so that it looks for limits in any case
	for i := range items {
		if err := ledger.CheckCharge(items[i].Account, g.unit, items[i].Epsilon); err != nil {
			return err
		}
		evaluations += items[i].Evaluations
	}
	if len(items) == 0 {
		return nil
	}
	if err := g.checkLimits(evaluations); err != nil {
		return err
	}
	if len(items) >= ManyNotes {
		_ = g.core.flushGroup() // an earlier one
	}
	if g.takeAll(items) {
		_ = g.core.flushIfMany() // the amounts are on disk already, as reserved; notes that stay are written later
	} else if err := g.chargeLimits(items); err != nil {
		return err
	}
	g.groups++
	return nil
}

// chargeLimits charges items to the limits. Before it refuses, the statement gives up its reservations
// ahead, for whatever function, as [spender.chargeBeyond] says.
func (g *groupSpender) chargeLimits(items []ledger.Item) error {
	items, w, err := merged(g.unit, items)
	if err != nil {
		return err
	}
	err = g.takeFromLimits(items, w)
	if g.statement == nil || err == nil {
		return err
	}
	if err := g.statement.makeRoom(err, nil); err != nil {
		return err
	}
	return g.takeFromLimits(items, w)
}

// checkLimits looks for limits from time to time. If any were set, it gives up the reservations ahead, since they
// may be under a limit that was lowered.
func (g *groupSpender) checkLimits(evaluations int64) (err error) {
	c := g.core
	if !g.looked || g.unchecked < evaluations { // there may be pools by now
		if g.looked, err = c.checkForLimitsIfHeld(len(g.ahead) > 0, g.unit); err != nil {
			return err
		}
		g.unchecked = CheckAfter
	}
	g.unchecked -= min(evaluations, g.unchecked)
	now := c.revision.Load()
	if g.revision == now {
		return nil
	}
	g.revision = now
	c.mu.Lock()
	returns := g.giveUp()
	c.mu.Unlock()
	if returns {
		return c.Flush() // so that the accounts can be charged again
	}
	return nil
}

// takeAll takes the cost of each item from its account's pool, or from the reservation ahead for it, and notes that. It takes
// nothing and reports false if there is an item that neither covers.
func (g *groupSpender) takeAll(items []ledger.Item) bool {
	c := g.core
	c.mu.Lock()
	defer c.mu.Unlock()
	pools, now := c.pools[g.unit], c.store.Now()
	if !g.looked {
		pools = nil
	}
	if pools.len() == 0 && len(g.ahead) == 0 {
		return false
	}
	g.taken = g.taken[:0]
	for i, item := range items {
		q := pools.of(item.Account)
		if q == nil || !q.covers(item.Epsilon, now) {
			a := g.ahead[item.Account]
			if a == nil || !a.covers(item.Epsilon, now) {
				for _, u := range g.taken {
					u.pool.left += u.spent
				}
				return false
			}
			q = &a.pool
		}
		if i == 0 {
			g.taken = slices.Grow(g.taken, len(items))
		}
		q.left -= item.Epsilon
		g.taken = append(g.taken, use{q, item.Epsilon, item.Evaluations})
	}
	if g.noted == nil {
		g.noted = g.run.Origin(now, g.function, g.unit)
	}
	if len(items) >= ManyNotes {
		c.groupNotes = append(c.groupNotes, newGroupNote(g.noted, g.taken))
		g.taken = nil
		return true
	}
	for i := range g.taken {
		c.noteUse(g.noted, &g.taken[i])
	}
	return true
}

// covers reports whether a pool covers a cost now.
func (q *pool) covers(cost budget.Amount, now int64) bool { return cost <= q.left && !q.term.Over(now) }

// noteUse adds a use to the notes. A statement has one note for an account, until it is
// written. It is called under mu.
func (c *Core) noteUse(from *Origin, u *use) {
	n := u.pool.note
	if n == nil || n.taken || n.Origin != from || n.Term != u.pool.term {
		u.pool.note = c.addNote(u.change(from, u.pool.term))
		return
	}
	n.Spent += u.spent
	n.Reserved -= u.spent
	n.Evaluations += u.evaluations
}

// takeFromLimits charges items in a transaction: from the pools, the reservations ahead, and the
// limits. For accounts that it has charged before it reserves ahead.
func (g *groupSpender) takeFromLimits(items []ledger.Item, w walk) error {
	c, revision := g.core, g.revision
	drawn, _, _ := c.drawFromPools(g.unit, items, g.looked)
	aside := g.drawAhead(items, drawn)
	var terms []ledger.Term
	var extra, due []budget.Amount
	ahead := nothingAhead
	if g.groups > 0 {
		terms, extra, due = make([]ledger.Term, len(items)), make([]budget.Amount, len(items)), make([]budget.Amount, len(items))
		ahead = func(i int, b *ledger.Standing) budget.Amount {
			terms[i], due[i] = b.Term, items[i].Epsilon-aside.at(i).In(b.Term)
			if drawn.at(i).Left < items[i].Epsilon {
				extra[i] = g.more(items[i], b, due[i])
			}
			return extra[i]
		}
	}
	err := c.update(w.needs(g.unit), func(t Transaction) error {
		from := g.run.Origin(t.Now(), g.function, g.unit)
		return chargeItems(t, from, items, w, aside.at, ahead)
	})
	if Is[*InDoubtError](err) {
		return err // the amount taken may be spent
	}
	if err != nil {
		for i := range items {
			if s := aside.at(i); s.Left > drawn.at(i).Left {
				g.ahead[items[i].Account].putBack(ledger.Share{Term: s.Term, Left: s.Left - drawn.at(i).Left})
			}
		}
		c.returnToPools(g.unit, items, drawn, revision)
		return err
	}
	if g.groups > 0 {
		g.keep(items, terms, extra, due)
	}
	return nil
}

// drawAhead takes the reservations ahead for items, beside the amounts drawn for them from the pools. It returns
// both together.
func (g *groupSpender) drawAhead(items []ledger.Item, drawn shares) (aside shares) {
	if len(g.ahead) == 0 {
		return drawn
	}
	now := g.core.store.Now()
	for i, item := range items {
		s := drawn.at(i)
		if a := g.ahead[item.Account]; a != nil && !a.term.Over(now) && (s.Left == 0 || s.Term == a.term) {
			own := a.take(item.Epsilon - s.Left)
			s = ledger.Share{Term: own.Term, Left: s.Left + own.Left}
		}
		aside.set(i, len(items), s)
	}
	return aside
}

// more returns how much to reserve ahead for the account of an item, with an amount that is due from the limit: as much as the
// account has used, less the rest that it has. One account that comes short does not double the reservations of all others,
// and accounts that are filled up with it do not come short one after the other.
func (g *groupSpender) more(item ledger.Item, b *ledger.Standing, due budget.Amount) budget.Amount {
	a := g.ahead[item.Account]
	if a == nil {
		return 0
	}
	left := a.share().In(b.Term)
	used := a.granted - int64(left/item.Epsilon)
	return max(0, ledger.Ahead(used, item.Epsilon, b.Remaining())-due-left)
}

// keep keeps the reservations ahead, beside the amounts that were due.
func (g *groupSpender) keep(items []ledger.Item, terms []ledger.Term, extra, due []budget.Amount) {
	if g.ahead == nil {
		g.ahead = map[string]*ahead{}
	}
	for i, item := range items {
		if due[i]+extra[i] == 0 {
			continue
		}
		a := g.ahead[item.Account]
		if a == nil {
			a = &ahead{pool: pool{account: item.Account, under: new(under)}}
			g.ahead[item.Account] = a
		}
		a.granted += int64((due[i] + extra[i]) / item.Epsilon)
		a.add(&under{term: terms[i]}, extra[i])
	}
}

// giveUp notes that the reservations ahead are returned, and reports whether there are any. It is called under mu.
func (g *groupSpender) giveUp() (returns bool) {
	if len(g.ahead) == 0 {
		return false
	}
	from := g.run.Origin(g.core.store.Now(), g.function, g.unit)
	for _, a := range g.ahead {
		returns = returns || a.left > 0
		g.core.emptyPool(&a.pool, from)
	}
	g.ahead = nil
	return returns
}
