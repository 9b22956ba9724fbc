package engine_test

import (
	"fmt"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/file"
)

// Accounts that are in different groups of a statement come short at different times. No account has more reserved than it has
// used and one more, so that a crash wastes no more.
func TestGroupsReserveAsMuchAsIsUsed(t *testing.T) {
	const accounts, groups = 20, 600
	l, err := file.OpenMemory("")
	check(t, err)
	defer l.Close()
	check(t, l.SetLimit("*", "m", budget.One, 0))
	s := l.NewStatement()
	used := make([]budget.Amount, accounts)
	for n := range groups {
		var items []ledger.Item
		for i := range accounts {
			if n%(i+2) != 1 {
				items = append(items, ledger.Item{Account: fmt.Sprint(i), Epsilon: 1, Evaluations: 1})
				used[i]++
			}
		}
		check(t, s.Charge("f", "m", items))
		for i := range used {
			b, err := l.Balance(fmt.Sprint(i), "m")
			check(t, err)
			if out := b.Spent + b.Reserved; out < used[i] || out > 2*used[i]+1 {
				t.Fatalf("after %d groups account %d has used %d, and %d is spent or reserved", n+1, i, int64(used[i]), int64(out))
			}
		}
	}
	check(t, s.End())
	for i := range used {
		if b, err := l.Balance(fmt.Sprint(i), "m"); err != nil || b.Spent != used[i] || b.Reserved != 0 {
			t.Errorf("%+v, %v", b, err)
		}
	}
}
