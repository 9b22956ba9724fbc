package postgres

import (
	"testing"
)

func TestChargeStopsAtTheLimit(t *testing.T) {
	l := fresh(t)
	check(t, l.SetLimit("*", unit, one, 0))
	granted := 0
	for range 15 {
		if !refused(t, l.Charge("f", unit, items(tenth, "anna"))) {
			granted++
		}
	}
	if granted != 10 {
		t.Errorf("granted %d", granted)
	}
	b, err := l.Balance("anna", unit)
	check(t, err)
	if b.Spent != one || b.Reserved != 0 {
		t.Errorf("%+v", b)
	}
	n := 0
	for c, err := range l.Charges() {
		check(t, err)
		n++
		if c.Epsilon != tenth || c.Account != "anna" {
			t.Errorf("%+v", c)
		}
	}
	if n != 10 {
		t.Errorf("%d charges", n)
	}
}
