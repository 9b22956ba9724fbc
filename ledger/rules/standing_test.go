package rules

import (
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
)

func TestRemaining(t *testing.T) {
	for _, c := range []struct {
		balance Balance
		want    budget.Amount
	}{
		{Balance{}, 0},
		{Balance{Limit: 10}, 0}, // it is not limited: nothing can be charged
		{Balance{Limited: true, Limit: 10, Spent: 3, Reserved: 2}, 5},
		{Balance{Limited: true, Limit: 10, Spent: 30}, 0}, // the limit was lowered
		{Balance{Limited: true, Limit: 10, Spent: 30, Window: 60, WindowSpent: 4}, 6},
	} {
		if got := c.balance.Remaining(); got != c.want {
			t.Errorf("%+v leaves %v, want %v", c.balance, got, c.want)
		}
	}
}

// windowed is a standing under a limit of 10 in a window of a second. The window that
// began at 5,000,000 has used 4.
func windowed() Standing {
	return Standing{
		Balance: Balance{Account: "ana", Unit: "m", Limited: true, Limit: 10, Window: 1, Spent: 20, Reserved: 1},
		Stored:  WindowUse{5_000_000, 4},
	}
}

func TestWindows(t *testing.T) {
	for _, c := range []struct {
		name    string
		now     int64
		change  func(*Standing)
		spent   budget.Amount
		term    Term
		reopens int64 // seconds
	}{
		{"within", 5_999_999, func(*Standing) {}, 4, Term{5_000_000, 6_000_000}, 6},
		{"its end", 6_000_000, func(*Standing) {}, 0, Term{6_000_000, 7_000_000}, 0},
		{"the clock was set back", 1, func(*Standing) {}, 4, Term{5_000_000, 6_000_000}, 6},
		{"a longer window", 6_500_000, func(s *Standing) { s.Window = 2 }, 4, Term{5_000_000, 7_000_000}, 7},
		{"to the second after", 5, func(s *Standing) { s.Stored.Start = 5_000_001 }, 4, Term{5_000_001, 6_000_001}, 7},
		{"nothing was charged", 9, func(s *Standing) { s.Stored, s.Spent, s.Reserved = WindowUse{}, 0, 0 }, 0, Term{9, 1_000_009}, 0},
		{"charged before there were windows", 8_000_000, func(s *Standing) { s.Stored, s.LimitSet = WindowUse{}, 7_500_000 },
			21, Term{7_500_000, 8_500_000}, 9},
		{"without a window", 9, func(s *Standing) { s.Window = 0 }, 0, Term{}, 0},
	} {
		s := windowed()
		c.change(&s)
		if err := s.At(c.now); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		reopens := time.Time{}
		if c.reopens > 0 {
			reopens = time.Unix(c.reopens, 0).UTC()
		}
		if s.WindowSpent != c.spent || s.Term != c.term || !s.Reopens.Equal(reopens) {
			t.Errorf("%s: spent %v, term %v, reopens %v, want %v, %v, %v", c.name, s.WindowSpent, s.Term, s.Reopens, c.spent, c.term, reopens)
		}
	}
}

func TestWindowAfter(t *testing.T) {
	s := windowed()
	if err := s.At(7_000_000); err != nil { // in a new window
		t.Fatal(err)
	}
	if got := s.WindowAfter(3); got != (WindowUse{7_000_000, 3}) {
		t.Errorf("after a charge: %v", got)
	}
	if got := s.WindowAfter(0); got != s.Stored {
		t.Errorf("after an entry that changes nothing: %v", got)
	}
	if s.Window = 0; s.WindowAfter(3) != (WindowUse{}) {
		t.Errorf("without a window: %v", s.WindowAfter(3))
	}
}

func TestReservedChange(t *testing.T) {
	s := windowed()
	if err := s.At(5_000_000); err != nil {
		t.Fatal(err)
	}
	over := Term{1_000_000, 2_000_000}
	for _, c := range []struct {
		spent, reserved, want budget.Amount
		from                  Term
	}{
		{2, -2, -2, over},   // a reservation is spent, whenever it was made
		{2, -5, -5, s.Term}, // 3 return
		{2, -5, -2, over},   // 3 cannot return
		{0, 5, 5, Term{}},   // a reservation returns nothing
	} {
		if got := s.ReservedChange(c.spent, c.reserved, c.from); got != c.want {
			t.Errorf("%+v: the reserved amount changes by %v", c, got)
		}
	}
}

func TestRefuse(t *testing.T) {
	s := Standing{Balance: Balance{Account: "ana", Unit: "m", Limited: true, Limit: 10, Spent: 4}}
	for _, c := range []struct{ cost, aside, left budget.Amount }{{6, 0, -1}, {7, 1, -1}, {7, 0, 6}, {9, 2, 8}} {
		switch r := s.Refuse(c.cost, c.aside); {
		case r == nil && c.left >= 0, r != nil && r.Left != c.left:
			t.Errorf("%+v: %+v", c, r)
		}
	}
	s.Limited = false
	if r := s.Refuse(1, 100); r == nil || r.Limited || r.Left != 0 {
		t.Errorf("without a limit: %+v", r)
	}
}

func TestOutOfRange(t *testing.T) {
	for _, spoil := range []func(*Standing){
		func(s *Standing) { s.Spent = -1 },
		func(s *Standing) { s.Reserved = -1 },
		func(s *Standing) { s.Spent, s.Reserved = budget.Max, 1 },
		func(s *Standing) { s.Limit = -1 },
		func(s *Standing) { s.Limit = budget.Max + 1 },
		func(s *Standing) { s.Stored.Spent = -1 },
		func(s *Standing) { s.Stored.Spent = s.Spent + s.Reserved + 1 },
		func(s *Standing) { s.Window = MaxWindow + 1 },
		func(s *Standing) { s.Window = -1 },
	} {
		s := windowed()
		spoil(&s)
		if s.At(5_000_000) == nil {
			t.Errorf("%+v is in range", s)
		}
	}
}
