package file

import (
	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

// pool is what Reserve has set aside for an account and nobody holds. It is on disk as
// reserved, so that using it takes no commit.
type pool struct {
	account string
	limit   budget.Amount // under which it was last filled
	ledger.Share
}

// reserveFunction is the function of the entries that fill and empty pools.
const reserveFunction = "budget_reserve"

// Reserve implements [ledger.Ledger]. It writes one transaction and fills the pools.
func (l *Ledger) Reserve(unit budget.Unit, items []ledger.Item) error {
	items, err := ledger.MergeItems(unit, items)
	if err != nil || len(items) == 0 {
		return err
	}
	revision := l.revision.Load()
	var balances []ledger.Standing
	err = l.transact(func(t *transaction) error {
		balances, err = t.reserveItems(&origin{new(run), t.now, reserveFunction, unit}, items)
		return err
	})
	if err != nil {
		return err
	}
	l.fillPools(unit, items, balances)
	return l.recallSince(revision, unit, items)
}

// reserveItems reserves items from the limits, and returns the standings before.
func (t *transaction) reserveItems(from *origin, items []ledger.Item) ([]ledger.Standing, error) {
	balances, err := t.standingsToCharge(from.unit, items, make([]ledger.Share, len(items)))
	if err != nil {
		return nil, err
	}
	for i, item := range items {
		e := &change{origin: from, account: item.Account, reserved: item.Epsilon}
		if err := t.post(e, &balances[i]); err != nil {
			return nil, err
		}
	}
	return balances, nil
}

// fillPools adds items that were reserved to the pools.
func (l *Ledger) fillPools(unit budget.Unit, items []ledger.Item, balances []ledger.Standing) {
	l.mu.Lock()
	defer l.mu.Unlock()
	pools := l.pools[unit]
	if pools == nil {
		pools = make(map[string]*pool, len(items))
		l.pools[unit] = pools
	}
	for i, item := range items {
		q := pools[item.Account]
		if q == nil {
			q = &pool{account: item.Account}
			pools[item.Account] = q
		}
		q.limit = balances[i].Limit
		q.add(ledger.Share{Term: balances[i].Term, Left: item.Epsilon})
	}
}

// nameAndPool returns the account as a string and its pool, if it has one. The string is then
// the pool's, so that a statement over many accounts makes no others.
func (l *Ledger) nameAndPool(unit budget.Unit, account []byte) (string, *pool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if q := l.pools[unit][string(account)]; q != nil {
		return q.account, q
	}
	return string(account), nil
}

// add adds a share that was reserved later than what the pool has.
func (q *pool) add(s ledger.Share) { q.Share = ledger.Share{Term: s.Term, Left: q.In(s.Term) + s.Left} }

// drawFromPools takes what the pools have for items, and reports whether that covers all items.
func (l *Ledger) drawFromPools(unit budget.Unit, items []ledger.Item) (drawn []ledger.Share, covered bool) {
	drawn, covered = make([]ledger.Share, len(items)), true
	l.mu.Lock()
	defer l.mu.Unlock()
	pools, now := l.pools[unit], l.clock()
	for i, item := range items {
		if q := pools[item.Account]; q != nil && !q.Term.Over(now) {
			drawn[i] = q.take(item.Epsilon)
		}
		covered = covered && drawn[i].Left == item.Epsilon
	}
	return drawn, covered
}

// take takes what the pool has, at most the amount.
func (q *pool) take(most budget.Amount) ledger.Share {
	s := ledger.Share{Term: q.Term, Left: min(q.Left, most)}
	q.Left -= s.Left
	return s
}

// returnToPools undoes drawFromPools, which was called at a revision of the ledger.
func (l *Ledger) returnToPools(unit budget.Unit, items []ledger.Item, drawn []ledger.Share, revision int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, s := range drawn {
		if s.Left > 0 {
			l.returnToPool(l.pools[unit][items[i].Account], s, unit, revision)
		}
	}
}

// returnToPool gives a pool back what was taken from it at a revision of the ledger. Where
// limits were set since then the pool may have been emptied, and the share returns to the
// limit too. It is called under mu.
func (l *Ledger) returnToPool(q *pool, s ledger.Share, unit budget.Unit, revision int64) {
	if revision == l.revision.Load() {
		q.putBack(s)
		return
	}
	from := &origin{new(run), l.clock(), reserveFunction, unit}
	l.addNote(change{origin: from, account: q.account, reserved: -s.Left, term: s.Term})
}

// putBack adds a share that was taken earlier. The share is lost if the pool belongs to another
// term by now.
func (q *pool) putBack(s ledger.Share) {
	if q.Left == 0 {
		q.Term = s.Term
	}
	q.Left += s.In(q.Term)
}

// emptyPools notes that what is left in the pools is returned. It is called under mu.
func (l *Ledger) emptyPools() {
	r, at := new(run), l.clock()
	for unit, pools := range l.pools {
		from := &origin{r, at, reserveFunction, unit}
		for _, q := range pools {
			l.emptyPool(q, from)
		}
	}
}

// emptyPool notes that what a pool has left is returned. It is called under mu.
func (l *Ledger) emptyPool(q *pool, from *origin) {
	if q.Left > 0 {
		l.addNote(change{origin: from, account: q.account, reserved: -q.Left, term: q.Term})
		q.Left = 0
	}
}
