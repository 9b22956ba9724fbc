//go:build unix

package release

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/trials"
	ledgerfile "github.com/geosql/geosql/ledger/file"
	"github.com/geosql/geosql/release/internal/accounts"
)

// roleVariable makes the test binary release a folder's data set, and kill itself at the
// progress of that number.
const roleVariable = "GEOSQL_RELEASE_DIES_AT"

func TestMain(m *testing.M) {
	if url, set := os.LookupEnv(shardsVariable); set {
		if err := workOnShards(os.Args[1], url); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	at, set := os.LookupEnv(roleVariable)
	if !set {
		os.Exit(m.Run())
	}
	if err := releaseAndDie(os.Args[1], os.Args[2], at); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// crashSizes make fifteen batches of the data set. Thirty accounts go to the file in five
// runs a batch, and are charged in eight transactions.
var crashSizes = sizes{batch: 100, accounts: accounts.Limits{Tally: 7, Merge: 3}, charge: 4}

const crashRows = 1500

func releaseAndDie(dir, id, at string) error {
	n, err := strconv.Atoi(at)
	if err != nil {
		return err
	}
	l, err := ledgerfile.Open(filepath.Join(dir, "ledger"), true)
	if err != nil {
		return err
	}
	s := newSpec(dir)
	s.ID, s.Keep = id, []string{"id"}
	s.Progress = func(Progress) {
		if n--; n == 0 {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	if _, err := attempt(s, crashSizes, l); err != nil {
		return err
	}
	return l.Close()
}

// never is the number of no progress.
const never = 0

func releasing(dir, id string, at int) (*exec.Cmd, *bytes.Buffer) {
	cmd := exec.Command(os.Args[0], dir, id)
	cmd.Env = append(os.Environ(), roleVariable+"="+strconv.Itoa(at), "GORACE=atexit_sleep_ms=0")
	said := new(bytes.Buffer)
	cmd.Stderr = said
	return cmd, said
}

// killed reports whether a process was killed; otherwise it must have ended well.
func killed(t *testing.T, cmd *exec.Cmd, said *bytes.Buffer) bool {
	t.Helper()
	err := cmd.Wait()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL:
		return true
	case err != nil:
		t.Fatalf("%v: %s", err, said)
	}
	return false
}

// A judgement holds the conditions that must hold after any event.
type judgement struct {
	dir   string
	users int
	seen  []byte // the output, once it was seen
}

// meanwhile judges the files that a killed process has left: if there is an output it is whole, and
// it does not change.
func (j *judgement) meanwhile() error {
	text, err := os.ReadFile(filepath.Join(j.dir, "out.csv"))
	switch {
	case errors.Is(err, os.ErrNotExist) && j.seen == nil:
		return nil
	case err != nil:
		return err
	case j.seen != nil && !bytes.Equal(text, j.seen):
		return errors.New("there was another output before")
	case bytes.Count(text, []byte("\n")) != crashRows+1:
		return errors.New("the output is not whole")
	}
	j.seen = text
	return nil
}

// finally judges the files when a process has ended well: one output, nothing else,
// and every account charged once for every location.
func (j *judgement) finally() error {
	if err := j.meanwhile(); err != nil {
		return err
	}
	entries, err := os.ReadDir(j.dir)
	if err != nil {
		return err
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if page, err := os.ReadFile(filepath.Join(j.dir, "out.csv.report.html")); err != nil || !bytes.Contains(page, []byte("</html>")) {
		return fmt.Errorf("the report is not whole: %v", err)
	}
	if text, err := os.ReadFile(filepath.Join(j.dir, "out.csv.metadata.json")); err != nil || !json.Valid(text) {
		return fmt.Errorf("the metadata are not whole: %v", err)
	}
	if want := []string{"in.csv", "ledger", "out.csv", "out.csv.metadata.json", "out.csv.report.html"}; !slices.Equal(names, want) {
		return fmt.Errorf("the folder has %v", names)
	}
	l, err := ledgerfile.Open(filepath.Join(j.dir, "ledger"), false)
	if err != nil {
		return err
	}
	defer l.Close()
	if _, err := l.Verify("", nil, nil); err != nil {
		return err
	}
	balances, err := l.Balances()
	if err != nil {
		return err
	}
	charged, want := map[string]budget.Amount{}, map[string]budget.Amount{}
	for _, b := range balances {
		if charged[b.Account] = b.Spent; b.Account == everyone {
			delete(charged, everyone)
		}
	}
	for i := range crashRows {
		want[fmt.Sprint("u", i%j.users)] += cost
	}
	if !maps.Equal(charged, want) {
		return fmt.Errorf("charged %v", charged)
	}
	return nil
}

func newJudgement(t *testing.T, users int) *judgement {
	t.Helper()
	j := &judgement{dir: t.TempDir(), users: users}
	write(t, filepath.Join(j.dir, "in.csv"), people(crashRows, users))
	return j
}

// scenarios are of so many accounts that they are charged at once, or are sorted in a file
// and charged in several transactions.
var scenarios = map[string]int{"at once": 4, "sorted": 30}

// A release that is killed at any of its progresses, once more at a random one after
// that, and then run to its end, has charged everybody once, and published one draw.
func TestKilledAtEveryProgress(t *testing.T) {
	const stride = 3
	for name, users := range scenarios {
		for _, first := range trials.Some(t, 1, 1, 2, stride) {
			t.Run(fmt.Sprintf("%s, from %d", name, first), func(t *testing.T) { killAt(t, users, first, stride) })
		}
	}
}

// killAt kills releases at their progresses first, first+stride, .., until one ends before.
func killAt(t *testing.T, users, first, stride int) {
	for at, kills := first, 0; ; at += stride {
		j := newJudgement(t, users)
		died := false
		for _, at := range []int{at, 1 + rand.IntN(40)} {
			cmd, said := releasing(j.dir, "", at)
			check(t, cmd.Start())
			again := killed(t, cmd, said)
			check(t, j.meanwhile())
			if left, _ := filepath.Glob(filepath.Join(j.dir, "*.accounts*")); left != nil {
				t.Errorf("the accounts are in %v", left)
			}
			if !again {
				break
			}
			kills++
			died = true
		}
		j.end(t)
		if !died {
			if at < 30 {
				t.Errorf("there are %d progresses only", at-1)
			}
			t.Logf("%d kills", kills)
			return
		}
	}
}

// end runs the release to its end, if it has not ended, and judges.
func (j *judgement) end(t *testing.T) {
	t.Helper()
	if j.seen == nil {
		cmd, said := releasing(j.dir, "", never)
		check(t, cmd.Start())
		if killed(t, cmd, said) {
			t.Fatal("killed by somebody else")
		}
	}
	// A kill after the output has its name leaves nothing to do but the ledger's files.
	l, err := ledgerfile.Open(filepath.Join(j.dir, "ledger"), false)
	check(t, err)
	check(t, l.Close())
	check(t, j.finally())
}

// The same at random moments, between the progresses.
func TestKilledAtAnyMoment(t *testing.T) {
	for name, users := range scenarios {
		t.Run(name, func(t *testing.T) {
			begun := time.Now()
			j := newJudgement(t, users)
			j.end(t)
			span := time.Since(begun)
			for range 15 {
				j := newJudgement(t, users)
				for tries := time.Duration(1); j.seen == nil; tries++ { // it may be slower than it was
					cmd, said := releasing(j.dir, "", never)
					check(t, cmd.Start())
					time.AfterFunc(rand.N(tries*span), func() { cmd.Process.Kill() })
					died := killed(t, cmd, said)
					check(t, j.meanwhile())
					if !died {
						break
					}
				}
				j.end(t)
			}
		})
	}
}

// The judge must notice a release that is charged twice, or drawn twice.
func TestJudge(t *testing.T) {
	j := newJudgement(t, 7)
	j.end(t)
	check(t, os.Remove(filepath.Join(j.dir, "out.csv")))
	check(t, os.Remove(filepath.Join(j.dir, "out.csv.report.html")))
	check(t, os.Remove(filepath.Join(j.dir, "out.csv.metadata.json")))
	cmd, said := releasing(j.dir, "another id", never)
	check(t, cmd.Start())
	killed(t, cmd, said)
	if err := j.meanwhile(); err == nil || !strings.Contains(err.Error(), "another output") {
		t.Errorf("got %v", err)
	}
	j.seen = nil
	if err := j.finally(); err == nil || !strings.Contains(err.Error(), "charged") {
		t.Errorf("got %v", err)
	}
	write(t, filepath.Join(j.dir, "out.csv.report.html"), "")
	if err := j.finally(); err == nil || !strings.Contains(err.Error(), "report") {
		t.Errorf("got %v", err)
	}
	j.seen = nil
	write(t, filepath.Join(j.dir, "out.csv"), "id,lat,lon\n")
	if err := j.meanwhile(); err == nil || !strings.Contains(err.Error(), "not whole") {
		t.Errorf("got %v", err)
	}
}
