package ledgertest

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

var limitTests = tests{
	"Model":                      chargesModel,
	"TenTenthsExhaustOne":        tenTenthsExhaustOne,
	"UsableAfterRefusal":         usableAfterRefusal,
	"EverybodyHasALimitOfHisOwn": everybodyHasALimitOfHisOwn,
	"AllOrNone":                  allOrNone,
	"AllOrNoneWithAPool":         allOrNoneWithAPool,
	"UnitsDoNotMix":              unitsDoNotMix,
	"BadCharges":                 badCharges,
	"LargestAmounts":             largestAmounts,
	"LimitIsReplaced":            limitIsReplaced,
	"FirstLimit":                 firstLimit,
	"ChargeOnce":                 chargeOnce,
}

func tenTenthsExhaustOne(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("ana", "m", one, 0))
	for range 10 {
		check(t, charge(l, "ana", tenth))
	}
	r := refused(t, charge(l, "ana", tenth))
	if r.Left != 0 || r.Limit != one || r.Asked != tenth || !r.Limited {
		t.Errorf("got %+v", r)
	}
	if b := balance(t, l, "ana"); b.Spent != one || b.Reserved != 0 || b.Remaining() != 0 || b.LastCharge.IsZero() {
		t.Errorf("got %+v", b)
	}
	if n := len(charges(t, l)); n != 10 {
		t.Errorf("%d charges", n)
	}
}

func usableAfterRefusal(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("ana", "m", one, 0))
	refused(t, charge(l, "ana", one+1))
	check(t, charge(l, "ana", one-1))
	refused(t, charge(l, "ana", 2))
	check(t, charge(l, "ana", 1))
	refused(t, charge(l, "ana", 1))
}

func everybodyHasALimitOfHisOwn(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("*", "m", one, 0))
	check(t, l.SetLimit("bob", "m", 2*one, 0))
	check(t, l.SetLimit("eve", "m", 0, 0))
	check(t, charge(l, "ana", one))
	check(t, charge(l, "tom", one))
	check(t, charge(l, "bob", 2*one))
	for _, account := range []string{"ana", "tom", "bob", "eve"} {
		refused(t, charge(l, account, 1))
	}
	if err := charge(l, "*", 1); err != ledger.CheckCharge("*", "m", 1) {
		t.Errorf("charging '*': %v", err)
	}
	if b := balance(t, l, "*"); b.Limit != one || !b.Limited {
		t.Errorf("balance of '*': %+v", b)
	}
	var names string
	for _, b := range Balances(t, l) {
		names += b.Account + " "
		if one, err := l.AccountBalances(b.Account); err != nil || len(one) != 1 || one[0] != b {
			t.Errorf("balances of %s: %+v, %v, want %+v", b.Account, one, err, b)
		}
	}
	if one, err := l.AccountBalances("nobody"); err != nil || len(one) != 0 {
		t.Errorf("balances of an account that is not known: %+v, %v", one, err)
	}
	if names != "* ana bob eve tom " {
		t.Errorf("balances of %s", names)
	}
	for most, want := range map[int]int{2: 2, 100: 6} { // three limits and three balances
		if n, err := l.Stored(most); n != want || err != nil {
			t.Errorf("%d are stored, %v, want %d", n, err, want)
		}
	}
}

func allOrNone(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("*", "m", one, 0))
	check(t, l.SetLimit("poor", "m", 1, 0))
	r := refused(t, l.Charge("f", "m", []ledger.Item{{Account: "ana", Epsilon: tenth, Evaluations: 1}, {Account: "poor", Epsilon: 2, Evaluations: 1}, {Account: "bob", Epsilon: tenth, Evaluations: 1}}))
	if r.Account != "poor" {
		t.Errorf("refused %q", r.Account)
	}
	// The same account twice: the second item meets the rest of the first.
	refused(t, l.Charge("f", "m", []ledger.Item{{Account: "ana", Epsilon: one, Evaluations: 1}, {Account: "ana", Epsilon: 1, Evaluations: 1}}))
	for _, account := range []string{"ana", "bob", "poor"} {
		if r := stored(t, l, account); r != (row{}) {
			t.Errorf("refused charges left %v of %s", r, account)
		}
	}
	if all := Balances(t, l); len(all) != 2 {
		t.Errorf("refused charges left %v", all)
	}
	check(t, l.Charge("f", "m", []ledger.Item{{Account: "ana", Epsilon: one - 1, Evaluations: 3}, {Account: "poor", Epsilon: 1, Evaluations: 1}, {Account: "ana", Epsilon: 1, Evaluations: 1}}))
	got := charges(t, l)
	if len(got) != 2 || got[0].Account != "ana" || got[0].Epsilon != one || got[0].Evaluations != 4 || got[1].Account != "poor" {
		t.Errorf("charges %+v", got)
	}
}

func allOrNoneWithAPool(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("*", "m", 10, 0))
	check(t, l.Reserve("m", []ledger.Item{{Account: "ana", Epsilon: 8}}))
	refused(t, l.Charge("f", "m", []ledger.Item{{Account: "ana", Epsilon: 9, Evaluations: 1}, {Account: "bob", Epsilon: 11, Evaluations: 1}}))
	check(t, charge(l, "ana", 6))                                                                                                            // from the pool
	check(t, l.Charge("f", "m", []ledger.Item{{Account: "ana", Epsilon: 3, Evaluations: 1}, {Account: "bob", Epsilon: 10, Evaluations: 1}})) // 2 from it
	check(t, charge(l, "ana", 1))                                                                                                            // the limit's last
	refused(t, charge(l, "ana", 1))
	wantBalance(t, l, "ana", 10, 0)
}

func unitsDoNotMix(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("ana", "kwh", one, 0))
	check(t, l.SetLimit("*", "m", one, 0))
	r := refused(t, l.Charge("f", "kWh", []ledger.Item{{Account: "ana", Epsilon: 1, Evaluations: 1}}))
	if r.Limited || fmt.Sprint(r.OtherUnits) != "[kwh m]" {
		t.Errorf("got %+v", r)
	}
}

func badCharges(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("*", "m", budget.Max, 0))
	s := l.NewStatement()
	defer s.End()
	p := s.Spender("f", "m")
	for range 5 {
		check(t, p.Charge([]byte("ana"), 1)) // leaves a hold with something in it
	}
	for _, eps := range []budget.Amount{0, -1, budget.Max + 1, math.MaxInt64, math.MinInt64} {
		if charge(l, "ana", eps) == nil || p.Charge([]byte("ana"), eps) == nil {
			t.Errorf("charged %d", eps)
		}
		if l.Reserve("m", []ledger.Item{{Account: "ana", Epsilon: eps}}) == nil {
			t.Errorf("reserved %d", eps)
		}
		if eps != 0 && l.SetLimit("ana", "m", eps, 0) == nil {
			t.Errorf("limit %d", eps)
		}
	}
	if l.Charge("f", "", []ledger.Item{{Account: "ana", Epsilon: 1, Evaluations: 1}}) == nil || l.SetLimit("ana", "", 1, 0) == nil {
		t.Error("empty unit")
	}
	check(t, l.Charge("f", "m", nil))
}

// Amounts near the largest must not overflow anywhere.
func largestAmounts(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("*", "m", budget.Max, 0))
	check(t, charge(l, "ana", budget.Max))
	refused(t, charge(l, "ana", budget.Max))
	check(t, l.Reserve("m", []ledger.Item{{Account: "bob", Epsilon: budget.Max}}))
	s := l.NewStatement()
	p := s.Spender("f", "m")
	check(t, p.Charge([]byte("bob"), budget.Max/2))
	check(t, p.Charge([]byte("bob"), budget.Max/2))
	refused(t, p.Charge([]byte("bob"), 1))
	check(t, p.Charge([]byte("tom"), budget.Max-1))
	check(t, p.Charge([]byte("tom"), 1))
	refused(t, p.Charge([]byte("tom"), budget.Max))
	check(t, s.End())
}

func limitIsReplaced(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("ana", "m", 10, 0))
	check(t, charge(l, "ana", 10))
	check(t, l.SetLimit("ana", "m", 4, 0))
	if b := balance(t, l, "ana"); b.Remaining() != 0 || b.Limit != 4 {
		t.Errorf("got %+v", b)
	}
	refused(t, charge(l, "ana", 1))
	check(t, l.SetLimit("ana", "m", 12, 0))
	check(t, charge(l, "ana", 2))
	refused(t, charge(l, "ana", 1))
}

// A first limit stays when others ask for another: one's own as well as that of everybody.
func firstLimit(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetFirstLimit("ana", "m", 10))
	check(t, l.SetFirstLimit("ana", "m", 20))
	check(t, l.SetLimit("*", "m", 5, 0))
	check(t, l.SetFirstLimit("ben", "m", 20))
	check(t, l.SetFirstLimit("ben", "kWh", 7))
	for _, c := range []struct {
		account string
		unit    budget.Unit
		want    budget.Amount
	}{{"ana", "m", 10}, {"ben", "m", 5}, {"ben", "kWh", 7}} {
		if b, err := l.Balance(c.account, c.unit); err != nil || b.Limit != c.want {
			t.Errorf("%s has %v/%s, want %v (%v)", c.account, b.Limit, c.unit, c.want, err)
		}
	}
	if err := l.SetFirstLimit("ben", "m", -1); err == nil {
		t.Error("a limit below 0")
	}
}

// A unit of releases that do not add up is charged once, whatever the limit, and of
// many that ask at a time one is charged.
func chargeOnce(t *testing.T, e Engine) {
	l := e.fresh(t)
	const unit = "cip:day"
	once := func(account string, epsilon budget.Amount) error {
		return l.ChargeOnce("f", unit, ledger.Item{Account: account, Epsilon: epsilon, Evaluations: 1})
	}
	if r := refused(t, once("ana", tenth)); r.Limited {
		t.Errorf("without a limit: %+v", r)
	}
	check(t, l.SetLimit("*", unit, one, 60))
	if r := refused(t, once("ana", 2*one)); r.Left != one {
		t.Errorf("beyond the limit: %+v", r)
	}
	check(t, l.Reserve(unit, []ledger.Item{{Account: "ana", Epsilon: tenth}}))
	errs := make(chan error)
	const asking = 20
	for range asking {
		go func() { errs <- once("ana", tenth) }()
	}
	again := 0
	for range asking {
		err := <-errs
		a, ok := errors.AsType[*ledger.AlreadyChargedError](err)
		if ok && a.Account == "ana" && a.Unit == unit && a.Asked == tenth {
			again++
		} else {
			check(t, err)
		}
	}
	if again != asking-1 {
		t.Errorf("%d of %d refused", again, asking)
	}
	if l.engine.SetClock != nil { // in another window
		l.engine.SetClock(l.Ledger, time.Now().Add(time.Hour))
		if err := once("ana", tenth); !isA[*ledger.AlreadyChargedError](err) {
			t.Errorf("in another window: %v", err)
		}
	}
	check(t, once("bo", one))
	b, err := l.Balance("ana", unit)
	check(t, err)
	if b.Spent != tenth || len(charges(t, l)) != 2 {
		t.Errorf("%+v, %d charges", b, len(charges(t, l)))
	}
}
