package ledgertest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"pgregory.net/rapid"
)

var windowTests = tests{
	"WindowReopens":                  windowReopens,
	"ClockStepsBack":                 clockStepsBack,
	"WindowsChange":                  windowsChange,
	"ReservationsEndWithTheirWindow": reservationsEndWithTheirWindow,
	"WindowsReserveAnew":             windowsReserveAnew,
	"PoolsEndWithTheirWindow":        poolsEndWithTheirWindow,
	"WindowsNeverExceedTheirLimit":   windowsNeverExceedTheirLimit,
	"WindowByTheClock":               windowByTheClock,
	"WindowsOfProcesses":             windowsOfProcesses,
}

func spend(t failer, p ledger.Spender, account string, n int) {
	t.Helper()
	for range n {
		check(t, p.Charge([]byte(account), 1))
	}
}

// A window starts with the first charge, and a limit opens again when it is over.
func windowReopens(t *testing.T, e Engine) {
	l, clock := e.timed(t)
	check(t, l.SetLimit("ana", "m", 10, 60))
	clock(30 * time.Second)
	if b := balance(t, l, "ana"); !b.Reopens.IsZero() || b.Remaining() != 10 || b.Window != 60 {
		t.Errorf("before the first charge: %+v", b)
	}
	check(t, charge(l, "ana", 7))
	clock(89 * time.Second)
	r := refused(t, charge(l, "ana", 4))
	if r.Left != 3 || !r.Reopens.Equal(noon.Add(90*time.Second)) {
		t.Errorf("%+v", r)
	}
	want := "account 'ana' has 0.000000000003/m left of 0.000000000010/m, 0.000000000004/m asked, 0.000000000001/m short; " +
		"the window of 60 s reopens at 2026-03-01T12:01:30Z"
	if r.Error() != want {
		t.Errorf("got  %s\nwant %s", r, want)
	}
	check(t, charge(l, "ana", 3))
	clock(90 * time.Second)
	if r := refused(t, charge(l, "ana", 11)); !strings.HasSuffix(r.Error(), "no window of 60 s holds more") {
		t.Error(r)
	}
	check(t, charge(l, "ana", 10))
	b := balance(t, l, "ana")
	if b.Spent != 20 || b.WindowSpent != 10 || b.Remaining() != 0 || !b.Reopens.Equal(noon.Add(150*time.Second)) {
		t.Errorf("%+v", b)
	}
}

// A clock that steps back opens nothing, also after it had stepped forward; a window that
// was opened too early stays open, and is counted.
func clockStepsBack(t *testing.T, e Engine) {
	l, clock := e.timed(t)
	check(t, l.SetLimit("ana", "m", 10, 60))
	clock(time.Hour)
	check(t, charge(l, "ana", 10))
	for _, d := range []time.Duration{time.Hour - time.Second, 0, -100 * time.Hour, time.Hour + 59*time.Second} {
		clock(d)
		refused(t, charge(l, "ana", 1))
		refused(t, l.Reserve("m", []ledger.Item{{Account: "ana", Epsilon: 1}}))
	}
	clock(time.Hour + time.Minute)
	check(t, charge(l, "ana", 1))
	check(t, l.SetLimit("bob", "m", 10, 0))
	check(t, charge(l, "bob", 10))
	check(t, l.SetLimit("bob", "m", 10, 60)) // all of it counts in the first window
	clock(0)
	refused(t, charge(l, "bob", 1))
	clock(time.Hour + 2*time.Minute)
	check(t, charge(l, "bob", 10))
}

// A change of the limit gives nothing back either.
func windowsChange(t *testing.T, e Engine) {
	l, clock := e.timed(t)
	check(t, l.SetLimit("*", "m", 10, 60))
	check(t, charge(l, "ana", 10))
	check(t, l.SetLimit("ana", "m", 10, 60)) // the same limit, of its own
	refused(t, charge(l, "ana", 1))
	check(t, l.SetLimit("ana", "m", 10, 3600))
	clock(time.Minute)
	refused(t, charge(l, "ana", 1))
	check(t, l.SetLimit("ana", "m", 12, 0)) // for ever: all counts
	check(t, charge(l, "ana", 2))
	refused(t, charge(l, "ana", 1))
	check(t, l.SetLimit("ana", "m", 12, 60)) // and goes on counting until a window is over
	refused(t, charge(l, "ana", 1))
	clock(2 * time.Minute)
	check(t, charge(l, "ana", 12))
	check(t, l.SetLimit("ana", "m", 5, 60))
	if b := balance(t, l, "ana"); b.Remaining() != 0 || b.WindowSpent != 12 || b.Spent != 24 {
		t.Errorf("%+v", b)
	}
	for _, seconds := range []int64{-1, ledger.MaxWindow + 1} {
		if l.SetLimit("ana", "m", 5, seconds) == nil {
			t.Errorf("a window of %d seconds", seconds)
		}
	}
	check(t, l.SetLimit("ana", "m", 5, ledger.MaxWindow))
}

// An amount that a statement reserved in a window is neither used nor returned in the next.
func reservationsEndWithTheirWindow(t *testing.T, e Engine) {
	l, clock := e.timed(t)
	check(t, l.SetLimit("ana", "m", 100, 60))
	s := l.NewStatement()
	spend(t, s.Spender("f", "m"), "ana", 9) // 16 are reserved
	clock(time.Minute)
	spend(t, s.Spender("f", "m"), "ana", 1)
	if b := balance(t, l, "ana"); b.Spent+b.Reserved != 16+b.WindowSpent || b.WindowSpent < 1 {
		t.Errorf("in the second window: %+v", b)
	}
	check(t, s.End())
	if b := balance(t, l, "ana"); b.Spent != 10 || b.Reserved != 7 || b.WindowSpent != 1 {
		t.Errorf("at the end: %+v", b)
	}

	// A statement that ends in the next window returns nothing.
	s = l.NewStatement()
	spend(t, s.Spender("f", "m"), "ana", 3) // 4 are reserved
	clock(2 * time.Minute)
	check(t, charge(l, "ana", 100))
	check(t, s.End())
	if b := balance(t, l, "ana"); b.Spent != 113 || b.Reserved != 8 || b.Remaining() != 0 {
		t.Errorf("after the next window: %+v", b)
	}
}

// The reservation ahead of a statement grows with its use in a window, not with that of
// the windows before: it would be lost with each of them.
func windowsReserveAnew(t *testing.T, e Engine) {
	l, clock := e.timed(t)
	check(t, l.SetLimit("ana", "m", 1000, 60))
	s := l.NewStatement()
	for i := range 12 {
		clock(time.Duration(i) * time.Minute)
		check(t, s.Spender("f", "m").Charge([]byte("ana"), 1))
	}
	check(t, s.End())
	wantBalance(t, l, "ana", 12, 0)
}

// An amount set aside in a window can neither be used nor returned in the next.
func poolsEndWithTheirWindow(t *testing.T, e Engine) {
	l, clock := e.timed(t)
	check(t, l.SetLimit("*", "m", 100, 60))
	reserve := func(n budget.Amount) {
		t.Helper()
		check(t, l.Reserve("m", []ledger.Item{{Account: "ana", Epsilon: n}, {Account: "bob", Epsilon: n}}))
	}
	reserve(100)
	check(t, charge(l, "ana", 30))
	clock(time.Minute)
	check(t, charge(l, "ana", 100)) // of the new window, not of the pool
	refused(t, charge(l, "ana", 1))
	reserveBob := []ledger.Item{{Account: "bob", Epsilon: 60}}
	check(t, l.Reserve("m", reserveBob))
	s := l.NewStatement()
	spend(t, s.Spender("f", "m"), "bob", 20)
	check(t, s.End())
	if b := balance(t, l, "bob"); b.Spent != 20 || b.WindowSpent != 60 {
		t.Errorf("%+v", b)
	}
	refused(t, l.Charge("f", "m", []ledger.Item{{Account: "bob", Epsilon: 81}}))
	check(t, l.Charge("f", "m", []ledger.Item{{Account: "bob", Epsilon: 80}}))
	if e.Alone {
		return // it ends when it is closed
	}
	check(t, l.Reserve("m", items(50, "cy")))
	check(t, charge(l, "cy", 20))
	clock(2 * time.Minute)
	check(t, l.Close())
	if a, b, c := stored(t, l, "ana"), stored(t, l, "bob"), stored(t, l, "cy"); a != (row{130, 70}) || b != (row{100, 100}) || c != (row{20, 30}) {
		t.Errorf("ana %v, bob %v, cy %v", a, b, c)
	}
}

// Accounts with a window do everything while the clock jumps to and fro: they are granted
// at most the limit times the windows that the clock, at its latest so far, has had room for.
func windowsNeverExceedTheirLimit(t *testing.T, e Engine) {
	const limit, seconds = 40, 60
	outer := t
	rapid.Check(t, func(t *rapid.T) {
		l, clock := e.timed(outer)
		defer l.Close()
		check(t, l.SetLimit("*", "m", limit, seconds))
		granted := map[string]budget.Amount{}
		first := map[string]time.Duration{}
		var now, latest time.Duration
		var open []ledger.Statement
		traces, releases := map[string]ledger.Trace{}, 0
		account := func() string { return rapid.SampledFrom([]string{"ana", "bob"}).Draw(t, "account") }
		grant := func(a string, eps budget.Amount, err error) {
			if err != nil {
				refused(t, err)
				return
			}
			if _, known := first[a]; !known {
				first[a] = now
			}
			if granted[a] += eps; granted[a] > limit*budget.Amount(1+(latest-first[a])/(seconds*time.Second)) {
				t.Fatalf("%s was granted %d since %v, now %v", a, granted[a], first[a], latest)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"clock": func(t *rapid.T) {
				now = time.Duration(rapid.Int64Range(-200, 400).Draw(t, "seconds"))*time.Second + latest
				if rapid.Bool().Draw(t, "back") {
					now = latest - time.Duration(rapid.Int64Range(0, 1000).Draw(t, "by"))*time.Second
				}
				latest = max(latest, now)
				clock(now)
			},
			"charge": func(t *rapid.T) {
				a, eps := account(), budget.Amount(rapid.Int64Range(1, 45).Draw(t, "epsilon"))
				grant(a, eps, charge(l, a, eps))
			},
			"reserve": func(t *rapid.T) {
				a := account()
				err := l.Reserve("m", []ledger.Item{{Account: a, Epsilon: budget.Amount(rapid.Int64Range(1, 45).Draw(t, "epsilon"))}})
				if _, known := first[a]; err == nil && !known {
					first[a] = now
				}
			},
			"statement": func(*rapid.T) { open = append(open, l.NewStatement()) },
			"spend": func(t *rapid.T) {
				if len(open) == 0 {
					t.Skip("no statement")
				}
				a := account()
				p := rapid.SampledFrom(open).Draw(t, "statement").Spender("f", "m")
				for range rapid.IntRange(1, 20).Draw(t, "times") {
					grant(a, 1, p.Charge([]byte(a), 1))
				}
			},
			"end": func(t *rapid.T) {
				if len(open) == 0 {
					t.Skip("no statement")
				}
				check(t, open[0].End())
				open = open[1:]
			},
			"walk": func(t *rapid.T) {
				a, eps := account(), budget.Amount(rapid.Int64Range(1, 15).Draw(t, "epsilon"))
				if traces[a] == nil {
					trace, _, _, err := l.OpenTrace(a, a, "m", "trace")
					check(t, err)
					traces[a] = trace
				}
				err := traces[a].Reserve(eps, 3*eps)
				if err == nil {
					traces[a].Add(ledger.Point{Spent: eps})
				}
				grant(a, eps, err)
			},
			"stop": func(t *rapid.T) {
				if a := account(); traces[a] != nil {
					check(t, traces[a].Close(nil))
					delete(traces, a)
				}
			},
			"release": func(t *rapid.T) {
				releases++
				r, err := l.OpenRelease(fmt.Sprint(releases), plan)
				check(t, err)
				eps := budget.Amount(rapid.Int64Range(1, 30).Draw(t, "epsilon"))
				err = r.Charge("m", []ledger.Item{{Account: "ana", Epsilon: eps, Evaluations: 1}, {Account: "bob", Epsilon: eps, Evaluations: 1}})
				grant("ana", eps, err)
				grant("bob", eps, err)
			},
			"": func(t *rapid.T) {
				for a, eps := range granted {
					if b := balance(t, l, a); b.Spent+b.Reserved < eps || b.WindowSpent > limit {
						t.Fatalf("granted %d, balance %+v", eps, b)
					}
				}
			},
		})
		for _, s := range open {
			check(t, s.End())
		}
		for _, trace := range traces {
			check(t, trace.Close(nil))
		}
		check(t, verify(l, "", nil))
	})
}

// patience is how long a test waits for an expected event.
const patience = 10 * time.Second

// A limit opens again by the engine's own clock too.
func windowByTheClock(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("ana", "m", 10, 2))
	began := time.Now()
	check(t, charge(l, "ana", 10))
	charged := time.Now()
	r := unlessOver(t, l, 2*time.Second-time.Since(began))
	if r == nil {
		t.Skip("the machine is too slow")
	}
	if r.Left != 0 || r.Window != 2 || r.Reopens.Before(began.Add(time.Second)) || r.Reopens.After(charged.Add(4*time.Second)) {
		t.Errorf("charged between %v and %v, refused with %+v", began, charged, r)
	}
	for {
		err := charge(l, "ana", 10)
		if err == nil {
			break
		}
		refused(t, err)
		if time.Since(charged) > patience {
			t.Fatalf("the window has not ended: %v", err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	if waited := time.Since(began); waited < 2*time.Second {
		t.Errorf("the window has ended after %v", waited)
	}
	if b := balance(t, l, "ana"); b.Spent != 20 || b.WindowSpent > 10 {
		t.Errorf("%+v", b)
	}
}

// unlessOver demands that a charge is refused. It returns nil if a window may be over that lasts
// for some time more.
func unlessOver(t *testing.T, l ledger.Ledger, more time.Duration) *ledger.RefusalError {
	t.Helper()
	began := time.Now()
	err := charge(l, "ana", 1)
	if time.Since(began) >= more {
		return nil
	}
	return refused(t, err)
}

const (
	hammerLimit = 40
	hammerTime  = 2500 * time.Millisecond // of windows of a second
)

func init() {
	clients["hammer"] = tellGranted(func(l ledger.Ledger) (int, error) { return hammer(l) })
}

// hammer charges ana from several goroutines, in every way, for some windows. It returns how much
// was granted.
func hammer(l ledger.Ledger) (granted int, err error) {
	end := time.Now().Add(hammerTime)
	var total atomic.Int64
	errs := make([]error, callers)
	var all sync.WaitGroup
	for g := range callers {
		all.Go(func() {
			for n := g; time.Now().Before(end); n++ {
				granted, err := hammerOnce(l, n)
				total.Add(int64(granted))
				if err != nil {
					if errs[g] = unlessRefused(err); errs[g] != nil {
						return
					}
					time.Sleep(10 * time.Millisecond) // while the window is used up
				}
			}
		})
	}
	all.Wait()
	return int(total.Load()), errors.Join(errs...)
}

// hammerOnce charges in one of several ways.
func hammerOnce(l ledger.Ledger, n int) (granted int, err error) {
	switch n % 3 {
	case 0:
		s := l.NewStatement()
		for range 7 {
			if err = s.Spender("f", "m").Charge([]byte("ana"), 1); err != nil {
				break
			}
			granted++
		}
		return granted, errors.Join(err, s.End())
	case 1:
		if err := l.Reserve("m", items(3, "ana")); err != nil {
			return 0, err
		}
	}
	if err := charge(l, "ana", 2); err != nil {
		return 0, err
	}
	return 2, nil
}

// However long it is charged from everywhere, each window holds its limit.
func windowsOfProcesses(t *testing.T, e Engine) {
	e.shared(t)
	l := e.fresh(t)
	check(t, l.SetLimit("ana", "m", hammerLimit, 1))
	began := time.Now()
	players := []*player{l.start(t, "hammer"), l.start(t, "hammer")}
	total, err := hammer(l)
	check(t, err)
	for _, p := range players {
		n, err := strconv.Atoi(p.end())
		check(t, err)
		total += n
	}
	windows := 1 + int(time.Since(began)/time.Second)
	if total > windows*hammerLimit || total < hammerLimit {
		t.Errorf("granted %d in %d windows of %d", total, windows, hammerLimit)
	}
	if b := balance(t, l, "ana"); b.Spent != budget.Amount(total) || b.Spent+b.Reserved > budget.Amount(windows*hammerLimit) {
		t.Errorf("granted %d, %+v", total, b)
	}
}
