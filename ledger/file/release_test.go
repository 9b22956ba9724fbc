package file

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
	"pgregory.net/rapid"
)

var plan = ledger.ReleasePlan{Digest: "d", Settings: "s", Output: "/o"}

// releaseOf opens a release and demands how far it is.
func releaseOf(t *testing.T, l *Ledger, id string, charged int64) ledger.Release {
	t.Helper()
	r, err := l.OpenRelease(id, plan)
	check(t, err)
	if r.Charged() != charged {
		t.Errorf("%d accounts are charged, want %d", r.Charged(), charged)
	}
	return r
}

func items(eps budget.Amount, accounts ...string) (all []ledger.Item) {
	for _, a := range accounts {
		all = append(all, ledger.Item{Account: a, Epsilon: eps, Evaluations: 2})
	}
	return all
}

// A release is charged from where it was left, by whatever process, and once sealed it
// stays what it is.
func TestRelease(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x-ledger")
	l := open(t, path)
	check(t, l.SetLimit("*", "m", one, 0))
	r := releaseOf(t, l, "1", 0)
	check(t, r.Charge("m", items(tenth, "ana", "ben")))
	check(t, r.Charge("m", items(2*tenth, "cy")))
	check(t, r.Charge("m", nil))
	if r.Charged() != 3 || r.Published() != nil {
		t.Errorf("%d accounts are charged, published: %v", r.Charged(), r.Published())
	}
	check(t, l.Close())

	l = open(t, path)
	r = releaseOf(t, l, "1", 3)
	other := releaseOf(t, l, "2", 0)
	check(t, r.Charge("m", items(tenth, "dan")))
	check(t, other.Charge("m", items(tenth, "ben")))
	check(t, r.Seal("hash"))
	if err := r.Charge("m", items(tenth, "eve")); !engine.Is[*ledger.ReleaseError](err) {
		t.Errorf("charged after the seal: %v", err)
	}
	if err := r.Seal("other"); !engine.Is[*ledger.ReleaseError](err) {
		t.Errorf("sealed twice: %v", err)
	}
	p := releaseOf(t, l, "1", 4).Published()
	if p == nil || p.SHA256 != "hash" || p.Output != "/o" || p.Time.IsZero() {
		t.Errorf("published %+v", p)
	}
	if releaseOf(t, l, "2", 1).Published() != nil {
		t.Error("the other one is published too")
	}
	for account, want := range map[string]budget.Amount{"ana": tenth, "ben": 2 * tenth, "cy": 2 * tenth, "dan": tenth, "eve": 0} {
		if got := balance(t, l, account); got.Spent != want {
			t.Errorf("%s spent %v, want %v", account, got.Spent, want)
		}
	}
	var got []string
	for _, c := range charges(t, l) {
		got = append(got, fmt.Sprintf("%s %s %v %d", c.Function, c.Account, c.Epsilon, c.Evaluations))
	}
	want := []string{"release ana 0.1 2", "release ben 0.1 2", "release cy 0.2 2", "release dan 0.1 2", "release ben 0.1 2"}
	if !slices.Equal(got, want) {
		t.Errorf("charges %q", got)
	}
	_, err := l.Verify("", nil)
	check(t, err)
}

// cannotPay returns those of the items' accounts that cannot pay, with the limit that each
// would need.
func cannotPay(t testing.TB, l *Ledger, unit budget.Unit, first *budget.Amount, items []ledger.Item) (all []string) {
	t.Helper()
	check(t, l.CannotPay(unit, func(yield func(ledger.Item, error) bool) {
		for _, item := range items {
			if !yield(item, nil) {
				return
			}
		}
	}, first, func(item ledger.Item, s ledger.Standing) {
		refusal := s.Refuse(item.Epsilon, 0)
		if refusal == nil || refusal.Account != item.Account || refusal.Asked != item.Epsilon {
			t.Errorf("%+v is not refused: %v", item, refusal)
		}
		limit, ok := s.Needed(item.Epsilon)
		all = append(all, fmt.Sprint(item.Account, " ", limit, " ", ok))
	}))
	return all
}

func wantCannotPay(t testing.TB, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("cannot pay: %q, want %q", got, want)
	}
}

// All items are charged, and noted, or none.
func TestReleaseRefused(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("*", "m", tenth, 0))
	check(t, l.SetLimit("cy", "m", tenth-1, 0))
	r := releaseOf(t, l, "1", 0)
	refusal := refused(t, r.Charge("m", items(tenth, "ana", "ben", "cy", "dan")))
	if refusal.Account != "cy" || refusal.Left != tenth-1 {
		t.Errorf("refused %+v", refusal)
	}
	wantCannotPay(t, cannotPay(t, l, "m", nil, items(tenth, "ana", "ben", "cy")), "cy 0.1 true")
	wantCannotPay(t, cannotPay(t, l, "kWh", nil, items(tenth, "ana")), "ana 0.1 true")
	wantCannotPay(t, cannotPay(t, l, "m", nil, items(tenth, "ana", "ben")))
	if r.Charged() != 0 || len(charges(t, l)) != 0 {
		t.Error("something was charged")
	}
	releaseOf(t, l, "1", 0)
	check(t, l.SetLimit("cy", "m", tenth, 0))
	check(t, r.Charge("m", items(tenth, "ana", "ben", "cy", "dan")))
	wantCannotPay(t, cannotPay(t, l, "m", nil, items(1, "ana")), fmt.Sprint("ana ", tenth+1, " true"))
	wantCannotPay(t, cannotPay(t, l, "m", nil, items(budget.Max, "ana")), "ana 0 false")
}

// A first limit is assumed for everybody if there is none, and nothing of it stays.
func TestCannotPayUnderFirstLimit(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("ben", "m", tenth, 0))
	limit := 2 * tenth
	wantCannotPay(t, cannotPay(t, l, "m", nil, items(2*tenth, "ana", "ben", "cy")), "ana 0.2 true", "ben 0.2 true", "cy 0.2 true")
	wantCannotPay(t, cannotPay(t, l, "m", &limit, items(2*tenth, "ana", "ben", "cy")), "ben 0.2 true")
	if b, err := l.Balance("*", "m"); err != nil || b.Limited {
		t.Errorf("%+v, %v", b, err)
	}
	check(t, l.SetLimit("*", "m", tenth, 0))
	wantCannotPay(t, cannotPay(t, l, "m", &limit, items(2*tenth, "ana")), "ana 0.2 true")
}

// In a window counts what was spent in it.
func TestCannotPayInWindow(t *testing.T) {
	l := newFile(t)
	now := int64(1e15)
	l.clock = func() int64 { return now }
	check(t, l.SetLimit("*", "m", 2*tenth, 3600))
	check(t, l.Charge("f", "m", items(tenth, "ana")))
	wantCannotPay(t, cannotPay(t, l, "m", nil, items(2*tenth, "ana")), "ana 0.3 true")
	now += 2 * 3600e6
	wantCannotPay(t, cannotPay(t, l, "m", nil, items(2*tenth, "ana")))
	wantCannotPay(t, cannotPay(t, l, "m", nil, items(3*tenth, "ana")), "ana 0.3 true")
}

// Looking for a release stores nothing, whether it has begun or not.
func TestFindRelease(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("*", "m", one, 0))
	find := func(p ledger.ReleasePlan) (ledger.Release, error) { return l.FindRelease("1", p) }
	for range 2 {
		r, err := find(plan)
		check(t, err)
		if other, err := r.Other("hash"); r.Charged() != 0 || r.Published() != nil || other != "" || err != nil {
			t.Errorf("%+v, other %q, %v", r, other, err)
		}
	}
	changed := ledger.ReleasePlan{Digest: "d", Settings: "t", Output: "/o"}
	_, err := find(changed) // nothing has kept the first plan
	check(t, err)
	r := releaseOf(t, l, "1", 0)
	if _, err := find(changed); !engine.Is[*ledger.ReleaseError](err) {
		t.Errorf("got %v", err)
	}
	check(t, r.Charge("m", items(tenth, "ana", "ben")))
	check(t, r.Seal("hash"))
	found, err := find(plan)
	check(t, err)
	if found.Charged() != 2 || found.Published() == nil {
		t.Errorf("found %+v", found)
	}
	elsewhere, err := l.FindRelease("2", plan)
	check(t, err)
	if id, err := elsewhere.Other("hash"); id != "1" || err != nil {
		t.Errorf("other %q, %v", id, err)
	}
}

// An error of the items is handed on as it is.
func TestCannotPayUnread(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("*", "m", one, 0))
	unread := errors.New("unread")
	err := l.CannotPay("m", func(yield func(ledger.Item, error) bool) { yield(ledger.Item{}, unread) }, nil, nil)
	if err != unread {
		t.Errorf("got %v", err)
	}
}

// Many accounts, with all kinds of limits and of earlier charges, in one charge or one for
// each, are the same charges and the same balances.
func TestReleaseOfMany(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prepare := rapid.SliceOfN(rapid.Uint64(), 1, 40).Draw(t, "before")
		accounts := rapid.SliceOfNDistinct(rapid.IntRange(0, 400), 0, 300, rapid.ID).Draw(t, "accounts")
		slices.Sort(accounts)
		var all []ledger.Item
		for _, n := range accounts {
			all = append(all, ledger.Item{Account: fmt.Sprintf("%03d", n), Epsilon: budget.Amount(1 + n), Evaluations: int64(n)})
		}
		var told []string
		for _, split := range []bool{false, true} {
			l, err := OpenMemory("")
			check(t, err)
			l.clock = func() int64 { return 1e15 }
			prepareAccounts(t, l, prepare)
			r, err := l.OpenRelease("1", plan)
			check(t, err)
			if !split {
				check(t, r.Charge("m", all))
			}
			for i := range all {
				if split {
					check(t, r.Charge("m", all[i:i+1]))
				}
			}
			balances, err := l.Balances()
			check(t, err)
			told = append(told, fmt.Sprint(r.Charged(), balances))
			v, err := l.Verify("", nil)
			check(t, err)
			if int(r.Charged()) != len(all) || v.Entries < int64(len(all)) {
				t.Fatalf("charged %d, %d entries", r.Charged(), v.Entries)
			}
			check(t, l.Close())
		}
		if told[0] != told[1] {
			t.Fatalf("at once  %s\none by one %s", told[0], told[1])
		}
	})
}

// prepareAccounts gives some accounts limits, windows and charges of this and other units.
func prepareAccounts(t *rapid.T, l *Ledger, random []uint64) {
	check(t, l.SetLimit("*", "m", one, 0))
	check(t, l.SetLimit("*", "kWh", one, 0))
	for _, x := range random {
		account := fmt.Sprintf("%03d", x>>8%401)
		unit := budget.Unit([]string{"m", "kWh"}[x%2])
		switch x >> 1 % 3 {
		case 0:
			check(t, l.SetLimit(account, unit, one/2, 0))
		case 1:
			check(t, l.SetLimit(account, unit, one/2, 3600))
		}
		check(t, l.Charge("f", unit, []ledger.Item{{Account: account, Epsilon: 1000, Evaluations: 1}}))
	}
}

// Of two that go on with a release, the one that comes late is stopped, and others that
// wait with it are not.
func TestReleaseTakenOver(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("*", "m", one, 0))
	a, b := releaseOf(t, l, "1", 0), releaseOf(t, l, "1", 0)
	check(t, a.Charge("m", items(tenth, "ana")))
	for _, err := range []error{b.Charge("m", items(tenth, "ana")), b.Seal("hash")} {
		if !engine.Is[*ledger.ReleaseError](err) || !strings.Contains(err.Error(), "release '1' was continued by another process") {
			t.Errorf("got %v", err)
		}
	}
	if got := balance(t, l, "ana").Spent; got != tenth {
		t.Errorf("spent %v", got)
	}
}

func TestReleasePlan(t *testing.T) {
	l := newFile(t)
	releaseOf(t, l, "it's", 0)
	for want, p := range map[string]ledger.ReleasePlan{
		"release 'it''s' has another input": {Digest: "other", Settings: "s", Output: "/o"},
		"has other settings (s, not t)":     {Digest: "d", Settings: "t", Output: "/o"},
		"goes to /o":                        {Digest: "d", Settings: "s", Output: "/p"},
	} {
		if _, err := l.OpenRelease("it's", p); !engine.Is[*ledger.ReleaseError](err) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, err := l.OpenRelease("", plan); err == nil {
		t.Error("a release without an id")
	}
}

func TestReleaseItems(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("*", "m", one, 0))
	r := releaseOf(t, l, "1", 0)
	for name, wrong := range map[string][]ledger.Item{
		"order":    items(tenth, "ben", "ana"),
		"twice":    items(tenth, "ana", "ana"),
		"everyone": items(tenth, "*"),
		"nothing":  items(0, "ana"),
	} {
		if err := r.Charge("m", wrong); err == nil {
			t.Errorf("%s: charged", name)
		}
	}
	if r.Charged() != 0 || len(charges(t, l)) != 0 {
		t.Error("something was charged")
	}
}

// A ledger without the table, as an earlier program has written it, gets it when it is
// needed, and that program can go on using the file.
func TestReleaseInEarlierFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x-ledger")
	l := open(t, path)
	check(t, l.SetLimit("*", "m", one, 0))
	check(t, charge(l, "ana", tenth))
	check(t, releaseOf(t, l, "1", 0).Charge("m", items(tenth, "ana")))
	check(t, charge(l, "ana", tenth))
	if b := balance(t, l, "ana"); b.Spent != 3*tenth {
		t.Errorf("spent %v", b.Spent)
	}
	if _, ok := onDisk(t, path)[key{"ana", "m"}]; !ok {
		t.Error("no balance on disk")
	}
}
