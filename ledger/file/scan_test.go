package file

import (
	"fmt"
	"slices"
	"testing"

	"github.com/geosql/geosql/budget"
	"pgregory.net/rapid"
)

// misread is an account with another balance when it is read in order, "" if there
// is none.
func misread(t failer, l *Ledger, unit budget.Unit, accounts []string) (wrong string) {
	check(t, l.read(func(db *store) error {
		now := l.clock()
		ordered, err := db.orderedBalances(unit, now)
		if err != nil {
			return err
		}
		defer ordered.Close()
		for _, account := range accounts {
			got, err := ordered.Standing(account)
			if err != nil {
				return err
			}
			want, err := db.standing(account, unit, now)
			if err != nil {
				return err
			}
			if got != want {
				wrong = account
			}
		}
		return nil
	}))
	return wrong
}

// Balances that are read in order equal the ones that are looked up, be they neighbours or far
// apart, and in all units.
func TestOrderedBalances(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, err := OpenMemory("")
		check(t, err)
		defer l.Close()
		l.clock = func() int64 { return 1e15 }
		prepareAccounts(t, l, rapid.SliceOfN(rapid.Uint64(), 0, 100).Draw(t, "before"))
		check(t, l.SetLimit("*", "m", one, rapid.Int64Range(0, 2).Draw(t, "window")))
		var accounts []string
		for _, n := range rapid.SliceOfNDistinct(rapid.IntRange(0, 450), 0, 400, rapid.ID).Draw(t, "accounts") {
			accounts = append(accounts, fmt.Sprintf("%03d", n))
		}
		slices.Sort(accounts)
		for _, unit := range []budget.Unit{"m", "kWh", "s"} {
			if wrong := misread(t, l, unit, accounts); wrong != "" {
				t.Fatalf("the balance of %s in %s is another one", wrong, unit)
			}
		}
	})
}

// Planted: read out of order, balances are missed, which is noticed.
func TestUnorderedBalances(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("*", "m", one, 0))
	check(t, charge(l, "ana", tenth))
	check(t, charge(l, "ben", tenth))
	if misread(t, l, "m", []string{"ana", "ben"}) != "" || misread(t, l, "m", []string{"ben", "ana"}) != "ana" {
		t.Error("a balance that was missed was not noticed")
	}
}
