package ledgertest

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/ledger"
)

var recallTests = tests{
	"LoweredLimitTakesBack":      loweredLimitTakesBack,
	"OtherLimitsTakeNothingBack": otherLimitsTakeNothingBack,
	"PoolReturnsAfterALimit":     poolReturnsAfterALimit,
	"BlockedAtOnce":              blockedAtOnce,
	"BlockedInAnotherProcess":    blockedInAnotherProcess,
}

// holders are the ways to hold a reservation in a unit. Each charges ana 1 at a time, after it
// has reserved more than it has charged.
var holders = map[string]func(t failer, l ledger.Ledger, unit budget.Unit) (charge func() error, end func() error){
	"statement": func(t failer, l ledger.Ledger, unit budget.Unit) (func() error, func() error) {
		s := l.NewStatement()
		p := s.Spender("f", unit)
		return func() error { return p.Charge([]byte("ana"), 1) }, s.End
	},
	"statement with a pool": func(t failer, l ledger.Ledger, unit budget.Unit) (func() error, func() error) {
		check(t, l.Reserve(unit, items(40, "ana")))
		s := l.NewStatement()
		p := s.Spender("f", unit)
		return func() error { return p.Charge([]byte("ana"), 1) }, s.End
	},
	"pool": func(t failer, l ledger.Ledger, unit budget.Unit) (func() error, func() error) {
		check(t, l.Reserve(unit, items(40, "ana")))
		return func() error { return l.Charge("f", unit, items(1, "ana")) }, func() error { return nil }
	},
	"pool that each statement takes from": func(t failer, l ledger.Ledger, unit budget.Unit) (func() error, func() error) {
		check(t, l.Reserve(unit, items(40, "ana")))
		return func() error {
			s := l.NewStatement()
			err := s.Spender("f", unit).Charge([]byte("ana"), 1)
			check(t, s.End())
			return err
		}, func() error { return nil }
	},
	"trace": func(t failer, l ledger.Ledger, unit budget.Unit) (func() error, func() error) {
		trace, _, _, err := l.OpenTrace(fmt.Sprint("walk ", unit), "ana", unit, "f")
		check(t, err)
		at := time.Unix(0, 0)
		step := func() error {
			err := trace.Reserve(1, 5000)
			if err == nil {
				at = at.Add(time.Second)
				trace.Add(ledger.Point{Time: at, Spent: 1})
			}
			return err
		}
		return step, func() error { return trace.Close(nil) }
	},
}

// A lower limit takes back reservations: the amount that may still be granted is the limit
// less the spent amount, and in the end nothing stays reserved.
func loweredLimitTakesBack(t *testing.T, e Engine) {
	type lowering struct {
		holder, whose string
		to            budget.Amount
		window        int64
	}
	var all []lowering
	for name := range holders {
		for _, whose := range []string{"ana", ledger.Everyone} {
			for _, to := range []budget.Amount{0, 3, 6, 8, 20} {
				all = append(all, lowering{name, whose, to, 0}, lowering{name, whose, to, 3600})
			}
		}
	}
	l := e.fresh(t)
	for i, c := range trials.Some(t, 40, all...) {
		unit := budget.Unit(fmt.Sprint("unit ", i)) // and so limits of its own
		t.Run(fmt.Sprintf("%s: %s to %d in %d s", c.holder, c.whose, int64(c.to), c.window), func(t *testing.T) {
			check(t, l.SetLimit("*", unit, 100, c.window))
			charge, end := holders[c.holder](t, l, unit)
			const before = 5
			for range before {
				check(t, charge())
			}
			check(t, l.SetLimit(c.whose, unit, c.to, c.window))
			granted := budget.Amount(before)
			for ; granted < c.to; granted++ {
				check(t, charge())
			}
			refused(t, charge())
			check(t, end())
			if b, err := l.Balance("ana", unit); err != nil || b.Spent != granted || b.Reserved != 0 {
				t.Errorf("granted %d, balance %+v, %v", int64(granted), b, err)
			}
		})
	}
}

// A limit that is raised, repeated, or somebody else's takes nothing back.
func otherLimitsTakeNothingBack(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("*", "m", 100, 0))
	check(t, l.SetLimit("bob", "m", 100, 0))
	check(t, l.Reserve("m", []ledger.Item{{Account: "ana", Epsilon: 40}}))
	check(t, l.SetLimit("*", "m", 100, 0))
	check(t, l.SetLimit("ana", "m", 200, 0))
	check(t, l.SetLimit("bob", "m", 1, 0))
	check(t, l.SetLimit("ana", "kWh", 1, 0))
	check(t, l.SetLimit("*", "m", 1, 0)) // ana has her own
	if b := balance(t, l, "ana"); b.Reserved != 40 {
		t.Errorf("got %+v", b)
	}
	check(t, l.SetLimit("ana", "m", 150, 0)) // above her limit when she reserved
	check(t, charge(l, "ana", 1))
	if b := balance(t, l, "ana"); b.Reserved != 39 {
		t.Errorf("got %+v", b)
	}
}

// An amount that a statement took from a pool returns with its end also when limits were set meanwhile: it
// can be charged at once.
func poolReturnsAfterALimit(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("ana", "m", 100, 0))
	check(t, l.Reserve("m", items(100, "ana")))
	s := l.NewStatement()
	check(t, s.Spender("f", "m").Charge([]byte("ana"), 1)) // holds 15 more
	check(t, l.SetLimit("bob", "m", 1, 0))
	check(t, charge(l, "ana", 1)) // which looks for limits
	check(t, s.End())
	p := l.NewStatement()
	for range 98 {
		check(t, p.Spender("f", "m").Charge([]byte("ana"), 1))
	}
	refused(t, p.Spender("f", "m").Charge([]byte("ana"), 1))
	check(t, p.End())
	wantBalance(t, l, "ana", 100, 0)
}

// Nothing is granted by a charge that begins after SetLimit has returned.
func blockedAtOnce(t *testing.T, e Engine) {
	l := e.fresh(t)
	for round := range 20 {
		check(t, l.SetLimit("*", "m", budget.Max, 0))
		check(t, l.Reserve("m", []ledger.Item{{Account: "ana", Epsilon: one}}))
		var blocked atomic.Bool
		var all sync.WaitGroup
		for name, holder := range holders {
			if name == "trace" && round > 0 {
				continue // which is one trace
			}
			charge, end := holder(t, l, "m")
			all.Go(func() {
				for {
					late := blocked.Load()
					err := charge()
					if err == nil && late {
						t.Errorf("%s was granted a blocked amount", name)
					}
					if err != nil || late {
						_ = end()
						return
					}
				}
			})
		}
		time.Sleep(time.Duration(round%5) * time.Millisecond)
		check(t, l.SetLimit("*", "m", 0, 0))
		blocked.Store(true)
		all.Wait()
		if b := balance(t, l, "ana"); b.Reserved != 0 {
			t.Fatalf("round %d: %+v", round, b)
		}
	}
}

// evaluationsAfterALimit is how many evaluations a statement that runs in another process may be
// granted after SetLimit has returned.
const evaluationsAfterALimit = 1024

// Another process finds the limit in every statement that begins, and while one runs
// within so many evaluations.
func blockedInAnotherProcess(t *testing.T, e Engine) {
	for name := range holders {
		t.Run(name, func(t *testing.T) {
			e.shared(t)
			t.Parallel()
			l := e.fresh(t)
			check(t, l.SetLimit("ana", "m", 100_000, 0))
			other := l.start(t, "serve", name, "m")
			first, most := 4200, evaluationsAfterALimit // which reserves more than another 3,000
			if strings.HasPrefix(name, "pool") {
				first, most = 5, 0
			}
			if granted := tellToCharge(other, first); granted != first {
				t.Fatalf("granted %d of %d", granted, first)
			}
			check(t, l.SetLimit("ana", "m", 0, 0))
			if granted := tellToCharge(other, 3000); granted > most {
				t.Errorf("granted %d after the limit, want at most %d", granted, most)
			}
			other.end()
			if b := balance(t, l, "ana"); b.Reserved != 0 {
				t.Errorf("stays reserved: %+v", b)
			}
		})
	}
}

func init() { clients["serve"] = serve }

// tellToCharge tells a client that serves to charge up to n times, and returns how often it was granted.
func tellToCharge(p *player, n int) (granted int) {
	p.t.Helper()
	p.say(n)
	return p.hearNumber()
}

// serve holds its reservation, charges when it is told, and says how often it was granted.
func serve(l ledger.Ledger, args []string) error {
	charge, end := holders[args[0]](dying{}, l, budget.Unit(args[1]))
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		n, err := strconv.Atoi(lines.Text())
		if err != nil {
			return err
		}
		granted := 0
		for granted < n && charge() == nil {
			granted++
		}
		fmt.Println(granted)
	}
	return end()
}

// dying ends a client that fails.
type dying struct{}

func (dying) Helper()                           {}
func (dying) Fatal(args ...any)                 { panic(fmt.Sprint(args...)) }
func (dying) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
