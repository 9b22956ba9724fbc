package ledgertest

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

var statementTests = tests{
	"ReservationsDouble":             reservationsDouble,
	"ReservationsShrinkNearTheLimit": reservationsShrinkNearTheLimit,
	"ReservationsAreBounded":         reservationsAreBounded,
	"SingleChargeIsOneEntry":         singleChargeIsOneEntry,
	"ChargesOfAStatement":            chargesOfAStatement,
	"HoldsAreSeparate":               holdsAreSeparate,
	"PoolAndLimitTogether":           poolAndLimitTogether,
	"GroupsReserveAhead":             groupsReserveAhead,
	"GroupsUseUpTheLimit":            groupsUseUpTheLimit,
	"GroupsAreOneCharge":             groupsAreOneCharge,
	"GroupsAreRefusedWhole":          groupsAreRefusedWhole,
	"Ended":                          ended,
	"CrashWastes":                    crashWastes,
	"ReservesForItsTime":             reservesForItsTime,
	"ReservesWhatIsMissing":          reservesWhatIsMissing,
	"ReservationRefusesNobody":       reservationRefusesNobody,
	"ReservationBeforeALowerLimit":   reservationBeforeALowerLimit,
	"HoldsReturnToTheLimit":          holdsReturnToTheLimit,
	"DemandsOfAUnitAreOne":           demandsOfAUnitAreOne,
}

// The reservation ahead of a statement doubles with its use.
func reservationsDouble(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("*", "m", one, 0))
	if got := fmt.Sprint(reservations(t, l, 100)); got != "[1 2 4 8 16 32 64 128]" {
		t.Errorf("got %v", got)
	}
	wantBalance(t, l, "ana", 100, 0)
}

// So the limit can be used up exactly.
func reservationsShrinkNearTheLimit(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("ana", "m", 23, 0))
	if got := fmt.Sprint(reservations(t, l, 23)); got != "[1 2 4 8 15 19 21 22 23]" {
		t.Errorf("got %v", got)
	}
	refused(t, charge(l, "ana", 1))
}

// reservations returns the stored totals that n charges of 1 lead to.
func reservations(t *testing.T, l *testLedger, n int) (totals []int64) {
	stored, ana := watch(t, l), key{"ana", "m"}
	s := l.NewStatement()
	defer s.End()
	p := s.Spender("f", "m")
	for range n {
		check(t, p.Charge([]byte("ana"), 1))
		if total := int64(stored(ana)[ana].total()); len(totals) == 0 || totals[len(totals)-1] != total {
			totals = append(totals, total)
		}
	}
	return totals
}

// No crash wastes more than so many evaluations.
func reservationsAreBounded(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("ana", "m", one, 0))
	s := l.NewStatement()
	p := s.Spender("f", "m")
	const most = 1 << 14 // evaluations that are reserved at a time
	n := 5*most + 7
	for range n {
		check(t, p.Charge([]byte("ana"), 1))
	}
	if r := stored(t, l, "ana"); r.total() != 6*most {
		t.Errorf("stored %v", r)
	}
	check(t, s.End())
	wantBalance(t, l, "ana", budget.Amount(n), 0)
}

// A statement of one row is one transaction with one entry.
func singleChargeIsOneEntry(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("*", "m", one, 0))
	before := head(t, l)
	for range 3 {
		s := l.NewStatement()
		check(t, s.Spender("f", "m").Charge([]byte("ana"), 5))
		check(t, s.End())
	}
	if after := head(t, l); after.ID != before.ID+3 {
		t.Errorf("%d entries of 3 charges", after.ID-before.ID)
	}
	for _, c := range charges(t, l) {
		if c.Epsilon != 5 || c.Evaluations != 1 {
			t.Errorf("charge %+v", c)
		}
	}
	if b := balance(t, l, "ana"); b.Spent != 15 || b.Reserved != 0 || head(t, l).ID != before.ID+3 {
		t.Errorf("%+v, %d entries", b, head(t, l).ID-before.ID)
	}
}

// Each function of a statement is one charge for each account and unit.
func chargesOfAStatement(t *testing.T, e Engine) {
	l := e.fresh(t)
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

// A reservation of one spender is out of reach for others, but the limit is used up all the same.
func holdsAreSeparate(t *testing.T, e Engine) {
	l := e.fresh(t)
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
	// A spender may be refused while others hold unused reservations, but
	// they use them up.
	if granted != 20 {
		t.Errorf("granted %d of 20", granted)
	}
	check(t, s.End())
	check(t, u.End())
}

// Pool and limit together can be used up exactly, and only once.
func poolAndLimitTogether(t *testing.T, e Engine) {
	l := e.fresh(t)
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
	wantBalance(t, l, "ana", 100, 0)
}

// The first group of a statement is charged as it is. The reservation ahead for later ones doubles with the
// charges of an account.
func groupsReserveAhead(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("*", "m", one, 0))
	stored, ana, bob := watch(t, l), key{"ana", "m"}, key{"bob", "m"}
	s := l.NewStatement()
	transactions, last := 0, int64(0)
	for n := int64(1); n <= 500; n++ {
		check(t, s.Charge("f", "m", items(1, "ana")))
		total := int64(stored(ana)[ana].total())
		if n <= 2 && total != n || total < n || total > 2*n {
			t.Errorf("%d charges have reserved %d", n, total)
		}
		if total != last {
			transactions++
		}
		last = total
	}
	if transactions > 14 {
		t.Errorf("%d transactions", transactions)
	}
	check(t, s.Charge("f", "m", items(3, "bob"))) // for the first time
	if r := stored(bob)[bob]; r != (row{3, 0}) {
		t.Errorf("stored %v", r)
	}
	check(t, s.End())
	wantBalance(t, l, "ana", 500, 0)
}

// The functions of a statement that charges groups use a limit up exactly, whatever each of them has reserved
// ahead.
func groupsUseUpTheLimit(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("*", "m", 103, 0))
	check(t, l.Reserve("m", []ledger.Item{{Account: "bob", Epsilon: 20}}))
	s := l.NewStatement()
	for i := range 51 {
		for _, function := range []string{"f", "g"} {
			if err := s.Charge(function, "m", items(1, "ana", "bob")); err != nil {
				t.Fatalf("group %d of %s: %v", i, function, err)
			}
		}
	}
	check(t, s.Charge("f", "m", items(1, "bob", "ana")))
	if r := refused(t, s.Charge("g", "m", items(1, "ana", "bob"))); r.Account != "ana" || r.Left != 0 {
		t.Errorf("got %+v", r)
	}
	check(t, s.End())
	for _, account := range []string{"ana", "bob"} {
		if b := balance(t, l, account); b.Spent != 103 || b.Reserved != 0 {
			t.Errorf("%s has %+v", account, b)
		}
	}
}

// The groups of a function are one charge, whether a pool pays or the limit.
func groupsAreOneCharge(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("*", "m", one, 0))
	check(t, l.Reserve("m", []ledger.Item{{Account: "ana", Epsilon: 10}}))
	s := l.NewStatement()
	for range 7 {
		check(t, s.Charge("f", "m", items(2, "ana")))
		check(t, s.Charge("g", "m", items(1, "bob")))
	}
	check(t, s.End())
	got := charges(t, l)
	if len(got) != 2 {
		t.Fatalf("got %v", got)
	}
	for _, c := range got {
		if c.Evaluations != 14 || c.Epsilon != map[string]budget.Amount{"ana": 14, "bob": 7}[c.Account] {
			t.Errorf("got %+v", c)
		}
	}
}

// A group that is refused charges nobody, and the amount taken for it is there for the next.
func groupsAreRefusedWhole(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("*", "m", 100, 0))
	check(t, l.SetLimit("poor", "m", 5, 0))
	check(t, l.Reserve("m", []ledger.Item{{Account: "bob", Epsilon: 30}}))
	s := l.NewStatement()
	for range 5 {
		check(t, s.Charge("f", "m", items(1, "ana", "bob", "poor")))
	}
	for range 3 {
		if r := refused(t, s.Charge("f", "m", items(1, "ana", "bob", "poor"))); r.Account != "poor" || r.Left != 0 {
			t.Errorf("got %+v", r)
		}
	}
	check(t, s.Charge("f", "m", items(95, "ana", "bob")))
	refused(t, s.Charge("f", "m", items(1, "bob")))
	check(t, s.End())
	for account, spent := range map[string]budget.Amount{"ana": 100, "bob": 100, "poor": 5} {
		if b := balance(t, l, account); b.Spent != spent || b.Reserved != 0 {
			t.Errorf("%s has %+v", account, b)
		}
	}
}

// An ended statement charges nothing. It can be ended again.
func ended(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("*", "m", 100, 0))
	s := l.NewStatement()
	p := s.Spender("f", "m")
	for range 3 {
		check(t, p.Charge([]byte("ana"), 1))
	}
	check(t, s.End())
	check(t, s.End())
	for _, p := range []ledger.Spender{p, s.Spender("g", "m")} {
		saying(t, "charging an ended statement", p.Charge([]byte("ana"), 1), "the statement has ended")
	}
	saying(t, "charging a group of an ended statement", s.Charge("f", "m", items(1, "ana")), "the statement has ended")
}

// A spender is asked by every row of a statement.
func chargeAllocatesNothing(t *testing.T, e Engine) {
	l := e.fresh(t)
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
	least := math.Inf(1)
	for range 5 { // those of other goroutines are not in each
		least = min(least, testing.AllocsPerRun(100, func() {
			for _, a := range accounts {
				if p.Charge(a, 1) != nil {
					t.Fail()
				}
			}
		}))
	}
	if least != 0 {
		t.Errorf("%v allocations", least)
	}
}

// A process that dies wastes the reservations of its statements, and no more: nothing that was
// granted comes back, and the rest can be used up.
func crashWastes(t *testing.T, e Engine) {
	l := e.fresh(t)
	const limit, granted = 10_000, 700
	check(t, l.SetLimit("ana", "m", limit, 0))
	other := l.start(t, "serve", "statement", "m")
	if n := tellToCharge(other, granted); n != granted {
		t.Fatalf("granted %d of %d", n, granted)
	}
	other.kill()
	b := balance(t, l, "ana")
	if total := b.Spent + b.Reserved; total < granted || total > 2*granted {
		t.Errorf("after the crash %+v", b)
	}
	check(t, charge(l, "ana", limit-b.Spent-b.Reserved))
	refused(t, charge(l, "ana", 1))
	if after := balance(t, l, "ana"); after.Reserved != b.Reserved {
		t.Errorf("%+v became %+v", b, after)
	}
}

// demands returns a demand in m, and one in kWh.
func demands(m, kWh []ledger.Item) []ledger.Demand {
	return []ledger.Demand{{Unit: "m", Items: m}, {Unit: "kWh", Items: kWh}}
}

// The demands of a statement are stored before its first charge, and the unused part returns when it ends.
func reservesForItsTime(t *testing.T, e Engine) {
	l := e.fresh(t)
	for _, unit := range []budget.Unit{"m", "kWh"} {
		check(t, l.SetLimit("*", unit, 100, 0))
	}
	stored, keys := watch(t, l), []key{{"ana", "m"}, {"bob", "m"}, {"ana", "kWh"}}
	s := l.NewStatement()
	check(t, s.Reserve(demands(items(40, "ana", "bob"), items(7, "ana"))))
	totals := func() (all []budget.Amount) {
		now := stored(keys...)
		for _, k := range keys {
			all = append(all, now[k].total())
		}
		return all
	}
	reserved := totals()
	if !slices.Equal(reserved, []budget.Amount{40, 40, 7}) {
		t.Errorf("%v are stored", reserved)
	}
	p, q := s.Spender("f", "m"), s.Spender("g", "m")
	for range 10 {
		check(t, p.Charge([]byte("ana"), 1))
		check(t, q.Charge([]byte("ana"), 3))
	}
	check(t, s.Charge("h", "m", items(5, "bob")))
	check(t, s.Charge("h", "m", items(6, "bob")))
	check(t, s.Charge("h", "kWh", items(7, "ana")))
	if now := totals(); !slices.Equal(now, reserved) {
		t.Errorf("%v are stored, and %v after charges that were reserved", reserved, now)
	}
	check(t, s.End())
	wantBalance(t, l, "ana", 40, 0)
	wantBalance(t, l, "bob", 11, 0)
	if b, err := l.Balance("ana", "kWh"); err != nil || b.Spent != 7 || b.Reserved != 0 {
		t.Errorf("%+v, %v", b, err)
	}
	if err := s.Reserve(demands(items(1, "ana"), nil)); err == nil {
		t.Error("a statement that has ended reserves")
	}
	wantBalance(t, l, "ana", 40, 0)
}

// Amounts that were set aside before count, and stay.
func reservesWhatIsMissing(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("*", "m", 100, 0))
	check(t, l.Reserve("m", items(30, "ana", "bob")))
	s := l.NewStatement()
	check(t, s.Reserve(demands(items(50, "ana"), items(20, "ana"))))
	check(t, s.Reserve(demands(items(20, "bob"), nil)))
	wantBalance(t, l, "ana", 0, 50)
	wantBalance(t, l, "bob", 0, 30)
	p := s.Spender("f", "m")
	for range 10 {
		check(t, p.Charge([]byte("ana"), 1))
		check(t, p.Charge([]byte("bob"), 1))
	}
	check(t, s.End())
	wantBalance(t, l, "ana", 10, 20)
	wantBalance(t, l, "bob", 10, 20)
}

// An account that cannot pay its demand, now or as others come first, is charged as if nothing had been reserved. A statement
// with several functions uses up its limit exactly, whatever each of them holds.
func reservationRefusesNobody(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("*", "m", 40, 0))
	check(t, l.SetLimit("zoe", "m", 0, 0))
	s := l.NewStatement()
	check(t, s.Reserve(demands(append(items(40, "ana"), items(41, "bob", "zoe")...), items(1, "ana"))))
	wantBalance(t, l, "ana", 0, 40)
	wantBalance(t, l, "bob", 0, 0)
	p, q := s.Spender("f", "m"), s.Spender("g", "m")
	check(t, p.Charge([]byte("ana"), 1)) // holds more than it needs
	for range 19 {
		check(t, q.Charge([]byte("ana"), 2))
	}
	check(t, p.Charge([]byte("ana"), 1))
	refused(t, q.Charge([]byte("ana"), 1))
	check(t, p.Charge([]byte("bob"), 1))
	check(t, s.Charge("h", "m", items(39, "bob")))
	refused(t, q.Charge([]byte("bob"), 1))
	refused(t, q.Charge([]byte("zoe"), 1))
	check(t, s.End())
	wantBalance(t, l, "ana", 40, 0)
	wantBalance(t, l, "bob", 40, 0)
}

// A limit that is lowered takes back the reservations of a statement.
func reservationBeforeALowerLimit(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("*", "m", 40, 0))
	s := l.NewStatement()
	check(t, s.Reserve(demands(items(30, "ana", "bob"), nil)))
	p := s.Spender("f", "m")
	check(t, p.Charge([]byte("ana"), 1))
	check(t, l.SetLimit("*", "m", 2, 0))
	check(t, p.Charge([]byte("ana"), 1))
	refused(t, p.Charge([]byte("ana"), 1))
	check(t, p.Charge([]byte("bob"), 2))
	refused(t, s.Charge("g", "m", items(1, "bob")))
	check(t, s.End())
	wantBalance(t, l, "ana", 2, 0)
	wantBalance(t, l, "bob", 2, 0)
}

// Amounts held by one function return to the limit, once limits have changed, as soon as another function needs them. They are
// there for every statement.
func holdsReturnToTheLimit(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("*", "m", 110, 0))
	s := l.NewStatement()
	check(t, s.Reserve(demands(items(100, "ana"), nil)))
	p, q := s.Spender("f", "m"), s.Spender("g", "m")
	check(t, p.Charge([]byte("ana"), 5)) // holds more than it needs
	check(t, l.SetLimit("bob", "m", 1, 0))
	for range 3 { // the last by the limit, which has 10 more
		check(t, q.Charge([]byte("ana"), 10))
	}
	check(t, l.Charge("h", "m", items(30, "ana")))
	check(t, s.End())
	wantBalance(t, l, "ana", 65, 0)
}

// Demands of one unit count together.
func demandsOfAUnitAreOne(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("*", "m", 100, 0))
	twice := []ledger.Demand{{Unit: "m", Items: items(60, "ana")}, {Unit: "m", Items: items(60, "ana", "bob")}}
	refused(t, l.ReserveAll(twice))
	wantBalance(t, l, "ana", 0, 0)
	s := l.NewStatement()
	check(t, s.Reserve(twice))
	wantBalance(t, l, "ana", 0, 0)
	wantBalance(t, l, "bob", 0, 60)
	check(t, s.End())
}
