package file

import (
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
