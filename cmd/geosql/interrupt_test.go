package main

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/cli/clitest"
)

// ledgerCost is the cost of each release in these tests, in the unit m: a binary
// fraction, so that sums are exact.
const ledgerCost = 0.5

// A scan releases without end, so its cost cannot be known before, or is counted. Each answer contains "POINT(".
type scan struct {
	name, before, query string
	counted             bool
}

var scans = []scan{
	{"one account", ``, endless + `SELECT geoind_laplace('ana', 48.85, 2.35, 0.5) AS z FROM c`, false},
	{"table-valued", ``, endless + `SELECT g.wkt FROM c CROSS JOIN geoind_laplace(substr('ana', 1, 3 + x), 48.85, 2.35, 0.5) g`, false},
	{"many accounts", ``, endless + `SELECT geoind_laplace('p' || x % 300, 48.85, 2.35, 0.5) AS z FROM c`, false},
	{"reserved before", `SELECT budget_reserve('p' || value, 'm', 1000) FROM json_each('[0,1,2,3,4,5,6,7,8,9]');`,
		endless + `SELECT geoind_laplace('p' || x % 20, 48.85, 2.35, 0.5) AS z FROM c`, false},
	{"in a transaction", `BEGIN; CREATE TABLE seen(z); INSERT INTO seen SELECT geoind_laplace('bo', 48.85, 2.35, 0.5) RETURNING z;`,
		endless + `SELECT geoind_laplace('ana', 48.85, 2.35, 0.5) AS z FROM c`, false},
	{"counted", ``, `WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 100000) SELECT geoind_laplace('p' || x % 300, 48.85, 2.35, 0.5) AS z FROM c`, true},
}

// limited is a database in which everybody has a budget.
func limited(t *testing.T) (db string) {
	t.Helper()
	db = clitest.TempFile(t, "x.db")
	clitest.Query(t, db, `SELECT geo_domain('d', 48.8, 2.3, 48.9, 2.4, 1); SELECT budget_limit('*', 'm', 9000000)`)
	return db
}

// A ledgerState is the state of a ledger that nobody uses.
type ledgerState struct {
	reserved, spent float64
	evaluations     int
}

func stateOf(t *testing.T, db string) (s ledgerState) {
	t.Helper()
	out := clitest.Query(t, "-csv", db, `SELECT coalesce(sum(reserved), 0), coalesce(sum(spent), 0),
		(SELECT coalesce(sum(evaluations), 0) FROM ledger_charges) FROM ledger_balance`)
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscan(strings.Join(rows[1], " "), &s.reserved, &s.spent, &s.evaluations); err != nil {
		t.Fatal(err)
	}
	return s
}

// check returns an error after a run that has ended, unless it has left nothing
// reserved, and charged every answer and at most slack more.
func (s ledgerState) check(answers, slack int) error {
	switch {
	case s.reserved != 0:
		return fmt.Errorf("%v stays reserved", s.reserved)
	case s.spent != float64(s.evaluations)*ledgerCost:
		return fmt.Errorf("spent %v for %d evaluations", s.spent, s.evaluations)
	case s.evaluations < answers:
		return fmt.Errorf("%d answers, %d evaluations charged", answers, s.evaluations)
	case s.evaluations > answers+slack:
		return fmt.Errorf("%d answers, %d evaluations charged, want at most %d more", answers, s.evaluations, slack)
	}
	return nil
}

// A running command releases without end.
type running struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.Closer
	out    io.ReadCloser
	lines  *bufio.Reader
	errOut bytes.Buffer

	answers int // read so far
}

// runScan runs a scan from the command line or else from standard input, which
// stays open.
func runScan(t *testing.T, db, mode string, s scan, fromInput bool) *running {
	t.Helper()
	args := []string{mode, db}
	if !s.counted {
		args = append([]string{"--no-preflight"}, args...)
	}
	if !fromInput {
		args = append(args, s.before+s.query)
	}
	r := &running{t: t, cmd: clitest.Command(t, args...)}
	r.cmd.Stderr = &r.errOut
	in, err := r.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if r.out, err = r.cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	r.in, r.lines = in, bufio.NewReader(r.out)
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if fromInput {
		if _, err := io.WriteString(in, s.before+s.query+";\n"); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// read reads up to n answers.
func (r *running) read(n int) {
	for n > 0 {
		line, err := r.lines.ReadString('\n')
		if strings.Contains(line, "POINT(") {
			r.answers++
			n--
		}
		if err != nil {
			return
		}
	}
}

func (r *running) signal(s syscall.Signal) {
	r.t.Helper()
	if err := clitest.Signal(r.cmd.Process, s); err != nil {
		r.t.Fatal(err)
	}
}

// wait reads to the end and returns the exit status.
func (r *running) wait() int {
	r.t.Helper()
	r.read(math.MaxInt)
	defer r.in.Close()
	return clitest.ExitStatus(r.t, r.cmd.Wait())
}

// Ctrl-C, a termination, and a terminal that goes away end a scan in the middle.
// Nothing stays reserved, and every charge was for an answer, but for the row that the
// signal met between its charge and its answer.
func TestInterruptReturnsReservations(t *testing.T) {
	t.Parallel()
	for sent, status := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143, syscall.SIGHUP: 129} {
		if signal.Ignored(sent) || !clitest.Sends(sent) {
			continue // as nohup wants it
		}
		for i, s := range scans {
			for _, fromInput := range []bool{false, true} {
				mode := []string{"-csv", "-json", "-table"}[i%3]
				t.Run(fmt.Sprintf("%v %s %s input %v", sent, s.name, mode, fromInput), func(t *testing.T) {
					db := limited(t)
					r := runScan(t, db, mode, s, fromInput)
					r.read(1 + rand.IntN(3000))
					r.signal(sent)
					r.signal(sent) // again, for those in a hurry
					if got := r.wait(); got != status {
						t.Errorf("status %d, want %d", got, status)
					}
					state := stateOf(t, db)
					if err := state.check(r.answers, 1); err != nil {
						t.Error(err)
					}
					if err := state.check(told(t, r.errOut.String(), s), 0); err != nil {
						t.Errorf("%q: %v", r.errOut.String(), err)
					}
				})
			}
		}
	}
}

// told returns the number of answers that the ledger should have charged, by the line of an
// interrupted scan.
func told(t *testing.T, line string, s scan) int {
	t.Helper()
	var spent float64
	if line != "geosql: interrupted\n" {
		var accounts int
		if n, _ := fmt.Sscanf(line, "geosql: interrupted, after charging %g/m to %d account", &spent, &accounts); n != 2 || accounts < 1 || accounts > 300 {
			t.Errorf("printed %q", line)
		}
	}
	return int(spent/ledgerCost) + strings.Count(s.before, "INSERT") // which has charged before the scan began
}

// A statement that answers nothing in rows keeps the charges of its rows too, and
// returns the rest.
func TestInterruptBeforeAnAnswer(t *testing.T) {
	t.Parallel()
	for _, script := range []string{
		endless + "SELECT max(geoind_laplace('p' || x % 7, 48.85, 2.35, 0.5)) FROM c;\n",
		"CREATE TABLE kept(z); INSERT INTO kept " + endless + "SELECT geoind_laplace('ana', 48.85, 2.35, 0.5) FROM c;\n",
		endless + "SELECT budget_reserve('p' || x % 7, 'm', 0.5) FROM c;\n",
	} {
		db := limited(t)
		process, wait := started(t, io.Discard, script, "--no-preflight", db)
		if err := clitest.Signal(process, syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		if got := wait(); got != 130 {
			t.Errorf("%sstatus %d", script, got)
		}
		if err := stateOf(t, db).check(0, math.MaxInt); err != nil {
			t.Errorf("%s%v", script, err)
		}
	}
}

// onTheWay bounds how many answers the buffers hold of the command, of a pipe or
// a terminal, and of a test.
const onTheWay = (1<<16+1<<16+4096)/len("POINT(2.3500000 48.8500000)\n") + 1

// Rows that a reader has not read when it leaves were charged. The reservations return.
func TestReaderThatLeavesReturnsReservations(t *testing.T) {
	t.Parallel()
	for _, s := range scans {
		for name, leave := range map[string]func(r *running){
			"head":    func(r *running) { r.out.Close() },
			"stalled": func(r *running) { time.Sleep(50 * time.Millisecond); r.signal(syscall.SIGINT); r.out.Close() },
		} {
			t.Run(s.name+" "+name, func(t *testing.T) {
				db := limited(t)
				r := runScan(t, db, "-csv", s, false)
				r.read(1)
				leave(r)
				if got := r.wait(); name == "head" && (got != 0 || r.errOut.Len() > 0) || name == "stalled" && got != 0 && got != 130 {
					t.Errorf("status %d, %q", got, r.errOut.String())
				}
				if err := stateOf(t, db).check(r.answers, onTheWay); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// A pipeline of the shell, as people write it.
func TestPipelineReturnsReservations(t *testing.T) {
	clitest.NeedsSh(t)
	db := limited(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := clitest.Command(t)
	cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", `"$SELF" -csv --no-preflight "$DB" "$SQL" | head -n 3`}
	cmd.Env = append(cmd.Env, "SELF="+self, "DB="+db, "SQL="+scans[0].query)
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(out), "\n") != 3 {
		t.Errorf("%v, %q", err, out)
	}
	if err := stateOf(t, db).check(2, onTheWay); err != nil {
		t.Error(err)
	}
}

// A killed command keeps all that its statement has reserved: more than it has answered.
func TestKilledStatementKeepsItsReservation(t *testing.T) {
	t.Parallel()
	db, s := limited(t), scans[len(scans)-1]
	r := runScan(t, db, "-csv", s, false)
	r.read(1 + rand.IntN(10000))
	r.signal(syscall.SIGKILL)
	r.wait()
	if got := stateOf(t, db); got.spent+got.reserved != 100000*ledgerCost || got.spent > got.reserved {
		t.Errorf("%+v after %d answers", got, r.answers)
	}
	if out := clitest.Query(t, "-csv", db, s.query); strings.Count(out, "POINT(") != 100000 {
		t.Errorf("%d answers then", strings.Count(out, "POINT("))
	}
}

// The check is not blind: a process that is killed returns nothing, and one that
// charges less than it answers would be found.
func TestInterruptCheckIsNotBlind(t *testing.T) {
	db := limited(t)
	r := runScan(t, db, "-csv", scans[0], false)
	r.read(1000)
	r.signal(syscall.SIGKILL)
	r.wait()
	s := stateOf(t, db)
	if err := s.check(r.answers, 1); err == nil || !strings.Contains(err.Error(), "stays reserved") {
		t.Errorf("after a kill: %v", err)
	}
	s = ledgerState{0, 5, 10}
	for answers, want := range map[int]bool{9: true, 10: true, 11: false, 8: false} {
		if err := s.check(answers, 1); (err == nil) != want {
			t.Errorf("10 charged, %d answers: %s", answers, strconv.Quote(fmt.Sprint(err)))
		}
	}
}
