//go:build unix

package postgres

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	random "math/rand/v2"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

// The work of an application until it is killed. Accounts are new every half second, and soon have
// nothing left, so that applications race for new rows and for the last of each budget.

const (
	eps = budget.One / 2 // of everything

	chargeUnit  = "m" // the limit of everybody is mostOfAll
	windowUnit  = "kWh"
	releaseUnit = "release"
	questUnit   = "question"
	traceUnit   = "trace"
	onceUnit    = "once"

	mostOfAll    = 40 * eps
	windowMost   = 12 * eps
	accounts     = 6 // of each kind
	releaseSize  = 60
	releaseBatch = 9
	askingRole   = "sales"
	windowLength = 1 // seconds
)

// prepareCrash sets the limits that applications do not set.
func prepareCrash(l *Ledger) error {
	for _, s := range []struct {
		account string
		unit    budget.Unit
		setting
	}{
		{"*", chargeUnit, setting{mostOfAll, 0}},
		{"*", windowUnit, setting{windowMost, windowLength}},
		{"*", releaseUnit, setting{10 * eps, 0}},
		{"*", questUnit, setting{budget.Max, 0}},
		{"*", traceUnit, setting{budget.Max, 0}},
		{"*", onceUnit, setting{10 * eps, 0}},
	} {
		if err := l.SetLimit(s.account, s.unit, s.eps, s.seconds); err != nil {
			return err
		}
	}
	return nil
}

// worker is one of the goroutines of an application.
type worker struct {
	l      *Ledger
	say    reporter
	pause  *sync.RWMutex
	number int // of the application
	what   string
}

// work is a kind of work: it returns a function to call again and again.
type work func(w *worker) func() error

// chargers is how many workers charge accounts without reserving ahead that share nothing with others.
const chargers = 3

var works = map[string]work{
	"charge":    charges,
	"batch":     batches,
	"batch too": batches,
	"once":      onces,
	"statement": statements,
	"aside":     pools,
	"windows":   windowed,
	"limits":    limits,
	"trace":     traces,
	"question":  questions,
}

func init() { asApplication = playApplication }

// playApplication does the work of an application, if the process is one.
func playApplication() {
	role := os.Getenv(crashVariable)
	if role == "" {
		return
	}
	number, err := strconv.Atoi(os.Args[2])
	if err == nil {
		var begun int64
		if begun, err = strconv.ParseInt(os.Args[3], 10, 64); err == nil {
			err = play(role, os.Args[1], number, begun)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// play lets the workers of a role work. They stand still between the lines "pause" and "go" on
// standard input.
func play(role, where string, number int, begun int64) error {
	l, err := Open(where, false)
	if err != nil {
		return err
	}
	kinds := works
	if p := planted[role]; p != nil && p.work != nil {
		kinds = map[string]work{role: p.work, role + " too": p.work}
	} else {
		kinds["release"] = releases(begun)
	}
	var pause sync.RWMutex
	say := reporter{os.Stdout}
	for what, kind := range kinds {
		go (&worker{l, say, &pause, number, what}).forever(kind)
	}
	say.line("ready")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		if lines.Text() == "pause" {
			pause.Lock()
			say.line("paused")
		} else {
			pause.Unlock()
		}
	}
	return nil // the judge is gone
}

// forever works and reports errors.
func (w *worker) forever(kind work) {
	do := kind(w)
	for {
		if err := w.step(do); err != nil {
			w.say.failed(w.what, err)
			time.Sleep(5 * time.Millisecond)
		}
	}
}

// step does something unless the application stands still. After a refusal it waits a little.
func (w *worker) step(do func() error) error {
	w.pause.RLock()
	err := do()
	w.pause.RUnlock()
	if _, ok := errors.AsType[*ledger.RefusalError](err); ok {
		time.Sleep(time.Millisecond)
		return nil
	}
	return err
}

// grant calls something that is granted to accounts unless it returns an error, and says so.
func (w *worker) grant(unit budget.Unit, call func() error, accounts ...string) error {
	asked := time.Now()
	if err := call(); err != nil {
		return err
	}
	w.say.granted(asked, unit, accounts...)
	return nil
}

// someone returns the name of one of the accounts of a kind that there are at the moment.
func someone(kind string) string { return fmt.Sprintf("%s%d", slot(kind), random.IntN(accounts)) }

func slot(kind string) string { return fmt.Sprintf("%s%d-", kind, time.Now().UnixMilli()/500) }

// someones returns the names of several accounts, in any order.
func someones(kind string) (names []string) {
	prefix := slot(kind)
	for _, i := range random.Perm(accounts)[:1+random.IntN(accounts)] {
		names = append(names, fmt.Sprint(prefix, i))
	}
	return names
}

// charges charges one account, one of those in batches too.
func charges(w *worker) func() error {
	return func() error {
		account := someone("c")
		return w.grant(chargeUnit, func() error { return w.l.Charge("f", chargeUnit, items(eps, account)) }, account)
	}
}

func batches(w *worker) func() error {
	return func() error {
		names := someones("c")
		return w.grant(chargeUnit, func() error { return w.l.Charge("f", chargeUnit, items(eps, names...)) }, names...)
	}
}

// onces charges accounts that can be charged once.
func onces(w *worker) func() error {
	return func() error {
		account := someone("o")
		err := w.grant(onceUnit, func() error { return w.l.ChargeOnce("f", onceUnit, items(eps, account)[0]) }, account)
		if engine.Is[*ledger.AlreadyChargedError](err) {
			time.Sleep(10 * time.Millisecond)
			return nil
		}
		return err
	}
}

// statements runs statements, which reserve ahead.
func statements(w *worker) func() error {
	var s ledger.Statement
	var spender ledger.Spender
	left := 0
	return func() error {
		if left == 0 {
			s, left = w.l.NewStatement(), 1+random.IntN(100)
			spender = s.Spender("f", chargeUnit)
		}
		if left--; left == 0 {
			return s.End()
		}
		account := someone("s")
		return w.grant(chargeUnit, func() error { return spender.Charge([]byte(account), eps) }, account)
	}
}

// pools sets amounts aside and uses most of them.
func pools(w *worker) func() error {
	var aside []string
	n := 0
	return func() error {
		if n--; n <= 0 {
			aside, n = someones("p"), 8
			return w.l.Reserve(chargeUnit, items(10*eps, aside...))
		}
		return w.grant(chargeUnit, func() error { return w.l.Charge("f", chargeUnit, items(eps, aside...)) }, aside...)
	}
}

// windowed charges accounts with limits that open again, alone and in statements.
func windowed(w *worker) func() error {
	return func() error {
		account := fmt.Sprint("w", random.IntN(3))
		if random.IntN(4) > 0 {
			return w.grant(windowUnit, func() error { return w.l.Charge("f", windowUnit, items(eps, account)) }, account)
		}
		s := w.l.NewStatement()
		spender := s.Spender("f", windowUnit)
		for range 6 {
			err := w.grant(windowUnit, func() error { return spender.Charge([]byte(account), eps) }, account)
			if err != nil {
				return errors.Join(err, s.End())
			}
		}
		return s.End()
	}
}

// limits sets limits higher and lower, with windows and without, of accounts of its own, and charges
// those of all applications.
func limits(w *worker) func() error {
	n := 0
	return func() error {
		if n++; n%4 > 0 {
			account := fmt.Sprintf("l%d-%d", random.IntN(applications), random.IntN(3))
			return w.grant(chargeUnit, func() error { return w.l.Charge("f", chargeUnit, items(eps, account)) }, account)
		}
		k := engine.Key{Account: fmt.Sprintf("l%d-%d", w.number, random.IntN(3)), Unit: chargeUnit}
		b, err := w.l.Balance(k.Account, k.Unit)
		if err != nil {
			return err
		}
		s := setting{max(0, b.Spent+b.Reserved+eps*budget.Amount(random.IntN(20)-6)), 0}
		if k.Account[3] == '2' {
			s = setting{eps * budget.Amount(random.IntN(9)), int64(random.IntN(3))}
		}
		w.say.limit("asked", s, k)
		if err := w.l.SetLimit(k.Account, k.Unit, s.eps, s.seconds); err != nil {
			return err
		}
		w.say.limit("set", s, k)
		return nil
	}
}

// traces makes steps of two traces, after it has restarted traces left by a kill.
func traces(w *worker) func() error {
	var t ledger.Trace
	var steps int64
	i := 0
	name := func() string { return fmt.Sprintf("t%d-%d", w.number, i) }
	step := func() error {
		if t == nil {
			i = 1 - i
			if _, err := w.l.RestartTrace(name(), name(), traceUnit); err != nil {
				return err
			}
			opened, saved, _, err := w.l.OpenTrace(name(), name(), traceUnit, "f")
			if err != nil {
				return err
			}
			t, steps = opened, 0
			if len(saved) > 0 {
				if steps, err = strconv.ParseInt(string(saved), 10, 64); err != nil {
					return err
				}
			}
			w.say.line("opened %s %d", name(), steps)
		}
		now := fmt.Append(nil, steps)
		switch random.IntN(20) {
		case 0:
			if err := t.Close(now); err != nil {
				return err
			}
			t = nil
		case 1:
			if err := t.Save(now); err != nil {
				return err
			}
		default:
			if err := w.grant(traceUnit, func() error { return t.Reserve(eps, 50*eps) }, name()); err != nil {
				return err
			}
			steps++
			t.Add(ledger.Point{Time: time.Now(), Spent: eps})
			return nil
		}
		w.say.line("saved %s %d", name(), steps)
		return nil
	}
	return func() error {
		err := step()
		if err != nil {
			t = nil // it is restarted
		}
		return err
	}
}

// questions asks the questions that the other applications ask at the same time.
func questions(w *worker) func() error {
	return func() error {
		key := fmt.Sprintf("%d/%d", time.Now().UnixMilli()/50, random.IntN(3))
		a, err := askAbout(w.l, key, func([]string) ([]byte, error) { return []byte(rand.Text()), nil })
		if err != nil {
			return err
		}
		w.say.line("answered %s %s", key, a.Answer)
		if !a.Remembered {
			w.say.granted(a.Time, questUnit, askedAccounts...)
		}
		return nil
	}
}

var askedAccounts = []string{"q0", "q1", "q2", "q3"}

// askAbout asks a question about some accounts, as a role that sees all answers.
func askAbout(l ledger.Ledger, key string, draw func([]string) ([]byte, error)) (ledger.Answered, error) {
	q := ledger.Question{Function: "f", Unit: questUnit, Role: askingRole, RoleLimit: budget.Max, Draw: draw}
	copy(q.Key[:], key)
	for _, account := range askedAccounts {
		q.Members = append(q.Members, ledger.Member{Account: account, Epsilon: 2 * eps, Due: eps, RoleDue: eps, Evaluations: 1})
	}
	return l.Answer(context.Background(), q)
}

func releaseName(n int64) string { return fmt.Sprint("r", n) }

// releaseAccounts returns the accounts of a release, in ascending order.
func releaseAccounts(name string) (names []string) {
	for i := range releaseSize {
		names = append(names, fmt.Sprintf("%s/%03d", name, i))
	}
	return names
}

// releases charges for one release after another, which others charge for too.
func releases(begun int64) work {
	return func(w *worker) func() error {
		n := begun
		var r ledger.Release
		step := func() error {
			name := releaseName(n)
			if r == nil {
				var err error
				if r, err = w.l.OpenRelease(name, ledger.ReleasePlan{Digest: "d", Settings: "s", Output: name}); err != nil {
					return err
				}
			}
			if r.Published() != nil {
				r, n = nil, n+1
				return nil
			}
			if rest := releaseAccounts(name)[r.Charged():]; len(rest) > 0 {
				rest = rest[:min(len(rest), releaseBatch)]
				return w.grant(releaseUnit, func() error { return r.Charge(releaseUnit, items(eps, rest...)) }, rest...)
			}
			if err := r.Seal("hash"); err != nil {
				return err
			}
			w.say.line("sealed %s", name)
			r, n = nil, n+1
			return nil
		}
		return func() error {
			err := step()
			if err != nil {
				r = nil
			}
			if engine.Is[*ledger.ReleaseError](err) { // another process has continued it
				return nil
			}
			return err
		}
	}
}
