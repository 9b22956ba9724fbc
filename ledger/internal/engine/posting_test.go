package engine_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/file"
	"github.com/geosql/geosql/ledger/internal/engine"
)

// More accounts than are read before the first of them is written, and than may have notes, reserve and pay: all of them or none.
func TestAccountsByTheHundredThousand(t *testing.T) {
	const accounts = engine.ManyNotes + 100
	l, err := file.OpenMemory("")
	check(t, err)
	defer l.Close()
	items := func(eps budget.Amount) []ledger.Item {
		all := make([]ledger.Item, accounts)
		for i := range all { // in no order
			all[i] = ledger.Item{Account: fmt.Sprint("account ", i*7919%accounts), Epsilon: eps, Evaluations: 1}
		}
		return all
	}
	const last = "account 99999" // in the order of names
	check(t, l.SetLimit("*", "m", 10, 0))
	check(t, l.SetLimit(last, "m", 2, 0))
	for _, err := range []error{l.Reserve("m", items(3)), l.Charge("f", "m", items(3))} {
		if r, ok := errors.AsType[*ledger.RefusalError](err); !ok || r.Account != last {
			t.Fatalf("got %v", err)
		}
	}
	if n, err := l.Stored(10); err != nil || n != 2 {
		t.Fatalf("%d balances and limits after a refusal, %v", n, err)
	}
	check(t, l.SetLimit(last, "m", 10, 0))
	check(t, l.Reserve("m", items(4)))
	check(t, l.Charge("f", "m", items(3)))
	s := l.NewStatement()
	for range 2 { // in the end beyond the amount set aside
		check(t, s.Charge("g", "m", items(1)))
	}
	check(t, s.End())
	n := 0
	for b, err := range ledger.AllBalances(l) {
		check(t, err)
		if b.Account == ledger.Everyone {
			continue
		}
		if n++; b.Spent != 5 || b.Reserved != 0 {
			t.Fatalf("%+v", b)
		}
	}
	v, err := l.Verify("", nil, nil)
	check(t, err)
	if n != accounts || v.Balances != accounts {
		t.Errorf("%d accounts, %+v", n, v)
	}
}
