package ledgertest

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/version"
	"github.com/geosql/geosql/ledger"
)

var historyTests = tests{
	"Charges":         listedCharges,
	"LimitChanges":    listedLimits,
	"Balances":        listedBalances,
	"Times":           times,
	"Totals":          totals,
	"Verify":          verified,
	"HeadsOfThePast":  headsOfThePast,
	"Archive":         archived,
	"ArchiveOfLimits": archivedLimits,
	"ArchiveOfWindow": archivedWindow,
	"ArchiveOfOthers": archiveOfAnother,
}

// filled returns a new ledger with the history of [Fill].
func filled(t *testing.T, e Engine) *testLedger {
	t.Helper()
	l := e.fresh(t)
	Fill(t, l)
	return l
}

// Fill gives a ledger a history of every kind of entry.
func Fill(t testing.TB, l ledger.Ledger) {
	t.Helper()
	check(t, l.SetLimit("*", "m", 1000, 0))
	check(t, l.SetLimit("eve", "m", 1000, 3600))
	check(t, l.SetLimit("ana", "kWh", 1000, 0))
	for i := range 6 {
		nextTime()
		check(t, charge(l, "ana", budget.Amount(10+i)))
		check(t, charge(l, "eve", 5))
		check(t, charge(l, "o'neil", 7))
	}
	check(t, l.Reserve("m", items(50, "bob")))
	check(t, charge(l, "bob", 20))
	s := l.NewStatement()
	for range 9 {
		check(t, s.Spender("g", "kWh").Charge([]byte("ana"), 3))
	}
	check(t, s.End())
	check(t, l.SetLimit("eve", "m", 900, 7200))
}

// nextTime waits until it is later than now. The clock of Windows stands still for milliseconds.
func nextTime() {
	for began := time.Now(); !time.Now().After(began); {
		time.Sleep(time.Microsecond)
	}
}

// describe describes charges, without IDs and times.
func describe(all []ledger.Charge) (lines []string) {
	for _, c := range all {
		lines = append(lines, fmt.Sprintf("%s %s %d %s %d", c.Function, c.Account, int64(c.Epsilon), c.Unit, c.Evaluations))
	}
	return lines
}

// Charges are listed in the order of their IDs, one for each run, function, account and unit.
// Reservations and refusals are not among them.
func listedCharges(t *testing.T, e Engine) {
	l := e.fresh(t)
	if got := charges(t, l); got != nil {
		t.Errorf("a new ledger has charges %v", got)
	}
	check(t, l.SetLimit("*", "m", 1000, 0))
	check(t, l.SetLimit("*", "kWh", 1000, 0))
	check(t, l.Charge("a", "m", []ledger.Item{{Account: "zoe", Epsilon: 3, Evaluations: 2}, {Account: "ana", Epsilon: 4, Evaluations: 1}}))
	check(t, l.Reserve("m", items(9, "ana")))
	s, u := l.NewStatement(), l.NewStatement()
	check(t, s.Spender("b", "m").Charge([]byte("ana"), 1)) // from the amount set aside
	check(t, u.Spender("b", "kWh").Charge([]byte("ana"), 2))
	check(t, s.Spender("b", "m").Charge([]byte("ana"), 1))
	check(t, u.Spender("c", "kWh").Charge([]byte("ana"), 3))
	check(t, u.End())
	check(t, s.End())
	refused(t, l.Charge("d", "m", items(1001, "ana")))
	check(t, l.ChargeOnce("e", "kWh", ledger.Item{Account: "bob", Epsilon: 5, Evaluations: 1}))
	got := charges(t, l)
	want := []string{"a zoe 3 m 2", "a ana 4 m 1", "b ana 2 m 2", "b ana 2 kWh 1", "c ana 3 kWh 1", "e bob 5 kWh 1"}
	lines := describe(got)
	slices.Sort(lines)
	slices.Sort(want)
	if !slices.Equal(lines, want) {
		t.Errorf("got  %q\nwant %q", lines, want)
	}
	if !slices.IsSortedFunc(got, func(a, b ledger.Charge) int { return int(a.ID - b.ID) }) {
		t.Errorf("out of order: %+v", got)
	}
	for range l.Charges() { // a loop that ends early
		break
	}
	for c, err := range l.Charges() { // and one that uses the ledger
		check(t, err)
		check(t, charge(l, "in the loop", 1))
		if c.Account == "in the loop" {
			t.Error("a charge made in the loop is in it")
		}
	}
}

// Limits are listed in the order in which they were set, also the ones that do not hold any more.
func listedLimits(t *testing.T, e Engine) {
	l := e.fresh(t)
	if got, err := l.LimitChanges(); len(got) != 0 || err != nil {
		t.Errorf("a new ledger has limits %v, %v", got, err)
	}
	began := time.Now().Add(-time.Second)
	check(t, l.SetLimit("ana", "m", 10, 0))
	check(t, charge(l, "ana", 1))
	check(t, l.SetLimit("*", "kWh", budget.Max, 60))
	check(t, l.SetLimit("ana", "m", 0, ledger.MaxWindow))
	check(t, l.SetFirstLimit("ana", "m", 5)) // there is one
	check(t, l.SetFirstLimit("ben", "m", 5))
	check(t, l.SetLimit("ben", "m", 5, 0)) // again
	got, err := l.LimitChanges()
	check(t, err)
	last := int64(0)
	var lines []string
	for _, c := range got {
		if c.ID <= last || c.Time.Before(began) || c.Time.After(time.Now().Add(time.Second)) {
			t.Errorf("after %d: %+v", last, c)
		}
		last = c.ID
		lines = append(lines, fmt.Sprintf("%s %d %s %d", c.Account, int64(c.Limit), c.Unit, c.Window))
	}
	want := []string{"ana 10 m 0", fmt.Sprintf("* %d kWh 60", int64(budget.Max)), fmt.Sprintf("ana 0 m %d", int64(ledger.MaxWindow)), "ben 5 m 0", "ben 5 m 0"}
	if !slices.Equal(lines, want) {
		t.Errorf("got  %q\nwant %q", lines, want)
	}
	if c := charges(t, l); len(c) != 1 || c[0].ID <= got[0].ID || c[0].ID >= got[1].ID {
		t.Errorf("charges %+v among limits %+v", c, got)
	}
}

// Balances are ordered by account and unit, by bytes, and agree with Balance.
func listedBalances(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("*", "m", 100, 0))
	check(t, l.SetLimit("ärger", "m", 100, 0))
	check(t, l.SetLimit("z", "a unit", 7, 60))
	for _, account := range []string{"b", "B", "a", "ab", "a b", "_"} {
		check(t, charge(l, account, 3))
	}
	check(t, l.Reserve("m", items(5, "only reserved")))
	var lines []string
	for _, b := range Balances(t, l) {
		lines = append(lines, fmt.Sprintf("%s %s %d+%d/%d", b.Unit, b.Account, int64(b.Spent), int64(b.Reserved), int64(b.Limit)))
		alone, err := l.Balance(b.Account, b.Unit)
		if check(t, err); !reflect.DeepEqual(alone, b) {
			t.Errorf("among others %+v, alone %+v", b, alone)
		}
	}
	want := []string{"m * 0+0/100", "m B 3+0/100", "m _ 3+0/100", "m a 3+0/100", "m a b 3+0/100", "m ab 3+0/100", "m b 3+0/100", "m only reserved 0+5/100", "a unit z 0+0/7", "m ärger 0+0/100"}
	if !slices.Equal(lines, want) {
		t.Errorf("got  %q\nwant %q", lines, want)
	}
	if b, err := l.Balance("nobody", "m"); err != nil || b != (ledger.Balance{Account: "nobody", Unit: "m", Limit: 100, Limited: true}) {
		t.Errorf("of nobody: %+v, %v", b, err)
	}
	if b, err := l.Balance("nobody", "no unit"); err != nil || b != (ledger.Balance{Account: "nobody", Unit: "no unit"}) {
		t.Errorf("in no unit: %+v, %v", b, err)
	}
}

// A charge has the time at which it was made, and so has the last charge of a balance.
func times(t *testing.T, e Engine) {
	const skew = time.Minute // of the engine's clock, if it is another machine's
	l := e.fresh(t)
	check(t, l.SetLimit("*", "m", 100, 0))
	began := time.Now()
	var last time.Time
	for range 5 {
		check(t, charge(l, "ana", 1))
	}
	for _, c := range charges(t, l) {
		if c.Time.Before(last) || c.Time.Before(began.Add(-skew)) || c.Time.After(time.Now().Add(skew)) || c.Time.Location() != time.UTC {
			t.Errorf("after %v: %+v", last, c)
		}
		last = c.Time
	}
	if b := balance(t, l, "ana"); !b.LastCharge.Equal(last) {
		t.Errorf("last charged at %v, balance %+v", last, b)
	}
}

// Sums of amounts that no floating-point number holds are exact.
func totals(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("*", "m", budget.Max, 0))
	var want budget.Amount
	for i := range 50 {
		eps := budget.Max/100 + budget.Amount(i*i+1)
		check(t, l.Charge("f", "m", []ledger.Item{{Account: "ana", Epsilon: eps, Evaluations: 1}, {Account: "bob", Epsilon: 1, Evaluations: 1 << 40}}))
		want += eps
	}
	var sum budget.Amount
	evaluations := int64(0)
	for _, c := range charges(t, l) {
		if c.Account == "ana" {
			sum += c.Epsilon
		} else {
			evaluations += c.Evaluations
		}
	}
	b := balance(t, l, "ana")
	if b.Spent != want || sum != want || b.Remaining() != budget.Max-want || evaluations != 50<<40 {
		t.Errorf("spent %d, listed %d, want %d; %d evaluations", int64(b.Spent), int64(sum), int64(want), evaluations)
	}
	check(t, charge(l, "ana", budget.Max-want))
	refused(t, charge(l, "ana", 1))
}

func verified(t *testing.T, e Engine) {
	l := e.fresh(t)
	empty := head(t, l)
	v, err := l.Verify("", &empty, nil)
	check(t, err)
	if !reflect.DeepEqual(v, ledger.Verified{Head: ledger.Genesis(l.ID())}) || v.Head != empty {
		t.Errorf("an empty ledger: %+v", v)
	}
	l = filled(t, e)
	begun := time.Now().Add(-time.Minute)
	v, err = l.Verify("", nil, nil)
	check(t, err)
	noted := head(t, l)
	if !reflect.DeepEqual(v, ledger.Verified{Entries: noted.ID, Balances: 5, Limits: 3, Head: noted, Programs: v.Programs}) {
		t.Errorf("%+v, head %v", v, noted)
	}
	if len(v.Programs) != 1 || v.Programs[0].Build != version.Build() || v.Programs[0].First.Before(begun) || v.Programs[0].Last.Before(v.Programs[0].First) {
		t.Errorf("the ledger was written by %+v", v.Programs)
	}
	if again := head(t, l); again != noted {
		t.Errorf("head %v became %v", noted, again)
	}
	check(t, verify(l, "", &noted))
	check(t, charge(l, "ana", 1))
	after := head(t, l)
	if after.ID != noted.ID+1 || after.Hash == noted.Hash {
		t.Errorf("head %v after %v", after, noted)
	}
	check(t, verify(l, "", &noted))
	check(t, verify(l, "", &after))
}

// A head that the ledger never had is noticed.
func headsOfThePast(t *testing.T, e Engine) {
	l, other := filled(t, e), filled(t, e)
	noted := head(t, l)
	changed := noted
	changed.Hash[7] ^= 1
	later := noted
	later.ID++
	of, first := head(t, other), ledger.Genesis(other.ID())
	for name, h := range map[string]*ledger.Head{"of another ledger": &of, "the first of another": &first, "changed": &changed, "later": &later} {
		if err := verify(l, "", h); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for range 3 {
		check(t, charge(l, "ana", 1))
	}
	if err := verify(l, "", &later); err == nil {
		t.Error("a later head with a hash of its own was accepted")
	}
	check(t, verify(l, "", &noted))
}

// told is the state that a ledger tells and an archive must not change.
func told(t *testing.T, l ledger.Ledger) string {
	t.Helper()
	balances := Balances(t, l)
	sums := map[key]row{}
	for _, c := range charges(t, l) {
		k := key{c.Account, c.Unit}
		sums[k] = row{sums[k].spent + c.Epsilon, sums[k].reserved + budget.Amount(c.Evaluations)}
	}
	return fmt.Sprintf("%+v %v", balances, sums)
}

// Archived entries are still counted, and verify with their archive.
func archived(t *testing.T, e Engine) {
	l := filled(t, e)
	path := filepath.Join(t.TempDir(), "archive")
	middle := charges(t, l)[8].Time
	noted, before := head(t, l), told(t, l)
	moved, err := l.Archive(path, middle)
	check(t, err)
	if moved < 5 || moved >= noted.ID {
		t.Errorf("moved %d of %d entries", moved, noted.ID)
	}
	same := func() {
		t.Helper()
		if now := told(t, l); now != before {
			t.Errorf("was %s\nis  %s", before, now)
		}
		check(t, verify(l, "", nil))
		check(t, verify(l, path, nil))
		check(t, verify(l, path, &noted))
	}
	same()
	check(t, verify(l, "", &noted)) // which was not archived
	moved, err = l.Archive(path, middle)
	check(t, err)
	if moved != 0 {
		t.Errorf("moved %d entries twice", moved)
	}
	moved, err = l.Archive(path, time.Now().Add(time.Hour))
	check(t, err)
	if moved == 0 {
		t.Error("nothing was moved")
	}
	same()
	if err := verify(l, "", &noted); err == nil || !strings.Contains(err.Error(), "archive") {
		t.Errorf("a head of the archive: %v", err)
	}
	v, err := l.Verify(path, nil, nil)
	check(t, err)
	if v.Entries <= noted.ID || v.Balances != 5 || v.Limits != 3 {
		t.Errorf("%+v after %v", v, noted)
	}
	check(t, charge(l, "ana", 1))
	check(t, verify(l, path, &v.Head))
	if e.Alone {
		return // it ends when it is closed
	}
	check(t, l.Close())
	l = e.open(t, l.where)
	check(t, verify(l, path, &v.Head))
	if err := verify(l, filepath.Join(t.TempDir(), "none"), nil); err == nil {
		t.Error("verified without the archive")
	}
}

// A limit that holds stays, one that does not goes.
func archivedLimits(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("ana", "m", 1, 0))
	check(t, l.SetLimit("ana", "m", 2, 0))
	path := filepath.Join(t.TempDir(), "archive")
	_, err := l.Archive(path, time.Now().Add(time.Hour))
	check(t, err)
	changes, err := l.LimitChanges()
	check(t, err)
	if len(changes) != 1 || changes[0].Limit != 2 {
		t.Errorf("left %v", changes)
	}
	check(t, charge(l, "ana", 2))
	refused(t, charge(l, "ana", 1))
	check(t, verify(l, path, nil))
	_, err = l.Archive(path, time.Now().Add(-time.Hour))
	check(t, err)
	check(t, verify(l, path, nil))
}

// An account stays in its window when the entries of the window are archived, and amounts
// reserved in it stay reserved.
func archivedWindow(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("ana", "m", 10, 3600))
	check(t, charge(l, "ana", 7))
	check(t, l.Reserve("m", items(1, "ana")))
	before := balance(t, l, "ana")
	path := filepath.Join(t.TempDir(), "archive")
	_, err := l.Archive(path, time.Now().Add(time.Hour))
	check(t, err)
	if after := balance(t, l, "ana"); after != before {
		t.Errorf("%+v became %+v", before, after)
	}
	if r := refused(t, charge(l, "ana", 4)); r.Left != 3 || !r.Reopens.Equal(before.Reopens) {
		t.Errorf("%+v", r)
	}
	check(t, charge(l, "ana", 3))
	check(t, verify(l, path, nil))
	if err := l.ChargeOnce("f", "m", ledger.Item{Account: "ana", Epsilon: 1, Evaluations: 1}); !isA[*ledger.AlreadyChargedError](err) {
		t.Errorf("got %v", err)
	}
}

// Entries go to the archive of their ledger only, and to the one that has those before them.
func archiveOfAnother(t *testing.T, e Engine) {
	dir := t.TempDir()
	l, other := filled(t, e), filled(t, e)
	_, err := other.Archive(filepath.Join(dir, "other"), time.Now().Add(time.Hour))
	check(t, err)
	_, err = l.Archive(filepath.Join(dir, "first"), charges(t, l)[8].Time)
	check(t, err)
	before := head(t, l)
	for _, name := range []string{"other", "new", filepath.Join("none", "x"), "."} {
		_, err := l.Archive(filepath.Join(dir, name), time.Now().Add(time.Hour))
		if err == nil || strings.Contains(err.Error(), "\n") || head(t, l) != before {
			t.Errorf("%s: %v", name, err)
		}
	}
	check(t, verify(l, filepath.Join(dir, "first"), nil))
	if verify(l, filepath.Join(dir, "other"), nil) == nil {
		t.Error("verified with another's archive")
	}
}
