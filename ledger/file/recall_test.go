package file

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

// holders are the ways to hold what is reserved. Each charges ana 1 at a time, after it has
// reserved more than it has charged.
var holders = map[string]func(t *testing.T, l *Ledger) (charge func() error, end func() error){
	"statement": func(t *testing.T, l *Ledger) (func() error, func() error) {
		s := l.NewStatement()
		p := s.Spender("f", "m")
		return func() error { return p.Charge([]byte("ana"), 1) }, s.End
	},
	"statement with a pool": func(t *testing.T, l *Ledger) (func() error, func() error) {
		check(t, l.Reserve("m", []ledger.Item{{Account: "ana", Epsilon: 40}}))
		s := l.NewStatement()
		p := s.Spender("f", "m")
		return func() error { return p.Charge([]byte("ana"), 1) }, s.End
	},
	"pool": func(t *testing.T, l *Ledger) (func() error, func() error) {
		check(t, l.Reserve("m", []ledger.Item{{Account: "ana", Epsilon: 40}}))
		return func() error { return charge(l, "ana", 1) }, func() error { return nil }
	},
	"pool of which each statement takes": func(t *testing.T, l *Ledger) (func() error, func() error) {
		check(t, l.Reserve("m", []ledger.Item{{Account: "ana", Epsilon: 40}}))
		return func() error {
			s := l.NewStatement()
			err := s.Spender("f", "m").Charge([]byte("ana"), 1)
			check(t, s.End())
			return err
		}, func() error { return nil }
	},
	"trace": func(t *testing.T, l *Ledger) (func() error, func() error) {
		trace, _, _, err := l.OpenTrace("walk", "ana", "m", "f")
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

// A lower limit takes back what is reserved: what may still be granted is what it leaves
// beside what was spent, and in the end nothing stays reserved.
func TestLoweredLimitTakesBack(t *testing.T) {
	for name, holder := range holders {
		for _, whose := range []string{"ana", ledger.Everyone} {
			for _, to := range []budget.Amount{0, 3, 6, 8, 20} {
				for _, window := range []int64{0, 3600} {
					t.Run(fmt.Sprintf("%s: %s to %d in %d s", name, whose, int64(to), window), func(t *testing.T) {
						l := newFile(t)
						check(t, l.SetLimit("*", "m", 100, window))
						charge, end := holder(t, l)
						const before = 5
						for range before {
							check(t, charge())
						}
						check(t, l.SetLimit(whose, "m", to, window))
						granted := budget.Amount(before)
						for ; granted < to; granted++ {
							check(t, charge())
						}
						refused(t, charge())
						check(t, end())
						if b := balance(t, l, "ana"); b.Spent != granted || b.Reserved != 0 {
							t.Errorf("granted %d, balance %+v", int64(granted), b)
						}
						check(t, verify(l, "", nil))
					})
				}
			}
		}
	}
}

// A limit that is raised, repeated, or somebody else's takes nothing back.
func TestOtherLimitsTakeNothingBack(t *testing.T) {
	l := newFile(t)
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
	check(t, l.SetLimit("ana", "m", 150, 0)) // above what she reserved under
	check(t, charge(l, "ana", 1))
	if b := balance(t, l, "ana"); b.Reserved != 39 {
		t.Errorf("got %+v", b)
	}
}

// A ledger that is closed stays closed: looking for limits does not open it again.
func TestClosedLedgerIsNotLookedAt(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("*", "m", 100, 0))
	check(t, l.Reserve("m", []ledger.Item{{Account: "ana", Epsilon: 30}}))
	check(t, charge(l, "ana", 1)) // which looks
	check(t, l.Close())
	for range 2 {
		if err := charge(l, "ana", 1); err != engine.ErrClosed {
			t.Errorf("got %v", err)
		}
	}
	if left, err := os.ReadDir(filepath.Dir(l.Path())); err != nil || len(left) != 1 {
		t.Errorf("left %v, %v", left, err)
	}
}

// Nothing is granted by a charge that begins after SetLimit has returned.
func TestBlockedAtOnce(t *testing.T) {
	l := newFile(t)
	for round := range 20 {
		check(t, l.SetLimit("*", "m", budget.Max, 0))
		check(t, l.Reserve("m", []ledger.Item{{Account: "ana", Epsilon: one}}))
		var blocked atomic.Bool
		var all sync.WaitGroup
		for name, holder := range holders {
			if name == "trace" && round > 0 {
				continue // which is one trace
			}
			charge, end := holder(t, l)
			all.Go(func() {
				for {
					late := blocked.Load()
					err := charge()
					if err == nil && late {
						t.Errorf("%s was granted what is blocked", name)
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
	check(t, verify(l, "", nil))
}

// Another process finds the limit in every statement that begins, and while one runs
// within engine.CheckAfter evaluations.
func TestBlockedInAnotherProcess(t *testing.T) {
	for name := range holders {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newFile(t)
			check(t, l.SetLimit("ana", "m", 100_000, 0))
			other := newServant(t, name, l.Path())
			first, most := 4200, engine.CheckAfter // which reserves more than another 3,000
			if strings.HasPrefix(name, "pool") {
				first, most = 5, 0
			}
			if granted := other.charge(first); granted != first {
				t.Fatalf("granted %d of %d", granted, first)
			}
			check(t, l.SetLimit("ana", "m", 0, 0))
			if granted := other.charge(3000); granted > most {
				t.Errorf("granted %d after the limit, want at most %d", granted, most)
			}
			other.end()
			if b := balance(t, l, "ana"); b.Reserved != 0 {
				t.Errorf("stays reserved: %+v", b)
			}
		})
	}
}

// A servant is a process that holds what it has reserved and charges when it is told.
type servant struct {
	t *testing.T
	*player
	in  io.WriteCloser
	say *bufio.Reader
}

func newServant(t *testing.T, holder, path string) *servant {
	t.Helper()
	cmd := playing("serve", path, holder)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	check(t, err)
	out, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	return &servant{t, &player{cmd, out}, in, bufio.NewReader(out)}
}

// charge tells the servant to charge up to n times, and how often it was granted.
func (s *servant) charge(n int) (granted int) {
	s.t.Helper()
	_, err := fmt.Fprintln(s.in, n)
	check(s.t, err)
	line, err := s.say.ReadString('\n')
	check(s.t, err)
	granted, err = strconv.Atoi(strings.TrimSpace(line))
	check(s.t, err)
	return granted
}

func (s *servant) end() {
	s.t.Helper()
	s.in.Close()
	check(s.t, s.cmd.Wait())
}

// serve is what a servant does.
func serve(args []string) error {
	l, err := Open(args[0], false)
	if err != nil {
		return err
	}
	charge, end := holders[args[1]](new(testing.T), l)
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
	if err := end(); err != nil {
		return err
	}
	return l.Close()
}
