package engine

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/ledger"
)

// A lease lets the statements of this process take steps of traces without a mark in their rows.
//
// A trace on its own is marked as taken, in a transaction, before its first step is seen. So nobody else
// takes steps from the state before, and a crash leaves the mark. A statement over many short
// traces would wait for the disk at each of them. Where the budget of a trace is in a pool, on disk as
// reserved, the mark is all that is missing. A lease is that mark for all traces of an account in
// a unit: a row of table lease, stored before a step of such a trace is seen. It guarantees:
//
//   - A process that opens, marks or saves a trace that is not marked as its own looks for a lease on the
//     account in the same state of the ledger, or the same transaction, and is refused while
//     another process has one. A trace that was opened before is not marked, because marking looks again,
//     also for points lost since of traces that have no row yet.
//   - A process takes a lease in a transaction that checks that the trace has not changed since it
//     was read. Other traces of the account are read after that.
//   - A lease keeps nobody from a new trace of the same name that charges another account. Saving finds its row
//     and leaves it alone: the amount spent by the lease stays reserved.
//   - Between traces of one process [Core.seats] decides: a trace goes by the lease only if it was
//     alone since before it was read.
//   - Points that are not saved have spent at most the row's most, for each trace. So after
//     a crash each trace of the account may have lost points, for at most that. RestartTrace counts
//     it for each of them: in the rows of existing traces, and in the row of the lease for later
//     ones. It ends everything that the crashed process had leased. If that process lives, it does
//     not take the lease again, but another one.
//   - The lease ends in the transaction that saves the last of the traces. Their saving checks that the
//     lease was not ended by a restart.
//
// Another process waits for the lease as for a lock, and is then refused as for a trace in use.
type lease struct {
	user       []byte // a random name, in the rows of the leased accounts
	first      Key    // the account that was leased first
	accounts   int    // how many there are
	statements int    // that use it and have not ended
	open       int    // traces that go by it and are not closed
}

// LeaseRow is a stored lease.
type LeaseRow struct {
	User []byte // a random name of its use; nil if nobody uses it
	Lost budget.Amount
}

// LeasedTrace is a trace that may have lost points with a lease.
type LeasedTrace struct {
	Name  string
	Saved int64
	Most  budget.Amount // that it may have spent on them
}

const (
	// stepsByLease is how many steps, as expensive as the first, a trace takes without a mark of its own. It
	// bounds the loss by a crash for each trace of an account.
	stepsByLease = 4

	// manyTraces and manyBytes are how many closed traces wait to be saved together.
	manyTraces = 1 << 14
	manyBytes  = 1 << 24

	// leasePatience is how long a trace waits for the lease of another process.
	leasePatience = 5 * time.Second
	leasePause    = 20 * time.Millisecond
)

// seat says which traces of this process have a name.
type seat struct {
	traces int
	shared bool   // more than one, at some time
	by     *trace // goes by a lease, or waits to be saved
}

// sit adds a trace to those of its name. It waits for the saving of one that was closed, and refuses
// a name with a trace that goes by a lease.
func (c *Core) sit(t *trace) error {
	for {
		c.mu.Lock()
		s := c.seats[t.name]
		if s == nil {
			s = new(seat)
			c.seats[t.name] = s
		}
		if s.by == nil {
			s.traces++
			s.shared = s.shared || s.traces > 1
			if t.statement != nil && c.lease != nil {
				t.lease = c.lease
				t.lease.open++ // so that it lasts until the row is read
			}
			c.mu.Unlock()
			return nil
		}
		closed := s.by.closed
		c.mu.Unlock()
		if !closed {
			return &ledger.TraceTakenError{Trace: t.name}
		}
		if err := c.saveTraces(); err != nil {
			return err
		}
		time.Sleep(time.Microsecond) // somebody else may be saving it
	}
}

// rise undoes sit. It is called under mu.
func (c *Core) rise(t *trace) {
	s := c.seats[t.name]
	if s.by == t {
		s.by = nil
	}
	if s.traces--; s.traces == 0 {
		delete(c.seats, t.name)
	}
	if !t.closed {
		c.leave(t)
	}
}

// leave has a lease count a trace no more. It is called under mu.
func (c *Core) leave(t *trace) {
	if l := t.lease; l != nil {
		l.open--
		c.endIfIdle(l)
	}
}

// endIfIdle has the next transaction of traces, which saves all that wait, end a lease that nobody uses. It is
// called under mu.
func (c *Core) endIfIdle(l *lease) {
	if c.lease == l && l.statements == 0 && l.open == 0 {
		c.lease = nil
		if l.accounts > 0 {
			c.ending = append(c.ending, l)
		}
	}
}

// readTrace reads the row of a trace that the account wants to use. It waits while another process has a
// lease on the account.
func (c *Core) readTrace(t *trace) (found TraceRow, err error) {
	for waited := time.Duration(0); ; waited += leasePause {
		var by LeaseRow
		err := Wrap(c.store.View(context.Background(), func(r Reader) (err error) {
			if by, err = r.Lease(t.key()); err != nil {
				return err
			}
			found, err = t.openRow(r, by)
			return err
		}))
		if err != nil {
			return TraceRow{}, err
		}
		switch {
		case by.User == nil:
			c.mu.Lock()
			c.leave(t)
			t.lease = nil // the row was not read under it
			c.mu.Unlock()
			return found, nil
		case t.knows(by.User):
			return found, nil
		case waited >= leasePatience:
			return TraceRow{}, &ledger.TraceTakenError{Trace: t.name}
		}
		if err := c.saveTraces(); err != nil { // which may end a lease of this process
			return TraceRow{}, err
		}
		time.Sleep(leasePause)
	}
}

// knows reports whether a lease is this process's.
func (t *trace) knows(user []byte) bool {
	c := t.core
	c.mu.Lock()
	defer c.mu.Unlock()
	return t.lease != nil && slices.Equal(user, t.lease.user) || c.lease != nil && slices.Equal(user, c.lease.user)
}

// openRow returns the row of a trace that an account wants to use, or an empty row if there is none. Points
// that a new trace may have lost with a lease are lost.
func (t *trace) openRow(r Reader, l LeaseRow) (TraceRow, error) {
	found, err := r.Trace(t.name)
	switch {
	case err != nil:
		return TraceRow{}, err
	case found == nil:
		return TraceRow{Lost: l.Lost}, nil
	case !t.isOf(found):
		return TraceRow{}, fmt.Errorf("trace %s is charged to account %s in %s", printable.SQL(t.name), printable.SQL(found.Account), printable.SQL(string(found.Unit)))
	case found.User != nil:
		return TraceRow{}, &ledger.TraceTakenError{Trace: t.name}
	}
	return *found, nil
}

// isOf reports whether a row of the trace's name has its account and unit.
func (t *trace) isOf(row *TraceRow) bool { return row.Account == t.account && row.Unit == t.unit }

// reserveByLease ensures from the account's pool that the cost of a step is reserved, and reports whether
// it has. It needs a lease, and takes one if this is not the statement's first trace.
func (t *trace) reserveByLease(cost budget.Amount, revision int64) (ok bool, err error) {
	if t.statement == nil || t.user != nil || t.inDoubt || !t.looked {
		return false, nil
	}
	c := t.core
	c.mu.Lock()
	ok, leased := t.drawByLease(cost, revision)
	c.mu.Unlock()
	if ok || leased || !t.coveredByPool(cost) || t.statement.traces < 2 {
		return ok, nil
	}
	if err := t.takeLease(cost); err != nil {
		return false, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	ok, _ = t.drawByLease(cost, revision)
	return ok, nil
}

// coveredByPool reports whether the account's pool covers a cost.
func (t *trace) coveredByPool(cost budget.Amount) bool {
	c := t.core
	c.mu.Lock()
	defer c.mu.Unlock()
	q := c.pools[t.unit].of(t.account)
	return q != nil && !q.term.Over(c.store.Now()) && q.left >= cost && !c.seats[t.name].shared
}

// drawByLease draws the part of a step's cost that the trace does not hold from the pool. It reports whether the
// trace goes by a lease that holds. It is called under mu.
func (t *trace) drawByLease(cost budget.Amount, revision int64) (ok, leased bool) {
	c := t.core
	s, q := c.seats[t.name], c.pools[t.unit].of(t.account)
	if t.lease == nil || s.shared || q == nil || q.leased == nil || q.leased.by != t.lease {
		return false, false
	}
	if t.held.Left > 0 && (t.revision != revision || t.held.Term != q.term) {
		c.returnToPool(q, t.held, t.unit, t.revision)
		t.held.Left = 0
	}
	if q.term.Over(c.store.Now()) || t.used+cost > q.leased.most || t.held.Left+q.left < cost || revision != c.revision.Load() {
		return false, true
	}
	left := t.held.Left
	t.held = q.take(cost - left)
	t.held.Left += left
	t.limit, t.revision = max(t.limit, q.limit), revision
	t.byLease, s.by = true, t
	return true, true
}

// takeLease takes a lease on the account, and on as many others that have pools as are leased already: a
// statement over many accounts takes few transactions, and one over few leases few.
func (t *trace) takeLease(cost budget.Amount) error {
	c := t.core
	c.mu.Lock()
	if c.lease == nil {
		c.lease = &lease{user: make([]byte, 16)}
		_, _ = rand.Read(c.lease.user) // never fails
	}
	l := c.lease
	t.statement.use(l)
	pools := c.toLease(l, t.unit, t.account)
	first, broken := l.first, false
	c.mu.Unlock()
	accounts := slices.Sorted(maps.Keys(pools))
	most, ok := cost.Times(stepsByLease)
	if !ok {
		most = cost
	}
	var taken []string
	err := c.updateTraces(t.needs(), func(tx Transaction) (err error) {
		if err := t.checkUser(tx); err != nil {
			return err
		}
		if broken, err = l.broken(tx, first); err != nil || broken {
			return err
		}
		taken, err = tx.TakeLeases(l.user, t.unit, accounts, most)
		return err
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	if (broken || Is[*InDoubtError](err)) && c.lease == l {
		c.lease = nil // nobody knows whether it is stored, or a restart has counted it as lost
	}
	if err != nil || broken {
		return err
	}
	if len(taken) > 0 && l.accounts == 0 {
		l.first = Key{taken[0], t.unit}
	}
	now := &leased{l, most}
	for _, a := range taken {
		pools[a].leased = now
	}
	l.accounts += len(taken)
	if t.lease == nil {
		t.lease = l
		l.open++
	}
	return nil
}

// broken reports whether a restart has ended a lease: it has ended it on all accounts then. Taken once more under its
// name, the lease would bring back the traces that were counted as lost.
func (l *lease) broken(tx Transaction, first Key) (bool, error) {
	if first == (Key{}) {
		return false, nil
	}
	found, err := tx.Lease(first)
	return !slices.Equal(found.User, l.user), err
}

// toLease returns the pool of an account, and of others that are not leased. It is called under mu.
func (c *Core) toLease(l *lease, unit budget.Unit, account string) map[string]*pool {
	found := map[string]*pool{account: c.pools[unit].of(account)}
	pools := c.pools[unit]
	for i := 0; i < pools.len() && len(found) <= l.accounts; i++ {
		if q := pools.all.at(i); (q.leased == nil || q.leased.by != l) && q.left > 0 {
			found[q.account] = q
		}
	}
	return found
}

// use has a lease last until the statement ends. It is called under mu.
func (s *statement) use(l *lease) {
	if s.lease != l {
		s.lease = l // one that the statement has used before is in doubt, and ended by a restart
		l.statements++
	}
}

// wait has a closed trace saved with others.
func (t *trace) wait(state []byte) error {
	c := t.core
	c.mu.Lock()
	t.closed, t.state = true, state
	c.leave(t)
	t.returnToPool()
	c.seats[t.name].by = t
	c.waiting = append(c.waiting, t)
	c.waitingBytes += len(state) + len(t.points)*(pointSize+setSize)
	many := len(c.waiting) >= manyTraces || c.waitingBytes >= manyBytes
	c.mu.Unlock()
	if many {
		return c.saveTraces()
	}
	return nil
}

// returnToPool returns the hold of a trace that goes by a lease. It is called under mu.
func (t *trace) returnToPool() {
	if t.user == nil && t.held.Left > 0 {
		t.core.returnToPool(t.core.pools[t.unit].of(t.account), t.held, t.unit, t.revision)
		t.held.Left = 0
	}
}

// saveTraces saves the traces that wait, and ends the leases that nobody uses.
func (c *Core) saveTraces() error {
	c.mu.Lock()
	none := len(c.waiting) == 0 && len(c.ending) == 0
	c.mu.Unlock()
	if none {
		return nil
	}
	return c.updateTraces(nil, func(Transaction) error { return nil })
}

// updateTraces runs work in a transaction, which also saves the traces that wait and ends the leases that
// nobody uses. If the transaction fails they wait again, unless it may be stored: then they are as if
// this process had crashed.
func (c *Core) updateTraces(needs Needs, work func(Transaction) error) error {
	var traces []*trace
	var ending []*lease
	err := c.update(func(yield func(Key) bool) {
		more := true
		each := func(k Key) bool { more = yield(k); return more }
		if needs != nil {
			needs(each)
		}
		if more {
			c.needsOfTraces(each)
		}
	}, func(tx Transaction) (err error) {
		if err := work(tx); err != nil {
			return err
		}
		c.mu.Lock()
		traces, ending = c.waiting, c.ending
		c.waiting, c.waitingBytes, c.ending = nil, 0, nil
		c.mu.Unlock()
		tx.Undo(func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.waiting, c.ending = slices.Concat(traces, c.waiting), slices.Concat(ending, c.ending)
			traces, ending = nil, nil
		})
		if err := postTraces(tx, traces); err != nil {
			return err
		}
		for _, l := range ending {
			if err := tx.EndLeases(l.user); err != nil {
				return err
			}
		}
		return nil
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range traces { // that are saved, or may be
		if Is[*InDoubtError](err) && c.lease == t.lease {
			c.lease = nil // it may not end as if nothing was lost
		}
		c.rise(t)
	}
	return err
}

// needsOfTraces are the needs of the traces that wait.
func (c *Core) needsOfTraces(yield func(Key) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range c.waiting {
		if !yield(t.key()) {
			return
		}
	}
}

// postTraces saves traces that are closed. It leaves out traces that a restart has taken from this process and replaced
// by a gap, traces that a commit in doubt has saved or marked, and traces with names that another account has got
// meanwhile. Their spending stays reserved.
func postTraces(tx Transaction, traces []*trace) error {
	var fresh []string // that somebody may have taken for an account that is not leased
	for _, t := range traces {
		if t.user == nil && t.saved == 0 {
			fresh = append(fresh, t.name)
		}
	}
	owners, err := tx.TraceKeys(fresh)
	if err != nil {
		return err
	}
	var held *lease // by this transaction: its traces need no look each
	for _, t := range traces {
		if t.user != nil || t.inDoubt || t.lease != held || held == nil {
			err := t.checkUser(tx)
			switch {
			case Is[*ledger.TraceTakenError](err):
				continue
			case err != nil:
				return err
			case t.user == nil:
				held = t.lease
			}
		} else if k, found := owners[t.name]; found && k != t.key() {
			continue
		}
		if err := t.post(tx, t.state, true); err != nil {
			return err
		}
	}
	return nil
}
