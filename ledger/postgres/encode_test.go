package postgres

import (
	"fmt"
	"slices"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/pgtest"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

func TestColumnsOfEqualElementsAreShort(t *testing.T) {
	for _, c := range []struct{ whole, short column[int64] }{
		{nil, nil},
		{column[int64]{0}, column[int64]{0}},
		{column[int64]{7, 7, 7}, column[int64]{7}},
		{column[int64]{7, 7, 8}, column[int64]{7, 7, 8}},
		{column[int64]{8, 7, 7}, column[int64]{8, 7, 7}},
	} {
		if short := c.whole.short(); !slices.Equal(short, c.short) {
			t.Errorf("%v is sent as %v", c.whole, short)
		}
		long, _ := encode(c.whole)
		short, _ := encode([]int64(c.short))
		if !slices.Equal(long, short) {
			t.Errorf("%v is sent as % x", c.whole, long)
		}
	}
}

// TestColumnsAreStored charges new accounts and known ones together, in transactions with columns
// equal in all rows or in none. The hashes of the entries cover the intended values, so that Verify
// finds every value that the server has put in another row.
func TestColumnsAreStored(t *testing.T) {
	where := pgtest.Start(t).Database(t)
	l := open(t, where)
	units := []budget.Unit{"a", "b"}
	for i, u := range units {
		check(t, l.SetLimit("*", u, 100*one, int64(i)*3600)) // in all, and in an hour
	}
	spent := map[engine.Key]budget.Amount{}
	var names []string
	for mix := range 1 << 4 {
		amounts, evaluations, both, fewer := mix&8 != 0, mix&2 != 0, mix&1 != 0, mix&4 != 0
		for fresh := range 3 {
			for _, known := range []int{0, 2, 3} {
				accounts := slices.Clone(names[max(0, len(names)-known):])
				for range fresh {
					names = append(names, fmt.Sprint("account", len(names)))
					accounts = append(accounts, names[len(names)-1])
				}
				chosen := units[:1]
				if both {
					chosen = units
				}
				if fewer {
					chosen = chosen[len(chosen)-1:]
				}
				err := l.store.Update(t.Context(), nil, func(tx engine.Transaction) error {
					for i, u := range chosen {
						run := new(engine.Run)
						for k, account := range accounts {
							key := engine.Key{Account: account, Unit: u}
							s, err := tx.Standing(key)
							if err != nil {
								return err
							}
							item := ledger.Item{Account: account, Epsilon: tenth / 10, Evaluations: 1}
							if amounts {
								item.Epsilon += budget.Amount(k + i)
							}
							if evaluations {
								item.Evaluations += int64(k)
							}
							c := engine.ChargeOf(item, run.Origin(tx.Now(), fmt.Sprint("f", i), u))
							if err := engine.Post(tx, c, &s); err != nil {
								return err
							}
							spent[key] += item.Epsilon
						}
					}
					return nil
				})
				check(t, err)
			}
		}
	}
	for k, want := range spent {
		b, err := l.Balance(k.Account, k.Unit)
		check(t, err)
		if b.Spent != want {
			t.Errorf("%v: spent %v of %v", k, b.Spent, want)
		}
	}
	v, err := l.Verify("", nil, nil)
	check(t, err)
	if v.Balances != int64(len(spent)) {
		t.Errorf("%+v, but %d balances", v, len(spent))
	}
}

// Accounts that are known and have all spent the same in their windows go on in them.
func TestEqualWindowsAreStored(t *testing.T) {
	l := open(t, pgtest.Start(t).Database(t))
	check(t, l.SetLimit("*", "m", 100*one, 3600))
	items := []ledger.Item{{Account: "ana", Epsilon: tenth}, {Account: "ben", Epsilon: tenth}, {Account: "eve", Epsilon: tenth}}
	for round := range 3 {
		check(t, l.Charge("f", "m", items))
		for _, item := range items {
			b, err := l.Balance(item.Account, "m")
			check(t, err)
			if want := budget.Amount(round+1) * tenth; b.WindowSpent != want || b.Spent != want {
				t.Errorf("after %d charges %+v", round+1, b)
			}
		}
	}
	_, err := l.Verify("", nil, nil)
	check(t, err)
}
