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
	share
}

// reserveFunction is the function of the entries that fill and dissolve pools.
const reserveFunction = "budget_reserve"

// Reserve sets amounts aside for all accounts or for none, in one transaction.
// Afterwards [Ledger.Charge] and the statements of this process take from them
// without a commit per account. What is left returns when the ledger closes; of
// a limit with a window it can be used and returned in that window only.
// A refusal is a [*Refusal]. The evaluations of an item mean nothing here.
func (l *Ledger) Reserve(unit budget.Unit, items []Item) error {
	items, err := checkItems(unit, items)
	if err != nil || len(items) == 0 {
		return err
	}
	terms := make([]term, len(items))
	err = l.transact(func(t *transaction) error {
		return t.reserveItems(&origin{new(run), t.now, reserveFunction, unit}, items, terms)
	})
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fill(unit, items, terms)
	return nil
}

func (t *transaction) reserveItems(from *origin, items []Item, terms []term) error {
	balances, err := t.afford(from.unit, items, make([]share, len(items)))
	if err != nil {
		return err
	}
	for i, item := range items {
		terms[i] = balances[i].term
		e := &entry{origin: from, account: item.Account, reserved: item.Epsilon}
		if err := t.post(e, &balances[i]); err != nil {
			return err
		}
	}
	return nil
}

func (l *Ledger) fill(unit budget.Unit, items []Item, terms []term) {
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
		q.add(share{terms[i], item.Epsilon})
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

// putBack undoes draw.
func (l *Ledger) putBack(unit budget.Unit, items []Item, drawn []share) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, s := range drawn {
		if s.left > 0 {
			l.pools[unit][items[i].Account].giveBack(s)
		}
	}
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
		for account, q := range pools {
			if q.left > 0 {
				l.addNote(entry{origin: from, account: account, reserved: -q.left, term: q.term})
				q.left = 0
			}
		}
	}
}
