//go:build unix

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/cli/clitest"
	"github.com/geosql/geosql/internal/pgtest"
)

// writeJob writes a spec file and its input, and returns its path and that of the output.
func writeJob(t *testing.T, rows, shards int) (spec, out string) {
	t.Helper()
	folder := t.TempDir()
	random := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	b.WriteString("person,lat,lon\n")
	for range rows {
		fmt.Fprintf(&b, "p%d,%.6f,%.6f\n", random.IntN(100), 48.80+0.11*random.Float64(), 2.22+0.26*random.Float64())
	}
	if err := os.WriteFile(filepath.Join(folder, "trips.csv"), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	out = filepath.Join(folder, "out.csv")
	return writeSpec(t, fmt.Sprintf(`{
		"in": %q, "out": %q, "ledger": %q, "shards": %d, "account": "person", "lat": "lat", "lon": "lon",
		"epsilon": 0.005, "domain": [48.80, 2.22, 48.91, 2.48, 1], "limit": 100000
	}`, filepath.Join(folder, "trips.csv"), out, pgtest.Start(t).Database(t), shards)), out
}

func TestReleaseAndRepeat(t *testing.T) {
	spec, out := writeJob(t, 1000, 3)
	r := clitest.Run(t, "", "--spec", spec)
	if r.Status != 0 || r.Out != "" || !strings.Contains(r.Err, "1000 rows") || !strings.Contains(r.Err, "manifest: "+out+".manifest.json\n") ||
		!strings.Contains(r.Err, "this job drew 3 of the 3 shards") {
		t.Fatalf("status %d, %s%s", r.Status, r.Out, r.Err)
	}
	if _, err := os.Stat(out + ".manifest.json"); err != nil {
		t.Error(err)
	}
	if r = clitest.Run(t, "", "--runner=direct", "--spec", spec); r.Status != 0 || !strings.Contains(r.Err, "nothing was charged") {
		t.Errorf("repeated: status %d, %s", r.Status, r.Err)
	}
}

// Ctrl-C ends the job with one line, and the same command completes the release. A job that has ended before it is another try.
func TestInterrupt(t *testing.T) {
	for _, runner := range []string{"prism", "direct"} {
		t.Run(runner, func(t *testing.T) {
			for status := 0; status == 0; {
				spec, out := writeJob(t, 200_000, 40)
				cmd := clitest.Command(t, "--runner="+runner, "--spec", spec)
				var said bytes.Buffer
				cmd.Stderr = &said
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				for first := strings.TrimSuffix(out, ".csv") + "-0*"; ; time.Sleep(time.Millisecond) {
					if done, _ := filepath.Glob(first); len(done) > 0 {
						break
					}
				}
				if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
					t.Fatal(err)
				}
				if status = clitest.ExitStatus(t, cmd.Wait()); status != 0 && (status != 130 || said.String() != programName+": interrupted\n") {
					t.Errorf("status %d, %s", status, said.String())
				}
				if r := clitest.Run(t, "", "--runner="+runner, "--spec", spec); r.Status != 0 || !strings.Contains(r.Err, "200000 rows") {
					t.Errorf("status %d, %s", r.Status, r.Err)
				}
			}
		})
	}
}
