//go:build unix

package release

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/pgtest"
	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/ledger/postgres"
	"github.com/geosql/geosql/release/internal/accounts"
)

// shardsVariable makes the test binary work on the release in shards of a folder, with the ledger at
// this URL.
const shardsVariable = "GEOSQL_RELEASE_SHARDS_AT"

// dyingVariable makes such a process kill itself in a stage, after so many progresses of it.
const dyingVariable = "GEOSQL_RELEASE_SHARDS_DIES"

const (
	processShards = 8
	processRows   = 1500
	processMost   = 20
)

// processSpec is the release that the processes work on.
func processSpec(dir string) Spec {
	s := newSpec(dir)
	s.ID, s.Keep, s.MaxRows, s.Workers = "census", []string{"id"}, processMost, 2
	return s
}

func workOnShards(dir, url string) error {
	l, err := postgres.Open(url, true)
	if err != nil {
		return err
	}
	w := worker(processSpec(dir), l, processShards, -1, LocalFiles)
	w.sizes = sizes{batch: 60, accounts: accounts.Limits{Tally: 7, Merge: 3}, charge: 4}
	w.lease = 50 * time.Millisecond
	w.wait = func(context.Context) error {
		time.Sleep(10 * time.Millisecond)
		return nil
	}
	defer w.close()
	var stage Stage
	var left int
	if at, set := os.LookupEnv(dyingVariable); set {
		if _, err := fmt.Sscan(at, &stage, &left); err != nil {
			return err
		}
		w.spec.Progress = func(p Progress) {
			if p.Stage != stage {
				return
			}
			if left--; left < 0 {
				syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
		}
	}
	if _, err := w.work(context.Background()); err != nil {
		return err
	}
	return l.Close()
}

// A crew is some processes that work on a release in shards. Their deaths leave no trace in it.
type crew struct {
	t     *testing.T
	dir   string
	state string
	url   string
	seen  map[string][sha256.Size]byte
}

func (c *crew) start(environment ...string) (*exec.Cmd, *bytes.Buffer) {
	cmd := exec.Command(os.Args[0], c.dir)
	cmd.Env = append(append(os.Environ(), environment...), shardsVariable+"="+c.url, "GEOSQL_STATE_DIR="+c.state, "GORACE=atexit_sleep_ms=0")
	said := new(bytes.Buffer)
	cmd.Stderr = said
	check(c.t, cmd.Start())
	return cmd, said
}

// look checks that files with final names do not change.
func (c *crew) look() {
	entries, err := os.ReadDir(c.dir)
	check(c.t, err)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "out") || strings.HasSuffix(e.Name(), draftEnding) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(c.dir, e.Name()))
		check(c.t, err)
		if sum := sha256.Sum256(text); c.seen[e.Name()] != sum {
			if _, known := c.seen[e.Name()]; known {
				c.t.Fatalf("there was another %s before", e.Name())
			}
			c.seen[e.Name()] = sum
		}
	}
	for name := range c.seen {
		if _, err := os.Stat(filepath.Join(c.dir, name)); errors.Is(err, fs.ErrNotExist) {
			c.t.Fatalf("%s is gone", name)
		}
	}
}

// Processes that are killed at any moment, with the server of the ledger from time to time, leave a
// release that the next process completes: each account is charged once, and one draw of each shard
// is ever seen.
func TestShardsKilled(t *testing.T) {
	server := pgtest.Own(t)
	firstStages := slices.Repeat(dyingStages, 3)
	rounds := trials.Some(t, 4, firstStages...)
	kills, crashes := 0, 0
	stages := map[Stage]int{} // in which processes killed themselves
	for round, first := range rounds {
		dir := t.TempDir()
		text, kept, charged := crowded(processRows, processMost)
		write(t, filepath.Join(dir, "in.csv"), text)
		c := &crew{t, dir, t.TempDir(), server.Database(t), map[string][sha256.Size]byte{}}
		for attempt := 0; ; attempt++ {
			var all []*exec.Cmd
			said, at := map[*exec.Cmd]*bytes.Buffer{}, map[*exec.Cmd]Stage{}
			patient := attempt > 12 // the release must end
			for range 3 {
				stage := dyingStages[rand.IntN(len(dyingStages))]
				if attempt == 0 {
					stage = first
				}
				if !patient && (attempt == 0 || rand.IntN(2) == 0) {
					cmd, text := c.start(fmt.Sprintf("%s=%d %d", dyingVariable, stage, rand.IntN(3)))
					all, said[cmd], at[cmd] = append(all, cmd), text, stage
					continue
				}
				cmd, text := c.start()
				all, said[cmd] = append(all, cmd), text
				if !patient && rand.IntN(4) > 0 {
					delay := rand.N(time.Duration(attempt+1) * 150 * time.Millisecond)
					time.AfterFunc(delay, func() { cmd.Process.Kill() })
				}
			}
			crash := !patient && rand.IntN(4) == 0
			if crash {
				time.Sleep(rand.N(300 * time.Millisecond))
				server.Kill(t)
				server.Restart(t)
				crashes++
			}
			whole := false
			for _, cmd := range all {
				err := cmd.Wait()
				exit, failed := errors.AsType[*exec.ExitError](err)
				switch {
				case err == nil:
					whole = true
				case failed && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL:
					kills++
					if stage, itself := at[cmd]; itself {
						stages[stage]++
					}
				case !crash:
					t.Fatalf("round %d: %v: %s", round, err, said[cmd])
				}
			}
			c.look()
			if whole {
				break
			}
		}
		// A process that is killed after the release is complete leaves a draft of its own to the next.
		cmd, text2 := c.start()
		if err := cmd.Wait(); err != nil {
			t.Fatalf("%v: %s", err, text2)
		}
		c.look()
		t.Setenv("GEOSQL_STATE_DIR", c.state)
		l := openPostgres(t, c.url, "judge")
		if err := judgeWhole(t, processSpec(dir), processShards, l, kept, charged); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		_, err := l.Verify("", nil, nil)
		check(t, err)
	}
	t.Logf("%d processes and %d servers were killed; by stage: %v", kills, crashes, stages)
	for _, stage := range dyingStages {
		if stages[stage] == 0 && len(rounds) == len(firstStages) {
			t.Errorf("nobody was killed in stage %d", stage)
		}
	}
}

// dyingStages are those in which processes kill themselves.
var dyingStages = []Stage{Checking, Charging, Releasing, Publishing}

// Where a disk is full nothing is published by halves, and once there is room the same call goes on.
func TestShardsFullDisk(t *testing.T) {
	t.Setenv("GEOSQL_STATE_DIR", t.TempDir())
	dir := t.TempDir()
	text, kept, charged := crowded(processRows, processMost)
	write(t, filepath.Join(dir, "in.csv"), text)
	l := newShared(t)
	s := processSpec(dir)
	failed := 0
	for room := int64(0); ; room += 6000 {
		w := worker(s, l, processShards, -1, &smallTarget{LocalFiles, room})
		sum, err := w.work(context.Background())
		w.close()
		if err == nil {
			if failed < 5 || !sum.Complete {
				t.Errorf("%d failed, %+v", failed, sum)
			}
			break
		}
		if failed++; !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
		if drafts, _ := filepath.Glob(filepath.Join(dir, "*"+draftEnding)); len(drafts) > 0 {
			t.Errorf("%v are left", drafts)
		}
	}
	if err := judgeWhole(t, s, processShards, l.Ledger, kept, charged); err != nil {
		t.Error(err)
	}
}

// A smallTarget has room for so many bytes in one process.
type smallTarget struct {
	Target
	room int64
}

func (x *smallTarget) Create(ctx context.Context, name string) (writeCloser, error) {
	w, err := x.Target.Create(ctx, name)
	return &smallFile{w, x}, err
}

func (x *smallTarget) List(ctx context.Context, prefix string) ([]string, error) {
	return LocalFiles.(Lister).List(ctx, prefix)
}

type smallFile struct {
	writeCloser
	on *smallTarget
}

func (f *smallFile) Write(text []byte) (int, error) {
	if f.on.room -= int64(len(text)); f.on.room < 0 {
		return 0, syscall.ENOSPC
	}
	return f.writeCloser.Write(text)
}
