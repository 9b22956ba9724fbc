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
	"github.com/geosql/geosql/ledger"
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
	if err := releaseAndDie(os.Args[1], os.Args[2], at, os.Args[3:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// crashSizes make fifteen batches of the data set. Thirty accounts go to the file in five
// runs a batch, and are charged in eight transactions.
var crashSizes = sizes{batch: 100, accounts: accounts.Limits{Tally: 7, Merge: 3}, charge: 4}

const crashRows = 1500

func releaseAndDie(dir, id, at string, also []string) error {
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
	for _, name := range also {
		s.Also = append(s.Also, filepath.Join(dir, name))
	}
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

func (j *judgement) releasing(id string, at int) (*exec.Cmd, *bytes.Buffer) {
	cmd := exec.Command(os.Args[0], append([]string{j.dir, id}, j.also...)...)
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

// A scenario is of so many accounts that they are charged at once, or are sorted in a file
// and charged in several transactions, and of one output or several.
type scenario struct {
	users int
	also  []string
}

var scenarios = map[string]scenario{
	"at once": {4, nil}, "sorted": {30, nil}, "several outputs": {4, []string{"also.geojson", "again.csv"}},
}

// A judgement holds the conditions that must hold after any event.
type judgement struct {
	scenario
	dir  string
	seen map[string][]byte // the outputs, once they were seen
}

// ended reports whether the first output was seen.
func (j *judgement) ended() bool { return j.seen["out.csv"] != nil }

// meanwhile judges the files that a killed process has left: each output that is there is whole, and
// does not change. The first is there last.
func (j *judgement) meanwhile() error {
	for _, name := range append([]string{"out.csv"}, j.also...) {
		text, err := os.ReadFile(filepath.Join(j.dir, name))
		if errors.Is(err, os.ErrNotExist) && j.seen[name] == nil && !j.ended() {
			continue
		}
		if err != nil {
			return err
		}
		whole := bytes.Count(text, []byte("\n")) == crashRows+1
		if name == "also.geojson" {
			whole = json.Valid(text) && bytes.Count(text, []byte(`"Feature"`)) == crashRows
		}
		if j.seen[name] != nil && !bytes.Equal(text, j.seen[name]) {
			return errors.New("there was another output before")
		}
		if !whole {
			return fmt.Errorf("%s is not whole", name)
		}
		j.seen[name] = text
	}
	return nil
}

// sameDraw judges that all outputs have the locations of the first.
func (j *judgement) sameDraw() error {
	first := j.seen["out.csv"]
	if again := j.seen["again.csv"]; again != nil && !bytes.Equal(first, again) {
		return errors.New("the second CSV has another draw")
	}
	if j.seen["also.geojson"] == nil {
		return nil
	}
	var also struct {
		Features []struct {
			Geometry struct{ Coordinates [2]float64 }
		}
	}
	if err := json.Unmarshal(j.seen["also.geojson"], &also); err != nil {
		return err
	}
	for i, line := range strings.Split(strings.TrimSpace(string(first)), "\n")[1:] {
		at := also.Features[i].Geometry.Coordinates
		if want := fmt.Sprintf("%d,%.7f,%.7f", i, at[1], at[0]); line != want {
			return fmt.Errorf("row %d is %s, and %s in GeoJSON", i, line, want)
		}
	}
	return nil
}

// finally judges the files when a process has ended well: one output, nothing else,
// and every account charged once for every location.
func (j *judgement) finally() error {
	if err := j.meanwhile(); err != nil {
		return err
	}
	if err := j.sameDraw(); err != nil {
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
	want := append([]string{"in.csv", "ledger", "out.csv", "out.csv.metadata.json", "out.csv.report.html"}, j.also...)
	if slices.Sort(want); !slices.Equal(names, want) {
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
	charged, costs := map[string]budget.Amount{}, map[string]budget.Amount{}
	for b, err := range ledger.AllBalances(l) {
		if err != nil {
			return err
		}
		if charged[b.Account] = b.Spent; b.Account == everyone {
			delete(charged, everyone)
		}
	}
	for i := range crashRows {
		costs[fmt.Sprint("u", i%j.users)] += cost
	}
	if !maps.Equal(charged, costs) {
		return fmt.Errorf("charged %v", charged)
	}
	return nil
}

func newJudgement(t *testing.T, s scenario) *judgement {
	t.Helper()
	j := &judgement{s, t.TempDir(), map[string][]byte{}}
	write(t, filepath.Join(j.dir, "in.csv"), people(crashRows, s.users))
	return j
}

// A release that is killed at any of its progresses, once more at a random one after
// that, and then run to its end, has charged everybody once, and published one draw.
func TestKilledAtEveryProgress(t *testing.T) {
	const stride = 3
	for name, scene := range scenarios {
		for _, first := range trials.Some(t, 1, 1, 2, stride) {
			t.Run(fmt.Sprintf("%s, from %d", name, first), func(t *testing.T) { killAt(t, scene, first, stride) })
		}
	}
}

// killAt kills releases at their progresses first, first+stride, .., until one ends before.
func killAt(t *testing.T, scene scenario, first, stride int) {
	for at, kills := first, 0; ; at += stride {
		j := newJudgement(t, scene)
		died := false
		for _, at := range []int{at, 1 + rand.IntN(40)} {
			cmd, said := j.releasing("", at)
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
	if !j.ended() {
		cmd, said := j.releasing("", never)
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
	for name, scene := range scenarios {
		t.Run(name, func(t *testing.T) {
			begun := time.Now()
			j := newJudgement(t, scene)
			j.end(t)
			span := time.Since(begun)
			for range 15 {
				j := newJudgement(t, scene)
				for tries := time.Duration(1); !j.ended(); tries++ { // it may be slower than it was
					cmd, said := j.releasing("", never)
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
	j := newJudgement(t, scenario{users: 7})
	j.end(t)
	check(t, os.Remove(filepath.Join(j.dir, "out.csv")))
	check(t, os.Remove(filepath.Join(j.dir, "out.csv.report.html")))
	check(t, os.Remove(filepath.Join(j.dir, "out.csv.metadata.json")))
	cmd, said := j.releasing("another id", never)
	check(t, cmd.Start())
	killed(t, cmd, said)
	if err := j.meanwhile(); err == nil || !strings.Contains(err.Error(), "another output") {
		t.Errorf("got %v", err)
	}
	clear(j.seen)
	if err := j.finally(); err == nil || !strings.Contains(err.Error(), "charged") {
		t.Errorf("got %v", err)
	}
	write(t, filepath.Join(j.dir, "out.csv.report.html"), "")
	if err := j.finally(); err == nil || !strings.Contains(err.Error(), "report") {
		t.Errorf("got %v", err)
	}
	clear(j.seen)
	write(t, filepath.Join(j.dir, "out.csv"), "id,lat,lon\n")
	if err := j.meanwhile(); err == nil || !strings.Contains(err.Error(), "not whole") {
		t.Errorf("got %v", err)
	}
	j = newJudgement(t, scenarios["several outputs"])
	j.end(t)
	for _, name := range j.also {
		text, err := os.ReadFile(filepath.Join(j.dir, name))
		check(t, err)
		write(t, filepath.Join(j.dir, name), strings.Replace(string(text), "48.", "49.", 1))
		clear(j.seen)
		if err := j.finally(); err == nil || !strings.Contains(err.Error(), "another draw") && !strings.Contains(err.Error(), "in GeoJSON") {
			t.Errorf("%s: got %v", name, err)
		}
		write(t, filepath.Join(j.dir, name), string(text))
	}
	check(t, os.Remove(filepath.Join(j.dir, "again.csv")))
	clear(j.seen)
	if err := j.meanwhile(); err == nil {
		t.Error("the first output is there without another")
	}
}
