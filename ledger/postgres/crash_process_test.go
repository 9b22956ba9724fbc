//go:build unix

package postgres

import (
	"bufio"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger/internal/engine"
	"github.com/geosql/geosql/ledger/postgres/internal/state"
)

// grant is a grant to an application at some time between two, in microseconds since 1970.
type grant struct {
	asked, told int64
	eps         budget.Amount
}

// setting is a limit.
type setting struct {
	eps     budget.Amount
	seconds int64
}

func (s setting) String() string { return fmt.Sprintf("%v in %d s", s.eps, s.seconds) }

// testimony is the output of applications.
type testimony struct {
	sync.Mutex
	granted map[engine.Key]budget.Amount
	grants  map[engine.Key][]grant   // of accounts with windows
	set     map[engine.Key]setting   // the last limit that was set
	asked   map[engine.Key][]setting // the ones that were to be set afterwards
	drawn   map[string]string        // answers by their questions
	latest  []string                 // questions, in the order of their first answers
	sealed  map[string]bool          // releases
	saved   map[string]int64         // how far traces are saved
	errors  map[string]int           // of the round
	faults  []string                 // impossible answers to applications
	begun   int64                    // the first release that is not sealed
}

func newTestimony() *testimony {
	return &testimony{
		granted: map[engine.Key]budget.Amount{}, grants: map[engine.Key][]grant{}, set: map[engine.Key]setting{},
		asked: map[engine.Key][]setting{}, drawn: map[string]string{}, sealed: map[string]bool{}, saved: map[string]int64{},
		errors: map[string]int{},
	}
}

// reporter writes testimony. One line is one write, below the size of a pipe's buffer: it arrives
// whole or not at all, and not in parts of others.
type reporter struct{ out io.Writer }

// line writes a line. The judge is gone if it cannot.
func (r reporter) line(format string, args ...any) {
	if _, err := fmt.Fprintf(r.out, format+"\n", args...); err != nil {
		os.Exit(1)
	}
}

// granted says that accounts were granted something since a time.
func (r reporter) granted(asked time.Time, unit budget.Unit, accounts ...string) {
	r.line("granted %d %d %d %s %s", asked.UnixMicro(), time.Now().UnixMicro(), eps, unit, strings.Join(accounts, ","))
}

// limit says that a limit is to be set ("asked") or was ("set").
func (r reporter) limit(what string, s setting, k engine.Key) {
	r.line("%s %d %d %s %s", what, s.eps, s.seconds, k.Unit, k.Account)
}

// failed reports an error.
func (r reporter) failed(what string, err error) {
	r.line("failed %s: %s", what, strings.ReplaceAll(err.Error(), "\n", " / "))
}

// hear takes in a line.
func (told *testimony) hear(line string) {
	told.Lock()
	defer told.Unlock()
	if err := told.take(line); err != nil {
		told.faults = append(told.faults, fmt.Sprintf("heard %q: %v", line, err))
	}
}

func (told *testimony) take(line string) error {
	what, rest, _ := strings.Cut(line, " ")
	f := strings.Fields(rest)
	number := func(i int) int64 {
		if i >= len(f) {
			return -1
		}
		n, err := strconv.ParseInt(f[i], 10, 64)
		if err != nil {
			return -1
		}
		return n
	}
	switch {
	case what == "failed":
		told.errors[rest]++
	case what == "granted" && len(f) == 5:
		g := grant{number(0), number(1), budget.Amount(number(2))}
		for account := range strings.SplitSeq(f[4], ",") {
			k := engine.Key{Account: account, Unit: budget.Unit(f[3])}
			told.granted[k] += g.eps
			if k.Unit == windowUnit {
				told.grants[k] = append(told.grants[k], g)
			}
		}
	case (what == "asked" || what == "set") && len(f) == 4:
		s, k := setting{budget.Amount(number(0)), number(1)}, engine.Key{Account: f[3], Unit: budget.Unit(f[2])}
		if what == "asked" {
			told.asked[k] = append(told.asked[k], s)
		} else {
			told.set[k], told.asked[k] = s, nil
		}
	case what == "answered" && len(f) == 2:
		switch before, known := told.drawn[f[0]]; {
		case !known:
			told.drawn[f[0]] = f[1]
			told.latest = append(told.latest, f[0])
		case before != f[1]:
			return fmt.Errorf("the answer was %s before", before)
		}
	case what == "sealed" && len(f) == 1:
		told.sealed[f[0]] = true
		for told.sealed[releaseName(told.begun)] {
			told.begun++
		}
	case what == "saved" && len(f) == 2:
		told.saved[f[0]] = number(1)
	case what == "opened" && len(f) == 2:
		if n := number(1); n < told.saved[f[0]] {
			return fmt.Errorf("the trace was saved at point %d", told.saved[f[0]])
		}
	default:
		return fmt.Errorf("it says nothing")
	}
	return nil
}

// application is the test binary as another process.
type application struct {
	number int
	cmd    *osexec.Cmd
	in     io.WriteCloser
	said   chan string   // messages about the process itself
	ended  chan struct{} // closed when all that it has written was heard
	stderr strings.Builder
	asked  atomic.Int64 // when it asked for the last charge that was granted and not reserved ahead
}

// crashVariable makes the test binary play an application.
const crashVariable = "GEOSQL_POSTGRES_APPLICATION"

// startApplication starts an application on a machine, which is a folder, and waits until it works.
func startApplication(t testing.TB, role, machine, where string, number int, told *testimony) *application {
	t.Helper()
	told.Lock()
	args := []string{where, fmt.Sprint(number), fmt.Sprint(told.begun)}
	told.Unlock()
	a := &application{number: number, cmd: osexec.Command(os.Args[0], args...), said: make(chan string, 8), ended: make(chan struct{})}
	a.cmd.Env = append(os.Environ(), crashVariable+"="+role, state.FolderVariable+"="+machine)
	a.cmd.Stderr = &a.stderr
	var err error
	a.in, err = a.cmd.StdinPipe()
	check(t, err)
	out, err := a.cmd.StdoutPipe()
	check(t, err)
	check(t, a.cmd.Start())
	t.Cleanup(func() { a.kill() })
	go func() {
		defer close(a.ended)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			switch line := lines.Text(); line {
			case "ready", "paused":
				a.said <- line
			default:
				told.hear(line)
				if f := strings.Fields(line); len(f) == 6 && f[0] == "granted" && strings.HasPrefix(f[5], "c") {
					asked, _ := strconv.ParseInt(f[1], 10, 64) // told finds faults
					a.asked.Store(asked)
				}
			}
		}
		_ = a.cmd.Wait() // most are killed
	}()
	a.await(t, "ready")
	return a
}

// await waits until the application says something of itself.
func (a *application) await(t testing.TB, what string) {
	t.Helper()
	select {
	case said := <-a.said:
		if said != what {
			t.Fatalf("application %d says %q, not %q", a.number, said, what)
		}
	case <-a.ended:
		t.Fatalf("application %d has ended: %s", a.number, &a.stderr)
	case <-time.After(patience):
		t.Fatalf("application %d does not say %q", a.number, what)
	}
}

// awaitCharge waits until the application is granted a charge that it asks for from now on.
func (a *application) awaitCharge(t testing.TB) {
	t.Helper()
	now := time.Now()
	for ; a.asked.Load() <= now.UnixMicro(); time.Sleep(time.Millisecond) {
		if time.Since(now) > patience {
			t.Fatalf("application %d is granted nothing", a.number)
		}
	}
}

// kill kills the application and returns when all is heard that it has written.
func (a *application) kill() {
	_ = a.cmd.Process.Kill() // it may have ended
	<-a.ended
}

// suspend has the application stand still until resume.
func (a *application) suspend(t testing.TB) {
	t.Helper()
	check(t, a.cmd.Process.Signal(syscall.SIGSTOP))
}

func (a *application) resume(t testing.TB) {
	t.Helper()
	check(t, a.cmd.Process.Signal(syscall.SIGCONT))
}

// tell sends the application a line.
func (a *application) tell(t testing.TB, what string) {
	t.Helper()
	_, err := fmt.Fprintln(a.in, what)
	check(t, err)
}
