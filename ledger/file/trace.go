package file

import (
	"crypto/rand"
	"fmt"
	"slices"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
)

// trace implements [ledger.Trace].
type trace struct {
	ledger        *Ledger
	function      string
	name, account string
	unit          budget.Unit
	run           *run

	limit     budget.Amount // under which what is held was reserved
	revision  int64         // of the ledger, when the limit was last checked
	unchecked int           // steps until it looks for limits

	saved int64         // points on disk
	user  []byte        // a random name of this use; nil until something is reserved
	held  ledger.Share  // reserved and not used
	used  budget.Amount // reserved and not saved
	ahead budget.Amount // what was reserved last

	points []ledger.Point // not saved
}

// blockOfPoints is how many points are saved together.
const blockOfPoints = 4096

// OpenTrace implements [ledger.Ledger].
func (l *Ledger) OpenTrace(name, account string, unit budget.Unit, function string) (ledger.Trace, []byte, budget.Amount, error) {
	if err := ledger.CheckCharge(account, unit, 1); err != nil {
		return nil, nil, 0, err
	}
	var found traceRow
	err := l.read(func(db *store) (err error) {
		found, err = db.openTrace(name, account, unit)
		return err
	})
	if err != nil {
		return nil, nil, 0, err
	}
	if err := l.addReference(); err != nil {
		return nil, nil, 0, err
	}
	t := &trace{ledger: l, function: function, name: name, account: account, unit: unit, run: new(run), saved: found.saved}
	return t, found.state, found.lost, nil
}

// openTrace returns the row of a trace that an account wants to use, or an empty row if there is
// none.
func (db *store) openTrace(name, account string, unit budget.Unit) (traceRow, error) {
	found, err := db.trace(name)
	switch {
	case err != nil || found == nil:
		return traceRow{}, err
	case found.account != account || found.unit != unit:
		return traceRow{}, fmt.Errorf("trace %s is charged to account %s in %s", printable.SQL(name), printable.SQL(found.account), printable.SQL(string(found.unit)))
	case found.user != nil:
		return traceRow{}, &ledger.TraceTakenError{Trace: name}
	}
	return *found, nil
}

// traceRow is a row of table trace.
type traceRow struct {
	account    string
	unit       budget.Unit
	state      []byte
	saved      int64
	user       []byte // nil when nobody uses the trace
	held, lost budget.Amount
}

// trace returns the row of a trace, or nil if there is none.
func (db *store) trace(name string) (found *traceRow, err error) {
	s := db.getTrace
	defer s.Reset()
	s.BindText(1, name)
	row, err := s.Step()
	if err != nil || !row {
		return nil, err
	}
	var v [7]sqlite.Value
	s.Row(0, v[:])
	found = &traceRow{
		account: v[0].Text(),
		unit:    budget.Unit(v[1].Text()),
		state:   slices.Clone(v[2].Bytes()),
		saved:   v[3].Int(),
		held:    budget.Amount(v[5].Int()),
		lost:    budget.Amount(v[6].Int()),
	}
	if v[4].Type() == sqlite.Blob {
		found.user = slices.Clone(v[4].Bytes())
	}
	return found, nil
}

// Reserve implements [ledger.Trace].
func (t *trace) Reserve(cost, most budget.Amount) error {
	revision, err := t.checkForLimits()
	if err != nil {
		return err
	}
	if cost <= t.held.Left && revision == t.revision && !t.held.Term.Over(t.ledger.clock()) {
		return nil
	}
	if err := ledger.CheckCharge(t.account, t.unit, cost); err != nil {
		return err
	}
	drawn, _ := t.ledger.drawFromPools(t.unit, []ledger.Item{{Account: t.account, Epsilon: cost}})
	user := t.user
	if user == nil {
		user = make([]byte, 16)
		_, _ = rand.Read(user) // never fails
	}
	var held ledger.Share
	var granted, limit budget.Amount
	err = t.ledger.transact(func(tx *transaction) (err error) {
		if held, granted, limit, err = tx.reserveFor(t, cost, most, drawn[0]); err != nil {
			return err
		}
		return tx.takeTrace(t, user, held.Left+t.used)
	})
	if err != nil {
		t.ledger.returnToPools(t.unit, []ledger.Item{{Account: t.account}}, drawn, revision)
		return err
	}
	t.user, t.held, t.ahead = user, held, granted
	t.limit, t.revision = limit, revision
	return nil
}

// checkForLimits looks for limits from time to time, and returns the ledger's revision.
func (t *trace) checkForLimits() (revision int64, err error) {
	if t.unchecked == 0 {
		if err := t.ledger.checkForLimitsIfHeld(t.held.Left > 0, t.unit); err != nil {
			return 0, err
		}
		t.unchecked = checkAfter
	}
	t.unchecked--
	return t.ledger.revision.Load(), nil
}

// reserveFor writes the entry of a reservation. It returns what the trace holds then, how much of
// that was reserved now, and the limit. What is held or drawn of another term than the current
// one is worth nothing. What is held under a limit that was lowered returns.
func (tx *transaction) reserveFor(t *trace, cost, most budget.Amount, drawn ledger.Share) (held ledger.Share, granted, limit budget.Amount, err error) {
	if err := tx.checkUser(t); err != nil {
		return held, 0, 0, err
	}
	b, err := tx.standing(t.account, t.unit)
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
	if err := tx.db.checkAffordable(&left, cost, has); err != nil {
		return held, 0, 0, err
	}
	ahead := min(max(cost, 2*t.ahead), most-has, left.Remaining()/2)
	granted = max(cost-has, ahead, 0)
	if granted != returned {
		err = tx.post(&change{
			origin:   &origin{t.run, tx.now, t.function, t.unit},
			account:  t.account,
			reserved: granted - returned,
			term:     b.Term,
		}, &b)
	}
	return ledger.Share{Term: b.Term, Left: has + granted}, granted, b.Limit, err
}

// checkUser checks that nobody else has used the trace since it was read.
func (tx *transaction) checkUser(t *trace) error {
	found, err := tx.db.trace(t.name)
	if err != nil {
		return err
	}
	if found == nil {
		found = new(traceRow)
	}
	if !slices.Equal(found.user, t.user) || found.saved != t.saved {
		return &ledger.TraceTakenError{Trace: t.name}
	}
	return nil
}

// takeTrace marks the trace as taken by a user. Held is what that user has reserved and not
// saved, used or not.
func (tx *transaction) takeTrace(t *trace, user []byte, held budget.Amount) error {
	s := tx.db.takeTrace
	s.BindText(1, t.name)
	s.BindText(2, t.account)
	s.BindText(3, string(t.unit))
	s.BindBlob(4, user)
	s.BindInts(5, int64(held), tx.now)
	tx.written++
	return s.Run()
}

// Add implements [ledger.Trace].
func (t *trace) Add(p ledger.Point) {
	t.held.Left -= p.Spent
	t.used += p.Spent
	t.points = append(t.points, p)
}

// Full implements [ledger.Trace].
func (t *trace) Full() bool { return len(t.points) >= blockOfPoints }

// Save implements [ledger.Trace].
func (t *trace) Save(state []byte) error { return t.save(state, false) }

// Close implements [ledger.Trace].
func (t *trace) Close(state []byte) error {
	err := error(nil)
	if t.user != nil || len(t.points) > 0 {
		err = t.save(state, true)
	}
	if closing := t.ledger.Close(); err == nil {
		err = closing
	}
	return err
}

// save saves the trace, and leaves it to others if the user is done.
func (t *trace) save(state []byte, done bool) error {
	kept := t.held
	if done {
		kept.Left = 0
	}
	err := t.ledger.transact(func(tx *transaction) error {
		if err := tx.checkUser(t); err != nil {
			return err
		}
		if err := tx.postUse(t, t.held.Left-kept.Left); err != nil {
			return err
		}
		if err := tx.addPoints(t.name, t.saved, t.points); err != nil {
			return err
		}
		user := t.user
		if done {
			user = nil
		}
		return tx.putTrace(t, state, user, kept.Left)
	})
	if err != nil {
		return err
	}
	t.saved += int64(len(t.points))
	t.points, t.held, t.used = t.points[:0], kept, 0
	return nil
}

// postUse writes the entry of what the points that are not saved have spent, and of what returns.
func (tx *transaction) postUse(t *trace, returned budget.Amount) error {
	if t.used == 0 && returned == 0 {
		return nil
	}
	b, err := tx.standing(t.account, t.unit)
	if err != nil {
		return err
	}
	e := &change{
		origin:   &origin{t.run, tx.now, t.function, t.unit},
		account:  t.account,
		spent:    t.used,
		reserved: -t.used - returned,
		term:     t.held.Term,
	}
	for _, p := range t.points {
		if p.Spent > 0 {
			e.evaluations++
		}
	}
	return tx.post(e, &b)
}

// putTrace writes the row of a trace. Nobody uses the trace if user is nil.
func (tx *transaction) putTrace(t *trace, state, user []byte, held budget.Amount) error {
	s := tx.db.putTrace
	s.BindText(1, t.name)
	s.BindText(2, t.account)
	s.BindText(3, string(t.unit))
	s.BindBlob(4, state)
	s.BindNull(5)
	if user != nil {
		s.BindBlob(5, user)
	}
	s.BindInts(6, t.saved+int64(len(t.points)), int64(held), tx.now)
	tx.written++
	return s.Run()
}

// RestartTrace implements [ledger.Ledger].
func (l *Ledger) RestartTrace(name string) (restarted bool, err error) {
	err = l.transact(func(tx *transaction) error {
		found, err := tx.db.trace(name)
		if err != nil || found == nil || found.user == nil {
			return err
		}
		restarted = true
		return tx.addGap(name, found)
	})
	return restarted && err == nil, err
}

// addGap adds a gap to the run of a trace that a crash has left, and counts as lost what it held.
func (tx *transaction) addGap(name string, found *traceRow) error {
	if err := tx.addPoints(name, found.saved, []ledger.Point{{Gap: true, Spent: found.held}}); err != nil {
		return err
	}
	s := tx.db.freeTrace
	s.BindText(1, name)
	s.BindInts(2, found.saved+1, int64(found.held))
	tx.written++
	return s.Run()
}
