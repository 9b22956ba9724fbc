package ledgertest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

var traceTests = tests{
	"Trace":                trace,
	"TraceIsTaken":         traceIsTaken,
	"TraceRefused":         traceRefused,
	"TracePoolsAndWindows": tracePoolsAndWindows,
	"TraceBlocks":          traceBlocks,
	"TraceLeftByACrash":    traceLeftByACrash,
	"PointsOfARun":         pointsOfARun,
}

// The reservation and the saved state of a trace are there when it is opened again.
func trace(t *testing.T, e Engine) {
	l := e.fresh(t)
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
	wantBalance(t, l, "ana", 11, 0)
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
}

// A user that reserves takes the trace; one that comes second, or later after a
// crash, is refused, and so is the first once the trace was restarted.
func traceIsTaken(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("*", "m", 100, 0))
	first, _, _ := openTrace(t, l, "x", "ana")
	second, _, _ := openTrace(t, l, "x", "ana")
	step(t, first, 0, 50)
	step(t, first, 1, 50)
	if err := second.Reserve(3, 50); !isA[*ledger.TraceTakenError](err) || !strings.HasPrefix(err.Error(), "trace 'x' is in use") {
		t.Errorf("got %v", err)
	}
	if _, _, _, err := l.OpenTrace("x", "ana", "m", "f"); !isA[*ledger.TraceTakenError](err) {
		t.Errorf("got %v", err)
	}
	check(t, second.Close(nil))
	before := balance(t, l, "ana")

	restarted, err := l.RestartTrace("x", "ana", "m")
	check(t, err)
	if !restarted {
		t.Error("not restarted")
	}
	third, state, lost := openTrace(t, l, "x", "ana")
	if state != "" || lost != before.Spent+before.Reserved || lost < 2 {
		t.Errorf("state %q, lost %d, balance %+v", state, lost, before)
	}
	if err := first.Save(nil); !isA[*ledger.TraceTakenError](err) {
		t.Errorf("got %v", err)
	}
	if first.Close(nil) == nil {
		t.Error("the first user saved a trace that a restart had taken from it")
	}
	step(t, third, 9, 50)
	check(t, third.Close([]byte("third")))
	wantBalance(t, l, "ana", 1, lost)
	points, err := l.TraceRun("x")
	check(t, err)
	if len(points) != 2 || !points[0].Gap || points[0].Spent != lost || points[1].Gap {
		t.Errorf("run %+v", points)
	}
	if again, err := l.RestartTrace("x", "ana", "m"); again || err != nil {
		t.Errorf("restarted twice: %v", err)
	}
	if again, err := l.RestartTrace("none", "ana", "m"); again || err != nil {
		t.Errorf("restarted a trace that does not exist: %v", err)
	}
}

// The limit is used up exactly, and a refused step leaves the trace as it was.
func traceRefused(t *testing.T, e Engine) {
	l := e.fresh(t)
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
	wantBalance(t, l, "ana", 6, 0)
	nobody, _, _ := openTrace(t, l, "y", "eve")
	refused(t, nobody.Reserve(1, 1))
	check(t, nobody.Close(nil))
	if points, err := l.TraceRun("y"); err != nil || points != nil {
		t.Errorf("%v, %v", points, err)
	}
}

// The amount set aside by budget_reserve is used, and reservations end with their window.
func tracePoolsAndWindows(t *testing.T, e Engine) {
	l, clock := e.timed(t)
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
}

// Many points are saved in blocks.
func traceBlocks(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("ana", "m", one, 0))
	tr, _, _ := openTrace(t, l, "x", "ana")
	n := 0
	for blocks := 0; blocks < 2; n++ {
		step(t, tr, n, one)
		if tr.Full() {
			check(t, tr.Save([]byte(fmt.Sprint(n))))
			blocks++
		}
	}
	for range 5 {
		step(t, tr, n, one)
		n++
	}
	check(t, tr.Close([]byte("end")))
	points, err := l.TraceRun("x")
	check(t, err)
	for i, p := range points {
		if p.Lat != float64(i) {
			t.Fatalf("point %d is %+v", i, p)
		}
	}
	if len(points) != n || balance(t, l, "ana").Spent != budget.Amount(n) {
		t.Errorf("%d points", len(points))
	}
}

func openTrace(t failer, l ledger.Ledger, name, account string) (tr ledger.Trace, state string, lost budget.Amount) {
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

// A trace that a process leaves by a crash stays taken for everybody, until it is restarted.
func traceLeftByACrash(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("ana", "m", 1000, 0))
	other := l.start(t, "serve", "trace", "m")
	tellToCharge(other, 5)
	other.kill()
	if _, _, _, err := l.OpenTrace("walk m", "ana", "m", "f"); !isA[*ledger.TraceTakenError](err) {
		t.Fatalf("got %v", err)
	}
	left := balance(t, l, "ana")
	if left.Spent+left.Reserved < 5 {
		t.Errorf("after the crash %+v", left)
	}
	restarted, err := l.RestartTrace("walk m", "ana", "m")
	check(t, err)
	tr, state, lost := openTrace(t, l, "walk m", "ana")
	if !restarted || state != "" || lost != left.Spent+left.Reserved {
		t.Errorf("restarted %v, state %q, lost %d of %+v", restarted, state, int64(lost), left)
	}
	step(t, tr, 0, 3)
	check(t, tr.Close([]byte("s")))
	points, err := l.TraceRun("walk m")
	check(t, err)
	if b := balance(t, l, "ana"); len(points) != 2 || !points[0].Gap || points[0].Spent != lost || b.Spent != 1 || b.Reserved != lost {
		t.Errorf("run %+v, balance %+v", points, b)
	}
}

// Every kind of point is read back as it was added.
func pointsOfARun(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("ana", "m", 10, 0))
	points := []ledger.Point{
		{Time: noon, Lat: -89.9999999, Lon: 180, Hard: true, Spent: 1},
		{Time: noon.Add(time.Microsecond), Tested: true},
		{Time: noon, Lat: 1, Lon: 2, Spent: 3, SetSize: 1},
		{Time: time.UnixMicro(-1).UTC(), Hard: true, Tested: true, Spent: 1, SetSize: math.MaxUint32},
		{Time: noon, Reading: true, Value: -0.25, Hard: true, Spent: 2},
		{Time: noon, Reading: true, Tested: true},
	}
	for i := range points { // saved one by one
		tr, _, _ := openTrace(t, l, "x", "ana")
		check(t, tr.Reserve(3, 3))
		tr.Add(points[i])
		if i%2 == 0 {
			check(t, tr.Save(nil))
		}
		check(t, tr.Close(nil))
	}
	got, err := l.TraceRun("x")
	check(t, err)
	if !slices.Equal(got, points) {
		t.Errorf("got  %+v\nwant %+v", got, points)
	}
}
