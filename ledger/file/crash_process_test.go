package file_test

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/emulate"
	"github.com/geosql/geosql/ledger/file"
)

// key names a balance.
type key struct {
	account string
	unit    budget.Unit
}

// answer is a granted answer of a process: at some time after asked, in
// microseconds since 1970.
type answer struct {
	asked int64
	eps   budget.Amount
}

// setting is a limit.
type setting struct {
	eps     budget.Amount
	seconds int64
}

// testimony is the output of processes before they were killed.
type testimony struct {
	answers map[key][]answer
	set     map[key]setting   // the last limit that was set
	asked   map[key][]setting // the ones that were to be set afterwards
}

func newTestimony() testimony {
	return testimony{map[key][]answer{}, map[key]setting{}, map[key][]setting{}}
}

// recall adds the answers of a later testimony.
func (all *testimony) recall(told testimony) {
	for k, answers := range told.answers {
		all.answers[k] = append(all.answers[k], answers...)
	}
}

// reporter writes testimony. One line is one write, below the size of a pipe's
// buffer: it arrives whole or not at all, and not in parts of others.
type reporter struct{ out io.Writer }

func (r reporter) line(format string, args ...any) error {
	_, err := fmt.Fprintf(r.out, format+"\n", args...)
	return err
}

// ready says that from now on a kill is due.
func (r reporter) ready() error { return r.line("ready") }

// answer says that an answer was granted that is about accounts, separated by
// commas.
func (r reporter) answer(asked int64, eps budget.Amount, unit budget.Unit, accounts string) error {
	return r.line("answer %d %d %s %s", asked, eps, unit, accounts)
}

// limit says that a limit is to be set ("asked") or was ("set").
func (r reporter) limit(what string, s setting, k key) error {
	return r.line("%s %d %d %s %s", what, s.eps, s.seconds, k.unit, k.account)
}

// hear takes in a line.
func (told *testimony) hear(line string) error {
	f := strings.Fields(line)
	if len(f) != 5 {
		return fmt.Errorf("heard %q", line)
	}
	a, err := strconv.ParseInt(f[1], 10, 64)
	if err != nil {
		return err
	}
	b, err := strconv.ParseInt(f[2], 10, 64)
	if err != nil {
		return err
	}
	unit := budget.Unit(f[3])
	k, limit := key{f[4], unit}, setting{budget.Amount(a), b}
	switch f[0] {
	case "answer":
		for account := range strings.SplitSeq(f[4], ",") {
			k := key{account, unit}
			told.answers[k] = append(told.answers[k], answer{a, budget.Amount(b)})
		}
	case "asked":
		told.asked[k] = append(told.asked[k], limit)
	case "set":
		told.set[k], told.asked[k] = limit, nil
	default:
		return fmt.Errorf("heard %q", line)
	}
	return nil
}

// kill runs the scenario's processes and kills each of them at a random moment
// after it is ready. It adds their reports to told.
func (s *scenario) kill(t *testing.T, dir string, told *testimony) {
	t.Helper()
	var (
		mu  sync.Mutex // guards told
		all sync.WaitGroup
	)
	span := s.span
	if emulate.Emulator() != "" {
		span *= 10 // a process does less in that time
	}
	for i := range s.players {
		p := startPlayer(t, s.role(i), dir)
		all.Go(func() {
			err := p.hear(span, func(line string) error {
				mu.Lock()
				defer mu.Unlock()
				return told.hear(line)
			})
			if err != nil {
				t.Errorf("%s: %v", s.role(i), err)
			}
		})
	}
	all.Wait()
}

// player is the test binary in another process.
type player struct {
	cmd    *exec.Cmd
	out    io.ReadCloser
	errors *strings.Builder
}

func startPlayer(t *testing.T, role string, args ...string) *player {
	t.Helper()
	p := &player{cmd: exec.Command(os.Args[0], args...), errors: new(strings.Builder)}
	p.cmd.Env = append(os.Environ(), file.RoleVariable+"="+role)
	p.cmd.Stderr = p.errors
	var err error
	p.out, err = p.cmd.StdoutPipe()
	check(t, err)
	check(t, p.cmd.Start())
	return p
}

// patience is for how long a process may take to get ready.
const patience = time.Minute

// hear listens to a player up to its end, which comes within span of its being
// ready.
func (p *player) hear(span time.Duration, each func(line string) error) error {
	end := time.AfterFunc(patience, func() { p.cmd.Process.Kill() })
	defer end.Stop()
	ready := false
	lines := bufio.NewScanner(p.out)
	for lines.Scan() {
		if !ready && lines.Text() == "ready" {
			ready = true
			end.Reset(rand.N(span))
			continue
		}
		if err := each(lines.Text()); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	err := p.cmd.Wait()
	if p.errors.Len() > 0 || !file.Killed(p.cmd.ProcessState) || !ready {
		return fmt.Errorf("it was not ready to be killed: %v %s", err, p.errors)
	}
	return nil
}
