package file

import (
	"maps"
	"slices"
	"sync"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

// A limit that is lowered takes back what is reserved and not used, whoever holds it: 0
// blocks at once. What was reserved under the higher limit is neither drawn from a pool nor
// used by a statement or a trace any more.
//
// Whoever holds something compares the ledger's revision, which changes when limits are
// found to be set, with the one that he knows, and where it is another his account's limit
// with the one that he reserved under. Limits that another process sets are found before
// anything is taken from a pool, and by a statement that runs after at most lookAfter
// evaluations.

// lookAfter is after how many evaluations a statement or a trace looks for limits again.
const lookAfter = 1024

// A lookout finds limits that other processes set. It has a connection of its own, so that
// whoever looks need not wait for a transaction. It is used under its lock.
type lookout struct {
	sync.Mutex
	db     *store // nil until it is needed
	looked int64  // the last entry when it last looked
	closed bool   // with the ledger, which nobody may open again
}

// lookForLimits looks for limits that were set since the last time, and notes that what
// pools have under a limit that was lowered is returned.
func (l *Ledger) lookForLimits() error {
	if l.path == "" {
		return nil // there are no others
	}
	l.lookout.Lock()
	defer l.lookout.Unlock()
	if l.lookout.closed {
		return errClosed
	}
	if err := l.place.check(); err != nil {
		return wrap(err)
	}
	if err := l.lookout.open(l.path, l.id); err != nil {
		return wrap(err)
	}
	if err := l.lookout.db.sameLedger(); err != nil {
		return wrap(err)
	}
	set, last, err := l.lookout.db.limitsSince(l.lookout.looked)
	if err != nil {
		return wrap(err)
	}
	if err := l.recall(l.lookout.db, set...); err != nil {
		return wrap(err)
	}
	l.lookout.looked = last
	return nil
}

// open opens the connection to the ledger of that id.
func (o *lookout) open(path, id string) error {
	if o.db != nil {
		return nil
	}
	db, err := connect(path, false)
	if err != nil {
		return err
	}
	db.id = id
	if err := db.prepare(); err != nil {
		db.close()
		return err
	}
	o.db = db
	return nil
}

func (o *lookout) close() error {
	o.Lock()
	defer o.Unlock()
	o.closed = true
	if o.db == nil {
		return nil
	}
	return o.db.close()
}

// recall takes back what pools have under limits that were lowered, of those whose limits
// were set. Those who hold something find the revision changed.
func (l *Ledger) recall(db *store, set ...accountUnit) error {
	if len(set) == 0 {
		return nil
	}
	// Before the pools are emptied and after: what is taken from one that is not empty yet
	// must not come back to it later.
	l.revision.Add(1)
	defer l.revision.Add(1)
	for _, of := range set {
		if err := l.recallPools(db, of); err != nil {
			return err
		}
	}
	return nil
}

// recallNow is recall for limits that this process has set, or did not see set.
func (l *Ledger) recallNow(set ...accountUnit) error {
	l.writer.Lock()
	defer l.writer.Unlock()
	if l.db == nil {
		return errClosed
	}
	return wrap(l.recall(l.db, set...))
}

// lookIfHeld looks for limits where something is held, or there are pools of the unit to
// draw from. Others read their limit in the transaction that charges it.
func (l *Ledger) lookIfHeld(held bool, unit budget.Unit) error {
	l.mu.Lock()
	held = held || len(l.pools[unit]) > 0
	l.mu.Unlock()
	if !held {
		return nil
	}
	return l.lookForLimits()
}

// recallSince takes pools back that were filled while limits were set, since a revision.
func (l *Ledger) recallSince(revision int64, unit budget.Unit, items []ledger.Item) error {
	if revision == l.revision.Load() {
		return nil
	}
	set := make([]accountUnit, len(items))
	for i, item := range items {
		set[i] = accountUnit{item.Account, unit}
	}
	return l.recallNow(set...)
}

// limitsSince returns whose limits were set after the entry of that id, and the id of the
// last entry.
func (db *store) limitsSince(id int64) (set []accountUnit, last int64, err error) {
	head, err := db.head()
	if err != nil || head.ID == id {
		return nil, head.ID, err
	}
	s := db.getLimits
	defer s.Reset()
	s.BindInts(1, id, head.ID)
	for {
		row, err := s.Step()
		if err != nil || !row {
			return set, head.ID, err
		}
		account, unit := s.Column(0), s.Column(1)
		set = append(set, accountUnit{account.Text(), budget.Unit(unit.Text())})
	}
}

// recallPools empties the pools whose accounts' limit was lowered.
func (l *Ledger) recallPools(db *store, of accountUnit) error {
	for _, q := range l.poolsOf(of) {
		b, err := db.standing(q.account, of.unit, l.clock())
		if err != nil {
			return err
		}
		if b.Limit < q.limit {
			l.mu.Lock()
			l.dissolve(q, &origin{new(run), l.clock(), reserveFunction, of.unit})
			l.mu.Unlock()
		}
	}
	return nil
}

func (l *Ledger) poolsOf(of accountUnit) []*pool {
	l.mu.Lock()
	defer l.mu.Unlock()
	pools := l.pools[of.unit]
	if of.account == ledger.Everyone {
		return slices.Collect(maps.Values(pools))
	}
	if q := pools[of.account]; q != nil {
		return []*pool{q}
	}
	return nil
}

// recall returns what a hold has, if its account's limit was lowered since it was reserved.
func (p *spender) recall(h *hold) error {
	l := p.statement.ledger
	now := l.revision.Load()
	b, err := l.Balance(h.account, p.unit)
	if err != nil {
		return err
	}
	if b.Limit < h.Limit && h.Left > 0 {
		l.mu.Lock()
		p.note(h, h.Left)
		h.Drop()
		l.mu.Unlock()
		if err := l.flush(); err != nil { // so that the account can be charged again
			return err
		}
	}
	h.revision = now
	return nil
}

// checkLimits looks for limits from time to time, and returns what the hold has if one of them
// was lowered.
func (p *spender) checkLimits(h *hold) error {
	l := p.statement.ledger
	if p.unchecked == 0 {
		if err := l.lookIfHeld(p.last != nil, p.unit); err != nil {
			return err
		}
		p.unchecked = lookAfter
	}
	if h.revision == l.revision.Load() {
		return nil
	}
	return p.recall(h)
}

const getLimitsSQL = `SELECT account, unit FROM entry WHERE id > ?1 AND id <= ?2 AND epsilon_limit IS NOT NULL`
