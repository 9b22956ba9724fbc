package beam

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/pgtest"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/release"
)

// A job is a release on a ledger of its own.
type job struct {
	ledger string // URL
	spec   specText
	out    string
	path   string // of the spec file
}

// newJob returns a job for the trips of a file that it writes.
func newJob(t testing.TB, rows, accounts, shards int) *job {
	t.Helper()
	folder := t.TempDir()
	in := filepath.Join(folder, "trips.csv")
	if err := os.WriteFile(in, []byte(trips(rows, accounts)), 0o600); err != nil {
		t.Fatal(err)
	}
	j := &job{ledger: pgtest.Start(t).Database(t), out: filepath.Join(folder, "out.csv")}
	t.Setenv("GEOSQL_STATE_DIR", t.TempDir())
	j.spec = newSpecText().with("in", quote(in), "out", quote(j.out), "ledger", quote(j.ledger), "shards", fmt.Sprint(shards),
		"keep", `"purpose"`, "limit", "10")
	j.write(t)
	return j
}

// write writes the spec file.
func (j *job) write(t testing.TB) {
	t.Helper()
	j.path = filepath.Join(t.TempDir(), "spec.json")
	if err := os.WriteFile(j.path, []byte(j.spec.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

func quote(text string) string { return fmt.Sprintf("%q", text) }

// trips returns trips in Paris, of accounts in random order.
func trips(rows, accounts int) string {
	random := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("person,lat,lon,purpose\n")
	for i := range rows {
		fmt.Fprintf(&b, "p%d,%.6f,%.6f,trip %d\n", random.IntN(accounts), 48.80+0.11*random.Float64(), 2.22+0.26*random.Float64(), i)
	}
	return b.String()
}

// charges returns the sum and the number of charges of every account of a ledger.
func charges(t testing.TB, url string) map[string]string {
	t.Helper()
	l, err := openLedger(url)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	all := map[string]string{}
	for c, err := range l.Charges() {
		if err != nil {
			t.Fatal(err)
		}
		all[c.Account] += fmt.Sprintf("%v/%s for %d;", c.Epsilon, c.Unit, c.Evaluations)
	}
	return all
}

// A manifest is the part of a manifest that tests look at.
type manifest struct {
	Files []struct {
		Name string
		Rows int
	}
}

// check checks that the output is complete: every row of the input is in it once, in its order.
func (j *job) check(t testing.TB, rows, shards int) {
	t.Helper()
	var m manifest
	if err := json.Unmarshal([]byte(readAll(t, j.out+".manifest.json")), &m); err != nil {
		t.Fatal(err)
	}
	if len(m.Files) != shards {
		t.Fatalf("the manifest has %d files, want %d", len(m.Files), shards)
	}
	n := 0
	for i, f := range m.Files {
		if want := fmt.Sprintf("out-%05d-of-%05d.csv", i, shards); f.Name != want {
			t.Errorf("file %d is called %s, want %s", i, f.Name, want)
		}
		records, err := csv.NewReader(strings.NewReader(readAll(t, strings.TrimSuffix(j.out, "out.csv")+f.Name))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		purpose := slices.Index(records[0], "purpose")
		for _, r := range records[1:] {
			if want := fmt.Sprint("trip ", n); r[purpose] != want {
				t.Fatalf("%s: a row is of %s, want %s", f.Name, r[purpose], want)
			}
			n++
		}
		if len(records)-1 != f.Rows {
			t.Errorf("%s has %d rows, and the manifest says %d", f.Name, len(records)-1, f.Rows)
		}
	}
	if n != rows {
		t.Errorf("%d rows were released, want %d", n, rows)
	}
	readAll(t, j.out+".report.html")
}

func readAll(t testing.TB, name string) string {
	t.Helper()
	text, err := readSpecOrOutput(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func readSpecOrOutput(name string) (string, error) {
	if scheme(name) == "" {
		text, err := os.ReadFile(name)
		return string(text), err
	}
	text, err := readSpec(context.Background(), name)
	return string(text), err
}

// On every runner of this machine, with files of this machine and objects, a release is complete, and
// the charges are those of a local run. Repeating it charges nothing.
func TestRelease(t *testing.T) {
	const rows, shards = 3000, 5
	want := localCharges(t, rows, shards)
	for _, c := range []struct{ runner, out string }{{"prism", ""}, {"direct", ""}, {"prism", "memfs://public/"}} {
		t.Run(c.runner+" "+c.out, func(t *testing.T) {
			onPrism()
			j := newJob(t, rows, 40, shards)
			if c.out != "" {
				in := "memfs://office/raw.csv"
				store(in, trips(rows, 40))
				j.out = c.out + "out.csv"
				j.spec = j.spec.with("in", quote(in), "out", quote(j.out))
				j.write(t)
			}
			result, err := Run(t.Context(), c.runner, j.path)
			if err != nil {
				t.Fatal(err)
			}
			if result.Published != shards || !result.Summary.Complete || result.Summary.Rows != rows {
				t.Errorf("%+v %+v", result, result.Summary)
			}
			j.check(t, rows, shards)
			if got := charges(t, j.ledger); !mapsEqual(got, want) {
				t.Errorf("charged %v, want %v", got, want)
			}
			onPrism()
			if result, err = Run(t.Context(), c.runner, j.path); err != nil || result.Published != 0 || !result.Summary.Repeated {
				t.Errorf("repeated: %+v, %v", result, err)
			}
			if got := charges(t, j.ledger); !mapsEqual(got, want) {
				t.Errorf("repeating it charged %v, want %v", got, want)
			}
		})
	}
}

// localCharges returns the charges of a release that one call makes.
func localCharges(t *testing.T, rows, shards int) map[string]string {
	t.Helper()
	j := newJob(t, rows, 40, shards)
	w, release, err := workers.use(t.Context(), j.path)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if _, err := runShards(t.Context(), w.spec.Release, w.ledger, shards, -1, nil); err != nil {
		t.Fatal(err)
	}
	all := charges(t, j.ledger)
	if len(all) != 40 {
		t.Fatalf("%d accounts were charged", len(all))
	}
	return all
}

func mapsEqual(a, b map[string]string) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// An error in the midst of a job ends it, and the next job reaches the manifest and charges nobody
// twice.
func TestReleaseAfterAnError(t *testing.T) {
	const rows, shards = 3000, 5
	want := localCharges(t, rows, shards)
	for _, runner := range local {
		for _, failing := range []int{0, 2, 4} {
			t.Run(fmt.Sprint(runner, failing), func(t *testing.T) {
				onPrism()
				j := newJob(t, rows, 40, shards)
				t.Cleanup(func() { runShards = release.RunShards })
				runShards = func(ctx context.Context, spec release.Spec, l ledger.Shared, shards, only int, target release.Target) (*release.ShardSummary, error) {
					if only == failing {
						target = fullDisk{target}
					}
					return release.RunShards(ctx, spec, l, shards, only, target)
				}
				_, err := Run(t.Context(), runner, j.path)
				if err == nil || !strings.HasSuffix(err.Error(), fmt.Sprintf("shard %d of 5: no space left on device", failing)) {
					t.Fatal(err)
				}
				if _, err := os.Stat(j.out + ".manifest.json"); err == nil {
					t.Fatal("the manifest is there")
				}
				runShards = release.RunShards
				onPrism()
				if _, err := Run(t.Context(), runner, j.path); err != nil {
					t.Fatal(err)
				}
				j.check(t, rows, shards)
				if got := charges(t, j.ledger); !mapsEqual(got, want) {
					t.Errorf("charged %v, want %v", got, want)
				}
			})
		}
	}
}

// A fullDisk is a target that has no room for files.
type fullDisk struct{ release.Target }

func (fullDisk) Create(context.Context, string) (io.WriteCloser, error) { return fullFile{}, nil }

type fullFile struct{}

func (fullFile) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }
func (fullFile) Close() error              { return nil }

// An account that cannot pay stops the job before anybody is charged.
func TestReleaseIsRefused(t *testing.T) {
	onPrism()
	j := newJob(t, 500, 5, 3)
	j.spec = j.spec.with("limit", "0.1")
	j.write(t)
	_, err := Run(t.Context(), "prism", j.path)
	if err == nil || !strings.Contains(err.Error(), "5 of 5 accounts cannot pay") || !strings.Contains(err.Error(), "nothing was charged") {
		t.Error(err)
	}
	if got := charges(t, j.ledger); len(got) > 0 {
		t.Errorf("charged %v", got)
	}
}

// A server that is not there is one line.
func TestNoServer(t *testing.T) {
	for _, runner := range local {
		onPrism()
		t.Setenv("GEOSQL_STATE_DIR", t.TempDir())
		_, err := Run(t.Context(), runner, write(t, newSpecText().with("ledger", `"postgres://clerk@127.0.0.1:1/budgets"`).String()))
		if err == nil || !strings.HasPrefix(err.Error(), "ledger: ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", runner, err)
		}
	}
}

// BenchmarkRelease measures rows a second of the same release: by the plain call in one process, and
// as a job of the runners.
func BenchmarkRelease(b *testing.B) {
	const rows, accounts = 1_000_000, 50_000
	for _, shards := range []int{4, 16} {
		for _, runner := range append([]string{"plain"}, local...) {
			b.Run(fmt.Sprintf("%s/shards=%d", runner, shards), func(b *testing.B) {
				for b.Loop() {
					b.StopTimer()
					onPrism()
					j := newJob(b, rows, accounts, shards)
					b.StartTimer()
					if runner == "plain" {
						w, done, err := workers.use(b.Context(), j.path)
						if err != nil {
							b.Fatal(err)
						}
						_, err = runShards(b.Context(), w.spec.Release, w.ledger, shards, -1, nil)
						done()
						if err != nil {
							b.Fatal(err)
						}
					} else if _, err := Run(b.Context(), runner, j.path); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
			})
		}
	}
}
