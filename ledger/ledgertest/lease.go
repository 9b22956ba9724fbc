package ledgertest

import (
	"bufio"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

var leaseTests = tests{
	"LeasedTraces":         leasedTraces,
	"LeaseIsTaken":         leaseIsTaken,
	"LeaseLeftByACrash":    leaseLeftByACrash,
	"LeaseOfManyAccounts":  leaseOfManyAccounts,
	"LeaseAndLimit":        leaseAndLimit,
	"LeaseEnds":            leaseEnds,
	"LeaseTakenTwice":      leaseTakenTwice,
	"LeaseBeforeATrace":    leaseBeforeATrace,
	"LeaseBroken":          leaseBroken,
	"LeaseAndOtherAccount": leaseAndOtherAccount,
}

func init() {
	clients["walk"] = walkOn
	clients["walkTwo"] = walkTwo
}

// walkOn takes two steps of traces t0, t1, .. of the account ana in one statement, as many as it is told in
// a line. After each line it writes the amount that ana has spent, and a line that is no number ends the statement.
func walkOn(l ledger.Ledger, _ []string) error {
	if err := l.Reserve("m", []ledger.Item{{Account: "ana", Epsilon: 500}}); err != nil {
		return err
	}
	s, next := l.NewStatement(), 0
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var n int
		if _, err := fmt.Sscan(lines.Text(), &n); err != nil {
			break
		}
		for ; n > 0; n-- {
			if err := walkOnce(s, fmt.Sprint("t", next), "ana", 2); err != nil {
				return err
			}
			next++
		}
		fmt.Println(2 * next)
	}
	if err := s.End(); err != nil {
		return err
	}
	fmt.Println("ended")
	return nil
}

// walk starts a process that takes steps of some traces in a statement, and waits until it has.
func (l *testLedger) walk(t testing.TB, traces int) *player {
	t.Helper()
	p := l.start(t, "walk")
	p.say(traces)
	p.hear()
	return p
}

// endWalk has a process end its statement.
func endWalk(p *player) {
	p.t.Helper()
	p.say("end")
	if said := p.hear(); said != "ended" {
		p.t.Fatal(said)
	}
}

// walkOnce takes steps of a trace.
func walkOnce(s ledger.Statement, name, account string, steps int) error {
	tr, state, _, err := s.OpenTrace(name, account, "m", "predictive_step")
	if err != nil {
		return err
	}
	for i := range steps {
		if err := tr.Reserve(3, 100); err != nil {
			return err
		}
		tr.Add(ledger.Point{Time: noon.Add(time.Duration(i) * time.Second), Lat: float64(i), Hard: true, Spent: 1})
	}
	return tr.Close(append(state, byte('a'+steps)))
}

// A statement takes steps of many traces of a reserved account. Every reader, and every one who opens a
// trace again, finds the steps, before the statement has ended and after.
func leasedTraces(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("ana", "m", 1000, 0))
	check(t, l.Reserve("m", []ledger.Item{{Account: "ana", Epsilon: 200}}))
	s := l.NewStatement()
	for i := range 20 {
		check(t, walkOnce(s, fmt.Sprint("t", i), "ana", 2))
		// The rest of the first trace's reservation has returned to the limit.
		if b := balance(t, l.Ledger, "ana"); i%5 == 4 && (b.Spent != budget.Amount(2*i+2) || b.Reserved != 199-b.Spent) {
			t.Fatalf("after %d traces %+v", i+1, b)
		}
	}
	check(t, walkOnce(s, "t7", "ana", 30)) // more than a lease allows
	tr, state, lost, err := s.OpenTrace("t3", "ana", "m", "predictive_step")
	check(t, err)
	if string(state) != "c" || lost != 0 {
		t.Errorf("state %q, lost %d", state, int64(lost))
	}
	check(t, tr.Reserve(3, 100))
	if _, _, _, err := s.OpenTrace("t3", "ana", "m", "f"); !isA[*ledger.TraceTakenError](err) {
		t.Errorf("two go by a lease: %v", err)
	}
	if _, _, _, err := l.OpenTrace("t3", "ana", "m", "f"); !isA[*ledger.TraceTakenError](err) {
		t.Errorf("two go by a lease: %v", err)
	}
	if restarted, err := l.RestartTrace("t3", "ana", "m"); restarted || err != nil {
		t.Errorf("a lease that is in use was broken: %v, %v", restarted, err)
	}
	check(t, tr.Close(nil)) // nothing was done
	check(t, s.End())
	for i := range 20 {
		name, want := fmt.Sprint("t", i), 2
		if i == 7 {
			want += 30
		}
		points, err := l.TraceRun(name)
		check(t, err)
		tr, state, lost := openTrace(t, l, name, "ana")
		check(t, tr.Close([]byte(state)))
		if len(points) != want || lost != 0 || len(state) != want/30+1 {
			t.Errorf("%s has %d points, state %q, lost %d", name, len(points), state, int64(lost))
		}
	}
	if b := balance(t, l.Ledger, "ana"); b.Spent != 70 || b.Reserved == 0 || b.Reserved > 160 { // of t7, some was charged to the limit
		t.Errorf("%+v", b)
	}
	if c := charges(t, l); len(c) != 21 || c[0].Evaluations != 2 {
		t.Errorf("%d charges", len(c))
	}
}

// Another process waits for the end of a lease, and then finds the saved steps. It is refused if that takes
// long. Traces of other accounts are free.
func leaseIsTaken(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("*", "m", 1000, 0))
	other := l.walk(t, 5)
	early, _, _ := openTrace(t, l, "free", "bob")
	check(t, early.Close(nil))
	if _, _, _, err := l.OpenTrace("t3", "ana", "m", "f"); !isA[*ledger.TraceTakenError](err) {
		t.Fatalf("got %v", err)
	}
	opened := make(chan error)
	go func() {
		s := l.NewStatement()
		err := walkOnce(s, "t3", "ana", 1)
		if ending := s.End(); err == nil {
			err = ending
		}
		opened <- err
	}()
	time.Sleep(50 * time.Millisecond)
	endWalk(other)
	check(t, <-opened)
	other.end()
	if points, err := l.TraceRun("t3"); err != nil || len(points) != 3 {
		t.Errorf("%d points, %v", len(points), err)
	}
	wantBalance(t, l, "ana", 11, 0)
}

// A statement that crashes leaves all traces of its accounts taken. After a restart each has a gap that
// covers the points that were seen, and later traces have one too.
func leaseLeftByACrash(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("*", "m", 10000, 0))
	old, _, _ := openTrace(t, l, "old", "ana")
	step(t, old, 0, 3)
	check(t, old.Close([]byte("old")))
	before, _, _ := openTrace(t, l, "before", "ana") // reads its row before the lease
	other := l.start(t, "walk")
	other.say(6)
	seen := other.hearNumber()
	other.kill()
	if err := before.Reserve(3, 3); !isA[*ledger.TraceTakenError](err) {
		t.Errorf("beside a lease: %v", err)
	}
	check(t, before.Close(nil))
	if _, _, _, err := l.OpenTrace("t2", "ana", "m", "f"); !isA[*ledger.TraceTakenError](err) {
		t.Fatalf("got %v", err)
	}
	if again, err := l.RestartTrace("t2", "bob", "m"); again || err != nil {
		t.Errorf("another account's: %v, %v", again, err)
	}
	left := balance(t, l, "ana")
	if left.Spent+left.Reserved < budget.Amount(seen+1) {
		t.Errorf("%d seen, %+v", seen, left)
	}
	restarted, err := l.RestartTrace("t2", "ana", "m")
	check(t, err)
	if !restarted {
		t.Fatal("not restarted")
	}
	if again, err := l.RestartTrace("t3", "ana", "m"); again || err != nil {
		t.Errorf("restarted twice: %v, %v", again, err)
	}
	for _, name := range []string{"old", "t0", "t1", "t5", "new"} {
		tr, state, lost := openTrace(t, l, name, "ana")
		if lost < 2 || lost > 12 || (state == "old") != (name == "old") && name != "t0" {
			t.Errorf("%s: state %q, lost %d", name, state, int64(lost))
		}
		step(t, tr, 9, 3)
		check(t, tr.Close([]byte("s")))
		points, err := l.TraceRun(name)
		check(t, err)
		gaps := 0
		for _, p := range points {
			if p.Gap && p.Spent == lost {
				gaps++
			}
		}
		if gaps != 1 || points[len(points)-1].Gap {
			t.Errorf("%s: run %+v", name, points)
		}
		tr, _, lost = openTrace(t, l, name, "ana")
		check(t, tr.Close([]byte("s")))
		if lost != 0 {
			t.Errorf("%s: lost %d again", name, int64(lost))
		}
	}
	if free, _, lost := openTrace(t, l, "free", "bob"); lost != 0 {
		t.Errorf("bob's trace has lost %d", int64(lost))
	} else {
		check(t, free.Close(nil))
	}
	// A second crash, of a trace that the ledger knows since the first.
	other = l.walk(t, 2)
	other.kill()
	restarted, err = l.RestartTrace("t0", "", "")
	check(t, err)
	newer, _, lost := openTrace(t, l, "newer", "ana")
	if !restarted || lost < 4 || lost > 24 {
		t.Errorf("restarted %v, lost %d", restarted, int64(lost))
	}
	check(t, newer.Close(nil))
}

// A statement over many accounts takes few transactions. Amounts reserved for accounts that it does not
// touch stay.
func leaseOfManyAccounts(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("*", "m", 1000, 0))
	var reserved []ledger.Item
	for i := range 300 {
		reserved = append(reserved, ledger.Item{Account: fmt.Sprint("a", i), Epsilon: 50})
	}
	check(t, l.Reserve("m", reserved))
	for round := range 3 {
		s := l.NewStatement()
		for i := range 100 {
			check(t, walkOnce(s, fmt.Sprint("trace ", i), fmt.Sprint("a", i), 2))
		}
		check(t, s.End())
		for _, i := range []int{0, 50, 99, 100} {
			want := budget.Amount(2 * (round + 1))
			if i == 100 {
				want = 0
			}
			if b := balance(t, l, fmt.Sprint("a", i)); b.Spent != want || i > 0 && b.Reserved != 50-want {
				t.Errorf("round %d: %+v", round, b)
			}
		}
	}
}

// A lowered limit ends the taking of a trace from a pool, and the amount that the trace has taken counts.
func leaseAndLimit(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("ana", "m", 100, 0))
	check(t, l.Reserve("m", []ledger.Item{{Account: "ana", Epsilon: 100}}))
	s := l.NewStatement()
	check(t, walkOnce(s, "first", "ana", 1))
	tr, _, _, err := s.OpenTrace("second", "ana", "m", "f")
	check(t, err)
	step(t, tr, 0, 100)
	check(t, l.SetLimit("ana", "m", 3, 0))
	if r := refused(t, tr.Reserve(2, 100)); r.Left > 1 {
		t.Errorf("%+v", r)
	}
	check(t, tr.Close([]byte("s")))
	check(t, s.End())
	wantBalance(t, l, "ana", 2, 0)
}

// A lease ends with its statement, and does not wait until its process does something else.
func leaseEnds(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("ana", "m", 1000, 0))
	other := l.walk(t, 3)
	endWalk(other)
	other.kill()
	tr, state, lost := openTrace(t, l, "t2", "ana")
	if state == "" || lost != 0 {
		t.Errorf("state %q, lost %d", state, int64(lost))
	}
	check(t, tr.Close(nil))
	if restarted, err := l.RestartTrace("t2", "ana", "m"); restarted || err != nil {
		t.Errorf("restarted %v, %v", restarted, err)
	}
}

// walkTwo takes four steps of a trace that cost 10 each, while another trace of the account is open, and then one
// step of the other that costs 1.
func walkTwo(l ledger.Ledger, _ []string) error {
	if err := l.Reserve("m", []ledger.Item{{Account: "ana", Epsilon: 500}}); err != nil {
		return err
	}
	s := l.NewStatement()
	var both [2]ledger.Trace
	for i := range both {
		var err error
		if both[i], _, _, err = s.OpenTrace(fmt.Sprint("t", i), "ana", "m", "predictive_step"); err != nil {
			return err
		}
	}
	for i := range 5 {
		tr, cost := both[0], budget.Amount(10)
		if i == 4 {
			tr, cost = both[1], 1
		}
		if err := tr.Reserve(cost, 100); err != nil {
			return err
		}
		tr.Add(ledger.Point{Time: noon, Hard: true, Spent: cost})
	}
	fmt.Println("stepped")
	_, err := bufio.NewReader(os.Stdin).ReadString('\n')
	return err
}

// A lease that is taken again for a cheaper trace covers the spending of the dearer one.
func leaseTakenTwice(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("ana", "m", 1000, 0))
	other := l.start(t, "walkTwo")
	other.hear()
	other.kill()
	restarted, err := l.RestartTrace("t0", "ana", "m")
	check(t, err)
	tr, _, lost := openTrace(t, l, "t0", "ana")
	if !restarted || lost < 40 {
		t.Errorf("restarted %v, lost %d of 40", restarted, int64(lost))
	}
	check(t, tr.Close(nil))
}

// A process that has opened a new trace before a lease takes no step of it after a crash: it knows of no gap.
func leaseBeforeATrace(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("ana", "m", 1000, 0))
	early, _, _ := openTrace(t, l, "t2", "ana")
	other := l.walk(t, 3)
	other.kill()
	restarted, err := l.RestartTrace("t2", "ana", "m")
	check(t, err)
	if err := early.Reserve(3, 3); !restarted || !isA[*ledger.TraceTakenError](err) {
		t.Errorf("restarted %v; after that %v", restarted, err)
	}
	check(t, early.Close(nil))
	tr, _, lost := openTrace(t, l, "t2", "ana")
	if lost < 2 {
		t.Errorf("lost %d", int64(lost))
	}
	check(t, tr.Close(nil))
}

// A process with a broken lease that still lives takes another one. Its earlier steps do not come back with it.
func leaseBroken(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("ana", "m", 1000, 0))
	other := l.walk(t, 4)
	restarted, err := l.RestartTrace("t3", "ana", "m")
	check(t, err)
	tr, state, lost := openTrace(t, l, "t3", "ana")
	if !restarted || state != "" || lost < 2 {
		t.Errorf("restarted %v, state %q, lost %d", restarted, state, int64(lost))
	}
	step(t, tr, 0, 3)
	other.say(2)
	other.hear()
	if err := tr.Close([]byte("s")); err != nil {
		t.Errorf("somebody else's trace: %v", err)
	}
	endWalk(other)
	other.end()
	points, err := l.TraceRun("t3")
	check(t, err)
	if len(points) != 2 || !points[0].Gap || points[0].Spent != lost {
		t.Errorf("run %+v", points)
	}
	for name, want := range map[string]int{"t2": 0, "t5": 3} { // t5 has a gap too
		if points, err := l.TraceRun(name); err != nil || len(points) != want {
			t.Errorf("%s has %d points, %v", name, len(points), err)
		}
	}
}

// A trace that goes by a lease on one account, while somebody charges a trace of that name to another, keeps its
// charges, and the name is the other's.
func leaseAndOtherAccount(t *testing.T, e Engine) {
	for _, saved := range []bool{false, true} {
		l := e.fresh(t)
		check(t, l.SetLimit("*", "m", 1000, 0))
		other := l.walk(t, 4)
		tr, _, _ := openTrace(t, l, "t3", "bob")
		step(t, tr, 0, 3)
		if saved {
			check(t, tr.Save([]byte("s")))
			step(t, tr, 1, 3)
		}
		endWalk(other)
		check(t, tr.Close([]byte("s")))
		other.end()
		want := map[bool]int{false: 1, true: 2}[saved]
		points, err := l.TraceRun("t3")
		check(t, err)
		tr, state, lost := openTrace(t, l, "t3", "bob")
		check(t, tr.Close([]byte(state)))
		if len(points) != want || state != "s" || lost != 0 {
			t.Errorf("%d points, state %q, lost %d", len(points), state, int64(lost))
		}
		if points, err := l.TraceRun("t2"); err != nil || len(points) != 2 {
			t.Errorf("%d points, %v", len(points), err)
		}
		if ana, bob := balance(t, l, "ana"), balance(t, l, "bob"); ana.Spent+ana.Reserved < 8 || bob.Spent != budget.Amount(want) {
			t.Errorf("ana has %+v, bob %+v", ana, bob)
		}
		check(t, verify(l, "", nil))
	}
}
