package file

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

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

// result waits for a player to end by itself and returns its output.
func (p *player) result(t testing.TB) string {
	t.Helper()
	all, err := io.ReadAll(p.out)
	check(t, err)
	check(t, p.cmd.Wait())
	return strings.TrimSpace(string(all))
}

// roles are the programs of the test binary as another process. The first argument is
// the ledger's path.
var roles = map[string]func(args []string) error{
	"identify": withLedger(func(l *Ledger) error { fmt.Println(l.ID()); return nil }),
	"charge":   withLedger(func(l *Ledger) error { return unlessRefused(charge(l, "ana", 1)) }),
	"hammer":   withLedger(hammer),
	"crash":    withLedger(crash),
	"answer":   withLedger(answer),

	"charge for ever": func(args []string) error {
		return withLedger(func(l *Ledger) error { return chargeForEver(l, args[1]) })(args)
	},
	"push in": func(args []string) error {
		return withLedger(func(l *Ledger) error {
			l.withoutQueue()
			return chargeForEver(l, args[1])
		})(args)
	},

	"hold":               func(args []string) error { return holdLock(args[0], args[1]) },
	"copy":               func(args []string) error { return copyFile(args[0], args[1]) },
	"stand in the queue": func(args []string) error { return standInQueue(args[0]) },
}

// Killed reports whether a process of a role was killed, and did not end by itself. On Windows a kill is no more
// than the status 1, with which no role ends.
func Killed(p *os.ProcessState) bool {
	return !p.Exited() || runtime.GOOS == "windows" && p.ExitCode() == 1
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

// callers is how many goroutines a process has.
const callers = 4

func unlessRefused(err error) error {
	var r *ledger.RefusalError
	if errors.As(err, &r) {
		return nil
	}
	return err
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
					_, err = l.BalancesAfter("", "")
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
