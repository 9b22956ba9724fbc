package file

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
	"github.com/geosql/geosql/ledger/ledgertest"
)

func newAsked(t *testing.T) *Ledger {
	l := newFile(t)
	check(t, l.SetLimit("*", "m", 10, 0))
	return l
}

var errDraw = errors.New("the worker has gone")

// A draw that fails costs nothing, and the other questions in its transaction are none the worse for it.
func TestDrawFailsAmongOthers(t *testing.T) {
	l := newAsked(t)
	bad := ledgertest.Ask("q", "ana").As("sales", 8)
	good := ledgertest.Ask("p", "ana").As("sales", 8)
	for name, failure := range map[string]error{"plain": errDraw, "a refusal": &ledger.RefusalError{Account: "other", Limited: true}} {
		bad.Draw = func([]string) ([]byte, error) { return []byte("secret"), failure }
		var got ledger.Answered
		errs := inGroup(t, l,
			func() error { return charge(l, "bob", 1) },
			func() (err error) { got, err = l.Answer(t.Context(), bad.Question); return err },
			func() error { return charge(l, "bob", 1) },
			func() error { _, err := l.Answer(t.Context(), good.Question); return err },
		)
		if errs[1] != failure || got.Answer != nil {
			t.Errorf("%s: %+v, %v", name, got, errs[1])
		}
		for _, i := range []int{0, 2, 3} {
			check(t, errs[i])
		}
	}
	ledgertest.WantSpent(t, l, "sales", ledgertest.Amounts{"ana": {4, 4}, "bob": {4, 0}})
	good.Gets(t, l, "p 1", 0, 0)
	ledgertest.Ask("q", "ana").As("sales", 8).Gets(t, l, "q 1", 1, 1)
}

// An answer that cannot be stored is not returned, and not remembered.
func TestAnswerIsNotStored(t *testing.T) {
	for name, trigger := range map[string]string{
		"charge":  "BEFORE INSERT ON entry WHEN new.unit <> ''",
		"purse":   "BEFORE INSERT ON entry WHEN new.unit = ''",
		"spent":   "BEFORE INSERT ON purse",
		"balance": "BEFORE INSERT ON balance",
		"answer":  "BEFORE INSERT ON answer",
		"seen":    "BEFORE INSERT ON seen",
	} {
		l := newAsked(t)
		ledgertest.Ask("before", "bob").As("sales", 8).Gets(t, l, "before 1", 1, 1)
		end := head(t, l)
		spoil(t, l.Path(), "CREATE TRIGGER bad "+trigger+" BEGIN SELECT RAISE(ABORT, 'disk error'); END")
		q := ledgertest.Ask("q", "ana", "bob").As("sales", 8)
		a, err := l.Answer(t.Context(), q.Question)
		if err == nil || err.Error() != "ledger: disk error" || a.Answer != nil || q.Draws != 1 || head(t, l) != end {
			t.Errorf("%s: %+v, %v, %d draws", name, a, err, q.Draws)
		}
		spoil(t, l.Path(), "DROP TRIGGER bad")
		ledgertest.WantSpent(t, l, "sales", ledgertest.Amounts{"ana": {0, 0}, "bob": {4, 4}})
		q.Gets(t, l, "q 2", 2, 2)
	}
}

// A full disk is met at any point of the transaction, with answers of every size.
func TestCrashFaultAnswerPageLimit(t *testing.T) {
	l := newAsked(t)
	check(t, l.SetLimit("*", "m", one, 0))
	check(t, l.db.conn.Exec("PRAGMA max_page_count = 40"))
	given := map[string][]byte{}
	question := func(i int) ledger.Question {
		q := ledgertest.Ask(fmt.Sprint("question ", i), fmt.Sprint("account ", i), "ana").As("sales", one).Question
		q.Draw = func([]string) ([]byte, error) { return make([]byte, 1+i*37%900), nil }
		return q
	}
	var full error
	for i := 0; full == nil && i < 10_000; i++ {
		var a ledger.Answered
		if a, full = l.Answer(t.Context(), question(i)); full == nil {
			given[fmt.Sprint("account ", i)] = a.Answer
		} else if a.Answer != nil {
			t.Error("an answer that was not stored is returned")
		}
	}
	if full == nil || full.Error() != "ledger: database or disk is full" {
		t.Fatalf("got %v", full)
	}
	if all := onDisk(t, l.Path()); len(all) != len(given)+1 || all[key{"ana", "m"}].spent != budget.Amount(4*len(given)) {
		t.Errorf("%d given, on disk %v", len(given), all)
	}
	check(t, l.db.conn.Exec("PRAGMA max_page_count = 1000000"))
	for i := range len(given) + 1 {
		a, err := l.Answer(t.Context(), question(i))
		check(t, err)
		if _, there := given[fmt.Sprint("account ", i)]; a.Remembered != there {
			t.Errorf("question %d is remembered: %v", i, a.Remembered)
		}
	}
	check(t, verify(l, "", nil))
}

// Two who ask at once share a draw and a charge, each role pays, and of two who want the same
// charge one is answered.
func TestAnswersInOneTransaction(t *testing.T) {
	l := newAsked(t)
	check(t, l.SetLimit("bob", "m", 4, 0))
	same, other, third := ledgertest.Ask("same", "ana"), ledgertest.Ask("other", "bob"), ledgertest.Ask("third", "bob")
	var got [5]ledger.Answered
	answer := func(i int, q *ledgertest.Asking, role string) func() error {
		question := q.As(role, 8).Question
		return func() (err error) { got[i], err = l.Answer(t.Context(), question); return err }
	}
	n := commits(t, l, func() {
		errs := inGroup(t, l, answer(0, same, "sales"), answer(1, same, "sales"), answer(2, same, "night"), answer(3, other, "sales"), answer(4, third, "night"))
		for _, err := range errs[:4] {
			check(t, err)
		}
		if r := refused(t, errs[4]); r.Account != "bob" || r.Role != "" {
			t.Errorf("%+v", r)
		}
	})
	if n != 1 || same.Draws != 1 || other.Draws != 1 || third.Draws != 0 {
		t.Errorf("%d commits, %d, %d and %d draws", n, same.Draws, other.Draws, third.Draws)
	}
	for i, want := range []ledger.Answered{
		{Charged: ledger.Toll{Accounts: 1, Most: 4}, RoleCharged: ledger.Toll{Accounts: 1, Most: 4}},
		{Remembered: true},
		{Remembered: true, RoleCharged: ledger.Toll{Accounts: 1, Most: 4}},
	} {
		if g := got[i]; string(g.Answer) != "same 1" || g.Charged != want.Charged || g.RoleCharged != want.RoleCharged || g.Remembered != want.Remembered {
			t.Errorf("caller %d: %+v", i, g)
		}
	}
	ledgertest.WantSpent(t, l, "sales", ledgertest.Amounts{"ana": {4, 4}, "bob": {4, 4}})
	ledgertest.WantSpent(t, l, "night", ledgertest.Amounts{"ana": {4, 4}, "bob": {4, 0}})
}

// An answer that reached the memory of a transaction that fails as a whole is not given to anybody.
func TestAnswersFailTogether(t *testing.T) {
	l := newAsked(t)
	q := ledgertest.Ask("q", "ana")
	question := q.Question
	answer := func() error {
		a, err := l.Answer(t.Context(), question)
		if a.Answer != nil {
			t.Errorf("got %+v", a)
		}
		return err
	}
	errs := inGroup(t, l, answer, answer, func() error { return l.inTransaction(refuseLate) })
	for _, err := range errs {
		if err == nil || err.Error() != "ledger: a charge was refused after it had been written" {
			t.Errorf("got %v", err)
		}
	}
	q.Gets(t, l, "q 2", 1, 0)
}

// A role budget is compared with its entries, and the entry that stands for archived ones with them, even
// if it was written with a chain that verifies.
func TestVerifyComparesRoleBudgetsWithTheArchive(t *testing.T) {
	l := newAsked(t)
	path := filepath.Join(t.TempDir(), "archive")
	for _, name := range []string{"p", "q"} { // sums are carried over again
		ledgertest.Ask(name, "ana").As("sales", 8).Gets(t, l, name+" 1", 1, 1)
		_, err := l.Archive(path, time.Now().Add(time.Hour))
		check(t, err)
		check(t, verify(l, path, nil))
	}
	const wrong = "the spending of role 'sales' on account 'ana' in 'm' differs from the sum of its entries"
	spoil(t, l.Path(), "UPDATE purse SET spent = spent - 1")
	saying(t, "tampered", verify(l, path, nil), wrong)
	spoil(t, l.Path(), "UPDATE purse SET spent = spent + 1")
	check(t, l.transact(func(t *transaction) error {
		p := ledger.RoleBudget{Role: "sales", Account: "ana", Unit: "m"}
		from := new(engine.Run).Origin(t.now, engine.ArchiveFunction, engine.EventUnit)
		if err := t.addEntry(&engine.Change{Origin: from, Account: p.EntryAccount(), Spent: -1}, 0, ledger.WindowUse{}); err != nil {
			return err
		}
		return t.exec("UPDATE purse SET spent = spent - 1")
	}))
	check(t, verify(l, "", nil))
	saying(t, "refunded", verify(l, path, nil), wrong)
}

func TestVerifyFindsChangedRoleBudgets(t *testing.T) {
	for _, sql := range []string{
		"UPDATE purse SET spent = spent - 1 WHERE account = 'ana'",
		"UPDATE purse SET account = 'eve' WHERE account = 'ana'",
		"UPDATE purse SET role = 'other' WHERE account = 'ana'",
		"UPDATE purse SET unit = 'kWh' WHERE account = 'ana'",
		"DELETE FROM purse WHERE account = 'ana'",
		"DELETE FROM purse",
		"DROP TABLE purse",
		"INSERT INTO purse VALUES ('sales', 'eve', 'm', 0)",
		"UPDATE entry SET spent = 1 WHERE account LIKE 'role %ana'",
		"UPDATE entry SET account = 'role 5:sales 1:m 3:eve' WHERE account LIKE 'role %ana'; UPDATE purse SET account = 'eve' WHERE account = 'ana'",
	} {
		l := newAsked(t)
		ledgertest.Ask("q", "ana", "bob").As("sales", 8).Gets(t, l, "q 1", 2, 2)
		spoil(t, l.Path(), sql)
		if err := verify(l, "", nil); err == nil || strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "ledger: ") {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// A role budget that is out of range is told, not overflowed.
func TestDamagedRoleBudget(t *testing.T) {
	l := newAsked(t)
	ledgertest.Ask("q", "ana").As("sales", 8).Gets(t, l, "q 1", 1, 1)
	spoil(t, l.Path(), "UPDATE purse SET spent = 9223372036854775807")
	q := ledgertest.Ask("p", "ana").As("sales", budget.Max)
	_, err := l.Answer(t.Context(), q.Question)
	saying(t, "damaged", err, "the spending of a role is out of range")
	if q.Draws != 0 {
		t.Error("drawn")
	}
}

// A copy gives no answers before it is adopted. Then it has those from before, their charges and
// role budgets, and draws and charges unknown answers again.
func TestAnswersOfCopies(t *testing.T) {
	l := newAsked(t)
	check(t, l.SetLimit("*", "m", 100, 0))
	before, after := ledgertest.Ask("before", "ana").As("sales", 100), ledgertest.Ask("after", "ana").As("sales", 100)
	before.Gets(t, l, "before 1", 1, 1)
	c := copyOf(t, l)
	after.Gets(t, l, "after 1", 1, 1)
	_, err := c.Answer(t.Context(), before.Question)
	saying(t, "copy", err, "run 'geosql restore "+c.Path()+"'")
	check(t, c.Adopt(false))
	before.Gets(t, c, "before 1", 0, 0)
	after.Gets(t, c, "after 2", 1, 1)
	ledgertest.WantSpent(t, c, "sales", ledgertest.Amounts{"ana": {8, 8}})
	if all, err := c.Restorations(); len(all) != 1 || err != nil {
		t.Errorf("restorations %v, %v", all, err)
	}
}

// A quote leaves every byte of the ledger as it is, whatever would happen.
func TestQuoteWritesNothing(t *testing.T) {
	l := newAsked(t)
	unwritten := func(name string, q *ledgertest.Asking) {
		t.Helper()
		before := filesOf(t, l)
		a, err := l.Quote(t.Context(), q.Question)
		if (a.Answer != nil) != a.Seen || err != nil && a.Charged.Accounts+a.RoleCharged.Accounts > 0 {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
		if q.Draws > 0 {
			t.Errorf("%s: drawn", name)
		}
		if !maps.Equal(filesOf(t, l), before) {
			t.Errorf("%s: the file has changed", name)
		}
	}
	again := func(q ledgertest.Asking) *ledgertest.Asking {
		q.Draws = 0
		return &q
	}
	unwritten("without tables", ledgertest.Ask("q", "ana").As("sales", 8))
	if some, err := l.db.hasTable("answer"); some || err != nil {
		t.Errorf("the tables are there: %v, %v", some, err)
	}
	q := ledgertest.Ask("q", "ana").As("sales", 8)
	q.Gets(t, l, "q 1", 1, 1)
	unwritten("seen", again(*q))
	unwritten("remembered", again(*ledgertest.Ask("q", "ana").As("night", 8)))
	unwritten("new", ledgertest.Ask("p", "ana", "bob").As("sales", 8))
	unwritten("refused", ledgertest.Ask("p", "ana").As("sales", 2))
	unwritten("left out", ledgertest.Ask("p", "ana").As("sales", 2).LeavingOut())
	check(t, verify(l, "", nil))
}

// filesOf returns the contents of the files of a ledger, except the index of its log, which has locks.
func filesOf(t *testing.T, l *Ledger) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, name := range []string{l.Path(), l.Path() + "-wal"} {
		data, err := os.ReadFile(name)
		check(t, err)
		files[name] = string(data)
	}
	return files
}

func TestQuoteErrors(t *testing.T) {
	l := newAsked(t)
	_, err := l.Quote(t.Context(), ledgertest.Ask("q", "*").Question)
	saying(t, "everyone", err, "account '*' stands for every account that is not named and cannot be charged")
	ledgertest.Ask("q", "ana").As("sales", 8).Gets(t, l, "q 1", 1, 1)
	c := copyOf(t, l)
	_, err = c.Quote(t.Context(), ledgertest.Ask("q", "ana").Question)
	saying(t, "copy", err, "run 'geosql restore "+c.Path()+"'")
	spoil(t, l.Path(), "UPDATE purse SET spent = 9223372036854775807")
	_, err = l.Quote(t.Context(), ledgertest.Ask("p", "ana").As("sales", 8).Question)
	saying(t, "damaged", err, "the spending of a role is out of range")
	_, err = ledgertest.Ask("free", "ana").Owing(0, 0, 0).Answer(t, l)
	check(t, err) // the connection is none the worse for it
	check(t, l.Close())
	_, err = l.Quote(t.Context(), ledgertest.Ask("q", "ana").Question)
	saying(t, "closed", err, "ledger: closed")
}
