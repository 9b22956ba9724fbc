package ledgertest

import (
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

var closingTests = tests{
	"StatementKeepsTheLedgerOpen": statementKeepsTheLedgerOpen,
	"Reopened":                    reopened,
	"UsedAndReturned":             usedAndReturned,
	"OpenedTwice":                 openedTwice,
	"TraceKeepsTheLedgerOpen":     traceKeepsTheLedgerOpen,
}

func statementKeepsTheLedgerOpen(t *testing.T, e Engine) {
	e.shared(t) // its ledgers end when they are closed
	l := e.fresh(t)
	check(t, l.SetLimit("*", "m", 100, 0))
	s := l.NewStatement()
	p := s.Spender("f", "m")
	check(t, l.Close())
	for range 3 {
		check(t, p.Charge([]byte("ana"), 1))
	}
	check(t, s.End())
	if r := stored(t, l, "ana"); r != (row{3, 0}) {
		t.Errorf("stored %v", r)
	}
	late := l.NewStatement()
	saying(t, "charging a closed ledger", late.Spender("f", "m").Charge([]byte("ana"), 1), "closed")
	check(t, late.End())
	_, unreadable := l.Balance("ana", "m")
	for _, err := range []error{l.Close(), charge(l, "ana", 1), l.SetLimit("ana", "m", 1, 0), unreadable,
		l.Reserve("m", []ledger.Item{{Account: "ana", Epsilon: 1}})} {
		saying(t, "closed ledger", err, "closed")
	}
}

// Unused reservations return when the ledger is closed, and everything else is there
// when it is opened again.
func reopened(t *testing.T, e Engine) {
	e.shared(t)
	l := e.fresh(t)
	id := l.ID()
	check(t, l.SetLimit("*", "m", 10, 0))
	check(t, charge(l, "ana", 4))
	check(t, l.Reserve("m", []ledger.Item{{Account: "ana", Epsilon: 6}}))
	refused(t, charge(l, "ana", 7))
	before := balance(t, l, "ana")
	check(t, l.Close())
	l = e.open(t, l.where)
	if l.ID() != id || len(id) != 32 {
		t.Errorf("id %q became %q", id, l.ID())
	}
	after := balance(t, l, "ana")
	if after.Spent != 4 || after.Reserved != 0 || after.Limit != 10 || !after.LastCharge.Equal(before.LastCharge) {
		t.Errorf("got %+v", after)
	}
	check(t, charge(l, "ana", 6))
	refused(t, charge(l, "ana", 1))
}

// When a ledger is closed, the entry of the use of a reservation returns the rest too.
func usedAndReturned(t *testing.T, e Engine) {
	e.shared(t)
	l := e.fresh(t)
	check(t, l.SetLimit("*", "m", 20, 0))
	check(t, l.Reserve("m", items(10, "ana", "bob", "cy")))
	before := entries(t, l)
	check(t, charge(l, "ana", 1))
	s := l.NewStatement()
	p := s.Spender("f", "m")
	check(t, p.Charge([]byte("ana"), 2))
	check(t, p.Charge([]byte("bob"), 4))
	check(t, s.End())
	check(t, l.Close())
	l = e.open(t, l.where)
	for account, spent := range map[string]budget.Amount{"ana": 3, "bob": 4, "cy": 0} {
		if r := stored(t, l, account); r != (row{spent, 0}) {
			t.Errorf("%s: stored %v", account, r)
		}
	}
	if n := entries(t, l) - before; n != 4 { // two of ana, who was charged by two statements
		t.Errorf("%d entries, not 4", n)
	}
}

// entries returns how many entries a ledger has.
func entries(t *testing.T, l *testLedger) int64 {
	t.Helper()
	v, err := l.Verify("", nil, nil)
	check(t, err)
	return v.Entries
}

// A ledger that was opened twice is closed twice.
func openedTwice(t *testing.T, e Engine) {
	l := e.fresh(t)
	again := e.open(t, l.where)
	if l.ID() != again.ID() {
		t.Errorf("ledgers %s and %s", l.ID(), again.ID())
	}
	check(t, l.SetLimit("ana", "m", 10, 0))
	check(t, charge(again, "ana", 5))
	check(t, l.Close())
	check(t, charge(again, "ana", 5))
	refused(t, charge(again, "ana", 1))
}

// An open trace keeps the ledger open too.
func traceKeepsTheLedgerOpen(t *testing.T, e Engine) {
	e.shared(t)
	l := e.fresh(t)
	check(t, l.SetLimit("*", "m", 10, 0))
	tr, _, _ := openTrace(t, l, "x", "ana")
	check(t, l.Close())
	step(t, tr, 0, 5)
	check(t, tr.Close([]byte("s")))
	if r := stored(t, l, "ana"); r != (row{1, 0}) {
		t.Errorf("stored %v", r)
	}
	saying(t, "after the trace", charge(l, "ana", 1), "closed")
}
