package file

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

// player is the test binary in another process.
type player struct {
	cmd *exec.Cmd
	out io.ReadCloser
}

func start(t testing.TB, role string, args ...string) *player {
	t.Helper()
	cmd := playing(role, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	return &player{cmd, out}
}

// playing is the command that plays a role.
func playing(role string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), RoleVariable+"="+role)
	return cmd
}

// result waits for a player to end by itself and returns what it wrote.
func (p *player) result(t testing.TB) string {
	t.Helper()
	all, err := io.ReadAll(p.out)
	check(t, err)
	check(t, p.cmd.Wait())
	return strings.TrimSpace(string(all))
}

// roles are what the test binary does as another process. The first argument is
// the ledger's path.
var roles = map[string]func(args []string) error{
	"identify": withLedger(func(l *Ledger) error { fmt.Println(l.ID()); return nil }),
	"charge":   withLedger(tellGranted(together(chargeUntilRefused))),
	"spend":    withLedger(tellGranted(together(spendUntilRefused))),
	"reserve":  withLedger(tellGranted(together(reserveUntilRefused))),
	"hammer":   withLedger(hammer),
	"crash":    withLedger(crash),
	"answer":   withLedger(answer),
	"record":   record,

	"charge for ever": func(args []string) error {
		return withLedger(func(l *Ledger) error { return chargeForEver(l, args[1]) })(args)
	},
	"push in": func(args []string) error {
		return withLedger(func(l *Ledger) error {
			l.withoutQueue()
			return chargeForEver(l, args[1])
		})(args)
	},

	"serve": serve,

	"hold":               func(args []string) error { return holdLock(args[0], args[1]) },
	"stand in the queue": func(args []string) error { return standInQueue(args[0]) },
}

func play(role string, args []string) error {
	if play, ok := roles[role]; ok {
		return play(args)
	}
	return errors.New("no such role")
}

func withLedger(work func(*Ledger) error) func(args []string) error {
	return func(args []string) error {
		l, err := Open(args[0], true)
		if err != nil {
			return err
		}
		if err := work(l); err != nil {
			return err
		}
		return l.Close()
	}
}

func tellGranted(charge func(*Ledger) (int, error)) func(*Ledger) error {
	return func(l *Ledger) error {
		granted, err := charge(l)
		fmt.Println(granted)
		return err
	}
}

// untilRefused charges 1 at a time until that is refused, and returns how often
// it was granted, or the error that was no refusal.
var untilRefused = map[string]func(*Ledger) (int, error){
	"charge":  chargeUntilRefused,
	"spend":   spendUntilRefused,
	"reserve": reserveUntilRefused,
}

// callers is how many goroutines a process has.
const callers = 4

// together does so from several goroutines.
func together(untilRefused func(*Ledger) (int, error)) func(*Ledger) (int, error) {
	return func(l *Ledger) (granted int, err error) {
		grants, errs := make([]int, callers), make([]error, callers)
		var all sync.WaitGroup
		for i := range callers {
			all.Go(func() { grants[i], errs[i] = untilRefused(l) })
		}
		all.Wait()
		for _, n := range grants {
			granted += n
		}
		return granted, errors.Join(errs...)
	}
}

func chargeUntilRefused(l *Ledger) (granted int, err error) {
	for err == nil {
		if err = charge(l, "ana", 1); err == nil {
			granted++
		}
	}
	return granted, unlessRefused(err)
}

// spendUntilRefused does so in statements of different lengths.
func spendUntilRefused(l *Ledger) (granted int, err error) {
	for n := 1; err == nil; n = n%17 + 1 {
		s := l.NewStatement()
		for i := 0; i < n && err == nil; i++ {
			if err = s.Spender("f", "m").Charge([]byte("ana"), 1); err == nil {
				granted++
			}
		}
		if ending := s.End(); ending != nil {
			return granted, ending
		}
	}
	return granted, unlessRefused(err)
}

// reserveUntilRefused charges what it has set aside before.
func reserveUntilRefused(l *Ledger) (granted int, err error) {
	for n := 1; err == nil; n = n%17 + 1 {
		err = l.Reserve("m", []ledger.Item{{Account: "ana", Epsilon: budget.Amount(n)}})
		if unlessRefused(err) != nil {
			return granted, err
		}
		for range n { // also what others have set aside, or the limit has left
			if err = charge(l, "ana", 1); err != nil {
				break
			}
			granted++
		}
	}
	return granted, unlessRefused(err)
}

func unlessRefused(err error) error {
	var r *ledger.RefusalError
	if errors.As(err, &r) {
		return nil
	}
	return err
}

func TestGoroutinesStopAtTheLimit(t *testing.T) {
	const limit = 400
	for name, charge := range untilRefused {
		l := newFile(t)
		check(t, l.SetLimit("ana", "m", limit, 0))
		check(t, l.Reserve("m", []ledger.Item{{Account: "ana", Epsilon: 50}}))
		granted := make([]int, 8)
		var all sync.WaitGroup
		for i := range granted {
			all.Go(func() {
				n, err := charge(l)
				if err != nil {
					t.Error(err)
				}
				granted[i] = n
			})
		}
		all.Wait()
		stopsAt(t, name, l, limit, granted)
	}
}

func TestProcessesStopAtTheLimit(t *testing.T) {
	const limit = 1000
	for role := range untilRefused {
		l := newFile(t)
		check(t, l.SetLimit("ana", "m", limit, 0))
		players := make([]*player, 4)
		for i := range players {
			players[i] = start(t, role, l.Path())
		}
		granted := make([]int, len(players))
		for i, p := range players {
			n, err := strconv.Atoi(p.result(t))
			check(t, err)
			granted[i] = n
		}
		stopsAt(t, role, l, limit, granted)
	}
}

// stopsAt demands that what was granted, and what one more spender gets, is the
// limit. (A spender may be refused while others hold what they return later.)
func stopsAt(t *testing.T, name string, l *Ledger, limit int, granted []int) {
	t.Helper()
	total := 0
	for _, n := range granted {
		total += n
	}
	b := balance(t, l, "ana")
	if b.Spent != budget.Amount(total) || total > limit {
		t.Errorf("%s: granted %v, balance %+v", name, granted, b)
	}
	if name == "charge" && total != limit {
		t.Errorf("charge: granted %v", granted)
	}
	rest, err := chargeUntilRefused(l)
	check(t, err)
	if total+rest != limit {
		t.Errorf("%s: granted %v and then %d", name, granted, rest)
	}
	if r := onDisk(t, l.Path())[key{"ana", "m"}]; r.total() != budget.Amount(limit) {
		t.Errorf("%s: on disk %v", name, r)
	}
}

func TestProcessesCreateOneLedger(t *testing.T) {
	for range 5 {
		path := filepath.Join(t.TempDir(), "x-ledger")
		players := make([]*player, 6)
		for i := range players {
			players[i] = start(t, "identify", path)
		}
		ids := map[string]bool{}
		for _, p := range players {
			ids[p.result(t)] = true
		}
		if len(ids) != 1 {
			t.Errorf("%d ledgers", len(ids))
		}
	}
}

func TestGoroutinesOpenOneLedger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x-ledger")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				l, err := Open(path, true)
				if err == nil {
					err = l.SetLimit("ana", "m", 1, 0)
				}
				if err == nil {
					_, err = l.Balances()
				}
				if err == nil {
					err = l.Close()
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// Charges and reads of one object from many goroutines at once, for the race
// detector.
func TestConcurrentUse(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("*", "m", one, 0))
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			account := []byte(fmt.Sprint("account ", g%2))
			for range 10 {
				s := l.NewStatement()
				for range 40 {
					if err := s.Spender("f", "m").Charge(account, 1); err != nil {
						t.Error(err)
					}
				}
				if err := s.End(); err != nil {
					t.Error(err)
				}
				if err := l.Reserve("m", []ledger.Item{{Account: string(account), Epsilon: 30}}); err != nil {
					t.Error(err)
				}
				for _, err := range l.Charges() {
					if err != nil {
						t.Error(err)
					}
					l.Path() // the loop may use the ledger
					if _, err := l.Balance("ana", "m"); err != nil {
						t.Error(err)
					}
					break
				}
			}
		})
	}
	all.Wait()
	path := l.Path()
	check(t, l.Close())
	for g := range 2 {
		if r := onDisk(t, path)[key{fmt.Sprint("account ", g), "m"}]; r != (row{800, 0}) {
			t.Errorf("account %d: %v", g, r)
		}
	}
}
