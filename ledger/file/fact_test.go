package file

import (
	"path/filepath"
	"testing"

	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/ledgertest"
)

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
	ledgertest.WantFacts(t, l, "a ")
	check(t, l.Record(ledger.Fact{Kind: "b"}))
	ledgertest.WantFacts(t, l, "a ", "b ")
}

// Facts are in copies, which take none themselves before they are adopted.
func TestFactsAreCopied(t *testing.T) {
	l := newFile(t)
	check(t, l.Record(ledger.Fact{Kind: "a", Text: "x"}))
	path := filepath.Join(t.TempDir(), "copy")
	check(t, l.Copy(path, func(float64) error { return nil }))
	check(t, l.Record(ledger.Fact{Kind: "b"}))
	c := open(t, path)
	ledgertest.WantFacts(t, c, "a x")
	if err := c.Record(ledger.Fact{Kind: "c"}); err == nil {
		t.Error("a copy takes a fact")
	}
	check(t, c.Adopt(true))
	check(t, c.Record(ledger.Fact{Kind: "c"}))
	ledgertest.WantFacts(t, c, "a x", "c ")
	ledgertest.WantFacts(t, l, "a x", "b ")
}

// Ledgers of earlier versions have no table of facts.
func TestLedgerWithoutFacts(t *testing.T) {
	l := newFile(t)
	if some, err := l.db.hasTable("fact"); some || err != nil {
		t.Errorf("a new ledger has facts: %v, %v", some, err)
	}
	ledgertest.WantFacts(t, l)
}
