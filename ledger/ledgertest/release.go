package ledgertest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

var releaseTests = tests{
	"Released":                 released,
	"ReleaseRefused":           releaseRefused,
	"CannotPayUnderFirstLimit": cannotPayUnderFirstLimit,
	"CannotPayInWindow":        cannotPayInWindow,
	"FindRelease":              findRelease,
	"CannotPayUnread":          cannotPayUnread,
	"ReleaseTakenOver":         releaseTakenOver,
	"ReleasePlan":              releasePlan,
	"ReleaseItems":             releaseItems,
	"ReleaseOfMany":            releaseOfMany,
}

// A release is charged from where it was left, by whatever process, and once sealed it
// does not change.
func released(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("*", "m", one, 0))
	r := releaseOf(t, l, "1", 0)
	check(t, r.Charge("m", items(tenth, "ana", "ben")))
	check(t, r.Charge("m", items(2*tenth, "cy")))
	check(t, r.Charge("m", nil))
	if r.Charged() != 3 || r.Published() != nil {
		t.Errorf("%d accounts are charged, published: %v", r.Charged(), r.Published())
	}
	check(t, l.Close())

	l = e.open(t, l.where)
	r = releaseOf(t, l, "1", 3)
	other := releaseOf(t, l, "2", 0)
	check(t, r.Charge("m", items(tenth, "dan")))
	check(t, other.Charge("m", items(tenth, "ben")))
	check(t, r.Seal("hash"))
	if err := r.Charge("m", items(tenth, "eve")); !isA[*ledger.ReleaseError](err) {
		t.Errorf("charged after the seal: %v", err)
	}
	if err := r.Seal("other"); !isA[*ledger.ReleaseError](err) {
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
	check(t, verify(l, "", nil))
}

// cannotPay returns those of the items' accounts that cannot pay, with the limit that each
// would need.
func cannotPay(t testing.TB, l ledger.Ledger, unit budget.Unit, first *budget.Amount, items []ledger.Item) (all []string) {
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
func releaseRefused(t *testing.T, e Engine) {
	l := e.fresh(t)
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
func cannotPayUnderFirstLimit(t *testing.T, e Engine) {
	l := e.fresh(t)
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

// In a window only its own spending counts.
func cannotPayInWindow(t *testing.T, e Engine) {
	l, clock := e.timed(t)
	check(t, l.SetLimit("*", "m", 2*tenth, 3600))
	check(t, l.Charge("f", "m", items(tenth, "ana")))
	wantCannotPay(t, cannotPay(t, l, "m", nil, items(2*tenth, "ana")), "ana 0.3 true")
	clock(2 * time.Hour)
	wantCannotPay(t, cannotPay(t, l, "m", nil, items(2*tenth, "ana")))
	wantCannotPay(t, cannotPay(t, l, "m", nil, items(3*tenth, "ana")), "ana 0.3 true")
}

// Looking for a release stores nothing, whether it has begun or not.
func findRelease(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("*", "m", one, 0))
	find := func(p ledger.ReleasePlan) (ledger.Release, error) { return l.FindRelease("1", p) }
	for range 2 {
		r, err := find(plan)
		check(t, err)
		if all, err := l.AllReleases(); r.Charged() != 0 || r.Published() != nil || all != nil || err != nil {
			t.Errorf("%+v, all %v, %v", r, all, err)
		}
	}
	changed := ledger.ReleasePlan{Digest: "d", Settings: "t", Output: "/o"}
	_, err := find(changed) // nothing has kept the first plan
	check(t, err)
	r := releaseOf(t, l, "1", 0)
	if _, err := find(changed); !isA[*ledger.ReleaseError](err) {
		t.Errorf("got %v", err)
	}
	check(t, r.Charge("m", items(tenth, "ana", "ben")))
	check(t, r.Seal("hash"))
	found, err := find(plan)
	check(t, err)
	if found.Charged() != 2 || found.Published() == nil {
		t.Errorf("found %+v", found)
	}
	releaseOf(t, l, "0", 0)
	all, err := l.AllReleases()
	check(t, err)
	if len(all) != 2 || all[0].ID != "0" || all[0].Plan != plan || all[0].Published != nil || all[1].ID != "1" || all[1].Published.SHA256 != "hash" {
		t.Errorf("all releases are %+v", all)
	}
}

// An error of the items is handed on as it is.
func cannotPayUnread(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("*", "m", one, 0))
	unread := errors.New("unread")
	err := l.CannotPay("m", func(yield func(ledger.Item, error) bool) { yield(ledger.Item{}, unread) }, nil, nil)
	if err != unread {
		t.Errorf("got %v", err)
	}
}

// Of two that go on with a release, the one that comes late is stopped, and others that
// wait with it are not.
func releaseTakenOver(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("*", "m", one, 0))
	a, b := releaseOf(t, l, "1", 0), releaseOf(t, l, "1", 0)
	check(t, a.Charge("m", items(tenth, "ana")))
	for _, err := range []error{b.Charge("m", items(tenth, "ana")), b.Seal("hash")} {
		if !isA[*ledger.ReleaseError](err) || !strings.Contains(err.Error(), "release '1' was continued by another process") {
			t.Errorf("got %v", err)
		}
	}
	if got := balance(t, l, "ana").Spent; got != tenth {
		t.Errorf("spent %v", got)
	}
}

// A release goes on with the plan that it began with.
func releasePlan(t *testing.T, e Engine) {
	l := e.fresh(t)
	releaseOf(t, l, "it's", 0)
	for want, p := range map[string]ledger.ReleasePlan{
		"release 'it''s' has another input": {Digest: "other", Settings: "s", Output: "/o"},
		"has other settings (s, not t)":     {Digest: "d", Settings: "t", Output: "/o"},
		"goes to /o":                        {Digest: "d", Settings: "s", Output: "/p"},
	} {
		if _, err := l.OpenRelease("it's", p); !isA[*ledger.ReleaseError](err) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, err := l.OpenRelease("", plan); err == nil {
		t.Error("a release without an id")
	}
}

// A release charges accounts in ascending order.
func releaseItems(t *testing.T, e Engine) {
	l := e.fresh(t)
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

var plan = ledger.ReleasePlan{Digest: "d", Settings: "s", Output: "/o"}

// releaseOf opens a release and demands how far it is.
func releaseOf(t *testing.T, l ledger.Ledger, id string, charged int64) ledger.Release {
	t.Helper()
	r, err := l.OpenRelease(id, plan)
	check(t, err)
	if r.Charged() != charged {
		t.Errorf("%d accounts are charged, want %d", r.Charged(), charged)
	}
	return r
}

// Many accounts, with all kinds of limits and of earlier charges, in one charge or in several, are
// the same charges and the same balances.
func releaseOfMany(t *testing.T, e Engine) {
	l := e.fresh(t)
	unit := budget.Unit("")
	const rounds = 8
	for round := range rounds {
		random := rand.New(rand.NewPCG(uint64(round), 0))
		before := random.Perm(60)[:10+round*5]
		var all []ledger.Item
		for n := range 60 {
			if random.IntN(4) > 0 {
				all = append(all, ledger.Item{Account: fmt.Sprintf("%03d", n), Epsilon: budget.Amount(1 + n), Evaluations: int64(n)})
			}
		}
		var told []string
		for _, pieces := range []int{1, 5} {
			unit = budget.Unit(fmt.Sprintf("unit %d in %d", round, pieces))
			prepareAccounts(t, l, unit, before)
			r := releaseOf(t, l, string(unit), 0)
			for piece := range slices.Chunk(all, (len(all)+pieces-1)/pieces) {
				check(t, r.Charge(unit, piece))
			}
			if int(r.Charged()) != len(all) {
				t.Errorf("charged %d of %d", r.Charged(), len(all))
			}
			told = append(told, tell(t, l, unit))
		}
		if told[0] != told[1] {
			t.Fatalf("at once   %s\nin pieces %s", told[0], told[1])
		}
	}
}

// prepareAccounts gives some accounts limits, windows and charges.
func prepareAccounts(t *testing.T, l ledger.Ledger, unit budget.Unit, some []int) {
	t.Helper()
	check(t, l.SetLimit("*", unit, one, 0))
	for i, n := range some {
		account := fmt.Sprintf("%03d", n)
		switch i % 3 {
		case 0:
			check(t, l.SetLimit(account, unit, one/2, 0))
		case 1:
			check(t, l.SetLimit(account, unit, one/2, 3600))
		}
		check(t, l.Charge("f", unit, []ledger.Item{{Account: account, Epsilon: 1000, Evaluations: 1}}))
	}
}

// tell tells the balances of a unit, without times.
func tell(t *testing.T, l ledger.Ledger, unit budget.Unit) string {
	t.Helper()
	var told strings.Builder
	for b, err := range ledger.AllBalances(l) {
		check(t, err)
		if b.Unit == unit {
			fmt.Fprintf(&told, "%s: %d of %d, %d in %d s; ", b.Account, int64(b.Spent), int64(b.Limit), int64(b.WindowSpent), b.Window)
		}
	}
	return told.String()
}
