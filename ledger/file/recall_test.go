package file

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

// A ledger that is closed stays closed: looking for limits does not open it again.
func TestClosedLedgerIsNotLookedAt(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("*", "m", 100, 0))
	check(t, l.Reserve("m", []ledger.Item{{Account: "ana", Epsilon: 30}}))
	check(t, charge(l, "ana", 1)) // which looks
	check(t, l.Close())
	for range 2 {
		if err := charge(l, "ana", 1); err != engine.ErrClosed {
			t.Errorf("got %v", err)
		}
	}
	if left, err := os.ReadDir(filepath.Dir(l.Path())); err != nil || len(left) != 1 {
		t.Errorf("left %v, %v", left, err)
	}
}

// eventful is a disk that something happens at.
type eventful struct {
	disk
	writes, written, viewed func() // before the next write, after it, and before the next view
	failing                 error  // of the next view
}

func (e *eventful) Update(ctx context.Context, needs engine.Needs, work func(engine.Transaction) error) error {
	happen(&e.writes)
	err := e.disk.Update(ctx, needs, work)
	happen(&e.written)
	return err
}

func (e *eventful) View(ctx context.Context, work func(engine.Reader) error) error {
	happen(&e.viewed)
	if err := e.failing; err != nil {
		e.failing = nil
		return err
	}
	return e.disk.View(ctx, work)
}

// happen lets something happen, once.
func happen(f *func()) {
	if now := *f; now != nil {
		*f = nil
		now()
	}
}

// While Reserve fills its pools a limit is lowered, and a statement looks for limits. Statements that
// begin later must not draw from amounts reserved under the higher limit.
func TestReserveBesideSetLimit(t *testing.T) {
	for _, c := range []struct {
		name          string
		account       string // its limit is set
		limit, pooled budget.Amount
	}{
		{"lowered", "ana", 0, 0},
		{"lowered, of everybody", ledger.Everyone, 0, 0},
		{"raised", "ana", 200, 30},
		{"another's", "berta", 0, 30},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newFile(t)
			e := &eventful{disk: disk{l}}
			core := engine.New(e)
			check(t, core.SetLimit("*", "m", 100, 0))
			check(t, core.Reserve("m", []ledger.Item{{Account: "carla", Epsilon: 1}})) // so that there is a pool to look for limits for
			begins := func() {
				s := core.NewStatement()
				if err := s.Spender("f", "m").Charge([]byte("ana"), 10); err == nil && c.pooled == 0 {
					t.Error("charged, although the limit is 0")
				} else {
					check(t, unlessRefused(err))
				}
				check(t, s.End())
			}
			e.written = func() {
				check(t, core.SetLimit(c.account, "m", c.limit, 0))
				if c.pooled == 0 {
					begins()
				}
				e.viewed = begins
			}
			check(t, core.Reserve("m", []ledger.Item{{Account: "ana", Epsilon: 30}}))
			begun := e.viewed == nil
			begins()
			if !begun {
				t.Error("Reserve has not looked for the limit")
			}
			if c.pooled > 0 {
				c.pooled -= 10 // the last statement has taken it from there
			}
			if left := core.Pooled(engine.Key{Account: "ana", Unit: "m"}); left != c.pooled {
				t.Errorf("the pool has %d", int64(left))
			}
			check(t, core.ReturnPools())
			if b, err := core.Balance("ana", "m"); err != nil || b.Reserved != 0 {
				t.Errorf("got %+v, %v", b, err)
			}
		})
	}
}

// A limit is lowered while a statement reserves, and the look for it fails. No unit stays reserved after the statement.
func TestNothingStaysReservedAfterAFailure(t *testing.T) {
	l := newFile(t)
	e := &eventful{disk: disk{l}}
	core := engine.New(e)
	broken := errors.New("the disk is broken")
	var demands []ledger.Demand
	units := []budget.Unit{"m", "kWh"}
	for _, unit := range units {
		check(t, core.SetLimit("*", unit, 100, 0))
		demands = append(demands, ledger.Demand{Unit: unit, Items: []ledger.Item{{Account: "ana", Epsilon: 30}}})
	}
	s := core.NewStatement()
	e.written = func() {
		check(t, core.SetLimit("ana", "m", 0, 0))
		e.failing = broken
	}
	if err := s.Reserve(demands); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	check(t, s.End())
	for _, unit := range units {
		if b, err := core.Balance("ana", unit); err != nil || b.Reserved != 0 {
			t.Errorf("%s: got %+v, %v", unit, b, err)
		}
	}
}

// A statement begins after another process has lowered a limit, while there are no pools. It must not
// draw from one that is filled later, with amounts reserved before, without a look at the limits.
func TestPoolsAreNotDrawnFromUnseen(t *testing.T) {
	l := newFile(t)
	e := &eventful{disk: disk{l}}
	core, other := engine.New(e), engine.New(disk{open(t, l.Path())})
	check(t, core.SetLimit("*", "m", 100, 0))
	s := core.NewStatement()
	e.written = func() {
		check(t, other.SetLimit("ana", "m", 0, 0))
		check(t, s.Spender("f", "m").Charge([]byte("berta"), 10))
	}
	check(t, core.Reserve("m", []ledger.Item{{Account: "ana", Epsilon: 30}}))
	refused(t, s.Spender("f", "m").Charge([]byte("ana"), 10))
	check(t, s.End())
}

// A trace draws from a pool while the limit is lowered. Its later steps must not use the
// rest of that.
func TestTraceDrawsBesideSetLimit(t *testing.T) {
	l := newFile(t)
	e := &eventful{disk: disk{l}}
	core := engine.New(e)
	check(t, core.SetLimit("*", "m", 100, 0))
	check(t, core.Reserve("m", []ledger.Item{{Account: "ana", Epsilon: 30}}))
	trace, _, _, err := core.OpenTrace("t", "ana", "m", "f")
	check(t, err)
	e.writes = func() { check(t, core.SetLimit("ana", "m", 0, 0)) }
	check(t, trace.Reserve(10, 10))
	trace.Add(ledger.Point{Time: time.Unix(1, 0), Spent: 1})
	refused(t, trace.Reserve(1, 1))
	check(t, trace.Close(nil))
	check(t, core.Flush())
	if b, err := core.Balance("ana", "m"); err != nil || b.Spent != 1 || b.Reserved != 0 {
		t.Errorf("got %+v, %v", b, err)
	}
}
