package file

import (
	"maps"
	"slices"
	"sync"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

// A limit that is lowered takes back what is reserved and not used, whoever holds it. A limit
// of 0 blocks at once. What was reserved under the higher limit is neither drawn from a pool
// nor used by a statement or a trace any more.
//
// The ledger's revision changes when limits were set. Each hold and trace remembers the
// revision at which its limit was last checked, and the limit that it was reserved under. When
// the revision is another one it compares the limits. What another process sets is noticed
// before anything is taken from a pool, and by a running statement after at most checkAfter
// evaluations.

// checkAfter is how many evaluations a statement or a trace makes before it looks for new
// limits again.
const checkAfter = 1024

// A watcher reads what this and other processes have stored. It has a connection of its own, so that
// nobody has to wait for a transaction. It is used under its lock.
type watcher struct {
	sync.Mutex
	db       *store // nil until it is needed
	lastSeen int64  // the last entry when it last looked for limits
	closed   bool   // with the ledger, which nobody may open again
}

// watch lets work read what is stored now, without waiting for a transaction. The ledger has a file.
func (l *Ledger) watch(work func(*watcher) error) error {
	l.watcher.Lock()
	defer l.watcher.Unlock()
	if l.watcher.closed {
		return errClosed
	}
	if err := l.place.check(); err != nil {
		return wrap(err)
	}
	if err := l.watcher.open(l.path, l.id); err != nil {
		return wrap(err)
	}
	if _, err := l.watcher.db.sameLedger(); err != nil {
		return wrap(err)
	}
	return wrap(work(&l.watcher))
}

// checkForLimits looks for limits that were set since the last time, and empties the pools
// whose limits were lowered.
func (l *Ledger) checkForLimits() error {
	if l.path == "" {
		return nil // there are no others
	}
	return l.watch(func(w *watcher) error {
		set, last, err := w.db.limitsSince(w.lastSeen)
		if err != nil {
			return err
		}
		if err := l.recall(w.db, set...); err != nil {
			return err
		}
		w.lastSeen = last
		return nil
	})
}

// open opens the connection to the ledger that has the ID.
func (w *watcher) open(path, id string) error {
	if w.db != nil {
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
	w.db = db
	return nil
}

func (w *watcher) close() error {
	w.Lock()
	defer w.Unlock()
	w.closed = true
	if w.db == nil {
		return nil
	}
	return w.db.close()
}

// recall empties the pools whose limits were lowered, of the accounts and units whose limits
// were set. It changes the revision for those who hold something.
func (l *Ledger) recall(db *store, set ...accountUnit) error {
	if len(set) == 0 {
		return nil
	}
	// The revision changes before the pools are emptied and after, so that what is taken
	// from a pool in between does not come back to it later.
	l.revision.Add(1)
	defer l.revision.Add(1)
	for _, of := range set {
		if err := l.recallPools(db, of); err != nil {
			return err
		}
	}
	return nil
}

// recallNow is recall for limits that this process has set, or may have missed.
func (l *Ledger) recallNow(set ...accountUnit) error {
	l.writer.Lock()
	defer l.writer.Unlock()
	if l.db == nil {
		return errClosed
	}
	return wrap(l.recall(l.db, set...))
}

// checkForLimitsIfHeld looks for limits if something is held, or if there are pools of the
// unit to draw from. Otherwise the limit is read in the transaction that charges it.
func (l *Ledger) checkForLimitsIfHeld(held bool, unit budget.Unit) error {
	l.mu.Lock()
	held = held || len(l.pools[unit]) > 0
	l.mu.Unlock()
	if !held {
		return nil
	}
	return l.checkForLimits()
}

// recallSince empties pools that were filled while limits were set since a revision.
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

// limitsSince returns whose limits were set after the entry that has the ID, and the ID of the
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

// recallPools empties the pools of a limit that was lowered.
func (l *Ledger) recallPools(db *store, of accountUnit) error {
	for _, q := range l.poolsOf(of) {
		b, err := db.standing(q.account, of.unit, l.clock())
		if err != nil {
			return err
		}
		if b.Limit < q.limit {
			l.mu.Lock()
			l.emptyPool(q, &origin{new(run), l.clock(), reserveFunction, of.unit})
			l.mu.Unlock()
		}
	}
	return nil
}

// poolsOf returns the pools that a limit holds for.
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

// recall returns what a hold has if the account's limit was lowered since it was reserved.
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

// checkLimits looks for limits from time to time, and returns what the hold has if its limit
// was lowered.
func (p *spender) checkLimits(h *hold) error {
	l := p.statement.ledger
	if p.unchecked == 0 {
		if err := l.checkForLimitsIfHeld(p.last != nil, p.unit); err != nil {
			return err
		}
		p.unchecked = checkAfter
	}
	if h.revision == l.revision.Load() {
		return nil
	}
	return p.recall(h)
}

const getLimitsSQL = `SELECT account, unit FROM entry WHERE id > ?1 AND id <= ?2 AND epsilon_limit IS NOT NULL`
