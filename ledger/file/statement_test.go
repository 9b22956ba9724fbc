package file

import (
	"fmt"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/emulate"
	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

func TestPoolNeedsNoCommit(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("*", "m", 1000, 0))
	check(t, l.Reserve("m", []ledger.Item{{Account: "ana", Epsilon: 100}, {Account: "bob", Epsilon: 100}}))
	begin := l.db.begin
	l.db.begin = nil // a transaction would panic
	s := l.NewStatement()
	p := s.Spender("f", "m")
	for range 50 {
		check(t, p.Charge([]byte("ana"), 2))
		check(t, p.Charge([]byte("bob"), 1))
	}
	check(t, l.Charge("g", "m", []ledger.Item{{Account: "bob", Epsilon: 2, Evaluations: 2}}))
	check(t, s.End())
	l.db.begin = begin
	if b := balance(t, l, "ana"); b.Spent != 100 || b.Reserved != 0 {
		t.Errorf("ana: %+v", b)
	}
	if b := balance(t, l, "bob"); b.Spent != 52 || b.Reserved != 48 {
		t.Errorf("bob: %+v", b)
	}
	if got := charges(t, l); len(got) != 3 || got[0].Evaluations != 50 || got[2].Evaluations != 2 {
		t.Errorf("charges %v", got)
	}
	path := l.Path()
	check(t, l.Close())
	if r := onDisk(t, path)[key{"bob", "m"}]; r != (row{52, 0}) {
		t.Errorf("after Close %v", r)
	}
}

// A group of more accounts than notes may wait for waits as one, until another is to.
func TestLargeGroupNeedsNoCommit(t *testing.T) {
	t.Parallel()
	emulate.NeedsFiles(t)
	l := newFile(t)
	check(t, l.SetLimit("*", "m", 1000, 0))
	items := make([]ledger.Item, engine.ManyNotes)
	for i := range items {
		items[i] = ledger.Item{Account: fmt.Sprint(i), Epsilon: 10, Evaluations: 1}
	}
	check(t, l.Reserve("m", items))
	for i := range items {
		items[i].Epsilon = 2
	}
	items = append(items, items[7]) // an account may come twice
	begin := l.db.begin
	l.db.begin = nil // a transaction would panic
	check(t, l.Charge("f", "m", items))
	l.db.begin = begin
	if r := onDisk(t, l.Path()); r[key{"7", "m"}] != (row{0, 10}) || r[key{"8", "m"}] != (row{0, 10}) {
		t.Errorf("on disk %v, %v: the amounts have to stay reserved", r[key{"7", "m"}], r[key{"8", "m"}])
	}
	check(t, l.db.conn.Exec("PRAGMA max_page_count = 1"))
	if _, err := l.Balance("7", "m"); err == nil {
		t.Error("the group was written to a full disk")
	}
	check(t, l.db.conn.Exec("PRAGMA max_page_count = 1000000"))
	check(t, l.Charge("f", "m", items))
	if r := onDisk(t, l.Path()); r[key{"7", "m"}] != (row{4, 6}) || r[key{"8", "m"}] != (row{2, 8}) {
		t.Errorf("on disk %v, %v after another group", r[key{"7", "m"}], r[key{"8", "m"}])
	}
	before, err := l.Verify("", nil, nil)
	check(t, err)
	check(t, l.Charge("f", "m", items[:engine.ManyNotes]))
	path := l.Path()
	check(t, l.Close())
	if r := onDisk(t, path); r[key{"7", "m"}] != (row{10, 0}) || r[key{"8", "m"}] != (row{6, 0}) {
		t.Errorf("after Close %v, %v", r[key{"7", "m"}], r[key{"8", "m"}])
	}
	after, err := open(t, path).Verify("", nil, nil)
	if n := after.Entries - before.Entries; err != nil || n != engine.ManyNotes {
		t.Errorf("%d entries, %v: the rest of a reservation returns with its use", n, err)
	}
}

func TestNotesAreWrittenBeforeTheyAreMany(t *testing.T) {
	t.Parallel()
	emulate.NeedsFiles(t)
	l := newFile(t)
	check(t, l.SetLimit("*", "m", one, 0))
	check(t, l.Reserve("m", []ledger.Item{{Account: "ana", Epsilon: one}}))
	times := trials.Fewer(1, 2)
	for range times*engine.ManyNotes + 1 {
		check(t, charge(l, "ana", 1))
	}
	if r := onDisk(t, l.Path())[key{"ana", "m"}]; r.spent != budget.Amount(times)*engine.ManyNotes || l.Notes() != 1 {
		t.Errorf("%d notes, on disk %v", l.Notes(), r)
	}
}
