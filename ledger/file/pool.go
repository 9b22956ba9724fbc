package file

import (
	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

// pool is what Reserve has set aside for an account and nobody holds. It is on
// disk as reserved, so that using it takes no commit.
type pool struct {
	account string
	limit   budget.Amount // that it was filled under last
	ledger.Share
}

// reserveFunction is the function of the entries that fill and dissolve pools.
const reserveFunction = "budget_reserve"

// Reserve sets amounts aside for all accounts or for none, in one transaction.
// Afterwards [Ledger.Charge] and the statements of this process take from them
// without a commit per account. What is left returns when the ledger closes; of
// a limit with a window it can be used and returned in that window only.
// A refusal is a [*RefusalError]. The evaluations of an item mean nothing here.
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
	l.fill(unit, items, balances)
	return l.recallSince(revision, unit, items)
}

// reserveItems returns the balances before.
func (t *transaction) reserveItems(from *origin, items []ledger.Item) ([]ledger.Standing, error) {
	balances, err := t.afford(from.unit, items, make([]ledger.Share, len(items)))
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

// fill adds what was reserved to the pools.
func (l *Ledger) fill(unit budget.Unit, items []ledger.Item, balances []ledger.Standing) {
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

// add adds what was reserved later than what is there.
func (q *pool) add(s ledger.Share) { q.Share = ledger.Share{Term: s.Term, Left: q.In(s.Term) + s.Left} }

// draw takes what the pools have for items, and tells whether that is all.
func (l *Ledger) draw(unit budget.Unit, items []ledger.Item) (drawn []ledger.Share, covered bool) {
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

// take takes at most the amount.
func (q *pool) take(most budget.Amount) ledger.Share {
	s := ledger.Share{Term: q.Term, Left: min(q.Left, most)}
	q.Left -= s.Left
	return s
}

// putBack undoes draw, which was done at a revision.
func (l *Ledger) putBack(unit budget.Unit, items []ledger.Item, drawn []ledger.Share, revision int64) {
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
		q.giveBack(s)
		return
	}
	from := &origin{new(run), l.clock(), reserveFunction, unit}
	l.addNote(change{origin: from, account: q.account, reserved: -s.Left, term: s.Term})
}

// giveBack adds what was taken earlier; it is lost where the pool has moved on to
// another term.
func (q *pool) giveBack(s ledger.Share) {
	if q.Left == 0 {
		q.Term = s.Term
	}
	q.Left += s.In(q.Term)
}

// dissolvePools notes that what is left in the pools is returned.
func (l *Ledger) dissolvePools() {
	r, at := new(run), l.clock()
	for unit, pools := range l.pools {
		from := &origin{r, at, reserveFunction, unit}
		for _, q := range pools {
			l.dissolve(q, from)
		}
	}
}

// dissolve notes that what a pool has is returned. It is called under mu.
func (l *Ledger) dissolve(q *pool, from *origin) {
	if q.Left > 0 {
		l.addNote(change{origin: from, account: q.account, reserved: -q.Left, term: q.Term})
		q.Left = 0
	}
}
