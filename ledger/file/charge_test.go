package file

import (
	"testing"

	"github.com/geosql/geosql/ledger"
)

// breakCommit makes every commit fail until it is repaired.
func breakCommit(t *testing.T, l *Ledger) (repair func()) {
	commit := l.db.commit
	failing, _, err := l.db.conn.Prepare("SELECT abs(-9223372036854775807 - 1)") // overflows
	check(t, err)
	l.db.commit = failing
	return func() {
		l.db.commit = commit
		failing.Close()
	}
}

// A COMMIT that fails grants nothing, and the ledger works again afterwards.
func TestFailingCommit(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("*", "m", 100, 0))
	s := l.NewStatement()
	p := s.Spender("f", "m")
	check(t, l.Reserve("m", []ledger.Item{{Account: "bob", Epsilon: 5}}))

	repair := breakCommit(t, l)
	for what, err := range map[string]error{
		"charge":   charge(l, "ana", 1),
		"mixed":    charge(l, "bob", 6),
		"spender":  p.Charge([]byte("ana"), 1),
		"reserve":  l.Reserve("m", []ledger.Item{{Account: "ana", Epsilon: 1}}),
		"setlimit": l.SetLimit("ana", "m", 1, 0),
	} {
		if err == nil {
			t.Errorf("%s succeeded", what)
		}
	}
	check(t, p.Charge([]byte("bob"), 2)) // reserved before: needs no commit
	repair()

	if all := onDisk(t, l.Path()); len(all) != 1 || all[key{"bob", "m"}] != (row{0, 5}) {
		t.Errorf("on disk %v", all)
	}
	check(t, p.Charge([]byte("ana"), 1))
	check(t, s.End())
	if b := balance(t, l, "bob"); b.Spent != 2 || b.Reserved != 3 {
		t.Errorf("got %+v", b)
	}
}

// A statement that was refused its first charge is not taken for the one that
// gets the next entry.
func TestStatementIsNumberedByItsFirstEntry(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("*", "m", 10, 0))
	s := l.NewStatement()
	repair := breakCommit(t, l)
	if s.Spender("f", "m").Charge([]byte("ana"), 1) == nil {
		t.Error("charged")
	}
	repair()
	check(t, charge(l, "ana", 1))
	check(t, s.Spender("f", "m").Charge([]byte("ana"), 1))
	check(t, s.End())
	if got := charges(t, l); len(got) != 2 {
		t.Errorf("charges %v", got)
	}
}

// An amount that a failed End could not return, a later write returns.
func TestFailingEnd(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("*", "m", 100, 0))
	s := l.NewStatement()
	p := s.Spender("f", "m")
	for range 5 {
		check(t, p.Charge([]byte("ana"), 1))
	}
	repair := breakCommit(t, l)
	if s.End() == nil {
		t.Error("End succeeded")
	}
	repair()
	if r := onDisk(t, l.Path())[key{"ana", "m"}]; r.total() != 8 {
		t.Errorf("on disk %v", r)
	}
	if b := balance(t, l, "ana"); b.Spent != 5 || b.Reserved != 0 {
		t.Errorf("got %+v", b)
	}
}
