package file

import (
	"fmt"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

// reservations returns the on-disk totals that n charges of 1 lead to.
func reservations(t *testing.T, l *Ledger, n int) (totals []int64) {
	a := newAuditor(t, l.Path())
	defer a.close()
	s := l.NewStatement()
	defer s.End()
	p := s.Spender("f", "m")
	for range n {
		check(t, p.Charge([]byte("ana"), 1))
		all, err := a.audit()
		check(t, err)
		if total := int64(all[key{"ana", "m"}].total()); len(totals) == 0 || totals[len(totals)-1] != total {
			totals = append(totals, total)
		}
	}
	return totals
}

func TestReservationsDouble(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("*", "m", one, 0))
	if got := fmt.Sprint(reservations(t, l, 100)); got != "[1 2 4 8 16 32 64 128]" {
		t.Errorf("got %v", got)
	}
	if b := balance(t, l, "ana"); b.Spent != 100 || b.Reserved != 0 {
		t.Errorf("got %+v", b)
	}
}

func TestReservationsShrinkNearTheLimit(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("ana", "m", 23, 0))
	if got := fmt.Sprint(reservations(t, l, 23)); got != "[1 2 4 8 15 19 21 22 23]" {
		t.Errorf("got %v", got)
	}
	refused(t, charge(l, "ana", 1))
}

func TestReservationsAreBounded(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("ana", "m", one, 0))
	s := l.NewStatement()
	p := s.Spender("f", "m")
	const most = 1 << 14 // evaluations that are reserved at a time
	n := 5*most + 7
	for range n {
		check(t, p.Charge([]byte("ana"), 1))
	}
	if r := onDisk(t, l.Path())[key{"ana", "m"}]; r.total() != 6*most {
		t.Errorf("on disk %v", r)
	}
	check(t, s.End())
	if b := balance(t, l, "ana"); b.Spent != budget.Amount(n) || b.Reserved != 0 {
		t.Errorf("got %+v", b)
	}
}

// A statement of one row is one transaction with one entry.
func TestSingleChargeIsOneEntry(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("*", "m", one, 0))
	for range 3 {
		s := l.NewStatement()
		check(t, s.Spender("f", "m").Charge([]byte("ana"), 5))
		check(t, s.End())
		if l.Notes() != 0 {
			t.Error("End left notes")
		}
	}
	n, err := l.db.readInt("SELECT count(*) FROM entry WHERE spent = 5 AND reserved = 0 AND evaluations = 1 AND statement = id")
	check(t, err)
	total, err := l.db.readInt("SELECT count(*) FROM entry WHERE epsilon_limit IS NULL")
	check(t, err)
	if n != 3 || total != 3 {
		t.Errorf("%d of %d entries are single charges", n, total)
	}
}

func TestChargesOfAStatement(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("*", "m", one, 0))
	check(t, l.SetLimit("*", "kWh", one, 0))
	s := l.NewStatement()
	for i := range 10 {
		check(t, s.Spender("f", "m").Charge([]byte("ana"), budget.Amount(1+i%3)))
		check(t, s.Spender("g", "m").Charge([]byte("ana"), 1))
		check(t, s.Spender("f", "kWh").Charge([]byte("bob"), 1))
	}
	check(t, s.End())
	check(t, l.Reserve("m", []ledger.Item{{Account: "tom", Epsilon: 5}}))
	got := charges(t, l)
	want := []ledger.Charge{
		{Function: "f", Account: "ana", Unit: "m", Epsilon: 19, Evaluations: 10},
		{Function: "g", Account: "ana", Unit: "m", Epsilon: 10, Evaluations: 10},
		{Function: "f", Account: "bob", Unit: "kWh", Epsilon: 10, Evaluations: 10},
	}
	for i := range got {
		if got[i].Time.IsZero() {
			t.Error("no time")
		}
		got[i].ID, got[i].Time = 0, want[0].Time
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestHoldsAreSeparate(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("ana", "m", 20, 0))
	s, u := l.NewStatement(), l.NewStatement()
	spenders := []ledger.Spender{s.Spender("f", "m"), s.Spender("g", "m"), u.Spender("f", "m")}
	granted := 0
	for range 20 {
		for _, p := range spenders {
			if p.Charge([]byte("ana"), 1) == nil {
				granted++
			}
		}
	}
	// A spender may be refused while others hold what they have not used, but
	// those use it up.
	if granted != 20 {
		t.Errorf("granted %d of 20", granted)
	}
	check(t, s.End())
	check(t, u.End())
}

func TestPoolNeedsNoCommit(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("*", "m", 1000, 0))
	check(t, l.Reserve("m", []ledger.Item{{Account: "ana", Epsilon: 100}, {Account: "bob", Epsilon: 100}}))
	begin := l.db.begin
	l.db.begin = nil // a transaction would panic
	s := l.NewStatement()
	p := s.Spender("f", "m")
	for range 50 {
		check(t, p.Charge([]byte("ana"), 2))
		check(t, p.Charge([]byte("bob"), 1))
	}
	check(t, l.Charge("g", "m", []ledger.Item{{Account: "bob", Epsilon: 2, Evaluations: 2}}))
	check(t, s.End())
	l.db.begin = begin
	if b := balance(t, l, "ana"); b.Spent != 100 || b.Reserved != 0 {
		t.Errorf("ana: %+v", b)
	}
	if b := balance(t, l, "bob"); b.Spent != 52 || b.Reserved != 48 {
		t.Errorf("bob: %+v", b)
	}
	if got := charges(t, l); len(got) != 3 || got[0].Evaluations != 50 || got[2].Evaluations != 2 {
		t.Errorf("charges %v", got)
	}
	path := l.Path()
	check(t, l.Close())
	if r := onDisk(t, path)[key{"bob", "m"}]; r != (row{52, 0}) {
		t.Errorf("after Close %v", r)
	}
}

// Pool and limit together can be used up exactly, and only once.
func TestPoolAndLimitTogether(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("ana", "m", 100, 0))
	check(t, l.Reserve("m", []ledger.Item{{Account: "ana", Epsilon: 95}}))
	s := l.NewStatement()
	p := s.Spender("f", "m")
	check(t, p.Charge([]byte("ana"), 1)) // holds 15 more, 79 stay in the pool
	check(t, p.Charge([]byte("ana"), 97))
	if r := refused(t, p.Charge([]byte("ana"), 3)); r.Left != 2 {
		t.Errorf("left %d", int64(r.Left))
	}
	check(t, p.Charge([]byte("ana"), 2))
	if r := refused(t, p.Charge([]byte("ana"), 1)); r.Left != 0 {
		t.Errorf("left %d", int64(r.Left))
	}
	check(t, s.End())
	if b := balance(t, l, "ana"); b.Spent != 100 || b.Reserved != 0 {
		t.Errorf("got %+v", b)
	}
}

func TestNotesAreWrittenBeforeTheyAreMany(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("*", "m", one, 0))
	check(t, l.Reserve("m", []ledger.Item{{Account: "ana", Epsilon: one}}))
	for range 2*engine.ManyNotes + 1 {
		check(t, charge(l, "ana", 1))
	}
	if r := onDisk(t, l.Path())[key{"ana", "m"}]; r.spent != 2*engine.ManyNotes || l.Notes() != 1 {
		t.Errorf("%d notes, on disk %v", l.Notes(), r)
	}
}

func TestEnd(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("*", "m", 100, 0))
	s := l.NewStatement()
	p := s.Spender("f", "m")
	for range 3 {
		check(t, p.Charge([]byte("ana"), 1))
	}
	check(t, s.End())
	check(t, s.End())
	if err := p.Charge([]byte("ana"), 1); err != engine.ErrEnded {
		t.Errorf("charging an ended statement: %v", err)
	}
	if err := s.Spender("g", "m").Charge([]byte("ana"), 1); err != engine.ErrEnded {
		t.Errorf("charging an ended statement: %v", err)
	}
}

func TestStatementKeepsTheLedgerOpen(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("*", "m", 100, 0))
	s := l.NewStatement()
	p := s.Spender("f", "m")
	check(t, l.Close())
	for range 3 {
		check(t, p.Charge([]byte("ana"), 1))
	}
	check(t, s.End())
	if r := onDisk(t, l.Path())[key{"ana", "m"}]; r != (row{3, 0}) {
		t.Errorf("on disk %v", r)
	}
	late := l.NewStatement()
	if err := late.Spender("f", "m").Charge([]byte("ana"), 1); err != engine.ErrClosed {
		t.Errorf("charging a closed ledger: %v", err)
	}
	check(t, late.End())
	_, unreadable := l.Balance("ana", "m")
	for _, err := range []error{l.Close(), charge(l, "ana", 1), l.SetLimit("ana", "m", 1, 0), unreadable,
		l.Reserve("m", []ledger.Item{{Account: "ana", Epsilon: 1}})} {
		if err != engine.ErrClosed {
			t.Errorf("closed ledger: %v", err)
		}
	}
}

func TestChargeAllocatesNothing(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("*", "m", one, 0))
	s := l.NewStatement()
	defer s.End()
	p := s.Spender("f", "m")
	accounts := [][]byte{[]byte("ana"), []byte("bob"), []byte("an account with a long name, well beyond a buffer on the stack")}
	for _, a := range accounts {
		for range 3000 {
			check(t, p.Charge(a, 1))
		}
	}
	if n := testing.AllocsPerRun(100, func() {
		for _, a := range accounts {
			if p.Charge(a, 1) != nil {
				t.Fail()
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
