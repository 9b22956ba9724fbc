package ledgertest

import (
	"context"
	"fmt"
	"reflect"
	"strconv"
	"testing"

	"github.com/geosql/geosql/ledger"
)

var factTests = tests{
	"Recorded":         recorded,
	"FactsOfProcesses": factsOfProcesses,
}

func recorded(t *testing.T, e Engine) {
	l := e.fresh(t)
	WantFacts(t, l)
	check(t, l.SetLimit("ana", "m", one, 0))
	before, err := l.Head()
	check(t, err)
	check(t, l.Record(ledger.Fact{Kind: "a", Text: "x"}, ledger.Fact{Kind: "b"}))
	check(t, l.Record(ledger.Fact{Kind: "a", Text: "x", ID: 99}, ledger.Fact{Kind: "a", Text: "y"})) // the first again
	check(t, l.Record())
	WantFacts(t, l, "a x", "b ", "a y")
	list, err := l.Facts(context.Background(), 0)
	check(t, err)
	if later := facts(t, l, list[1].ID); !reflect.DeepEqual(later, []string{"a y"}) {
		t.Errorf("later facts %q", later)
	}
	if later := facts(t, l, list[2].ID); later != nil {
		t.Errorf("after the last: %q", later)
	}
	// All or none.
	if err := l.Record(ledger.Fact{Kind: "c"}, ledger.Fact{}); err == nil {
		t.Error("a fact without a kind is recorded")
	}
	WantFacts(t, l, "a x", "b ", "a y")
	if after, err := l.Head(); err != nil || after != before {
		t.Errorf("facts have changed the head: %v, %v", after, err)
	}
	if _, err := l.Verify("", nil, nil); err != nil {
		t.Error(err)
	}
}

// Processes record facts at the same time, and each sees those of the others.
func factsOfProcesses(t *testing.T, e Engine) {
	l := e.fresh(t)
	const processes, each = 3, 20
	var players []*player
	for p := range processes {
		players = append(players, l.start(t, "record", fmt.Sprint(p), fmt.Sprint(each)))
	}
	for _, p := range players {
		p.end()
	}
	seen := map[string]bool{}
	for _, f := range facts(t, l, 0) {
		seen[f] = true
	}
	for p := range processes {
		for i := range each {
			if f := fmt.Sprintf("of %d %d", p, i); !seen[f] {
				t.Errorf("%q is missing", f)
			}
		}
	}
	if n := len(seen); n != processes*each+each { // the ones that all have recorded once
		t.Errorf("%d facts", n)
	}
}

func init() { clients["record"] = record }

// record records facts of its own and, between them, some that others record too.
func record(l ledger.Ledger, args []string) error {
	each, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	for i := range each {
		err := l.Record(ledger.Fact{Kind: "of", Text: fmt.Sprintf("%s %d", args[0], i)}, ledger.Fact{Kind: "of all", Text: fmt.Sprint(i)})
		if err != nil {
			return err
		}
	}
	return nil
}

// facts returns the facts after one, each as its kind and its text.
func facts(t failer, l ledger.Ledger, after int64) (all []string) {
	t.Helper()
	list, err := l.Facts(context.Background(), after)
	check(t, err)
	last := after
	for _, f := range list {
		if f.ID <= last {
			t.Fatalf("fact %d after %d", f.ID, last)
		}
		last = f.ID
		all = append(all, f.Kind+" "+f.Text)
	}
	return all
}

// WantFacts demands that a ledger has just these facts, each as its kind and its text.
func WantFacts(t testing.TB, l ledger.Ledger, want ...string) {
	t.Helper()
	if got := facts(t, l, 0); !reflect.DeepEqual(got, want) {
		t.Fatalf("facts %q, want %q", got, want)
	}
}
