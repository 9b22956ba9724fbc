package ledgertest

import (
	"fmt"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

var manyTests = tests{
	"Charge":    chargeMany,
	"Release":   releaseMany,
	"Statement": statementOfMany,
}

// many is how many accounts these tests have.
const many = 10_000

// manyItems returns items for many accounts in ascending order.
func manyItems(eps budget.Amount) (items []ledger.Item) {
	for i := range many {
		items = append(items, ledger.Item{Account: fmt.Sprintf("account %06d", i), Epsilon: eps, Evaluations: 1})
	}
	return items
}

// wantMany checks the spent amount of every one of many accounts, except some.
func wantMany(t *testing.T, l ledger.Ledger, spent budget.Amount, but map[string]budget.Amount) {
	t.Helper()
	accounts := 0
	for b, err := range ledger.AllBalances(l) {
		check(t, err)
		if b.Account == ledger.Everyone || b.Unit != "m" {
			continue
		}
		accounts++
		want, other := but[b.Account]
		if !other {
			want = spent
		}
		if b.Spent != want || b.Reserved != 0 {
			t.Fatalf("%+v, want %d", b, int64(want))
		}
	}
	if accounts != many {
		t.Errorf("%d accounts", accounts)
	}
	check(t, verify(l, "", nil))
}

// One charge is about many accounts, in any order, or about none of them.
func chargeMany(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("*", "m", 10, 0))
	items := manyItems(3)
	for i := range items { // not in the order of accounts
		j := i * 7919 % many
		if i < j {
			items[i], items[j] = items[j], items[i]
		}
	}
	check(t, l.SetLimit("account 007777", "m", 2, 0))
	check(t, l.SetLimit("account 000998", "kWh", 2, 0)) // a page ends between its two balances
	if r := refused(t, l.Charge("f", "m", items)); r.Account != "account 007777" || r.Left != 2 {
		t.Errorf("%+v", r)
	}
	if c := charges(t, l); len(c) != 0 {
		t.Errorf("%d charges after a refusal", len(c))
	}
	check(t, l.SetLimit("account 007777", "m", 3, 0))
	check(t, l.Charge("f", "m", items))
	check(t, l.SetLimit("account 007777", "m", 10, 0))
	check(t, l.Charge("f", "m", items))
	wantMany(t, l, 6, nil)
	if c := charges(t, l); len(c) != 2*many {
		t.Errorf("%d charges", len(c))
	}
}

// A release asks who cannot pay, and charges many accounts in order.
func releaseMany(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("*", "m", 10, 0))
	items := manyItems(3)
	but := map[string]budget.Amount{}
	var want []string
	for i := 5; i < many; i += 1000 {
		check(t, l.SetLimit(items[i].Account, "m", 4, 3600))
		check(t, charge(l, items[i].Account, 2))
		but[items[i].Account] = 5
		want = append(want, items[i].Account+" 0.000000000005 true")
	}
	wantCannotPay(t, cannotPay(t, l, "m", nil, items), want...)
	r := releaseOf(t, l, "1", 0)
	if refusal := refused(t, r.Charge("m", items)); refusal.Left != 2 || r.Charged() != 0 {
		t.Errorf("%+v, %d charged", refusal, r.Charged())
	}
	for account := range but {
		check(t, l.SetLimit(account, "m", 5, 3600))
	}
	wantCannotPay(t, cannotPay(t, l, "m", nil, items))
	check(t, r.Charge("m", items[:many/2]))
	r = releaseOf(t, l, "1", many/2)
	check(t, r.Charge("m", items[many/2:]))
	wantMany(t, l, 3, but)
}

// A statement is about many accounts. The amounts set aside pay for some.
func statementOfMany(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("*", "m", 10, 0))
	items := manyItems(4)
	check(t, l.Reserve("m", items))
	s := l.NewStatement()
	p := s.Spender("f", "m")
	for _, item := range items {
		check(t, p.Charge([]byte(item.Account), 1))
	}
	for i := 0; i < many; i += 100 { // beyond the amount set aside
		check(t, p.Charge([]byte(items[i].Account), 9))
		refused(t, p.Charge([]byte(items[i].Account), 1))
	}
	check(t, s.End())
	but := map[string]budget.Amount{}
	for i := 0; i < many; i += 100 {
		but[items[i].Account] = 10
	}
	check(t, l.SetLimit("*", "m", 0, 0)) // takes back the amount set aside
	wantMany(t, l, 1, but)
}
