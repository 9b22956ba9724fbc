package beam

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/release"
)

// local are the runners that work in the process itself.
var local = []string{"prism", "direct"}

func TestRun(t *testing.T) {
	for _, runner := range local {
		t.Run(runner, func(t *testing.T) {
			e := (&engine{}).use(t)
			result, err := Run(t.Context(), runner, write(t, newSpecText().with("shards", "20").String()))
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(e.shards)
			if want := numbers(20); !slices.Equal(e.shards, want) {
				t.Errorf("ran the shards %v, want %v", e.shards, want)
			}
			if result.Shards != 20 || result.Published != 20 || result.Out != "/public/trips.csv" || result.Summary == nil {
				t.Errorf("%+v", result)
			}
			if e.opened != 1 {
				t.Errorf("the process opened the ledger %d times", e.opened)
			}
		})
	}
}

func numbers(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// The error of a shard ends the job and is one line, with a cure for the user. The next
// run does the rest.
func TestRunFails(t *testing.T) {
	for _, runner := range local {
		t.Run(runner, func(t *testing.T) {
			fail := true
			e := &engine{}
			e.run = func(_ context.Context, _ release.Spec, shard int) (*release.ShardSummary, error) {
				if fail && shard == 2 {
					return nil, errors.New("account 7 has no budget in metres; --limit gives one\nto everybody")
				}
				return &release.ShardSummary{Published: []int{shard}, Complete: true}, nil
			}
			e.use(t)
			path := write(t, newSpecText().with("shards", "5").String())
			_, err := Run(t.Context(), runner, path)
			const want = "shard 2 of 5: account 7 has no budget in metres; --limit gives one"
			if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q, want %q", err, want)
			}
			fail = false
			onPrism()
			if result, err := Run(t.Context(), runner, path); err != nil || !result.Summary.Complete {
				t.Errorf("the second run: %+v, %v", result, err)
			}
		})
	}
}

// An error that only a worker finds is one line too.
func TestRunFailsInSetup(t *testing.T) {
	for _, runner := range local {
		t.Run(runner, func(t *testing.T) {
			(&engine{}).use(t)
			_, err := Run(t.Context(), runner, write(t, newSpecText().with("in", `"memfs://office/missing.csv"`).String()))
			if err == nil || !strings.HasPrefix(err.Error(), "memfs://office/missing.csv: ") || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q", err)
			}
		})
	}
}

// A signal ends the run only after the shards at work have stopped.
func TestRunIsInterrupted(t *testing.T) {
	for _, runner := range local {
		t.Run(runner, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			stopped := false
			e := &engine{}
			e.run = func(ctx context.Context, _ release.Spec, _ int) (*release.ShardSummary, error) {
				cancel(cli.SignalError(syscall.SIGINT))
				<-ctx.Done()
				time.Sleep(50 * time.Millisecond)
				stopped = true
				return nil, context.Cause(ctx)
			}
			e.use(t)
			_, err := Run(ctx, runner, write(t, newSpecText().with("shards", "1").String()))
			if !stopped || cli.Status(err) != 130 {
				t.Errorf("stopped %v, error %v with status %d", stopped, err, cli.Status(err))
			}
		})
	}
}

// However many shards a runner asks for at a time, a process works on one.
func TestWorkerTakesTurns(t *testing.T) {
	var now, most atomic.Int64
	e := &engine{}
	e.run = func(context.Context, release.Spec, int) (*release.ShardSummary, error) {
		most.Store(max(most.Load(), now.Add(1)))
		defer now.Add(-1)
		time.Sleep(time.Millisecond)
		return &release.ShardSummary{}, nil
	}
	e.use(t)
	path := write(t, newSpecText().String())
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() {
			w, release, err := workers.use(t.Context(), path)
			if err != nil {
				t.Error(err)
				return
			}
			defer release()
			if _, err := w.run(t.Context(), 0, 3); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if most.Load() != 1 {
		t.Errorf("%d shards were released at a time", most.Load())
	}
}

// A job does nothing if its spec file changes after it was submitted.
func TestRunNoticesAnotherSpec(t *testing.T) {
	(&engine{}).use(t)
	path := write(t, newSpecText().String())
	w, release, err := workers.use(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if _, err := w.run(t.Context(), 0, 4); err == nil || !strings.Contains(err.Error(), "says 3 shards, and the job was submitted with 4") {
		t.Error(err)
	}
}

func TestRunRefusesFlags(t *testing.T) {
	onPrism()
	spec := write(t, newSpecText().String())
	for _, c := range []struct{ runner, path, want string }{
		{"prism", "", "no spec file given"},
		{"fink", spec, "there is no runner fink"},
		{"flink", spec, "needs --endpoint"},
		{"dataflow", "spec.json", "spec.json is relative"},
		{"spark", "hdfs://h/spec.json", "there is no filesystem hdfs"},
	} {
		if _, err := Run(t.Context(), c.runner, c.path); err == nil || cli.Status(err) != 2 || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, want %s", c.runner, c.path, err, c.want)
		}
	}
}

func TestReadable(t *testing.T) {
	said := failure(fmt.Errorf("shard 1 of 2: %w", errors.New("a\x1b[31m line\nand another")))
	if strings.ContainsAny(said.Error(), "\n\x1b") {
		t.Errorf("%q", said)
	}
	runner := fmt.Errorf("job failed:\n\tat org.apache\n\tcaused by: %w\n\tand more", said)
	if got := readable(runner).Error(); !strings.HasPrefix(got, "shard 1 of 2: a") || strings.Contains(got, "more") {
		t.Errorf("%q", got)
	}
	if got := readable(errors.New("connection\n\trefused")).Error(); got != "connection refused" {
		t.Errorf("%q", got)
	}
}

// The folder for downloads exists while it is needed, for its owner alone.
func TestWorkerDownloadsOnce(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	store("memfs://office/trips.csv", "person,lat,lon\nana,48.85,2.35\n")
	store("memfs://office/city.geojson", `{"type": "Polygon", "coordinates": [[[2.3,48.8],[2.4,48.8],[2.4,48.9],[2.3,48.8]]]}`)
	e := &engine{}
	e.run = func(_ context.Context, spec release.Spec, shard int) (*release.ShardSummary, error) {
		text, err := os.ReadFile(spec.In)
		if err != nil {
			return nil, err
		}
		info, err := os.Stat(spec.In)
		if err != nil {
			return nil, err
		}
		if !strings.HasPrefix(string(text), "person,") || info.Mode() != 0o600 || !strings.HasSuffix(spec.In, "/trips.csv") {
			return nil, fmt.Errorf("%s: %v %s", spec.In, info.Mode(), text)
		}
		if spec.Step != 1 || spec.Box.South != 48.8 || !strings.HasPrefix(spec.Region, "MULTIPOLYGON") {
			return nil, fmt.Errorf("region %s, %v", spec.Region, spec.Box)
		}
		return &release.ShardSummary{}, nil
	}
	e.use(t)
	store("memfs://office/spec.json", newSpecText().with("in", `"memfs://office/trips.csv"`, "region", `"memfs://office/city.geojson"`, "domain", "").String())
	if _, err := Run(t.Context(), "prism", "memfs://office/spec.json"); err != nil {
		t.Fatal(err)
	}
	if len(slices.Compact(e.ins)) != 1 {
		t.Errorf("inputs %v", e.ins)
	}
	if left, _ := os.ReadDir(temporary); slices.ContainsFunc(left, func(d os.DirEntry) bool { return strings.HasPrefix(d.Name(), "geosql") }) {
		t.Errorf("left in the folder for temporary files: %v", left)
	}
}

// Downloads of a killed process are removed by the next one, and those of a living one are not.
func TestPrivateFolders(t *testing.T) {
	if !foldersLock {
		t.Skip("this system does not tell who lives")
	}
	t.Setenv("TMPDIR", t.TempDir())
	alive, err := newPrivateFolder()
	if err != nil {
		t.Fatal(err)
	}
	killed, err := newPrivateFolder()
	if err != nil {
		t.Fatal(err)
	}
	killed.lock.Close() // as the system does
	another, err := newPrivateFolder()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(killed.path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder of a killed process: %v", err)
	}
	for _, f := range []*privateFolder{alive, another} {
		if info, err := os.Stat(f.path); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%v %v", info, err)
		}
		if err := f.remove(); err != nil {
			t.Error(err)
		}
	}
}
