package ledger

import (
	"github.com/geosql/geosql/budget"
)

// share is an amount that is on disk as reserved, and the term for which it is.
type share struct {
	term term
	left budget.Amount
}

// in is what the share is worth in a term: nothing in another than its own.
func (s share) in(t term) budget.Amount {
	if s.term.start != t.start {
		return 0
	}
	return s.left
}

// pool is what Reserve has set aside for an account and nobody holds. It is on
// disk as reserved, so that using it takes no commit.
type pool struct {
	account string
	limit   budget.Amount // that it was filled under last
	share
}

// reserveFunction is the function of the entries that fill and dissolve pools.
const reserveFunction = "budget_reserve"

// Reserve sets amounts aside for all accounts or for none, in one transaction.
// Afterwards [Ledger.Charge] and the statements of this process take from them
// without a commit per account. What is left returns when the ledger closes; of
// a limit with a window it can be used and returned in that window only.
// A refusal is a [*RefusalError]. The evaluations of an item mean nothing here.
func (l *Ledger) Reserve(unit budget.Unit, items []Item) error {
	items, err := checkItems(unit, items)
	if err != nil || len(items) == 0 {
		return err
	}
	revision := l.revision.Load()
	var balances []Balance
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
func (t *transaction) reserveItems(from *origin, items []Item) ([]Balance, error) {
	balances, err := t.afford(from.unit, items, make([]share, len(items)))
	if err != nil {
		return nil, err
	}
	for i, item := range items {
		e := &entry{origin: from, account: item.Account, reserved: item.Epsilon}
		if err := t.post(e, &balances[i]); err != nil {
			return nil, err
		}
	}
	return balances, nil
}

// fill adds what was reserved to the pools.
func (l *Ledger) fill(unit budget.Unit, items []Item, balances []Balance) {
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
		q.add(share{balances[i].term, item.Epsilon})
	}
}

// named is the account as a string, the one of its pool if it has one: a
// statement over many accounts makes no other.
func (l *Ledger) named(unit budget.Unit, account []byte) (string, *pool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if q := l.pools[unit][string(account)]; q != nil {
		return q.account, q
	}
	return string(account), nil
}

// add adds what was reserved later than what is there.
func (q *pool) add(s share) { q.share = share{s.term, q.in(s.term) + s.left} }

// draw takes what the pools have for items, and tells whether that is all.
func (l *Ledger) draw(unit budget.Unit, items []Item) (drawn []share, covered bool) {
	drawn, covered = make([]share, len(items)), true
	l.mu.Lock()
	defer l.mu.Unlock()
	pools, now := l.pools[unit], l.clock()
	for i, item := range items {
		if q := pools[item.Account]; q != nil && !q.term.over(now) {
			drawn[i] = q.take(item.Epsilon)
		}
		covered = covered && drawn[i].left == item.Epsilon
	}
	return drawn, covered
}

// take takes at most the amount.
func (q *pool) take(most budget.Amount) share {
	s := share{q.term, min(q.left, most)}
	q.left -= s.left
	return s
}

// putBack undoes draw, which was done at a revision.
func (l *Ledger) putBack(unit budget.Unit, items []Item, drawn []share, revision int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, s := range drawn {
		if s.left > 0 {
			l.giveBack(l.pools[unit][items[i].Account], s, unit, revision)
		}
	}
}

// giveBack gives a pool back what was taken from it at a revision. Where limits were set
// since, the pool may have been taken back: so is this. It is called under mu.
func (l *Ledger) giveBack(q *pool, s share, unit budget.Unit, revision int64) {
	if revision == l.revision.Load() {
		q.giveBack(s)
		return
	}
	from := &origin{new(run), l.clock(), reserveFunction, unit}
	l.addNote(entry{origin: from, account: q.account, reserved: -s.left, term: s.term})
}

// giveBack adds what was taken earlier; it is lost where the pool has moved on to
// another term.
func (q *pool) giveBack(s share) {
	if q.left == 0 {
		q.term = s.term
	}
	q.left += s.in(q.term)
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
	if q.left > 0 {
		l.addNote(entry{origin: from, account: q.account, reserved: -q.left, term: q.term})
		q.left = 0
	}
}
