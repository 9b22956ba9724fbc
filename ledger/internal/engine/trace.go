package engine

import (
	"crypto/rand"
	"fmt"
	"slices"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/ledger"
)

// trace implements [ledger.Trace].
type trace struct {
	core          *Core
	function      string
	name, account string
	unit          budget.Unit
	run           *Run

	limit     budget.Amount // under which what is held was reserved
	revision  int64         // of the ledger, when the limit was last checked
	unchecked int           // steps until it looks for limits
	looked    bool          // whether it has looked, and may draw from pools

	saved int64         // points on disk
	user  []byte        // a random name of this use; nil until something is reserved
	held  ledger.Share  // reserved and not used
	used  budget.Amount // reserved and not saved
	ahead budget.Amount // what was reserved last

	points []ledger.Point // not saved
}

// BlockOfPoints is how many points are saved together.
const BlockOfPoints = 4096

// OpenTrace implements [ledger.Ledger].
func (c *Core) OpenTrace(name, account string, unit budget.Unit, function string) (ledger.Trace, []byte, budget.Amount, error) {
	if err := ledger.CheckCharge(account, unit, 1); err != nil {
		return nil, nil, 0, err
	}
	var found TraceRow
	err := c.view(func(r Reader) (err error) {
		found, err = openTrace(r, name, account, unit)
		return err
	})
	if err != nil {
		return nil, nil, 0, err
	}
	if err := c.store.Retain(); err != nil {
		return nil, nil, 0, err
	}
	t := &trace{core: c, function: function, name: name, account: account, unit: unit, run: new(Run), saved: found.Saved}
	return t, found.State, found.Lost, nil
}

// openTrace returns the row of a trace that an account wants to use, or an empty row if there is
// none.
func openTrace(r Reader, name, account string, unit budget.Unit) (TraceRow, error) {
	found, err := r.Trace(name)
	switch {
	case err != nil || found == nil:
		return TraceRow{}, err
	case found.Account != account || found.Unit != unit:
		return TraceRow{}, fmt.Errorf("trace %s is charged to account %s in %s", printable.SQL(name), printable.SQL(found.Account), printable.SQL(string(found.Unit)))
	case found.User != nil:
		return TraceRow{}, &ledger.TraceTakenError{Trace: name}
	}
	return *found, nil
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
	drawn, under, _ := t.core.drawFromPools(t.unit, []ledger.Item{{Account: t.account, Epsilon: cost}}, t.looked)
	user := t.user
	if user == nil {
		user = make([]byte, 16)
		_, _ = rand.Read(user) // never fails
	}
	var held ledger.Share
	var granted, limit budget.Amount
	err = t.core.update(t.needs(), func(tx Transaction) (err error) {
		if held, granted, limit, err = t.reserveFor(tx, cost, most, drawn[0]); err != nil {
			return err
		}
		row := TraceRow{Account: t.account, Unit: t.unit, User: user, Held: held.Left + t.used}
		return tx.TakeTrace(t.name, &row)
	})
	if Is[*InDoubtError](err) {
		t.held.Left = 0 // it may have returned
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

// checkForLimits looks for limits from time to time, and returns the ledger's revision.
func (t *trace) checkForLimits() (revision int64, err error) {
	if t.unchecked == 0 {
		if t.looked, err = t.core.checkForLimitsIfHeld(t.held.Left > 0, t.unit); err != nil {
			return 0, err
		}
		t.unchecked = CheckAfter
	}
	t.unchecked--
	return t.core.revision.Load(), nil
}

// reserveFor writes the entry of a reservation. It returns what the trace holds then, how much of
// that was reserved now, and the limit. What is held or drawn of another term than the current
// one is worth nothing. What is held under a limit that was lowered returns.
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
		err = tx.Post(&Change{
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
	found, err := tx.Trace(t.name)
	if err != nil {
		return err
	}
	if found == nil {
		found = new(TraceRow)
	}
	if !slices.Equal(found.User, t.user) || found.Saved != t.saved {
		return &ledger.TraceTakenError{Trace: t.name}
	}
	return nil
}

// needs are the needs of every transaction of the trace.
func (t *trace) needs() Needs { return one(Key{t.account, t.unit}) }

// Add implements [ledger.Trace].
func (t *trace) Add(p ledger.Point) {
	t.held.Left -= p.Spent
	t.used += p.Spent
	t.points = append(t.points, p)
}

// Full implements [ledger.Trace].
func (t *trace) Full() bool { return len(t.points) >= BlockOfPoints }

// Save implements [ledger.Trace].
func (t *trace) Save(state []byte) error { return t.save(state, false) }

// Close implements [ledger.Trace].
func (t *trace) Close(state []byte) error {
	err := error(nil)
	if t.user != nil || len(t.points) > 0 {
		err = t.save(state, true)
	}
	if closing := t.core.store.Close(); err == nil {
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
	err := t.core.update(t.needs(), func(tx Transaction) error {
		if err := t.checkUser(tx); err != nil {
			return err
		}
		if err := t.postUse(tx, t.held.Left-kept.Left); err != nil {
			return err
		}
		if err := tx.AddPoints(t.name, t.saved, t.points); err != nil {
			return err
		}
		row := TraceRow{Account: t.account, Unit: t.unit, State: state, Saved: t.saved + int64(len(t.points)), User: t.user, Held: kept.Left}
		if done {
			row.User = nil
		}
		return tx.PutTrace(t.name, &row)
	})
	if err != nil {
		return err
	}
	t.saved += int64(len(t.points))
	t.points, t.held, t.used = t.points[:0], kept, 0
	return nil
}

// postUse writes the entry of what the points that are not saved have spent, and of what returns.
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
	return tx.Post(e, &b)
}

// RestartTrace implements [ledger.Ledger].
func (c *Core) RestartTrace(name string) (restarted bool, err error) {
	err = c.update(nil, func(tx Transaction) error {
		restarted = false
		found, err := tx.Trace(name)
		if err != nil || found == nil || found.User == nil {
			return err
		}
		restarted = true
		// What it held counts as lost, and a gap stands for the points that are missing.
		if err := tx.AddPoints(name, found.Saved, []ledger.Point{{Gap: true, Spent: found.Held}}); err != nil {
			return err
		}
		return tx.FreeTrace(name, found.Saved+1, found.Held)
	})
	return restarted && err == nil, err
}
