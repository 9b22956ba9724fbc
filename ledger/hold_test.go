package ledger

import (
	"testing"

	"github.com/geosql/geosql/budget"
)

// Reservations double, take at most half of the remainder, and are nothing near the limit.
func TestAhead(t *testing.T) {
	var h Hold
	for _, c := range []struct{ remaining, want budget.Amount }{
		{1000, 10}, {1000, 10}, {1000, 20}, {1000, 40}, {100, 50}, {25, 10}, {19, 0},
	} {
		got := h.Ahead(10, c.remaining)
		if got != c.want {
			t.Errorf("of %v it reserves %v, want %v", c.remaining, got, c.want)
		}
		h.AddFromLimit(got, 10, 1000)
	}
	h.AddFromLimit(10*mostAhead, 10, budget.Max)
	if got := h.Ahead(10, budget.Max); got != 10*mostAhead {
		t.Errorf("it reserves %v, want at most %v evaluations", got, mostAhead)
	}
}

// Use counts against the pool first, and each remainder returns to its origin.
func TestUnused(t *testing.T) {
	var h Hold
	h.AddFromPool(Share{Left: 10}, 100)
	h.AddFromLimit(20, 5, 100)
	for _, c := range []struct{ fromLimit, fromPool budget.Amount }{{20, 5}, {20, 0}, {15, 0}} {
		h.Use(5)
		if fromLimit, fromPool := h.Unused(); fromLimit != c.fromLimit || fromPool != c.fromPool {
			t.Errorf("%v and %v are unused, want %+v", fromLimit, fromPool, c)
		}
	}
	if used, evaluations := h.Unrecorded(); used != 15 || evaluations != 3 {
		t.Errorf("%v used in %d evaluations", used, evaluations)
	}
	h.SetRecorded()
	if used, evaluations := h.Unrecorded(); used != 0 || evaluations != 0 || h.Left != 15 {
		t.Errorf("once recorded: %v used in %d evaluations, %v left", used, evaluations, h.Left)
	}
	h.Drop()
	if fromLimit, fromPool := h.Unused(); fromLimit != 0 || fromPool != 0 || h.Left != 0 {
		t.Errorf("once dropped: %v and %v are unused", fromLimit, fromPool)
	}
}

// A reservation of one window is worth nothing in another.
func TestShareIn(t *testing.T) {
	s := Share{Term{Start: 5, End: 10}, 7}
	if s.In(Term{Start: 5, End: 20}) != 7 || s.In(Term{Start: 10, End: 15}) != 0 || s.In(Term{}) != 0 {
		t.Error("a share is worth what it should not be")
	}
}
