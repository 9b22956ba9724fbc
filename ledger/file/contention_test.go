package file

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

// Several callers, goroutines or processes, that use one ledger at once.

// inGroup makes the calls share a transaction, in their order, and returns their
// errors.
func inGroup(t *testing.T, l *Ledger, calls ...func() error) []error {
	t.Helper()
	errs := make([]error, len(calls))
	var all sync.WaitGroup
	l.writer.Lock() // as a transaction does
	for i, call := range calls {
		all.Go(func() { errs[i] = call() })
		for l.jobs.Waiting() <= i {
			time.Sleep(10 * time.Microsecond)
		}
	}
	l.writer.Unlock()
	all.Wait()
	return errs
}

// commits counts the transactions that l commits while a test does something.
func commits(t *testing.T, l *Ledger, something func()) (n int64) {
	t.Helper()
	count := func() int64 {
		n, err := l.db.readInt("SELECT count(DISTINCT time) FROM entry") // the transactions'
		check(t, err)
		return n
	}
	before := count()
	something()
	return count() - before
}

func TestCallersShareACommit(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("*", "m", 10, 0))
	check(t, l.SetLimit("tom", "m", 0, 0))
	s := l.NewStatement()
	defer s.End()
	var errs []error
	n := commits(t, l, func() {
		errs = inGroup(t, l,
			func() error { return charge(l, "ana", 6) },
			func() error { return charge(l, "tom", 1) }, // refused
			func() error { return charge(l, "ana", 6) }, // refused: sees the first
			func() error { return l.SetLimit("tom", "m", 1, 0) },
			func() error { return charge(l, "tom", 1) }, // sees the limit
			func() error { return s.Spender("f", "m").Charge([]byte("bob"), 1) },
			func() error {
				return l.Charge("f", "m", []ledger.Item{{Account: "eve", Epsilon: 1, Evaluations: 1}, {Account: "ana", Epsilon: 6, Evaluations: 1}}) // refused as a whole
			},
			func() error { return l.Reserve("m", []ledger.Item{{Account: "joe", Epsilon: 3}}) },
		)
	})
	if n != 1 {
		t.Errorf("%d commits", n)
	}
	for i, err := range errs {
		switch i {
		case 1, 2, 6:
			refused(t, err)
		default:
			check(t, err)
		}
	}
	want := map[string]row{"ana": {6, 0}, "tom": {1, 0}, "bob": {1, 0}, "joe": {0, 3}}
	all := onDisk(t, l.Path())
	if len(all) != len(want) {
		t.Errorf("on disk %v", all)
	}
	for account, r := range want {
		if all[key{account, "m"}] != r {
			t.Errorf("%s: on disk %v, want %v", account, all[key{account, "m"}], r)
		}
	}
	_, err := l.Verify("", nil, nil)
	check(t, err)
}

// Refusals alone commit nothing.
func TestRefusedCallersCommitNothing(t *testing.T) {
	l := newFile(t)
	refuse := func() error { return charge(l, "ana", 1) }
	n := commits(t, l, func() {
		for _, err := range inGroup(t, l, refuse, refuse, refuse) {
			refused(t, err)
		}
	})
	if n != 0 {
		t.Errorf("%d commits", n)
	}
}

// When a group fails for any reason, all its callers are told, and nothing of
// their writes stays.
func TestGroupFailsAsAWhole(t *testing.T) {
	for name, spoiled := range map[string]struct {
		call    func(*Ledger) error
		message string
	}{
		"disk": {
			func(l *Ledger) error { return charge(l, "bad block", 1) },
			"ledger: disk error",
		},
		"late refusal": {
			func(l *Ledger) error { return l.inTransaction(refuseLate) },
			"ledger: a charge was refused after it had been written",
		},
		"panic": {
			func(l *Ledger) error {
				return l.inTransaction(func(*transaction) error { panic("a bug") })
			},
			"ledger: the transaction was given up",
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newFile(t)
			check(t, l.SetLimit("*", "m", 10, 0))
			check(t, l.Reserve("m", []ledger.Item{{Account: "bob", Epsilon: 3}}))
			failsOnDisk(t, l, "bad block")
			s := l.NewStatement()
			n := commits(t, l, func() {
				errs := inGroup(t, l,
					// Commits for all, so a panic of another is its own, too.
					func() (err error) {
						defer func() {
							if recover() != nil {
								err = engine.Wrap(engine.ErrAborted)
							}
						}()
						return charge(l, "ana", 1)
					},
					func() error { return charge(l, "bob", 4) }, // 3 from the pool
					func() error { return s.Spender("f", "m").Charge([]byte("eve"), 1) },
					func() error { return spoiled.call(l) },
					func() error { return charge(l, "tom", 1) },
				)
				for i, err := range errs {
					if err == nil || err.Error() != spoiled.message {
						t.Errorf("caller %d: %v", i, err)
					}
				}
			})
			if n != 0 {
				t.Errorf("%d commits", n)
			}
			if all := onDisk(t, l.Path()); len(all) != 1 || all[key{"bob", "m"}] != (row{0, 3}) {
				t.Errorf("on disk %v", all)
			}
			// The next transaction is none the worse for it.
			check(t, charge(l, "bob", 10))
			check(t, s.Spender("f", "m").Charge([]byte("eve"), 10))
			check(t, s.End())
			_, err := l.Verify("", nil, nil)
			check(t, err)
		})
	}
}

// inTransaction runs work in a transaction that others can join.
func (l *Ledger) inTransaction(work func(*transaction) error) error {
	return engine.Wrap(disk{l}.Update(context.Background(), nil, func(t engine.Transaction) error { return work(t.(*transaction)) }))
}

// refuseLate refuses after it has written.
func refuseLate(t *transaction) error {
	b, err := t.Standing(engine.Key{Account: "late", Unit: "m"})
	if err != nil {
		return err
	}
	if err := engine.Post(t, &engine.Change{Origin: new(engine.Run).Origin(t.now, "f", "m"), Account: "late", Spent: 1}, &b); err != nil {
		return err
	}
	return b.Refuse(budget.Max, 0)
}

// failsOnDisk makes every write of an account fail.
func failsOnDisk(t *testing.T, l *Ledger, account string) {
	t.Helper()
	spoil(t, l.Path(), fmt.Sprintf(`
		CREATE TRIGGER bad BEFORE INSERT ON entry WHEN new.account = '%s'
		BEGIN SELECT RAISE(ABORT, 'disk error'); END`, account))
}

// chargeForEver charges from several goroutines until it is killed. The function
// is the player's name.
func chargeForEver(l *Ledger, name string) error {
	var all sync.WaitGroup
	for g := range callers {
		all.Go(func() {
			for l.Charge(name, "m", []ledger.Item{{Account: fmt.Sprint(name, g), Epsilon: 1, Evaluations: 1}}) == nil {
			}
		})
	}
	all.Wait()
	return errors.New("a charge failed")
}

// withoutQueue makes the process take its turns whenever it can.
func (l *Ledger) withoutQueue() {
	l.turns.Close()
	l.turns = nil
}

// hammerings is how often each of its goroutines charges.
const hammerings = 600

// hammer says that it has opened the ledger, which reads it, charges from several
// goroutines, and prints the largest size of the log that it saw after a commit.
func hammer(l *Ledger) error {
	fmt.Println("open")
	largest, errs := make([]int64, callers), make([]error, callers)
	var all sync.WaitGroup
	for g := range callers {
		all.Go(func() {
			account := fmt.Sprint("account ", g)
			for i := 0; i < hammerings && errs[g] == nil; i++ {
				errs[g] = charge(l, account, 1)
				largest[g] = max(largest[g], logSize(l))
			}
		})
	}
	all.Wait()
	most := int64(0)
	for _, size := range largest {
		most = max(most, size)
	}
	fmt.Println(most)
	return errors.Join(errs...)
}

// logSize is the size of the write-ahead log, which must not be opened.
func logSize(l *Ledger) int64 {
	log, err := os.Stat(l.Path() + "-wal")
	if err != nil {
		return 0
	}
	return log.Size()
}

// logLimit is the size to which the log shrinks, PRAGMA journal_size_limit. SQLite begins
// it anew when it has 1000 pages of 4096 bytes, which are less.
const logLimit = 4 << 20

// oneTransaction is how much a reservation for many accounts needs in the log.
func oneTransaction(t *testing.T, items []ledger.Item) int64 {
	l := newFile(t)
	check(t, l.SetLimit("*", "m", budget.Max, 0))
	check(t, l.Reserve("m", items))
	return logSize(l)
}

// The log holds at most logLimit and the largest transaction while nobody reads
// for long, however many write.
func TestLogIsBounded(t *testing.T) {
	_, items := manyAccounts(20_000, 1)
	bound := logLimit + oneTransaction(t, items)*11/10 // in a larger tree a bit more
	l := newFile(t)
	check(t, l.SetLimit("*", "m", budget.Max, 0))
	var players []*player
	for range 4 {
		players = append(players, start(t, "hammer", l.Path()))
	}
	for _, p := range players {
		_, err := fmt.Fscanln(p.out, new(string))
		check(t, err)
	}
	largest := int64(0)
	for range 10 {
		check(t, l.Reserve("m", items))
		largest = max(largest, logSize(l))
	}
	for _, p := range players {
		size, err := strconv.ParseInt(p.result(t), 10, 64)
		check(t, err)
		largest = max(largest, size)
	}
	if largest > bound {
		t.Errorf("the log grew to %d bytes, want at most %d", largest, bound)
	}
	t.Logf("at most %d bytes, bound %d", largest, bound)
	check(t, charge(l, "ana", 1))
	check(t, charge(l, "ana", 1))
	if size := logSize(l); size > logLimit {
		t.Errorf("the log stays at %d bytes", size)
	}
}

// While another process reads one state of the file the log keeps all that was
// written since. Afterwards two transactions give it back: one copies the log to
// the file, the next begins the log anew.
func TestLongReader(t *testing.T) {
	_, items := manyAccounts(20_000, 1)
	l := newFile(t)
	check(t, l.SetLimit("*", "m", budget.Max, 0))
	reader, err := sqlite.Open(l.Path(), sqlite.ReadOnly)
	check(t, err)
	defer reader.Close()
	check(t, reader.Exec("BEGIN; SELECT count(*) FROM entry"))
	for range 6 {
		check(t, l.Reserve("m", items))
	}
	if bound := logLimit + 2*oneTransaction(t, items); logSize(l) <= bound {
		t.Errorf("the log has %d bytes: this would not show in the test above", logSize(l))
	}
	check(t, reader.Exec("COMMIT"))
	check(t, charge(l, "ana", 1))
	check(t, charge(l, "ana", 1))
	if size := logSize(l); size > logLimit {
		t.Errorf("the log stays at %d bytes", size)
	}
}
