package file

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strconv"
	"testing"

	"github.com/geosql/geosql/ledger"
)

func facts(t failer, l *Ledger, after int64) (all []string) {
	t.Helper()
	list, err := l.Facts(after)
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

func wantFacts(t failer, l *Ledger, want ...string) {
	t.Helper()
	if got := facts(t, l, 0); !reflect.DeepEqual(got, want) {
		t.Fatalf("facts %q, want %q", got, want)
	}
}

func TestFacts(t *testing.T) {
	memory, err := OpenMemory("")
	check(t, err)
	defer memory.Close()
	for name, l := range map[string]*Ledger{"file": newFile(t), "memory": memory} {
		t.Run(name, func(t *testing.T) {
			wantFacts(t, l)
			check(t, l.SetLimit("ana", "m", one, 0))
			before, err := l.Head()
			check(t, err)
			check(t, l.Record(ledger.Fact{Kind: "a", Text: "x"}, ledger.Fact{Kind: "b"}))
			check(t, l.Record(ledger.Fact{Kind: "a", Text: "x", ID: 99}, ledger.Fact{Kind: "a", Text: "y"})) // the first again
			check(t, l.Record())
			wantFacts(t, l, "a x", "b ", "a y")
			list, err := l.Facts(0)
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
			wantFacts(t, l, "a x", "b ", "a y")
			if after, err := l.Head(); err != nil || after != before {
				t.Errorf("facts have changed the head: %v, %v", after, err)
			}
			if _, err := l.Verify("", nil); err != nil {
				t.Error(err)
			}
		})
	}
}

// A statement that fails in the middle leaves no fact of the call.
func TestRecordAllOrNone(t *testing.T) {
	l := newFile(t)
	check(t, l.Record(ledger.Fact{Kind: "a"}))
	l.writer.Lock()
	err := l.db.conn.Exec("CREATE TRIGGER no BEFORE INSERT ON fact WHEN new.kind = 'bad' BEGIN SELECT raise(ABORT, 'no'); END")
	l.writer.Unlock()
	check(t, err)
	if err := l.Record(ledger.Fact{Kind: "b"}, ledger.Fact{Kind: "bad"}); err == nil {
		t.Error("it succeeds")
	}
	wantFacts(t, l, "a ")
	check(t, l.Record(ledger.Fact{Kind: "b"}))
	wantFacts(t, l, "a ", "b ")
}

// Facts are in copies, which take none themselves before they are adopted.
func TestFactsAreCopied(t *testing.T) {
	l := newFile(t)
	check(t, l.Record(ledger.Fact{Kind: "a", Text: "x"}))
	path := filepath.Join(t.TempDir(), "copy")
	check(t, l.Copy(path, func(float64) error { return nil }))
	check(t, l.Record(ledger.Fact{Kind: "b"}))
	c := open(t, path)
	wantFacts(t, c, "a x")
	if err := c.Record(ledger.Fact{Kind: "c"}); err == nil {
		t.Error("a copy takes a fact")
	}
	check(t, c.Adopt(true))
	check(t, c.Record(ledger.Fact{Kind: "c"}))
	wantFacts(t, c, "a x", "c ")
	wantFacts(t, l, "a x", "b ")
}

// Ledgers of earlier versions have no table of facts.
func TestLedgerWithoutFacts(t *testing.T) {
	l := newFile(t)
	if some, err := l.db.hasTable("fact"); some || err != nil {
		t.Errorf("a new ledger has facts: %v, %v", some, err)
	}
	wantFacts(t, l)
}

// Processes record facts at the same time, and each sees those of the others.
func TestFactsOfProcesses(t *testing.T) {
	l := newFile(t)
	const processes, each = 3, 20
	var players []*player
	for p := range processes {
		players = append(players, start(t, "record", l.path, fmt.Sprint(p), fmt.Sprint(each)))
	}
	for _, p := range players {
		p.result(t)
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
	if n := len(seen); n != processes*each+each { // those that all have recorded once
		t.Errorf("%d facts", n)
	}
}

// record records facts of its own and, between them, some that others record too.
func record(args []string) error {
	each, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	return withLedger(func(l *Ledger) error {
		for i := range each {
			err := l.Record(ledger.Fact{Kind: "of", Text: fmt.Sprintf("%s %d", args[1], i)}, ledger.Fact{Kind: "of all", Text: fmt.Sprint(i)})
			if err != nil {
				return err
			}
		}
		return nil
	})(args)
}
