package ledger

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/budget"
)

var plan = ReleasePlan{Digest: "d", Settings: "s", Output: "/o"}

// releaseOf opens a release and demands how far it is.
func releaseOf(t *testing.T, l *Ledger, id string, charged int64) *Release {
	t.Helper()
	r, err := l.OpenRelease(id, plan)
	check(t, err)
	if r.Charged() != charged {
		t.Errorf("%d rows are charged, want %d", r.Charged(), charged)
	}
	return r
}

func items(eps budget.Amount, accounts ...string) (all []Item) {
	for _, a := range accounts {
		all = append(all, Item{a, eps, 2})
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
	check(t, r.Charge(10, "m", items(tenth, "ana", "ben")))
	check(t, r.Charge(20, "m", items(tenth, "ana")))
	check(t, r.Charge(30, "m", nil))
	if r.Charged() != 30 || r.Published() != nil {
		t.Errorf("%d rows are charged, published: %v", r.Charged(), r.Published())
	}
	check(t, l.Close())

	l = open(t, path)
	r = releaseOf(t, l, "1", 30)
	other := releaseOf(t, l, "2", 0)
	check(t, r.Charge(40, "m", items(tenth, "ben")))
	check(t, other.Charge(40, "m", items(tenth, "ben")))
	check(t, r.Seal("hash"))
	if err := r.Charge(50, "m", items(tenth, "ben")); !errors.Is(err, ErrRelease) {
		t.Errorf("charged after the seal: %v", err)
	}
	if err := r.Seal("other"); !errors.Is(err, ErrRelease) {
		t.Errorf("sealed twice: %v", err)
	}
	p := releaseOf(t, l, "1", 40).Published()
	if p == nil || p.SHA256 != "hash" || p.Output != "/o" || p.Time.IsZero() {
		t.Errorf("published %+v", p)
	}
	if releaseOf(t, l, "2", 40).Published() != nil {
		t.Error("the other one is published too")
	}
	if a, b := balance(t, l, "ana"), balance(t, l, "ben"); a.Spent != 2*tenth || b.Spent != 3*tenth {
		t.Errorf("spent %v and %v", a.Spent, b.Spent)
	}
	var got []string
	for _, c := range charges(t, l) {
		got = append(got, fmt.Sprintf("%s %s %v %d", c.Function, c.Account, c.Epsilon, c.Evaluations))
	}
	want := []string{"release ana 0.2 4", "release ben 0.1 2", "release ben 0.1 2", "release ben 0.1 2"}
	if !slices.Equal(got, want) {
		t.Errorf("charges %q", got)
	}
	_, err := l.Verify("", nil)
	check(t, err)
}

// All items are charged, and the rows noted, or none.
func TestReleaseRefused(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("*", "m", tenth, 0))
	check(t, l.SetLimit("cy", "m", tenth-1, 0))
	r := releaseOf(t, l, "1", 0)
	refusal := refused(t, r.Charge(10, "m", items(tenth, "ana", "ben", "cy", "dan")))
	if refusal.Account != "cy" || refusal.Left != tenth-1 {
		t.Errorf("refused %+v", refusal)
	}
	refused(t, l.CanPay("m", slices.Values(items(tenth, "ana", "ben", "cy"))))
	refused(t, l.CanPay("kWh", slices.Values(items(tenth, "ana"))))
	check(t, l.CanPay("m", slices.Values(items(tenth, "ben", "ana"))))
	if r.Charged() != 0 || len(charges(t, l)) != 0 {
		t.Error("something was charged")
	}
	releaseOf(t, l, "1", 0)
	check(t, l.SetLimit("cy", "m", tenth, 0))
	check(t, r.Charge(10, "m", items(tenth, "ana", "ben", "cy", "dan")))
	refused(t, l.CanPay("m", slices.Values(items(1, "ana"))))
}

// Of two that go on with a release, the one that comes late is stopped, and others that
// wait with it are not.
func TestReleaseTakenOver(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("*", "m", one, 0))
	a, b := releaseOf(t, l, "1", 0), releaseOf(t, l, "1", 0)
	check(t, a.Charge(10, "m", items(tenth, "ana")))
	for _, err := range []error{b.Charge(10, "m", items(tenth, "ana")), b.Seal("hash")} {
		if !errors.Is(err, ErrRelease) || !strings.Contains(err.Error(), "release '1' was continued by another process") {
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
	for want, p := range map[string]ReleasePlan{
		"release 'it''s' has another input": {"other", "s", "/o"},
		"has other settings (s, not t)":     {"d", "t", "/o"},
		"goes to /o":                        {"d", "s", "/p"},
	} {
		if _, err := l.OpenRelease("it's", p); !errors.Is(err, ErrRelease) || !strings.Contains(err.Error(), want) {
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
	for name, wrong := range map[string][]Item{
		"order":    items(tenth, "ben", "ana"),
		"twice":    items(tenth, "ana", "ana"),
		"everyone": items(tenth, "*"),
		"nothing":  items(0, "ana"),
	} {
		if err := r.Charge(10, "m", wrong); err == nil {
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
	check(t, releaseOf(t, l, "1", 0).Charge(10, "m", items(tenth, "ana")))
	check(t, charge(l, "ana", tenth))
	if b := balance(t, l, "ana"); b.Spent != 3*tenth {
		t.Errorf("spent %v", b.Spent)
	}
	if _, ok := onDisk(t, path)[key{"ana", "m"}]; !ok {
		t.Error("no balance on disk")
	}
}
