package engine

import (
	"crypto/rand"
	"slices"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

// trace implements [ledger.Trace].
type trace struct {
	core          *Core
	function      string
	name, account string
	unit          budget.Unit
	run           *Run
	statement     *statement // nil for a trace that no statement has opened

	limit    budget.Amount // at the time of the reservation held
	revision int64         // of the ledger, when the limit was last checked
	look     look          // of a trace that no statement has opened
	looked   bool          // whether it has looked, and may draw from pools

	saved int64         // points on disk
	gap   budget.Amount // lost of a new trace with a lease
	user  []byte        // a random name of this use; nil until the trace is marked with it
	held  ledger.Share  // reserved and not used
	used  budget.Amount // reserved and not saved
	ahead budget.Amount // last reservation
	spent budget.Amount // in all, by this user

	points []ledger.Point // not saved

	lease   *lease // that its row was read under; guarded by the core's mu
	byLease bool   // whether it has drawn by it
	inDoubt bool   // its row may be another one than it knows
	closed  bool   // it waits to be saved, with the state
	state   []byte
}

// look is when traces have looked for limits.
type look struct {
	unit      budget.Unit
	unchecked int  // steps until they look for limits
	looked    bool // whether they have looked, since there were pools
}

// BlockOfPoints is how many points are saved together.
const BlockOfPoints = 4096

// OpenTrace implements [ledger.Ledger].
func (c *Core) OpenTrace(name, account string, unit budget.Unit, function string) (ledger.Trace, []byte, budget.Amount, error) {
	return c.openTrace(nil, name, account, unit, function)
}

// OpenTrace implements [ledger.Statement].
func (s *statement) OpenTrace(name, account string, unit budget.Unit, function string) (ledger.Trace, []byte, budget.Amount, error) {
	if s.over != nil {
		return nil, nil, 0, s.over
	}
	s.traces++
	return s.core.openTrace(s, name, account, unit, function)
}

func (c *Core) openTrace(s *statement, name, account string, unit budget.Unit, function string) (ledger.Trace, []byte, budget.Amount, error) {
	if err := ledger.CheckCharge(account, unit, 1); err != nil {
		return nil, nil, 0, err
	}
	t := &trace{core: c, statement: s, function: function, name: name, account: account, unit: unit, run: new(Run)}
	if err := c.sit(t); err != nil {
		return nil, nil, 0, err
	}
	found, err := c.readTrace(t)
	if err == nil {
		err = c.store.Retain()
	}
	if err != nil {
		c.mu.Lock()
		c.rise(t)
		c.mu.Unlock()
		return nil, nil, 0, err
	}
	t.saved = found.Saved
	if found.Account == "" {
		t.gap = found.Lost
	}
	return t, found.State, found.Lost, nil
}

// Reserve implements [ledger.Trace].
func (t *trace) Reserve(cost, most budget.Amount) error {
	revision, err := t.checkForLimits()
	if err != nil {
		return err
	}
	if cost <= t.held.Left && revision == t.revision && !t.held.Term.Over(t.core.store.Now()) {
		return nil
	}
	if err := ledger.CheckCharge(t.account, t.unit, cost); err != nil {
		return err
	}
	if !t.looked { // there may be pools by now
		if t.looked, err = t.core.checkForLimitsIfHeld(false, t.unit); err != nil {
			return err
		}
		revision = t.core.revision.Load()
	}
	if ok, err := t.reserveByLease(cost, revision); ok || err != nil {
		return err
	}
	if t.ahead == 0 && t.statement != nil {
		t.ahead = t.statement.steps/2 + cost // traces of a statement are much alike
	}
	drawn, under, _ := t.core.drawFromPools(t.unit, []ledger.Item{{Account: t.account, Epsilon: cost}}, t.looked)
	user := t.user
	if user == nil {
		user = make([]byte, 16)
		_, _ = rand.Read(user) // never fails
	}
	var held ledger.Share
	var granted, limit budget.Amount
	err = t.core.updateTraces(t.needs(), func(tx Transaction) (err error) {
		if held, granted, limit, err = t.reserveFor(tx, cost, most, drawn.at(0)); err != nil {
			return err
		}
		row := TraceRow{Account: t.account, Unit: t.unit, User: user, Held: held.Left + t.used + t.gap}
		return tx.TakeTrace(t.name, &row)
	})
	if Is[*InDoubtError](err) {
		t.held.Left, t.inDoubt = 0, true // the hold may have returned
		return err
	}
	if err != nil {
		t.core.returnToPools(t.unit, []ledger.Item{{Account: t.account}}, drawn, revision)
		return err
	}
	t.user, t.held, t.ahead = user, held, granted
	t.limit, t.revision = max(limit, under), revision
	return nil
}

// checkForLimits looks for limits from time to time, and returns the ledger's revision. The traces of a
// statement look together.
func (t *trace) checkForLimits() (revision int64, err error) {
	look := &t.look
	if t.statement != nil {
		look = t.statement.lookAt(t.unit)
	}
	if look.unchecked == 0 {
		if look.looked, err = t.core.checkForLimitsIfHeld(t.held.Left > 0, t.unit); err != nil {
			return 0, err
		}
		look.unchecked = CheckAfter
	}
	look.unchecked--
	t.looked = look.looked
	return t.core.revision.Load(), nil
}

// reserveFor writes the entry of a reservation. It returns the trace's hold then, how much of
// that was reserved now, and the limit. A hold or a drawn share of another term than the current
// one is worth nothing. A hold under a limit that was lowered returns.
func (t *trace) reserveFor(tx Transaction, cost, most budget.Amount, drawn ledger.Share) (held ledger.Share, granted, limit budget.Amount, err error) {
	if err := t.checkUser(tx); err != nil {
		return held, 0, 0, err
	}
	b, err := tx.Standing(Key{t.account, t.unit})
	if err != nil {
		return held, 0, 0, err
	}
	own, returned := t.held.In(b.Term), budget.Amount(0)
	left := b
	if b.Limit < t.limit {
		own, returned = 0, own
		left.Reserved -= returned
		left.WindowSpent = max(0, left.WindowSpent-returned)
	}
	has := own + drawn.In(b.Term)
	if err := checkAffordable(tx, &left, cost, has); err != nil {
		return held, 0, 0, err
	}
	ahead := min(max(cost, 2*t.ahead), most-has, left.Remaining()/2)
	granted = max(cost-has, ahead, 0)
	if granted != returned {
		err = Post(tx, &Change{
			Origin:   &Origin{t.run, tx.Now(), t.function, t.unit},
			Account:  t.account,
			Reserved: granted - returned,
			Term:     b.Term,
		}, &b)
	}
	return ledger.Share{Term: b.Term, Left: has + granted}, granted, b.Limit, err
}

// checkUser checks that nobody else has used the trace since it was read.
func (t *trace) checkUser(tx Transaction) error {
	var l LeaseRow
	if t.user == nil { // before the row, which has the steps by a lease that ends meanwhile
		var err error
		if l, err = tx.Lease(t.key()); err != nil {
			return err
		}
	}
	found, err := tx.Trace(t.name)
	if err != nil {
		return err
	}
	lost := t.gap
	if found == nil {
		found, lost = &TraceRow{Account: t.account, Unit: t.unit}, l.Lost
	}
	if !t.isOf(found) || !slices.Equal(found.User, t.user) || found.Saved != t.saved || lost != t.gap ||
		t.user == nil && (l.User != nil || t.byLease) && !t.knows(l.User) {
		return &ledger.TraceTakenError{Trace: t.name}
	}
	return nil
}

// key returns the key of the balance that the trace charges.
func (t *trace) key() Key { return Key{t.account, t.unit} }

// needs are the needs of every transaction of the trace.
func (t *trace) needs() Needs { return one(t.key()) }

// Add implements [ledger.Trace].
func (t *trace) Add(p ledger.Point) {
	t.held.Left -= p.Spent
	t.used += p.Spent
	t.spent += p.Spent
	t.points = append(t.points, p)
}

// Full implements [ledger.Trace].
func (t *trace) Full() bool { return len(t.points) >= BlockOfPoints }

// Save implements [ledger.Trace].
func (t *trace) Save(state []byte) error { return t.save(state, false) }

// Close implements [ledger.Trace].
func (t *trace) Close(state []byte) error {
	err := t.close(state)
	if closing := t.core.store.Close(); err == nil {
		err = closing
	}
	return err
}

// close has the trace saved with its neighbours if a statement has opened it, and else saves it at once.
func (t *trace) close(state []byte) (err error) {
	if s := t.statement; s != nil && (t.user != nil || t.byLease && len(t.points) > 0) {
		s.steps = t.spent
		if err := t.wait(state); err != nil || s.over == nil {
			return err
		}
		return t.core.saveTraces() // SQLite ends some windows after the statement
	}
	if t.user != nil || len(t.points) > 0 {
		err = t.save(state, true)
	}
	c := t.core
	c.mu.Lock()
	defer c.mu.Unlock()
	t.returnToPool()
	c.rise(t)
	return err
}

// save saves the trace, and leaves it to others if the user is done.
func (t *trace) save(state []byte, done bool) error {
	err := t.core.update(t.needs(), func(tx Transaction) error {
		if err := t.checkUser(tx); err != nil {
			return err
		}
		return t.post(tx, state, done)
	})
	if err != nil {
		t.inDoubt = t.inDoubt || Is[*InDoubtError](err)
		return err
	}
	t.saved += int64(len(t.unsaved()))
	t.points, t.used, t.gap = t.points[:0], 0, 0
	if done {
		t.held.Left = 0
	}
	return nil
}

// unsaved returns the points that are not saved.
func (t *trace) unsaved() []ledger.Point {
	if t.gap == 0 {
		return t.points
	}
	return slices.Concat([]ledger.Point{{Gap: true, Spent: t.gap}}, t.points)
}

// post writes the steps that are not saved.
func (t *trace) post(tx Transaction, state []byte, done bool) error {
	kept := t.held
	if done {
		kept.Left = 0
	}
	if err := t.postUse(tx, t.held.Left-kept.Left); err != nil {
		return err
	}
	points := t.unsaved()
	if err := tx.AddPoints(t.name, t.saved, points); err != nil {
		return err
	}
	row := TraceRow{Account: t.account, Unit: t.unit, State: state, Saved: t.saved + int64(len(points)), User: t.user, Held: kept.Left}
	if done {
		row.User = nil
	}
	return tx.PutTrace(t.name, &row)
}

// postUse writes the entry of the spending of points that are not saved, and of the returned amount.
func (t *trace) postUse(tx Transaction, returned budget.Amount) error {
	if t.used == 0 && returned == 0 {
		return nil
	}
	b, err := tx.Standing(Key{t.account, t.unit})
	if err != nil {
		return err
	}
	e := &Change{
		Origin:   &Origin{t.run, tx.Now(), t.function, t.unit},
		Account:  t.account,
		Spent:    t.used,
		Reserved: -t.used - returned,
		Term:     t.held.Term,
	}
	for _, p := range t.points {
		if p.Spent > 0 {
			e.Evaluations++
		}
	}
	return Post(tx, e, &b)
}

// RestartTrace implements [ledger.Ledger].
func (c *Core) RestartTrace(name, account string, unit budget.Unit) (restarted bool, err error) {
	if err := c.saveTraces(); err != nil {
		return false, err
	}
	c.mu.Lock()
	if s := c.seats[name]; s != nil {
		s.shared = true // a process that has read its row must not go by a lease
	}
	c.mu.Unlock()
	err = c.update(nil, func(tx Transaction) error {
		restarted = false
		found, err := tx.Trace(name)
		if err != nil {
			return err
		}
		if found != nil {
			account, unit = found.Account, found.Unit
		}
		if restarted, err = c.breakLease(tx, Key{account, unit}); err != nil || found == nil || found.User == nil {
			return err
		}
		restarted = true
		// Its hold counts as lost, and a gap stands for the points that are missing.
		return addGap(tx, LeasedTrace{Name: name, Saved: found.Saved, Most: found.Held})
	})
	return restarted && err == nil, err
}

// addGap leaves a trace that has lost points to others.
func addGap(tx Transaction, t LeasedTrace) error {
	if err := tx.AddPoints(t.Name, t.Saved, []ledger.Point{{Gap: true, Spent: t.Most}}); err != nil {
		return err
	}
	return tx.FreeTrace(t.Name, t.Saved+1, t.Most)
}

// breakLease breaks the lease on an account, with all others of its user, if it is another process's. It
// reports whether there was one.
func (c *Core) breakLease(tx Transaction, of Key) (broken bool, err error) {
	l, err := tx.Lease(of)
	if err != nil || l.User == nil || (&trace{core: c}).knows(l.User) {
		return false, err
	}
	left, err := tx.LeasedTraces(l.User)
	if err != nil {
		return false, err
	}
	for _, t := range left {
		if err := addGap(tx, t); err != nil {
			return false, err
		}
	}
	return true, tx.BreakLeases(l.User)
}
