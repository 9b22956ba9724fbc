package ledger

import (
	"errors"
	"fmt"
	"time"

	"github.com/geosql/geosql/budget"
)

// run is one run of an SQL statement. Its number is the id of its first entry
// and 0 until it has one on disk.
type run struct{ number int64 }

// origin is what the entries of one call have in common.
type origin struct {
	run      *run
	time     int64 // microseconds since 1970
	function string
	unit     budget.Unit
}

// entry is a change of an account's balance.
type entry struct {
	*origin
	account     string
	spent       budget.Amount
	reserved    budget.Amount
	evaluations int64

	written bool // a note that has been flushed
}

// transaction holds the write lock of the ledger.
type transaction struct {
	db       *store
	now      int64
	lastID   int64   // of the entries; -1 until it is read
	numbered []*run  // first written here
	bound    *origin // of the statements that post runs
}

func now() int64 { return time.Now().UnixMicro() }

// wrap makes an error of SQLite or the file system one of the package.
func wrap(err error) error {
	var refusal *Refusal
	if err == nil || errors.As(err, &refusal) {
		return err
	}
	return fmt.Errorf("ledger: %w", err)
}

// transact runs work in a transaction. When it returns nil what work wrote is on
// disk; when it returns an error the caller must grant nothing. (A COMMIT that
// fails may still have reached the disk: budget is then wasted, which is safe.)
func (l *Ledger) transact(work func(*transaction) error) error {
	if l.db == nil {
		return errClosed
	}
	if err := l.db.begin.Run(); err != nil {
		return wrap(err)
	}
	t := &transaction{db: l.db, now: now(), lastID: -1}
	err := l.inPlace()
	if err == nil {
		err = work(t)
	}
	if err == nil {
		err = l.db.commit.Run()
	}
	if err != nil {
		t.undo()
	}
	return wrap(err)
}

func (t *transaction) undo() {
	for _, r := range t.numbered {
		r.number = 0
	}
	if !t.db.conn.AutoCommit() { // some errors have rolled back already
		// Should this fail, no later transaction begins, and nothing is granted.
		_ = t.db.rollback.Run()
	}
}

// post writes e and the balance that it leads to. b is the balance before, read
// in this transaction.
func (t *transaction) post(e *entry, b Balance) error {
	if err := t.number(e); err != nil {
		return err
	}
	t.bind(e.origin)
	s := t.db.addEntry
	s.BindText(5, e.account)
	s.BindInts(6, int64(e.spent), int64(e.reserved), e.evaluations, t.lastID)
	if err := s.Run(); err != nil {
		return err
	}
	s = t.db.putBalance
	s.BindText(2, e.account)
	s.BindInts(3, int64(b.Spent+e.spent), int64(b.Reserved+e.reserved), lastCharge(e, b))
	return s.Run()
}

// bind binds the parameters that stay the same from entry to entry; binding
// takes a good part of the time of a large charge.
func (t *transaction) bind(o *origin) {
	if o == t.bound {
		return
	}
	t.bound = o
	s := t.db.addEntry
	s.BindInts(1, o.run.number, o.time)
	s.BindText(3, o.function)
	s.BindText(4, string(o.unit))
	t.db.putBalance.BindText(1, string(o.unit))
}

// number gives e the next id, and its run a number if that is its first entry.
func (t *transaction) number(e *entry) error {
	if t.lastID < 0 {
		if _, err := t.db.lastID.Step(); err != nil {
			return err
		}
		v := t.db.lastID.Column(0)
		t.lastID = v.Int()
		t.db.lastID.Reset()
	}
	t.lastID++
	if e.run.number == 0 {
		e.run.number = t.lastID
		t.numbered = append(t.numbered, e.run)
	}
	return nil
}

func lastCharge(e *entry, b Balance) int64 {
	var last int64
	if !b.LastCharge.IsZero() {
		last = b.LastCharge.UnixMicro()
	}
	if e.spent == 0 {
		return last
	}
	return max(last, e.time)
}
