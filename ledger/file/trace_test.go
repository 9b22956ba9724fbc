package file

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

func openTrace(t failer, l *Ledger, name, account string) (tr ledger.Trace, state string, lost budget.Amount) {
	t.Helper()
	tr, b, lost, err := l.OpenTrace(name, account, "m", "predictive_step")
	check(t, err)
	return tr, string(b), lost
}

// step reserves 3 for a step that spends 1.
func step(t failer, tr ledger.Trace, second int, most budget.Amount) {
	t.Helper()
	check(t, tr.Reserve(3, most))
	tr.Add(ledger.Point{Time: noon.Add(time.Duration(second) * time.Second), Lat: float64(second), Lon: 2, Hard: true, Tested: second > 0, Spent: 1})
}

func TestTrace(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("ana", "m", 100, 0))
	tr, state, lost := openTrace(t, l, "morning", "ana")
	if state != "" || lost != 0 {
		t.Errorf("a new trace has %q, %d", state, lost)
	}
	for i := range 10 {
		step(t, tr, i, 40)
		if b := balance(t, l, "ana"); b.Spent+b.Reserved < budget.Amount(i+3) {
			t.Fatalf("step %d: %+v", i, b)
		}
	}
	if b := balance(t, l, "ana"); b.Reserved > 40 {
		t.Errorf("more reserved than the trace may spend: %+v", b)
	}
	check(t, tr.Save([]byte("ten")))
	step(t, tr, 10, 30)
	check(t, tr.Close([]byte("eleven")))
	if b := balance(t, l, "ana"); b.Spent != 11 || b.Reserved != 0 {
		t.Errorf("%+v", b)
	}
	tr, state, lost = openTrace(t, l, "morning", "ana")
	if state != "eleven" || lost != 0 {
		t.Errorf("state %q, lost %d", state, lost)
	}
	check(t, tr.Close([]byte("not used"))) // nothing was done
	points, err := l.TraceRun("morning")
	check(t, err)
	if len(points) != 11 || points[4] != (ledger.Point{Time: noon.Add(4 * time.Second), Lat: 4, Lon: 2, Hard: true, Tested: true, Spent: 1}) {
		t.Errorf("run %+v", points)
	}
	if c := charges(t, l); len(c) != 1 || c[0].Function != "predictive_step" || c[0].Epsilon != 11 || c[0].Evaluations != 11 {
		t.Errorf("charges %+v", c)
	}
	if _, _, _, err := l.OpenTrace("morning", "bob", "m", "f"); err == nil || !strings.Contains(err.Error(), "charged to account 'ana'") {
		t.Errorf("another account's: %v", err)
	}
	check(t, verify(l, "", nil))
}

// A user that reserves takes the trace; one that comes second, or later after a
// crash, is refused, and so is the first once the trace was restarted.
func TestTraceIsTaken(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("*", "m", 100, 0))
	first, _, _ := openTrace(t, l, "x", "ana")
	second, _, _ := openTrace(t, l, "x", "ana")
	step(t, first, 0, 50)
	step(t, first, 1, 50)
	if err := second.Reserve(3, 50); !engine.Is[*ledger.TraceTakenError](err) || !strings.HasPrefix(err.Error(), "trace 'x' is in use") {
		t.Errorf("got %v", err)
	}
	if _, _, _, err := l.OpenTrace("x", "ana", "m", "f"); !engine.Is[*ledger.TraceTakenError](err) {
		t.Errorf("got %v", err)
	}
	check(t, second.Close(nil))
	before := balance(t, l, "ana")

	restarted, err := l.RestartTrace("x")
	check(t, err)
	if !restarted {
		t.Error("not restarted")
	}
	third, state, lost := openTrace(t, l, "x", "ana")
	if state != "" || lost != before.Spent+before.Reserved || lost < 2 {
		t.Errorf("state %q, lost %d, balance %+v", state, lost, before)
	}
	if err := first.Save(nil); !engine.Is[*ledger.TraceTakenError](err) {
		t.Errorf("got %v", err)
	}
	if first.Close(nil) == nil {
		t.Error("the first user saved what a restart had given up")
	}
	step(t, third, 9, 50)
	check(t, third.Close([]byte("third")))
	if b := balance(t, l, "ana"); b.Spent != 1 || b.Reserved != lost {
		t.Errorf("%+v", b)
	}
	points, err := l.TraceRun("x")
	check(t, err)
	if len(points) != 2 || !points[0].Gap || points[0].Spent != lost || points[1].Gap {
		t.Errorf("run %+v", points)
	}
	if again, err := l.RestartTrace("x"); again || err != nil {
		t.Errorf("restarted twice: %v", err)
	}
	if again, err := l.RestartTrace("none"); again || err != nil {
		t.Errorf("restarted what is not there: %v", err)
	}
	check(t, verify(l, "", nil))
}

// The limit is used up exactly, and a refused step leaves the trace as it was.
func TestTraceRefused(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("ana", "m", 8, 0))
	tr, _, _ := openTrace(t, l, "x", "ana")
	for i := range 6 { // 3 are asked, 1 is spent
		step(t, tr, i, 100)
	}
	r := refused(t, tr.Reserve(3, 100))
	if r.Left != 2 {
		t.Errorf("%+v", r)
	}
	check(t, tr.Reserve(2, 100))
	check(t, tr.Close([]byte("s")))
	if b := balance(t, l, "ana"); b.Spent != 6 || b.Reserved != 0 {
		t.Errorf("%+v", b)
	}
	nobody, _, _ := openTrace(t, l, "y", "eve")
	refused(t, nobody.Reserve(1, 1))
	check(t, nobody.Close(nil))
	if points, err := l.TraceRun("y"); err != nil || points != nil {
		t.Errorf("%v, %v", points, err)
	}
}

// What budget_reserve set aside is used, and what is reserved ends with its window.
func TestTracePoolsAndWindows(t *testing.T) {
	l := newFile(t)
	clock := atClock(l)
	check(t, l.SetLimit("*", "m", 30, 60))
	check(t, l.Reserve("m", []ledger.Item{{Account: "ana", Epsilon: 30}}))
	tr, _, _ := openTrace(t, l, "x", "ana")
	for i := range 5 {
		step(t, tr, i, 100)
	}
	clock(time.Minute)
	step(t, tr, 60, 100)
	check(t, tr.Close([]byte("s")))
	b := balance(t, l, "ana")
	if b.Spent != 6 || b.WindowSpent < 1 || b.WindowSpent > 30 || b.Spent+b.Reserved < 30 {
		t.Errorf("%+v", b)
	}
	check(t, verify(l, "", nil))
}

// Many points are saved in blocks, and no error of one caller is another's.
func TestTraceBlocks(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("ana", "m", one, 0))
	tr, _, _ := openTrace(t, l, "x", "ana")
	n := 2*engine.BlockOfPoints + 5
	for i := range n {
		step(t, tr, i, one)
		if tr.Full() {
			check(t, tr.Save([]byte(fmt.Sprint(i))))
		}
	}
	check(t, tr.Close([]byte("end")))
	points, err := l.TraceRun("x")
	check(t, err)
	if len(points) != n || balance(t, l, "ana").Spent != budget.Amount(n) {
		t.Errorf("%d points", len(points))
	}
}

func TestSpoiltRun(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("ana", "m", 10, 0))
	tr, _, _ := openTrace(t, l, "x", "ana")
	step(t, tr, 0, 5)
	check(t, tr.Close(nil))
	whole := strings.Repeat("00", 4*8)
	for _, points := range []string{"x'00'", "x'08" + whole + "'", "x'08" + whole + "000001'", "x'20" + whole + "'", "x'00" + whole + "00'"} {
		spoil(t, l.Path(), "UPDATE run SET points = "+points)
		if _, err := l.TraceRun("x"); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("%s: got %v", points, err)
		}
	}
}
