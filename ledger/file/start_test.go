package file

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/ledgertest"
)

// A ledger that starts from another grants the rest of that, and its chain agrees. Reservations
// are spent in it, and windows go on.
func TestStartFrom(t *testing.T) {
	old := newFile(t)
	clock := atClock(old)
	check(t, old.SetLimit("*", "m", 10*one, 0))
	check(t, old.SetLimit("ana", "m", 2*one, 0))
	check(t, old.SetLimit("ana", "m", 3*one, 0)) // replaced
	check(t, old.SetLimit("bob", "kWh", 5*one, 3600))
	check(t, charge(old, "early", one))
	check(t, old.SetLimit("early", "m", 4*one, 600)) // spent before there were windows
	clock(10 * time.Minute)
	check(t, charge(old, "ana", tenth))
	check(t, charge(old, "zoe", 2*one))
	check(t, old.Charge("f", "kWh", []ledger.Item{{Account: "bob", Epsilon: one, Evaluations: 3}}))
	check(t, old.Reserve("m", []ledger.Item{{Account: "ana", Epsilon: one}, {Account: "only reserved", Epsilon: 3 * one}}))
	before := ledgertest.Balances(t, old)

	path := filepath.Join(t.TempDir(), "new-ledger")
	l := open(t, path)
	at := atClock(l)
	at(10 * time.Minute)
	check(t, l.StartFrom(old))
	after := ledgertest.Balances(t, l)
	if len(after) != len(before) {
		t.Fatalf("%d balances became %d", len(before), len(after))
	}
	for i, b := range before {
		a := after[i]
		if b.Reserved > 0 && b.LastCharge.IsZero() { // the time of the new ledger stands for it
			a.LastCharge = b.LastCharge
		}
		if b.Spent, b.Reserved = b.Spent+b.Reserved, 0; a != b {
			t.Errorf("got  %+v\nwant %+v", a, b)
		}
	}
	v, err := l.Verify("", nil, nil)
	check(t, err)
	if v.Limits != 4 || v.Balances != 5 || v.Entries != 9 {
		t.Errorf("%+v", v)
	}
	if r := refused(t, charge(l, "ana", 2*one)); r.Left != 19*tenth {
		t.Errorf("left is %v", r.Left)
	}
	if err := l.ChargeOnce("f", "m", ledger.Item{Account: "zoe", Epsilon: 1}); err == nil || !strings.Contains(err.Error(), "was charged") {
		t.Errorf("an account that was charged before is charged once: %v", err)
	}
	// The window of bob ends when it would have, and that of early too.
	at(69 * time.Minute)
	if b, err := l.Balance("bob", "kWh"); err != nil || b.Remaining() != 4*one {
		t.Errorf("within the window: %+v, %v", b, err)
	}
	at(70 * time.Minute)
	if b, err := l.Balance("bob", "kWh"); err != nil || b.Remaining() != 5*one || b.Spent != one {
		t.Errorf("after the window: %+v, %v", b, err)
	}
	check(t, charge(l, "bob", one))

	if err := l.StartFrom(old); err == nil || !strings.Contains(err.Error(), "only a new one can start") {
		t.Errorf("a ledger with entries starts again: %v", err)
	}
	if again := ledgertest.Balances(t, old); len(again) != len(before) {
		t.Errorf("the earlier ledger has changed: %v", again)
	}
}

// Charges unknown to an earlier ledger, since it was restored, are unknown to a later one too,
// and a backup cannot be started from. Archived sums count.
func TestStartFromRestored(t *testing.T) {
	l := newFilled(t)
	backup := copyOf(t, l)
	if err := newFile(t).StartFrom(backup); err == nil || !strings.Contains(err.Error(), "is a backup") {
		t.Errorf("a start from a backup: %v", err)
	}
	check(t, backup.Adopt(false))
	archive := filepath.Join(t.TempDir(), "archive")
	_, err := backup.Archive(archive, time.Now().Add(time.Hour))
	check(t, err)
	next := newFile(t)
	check(t, next.StartFrom(backup))
	was, err := backup.Restorations()
	check(t, err)
	is, err := next.Restorations()
	check(t, err)
	if len(was) != 1 || len(is) != 1 || was[0] != is[0] {
		t.Errorf("restorations %v became %v", was, is)
	}
	_, err = next.Verify("", nil, nil)
	check(t, err)
	sum := func(l *Ledger) (total budget.Amount) {
		for b, err := range ledger.AllBalances(l) {
			check(t, err)
			total += b.Spent + b.Reserved
		}
		return total
	}
	if sum(backup) != sum(next) || sum(next) == 0 {
		t.Errorf("spent %v became %v", sum(backup), sum(next))
	}
}

// A ledger in memory can start from a file.
func TestStartFromInMemory(t *testing.T) {
	old := newFilled(t)
	l, err := OpenMemory("")
	check(t, err)
	defer l.Close()
	check(t, l.StartFrom(old))
	_, err = l.Verify("", nil, nil)
	check(t, err)
}
