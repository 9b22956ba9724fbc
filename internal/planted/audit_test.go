//go:build planted

package planted

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Environment variables of TestAuditFinds.
const (
	// bugsVariable names the bugs to look for, separated by commas; "all" is all of them, and "blind" is all of them by
	// audits of all functions that the host has. Without it they are those of quick.
	bugsVariable = "GEOSQL_AUDIT_BUGS"

	// foundVariable names a file to which a line of JSON is appended for each bug.
	foundVariable = "GEOSQL_AUDIT_FOUND"
)

// quick are the bugs that CI looks for: from each family, and by each kind of check.
var quick = []string{
	"clamped-tails", "coarse-noise", "arg-max", "zero-without-noise", "lattice-at-secret", "reused-in-row", "seeded-connections",
	"range-error", "groups-taken-for-disjoint", "dry-run-draws", "lease-ends-first",
}

// limit is how long an audit may look for a bug.
const limit = 10 * time.Minute

// A finding says how an audit has found a bug.
type finding struct {
	Bug     string  `json:"bug"`
	Audit   string  `json:"audit"` // its arguments
	Found   bool    `json:"found"`
	Seconds float64 `json:"seconds"`
	What    string  `json:"what"` // the first violation, or what the audit says otherwise
}

// Every planted bug is found by geosql audit within ten minutes, by an audit of the bug's function, or of all functions, as
// somebody does who does not know what is wrong. Some are found by a test.
func TestAuditFinds(t *testing.T) {
	b := &binaries{folder: t.TempDir(), tested: map[string]string{}}
	names, chosen := quick, os.Getenv(bugsVariable)
	if chosen != "" {
		names = strings.Split(chosen, ",")
	}
	for _, bug := range Catalogue() {
		if chosen != "all" && chosen != "blind" && !slices.Contains(names, bug.Name) {
			continue
		}
		t.Run(bug.Name, func(t *testing.T) {
			var f finding
			if bug.Test != "" {
				f = b.test(t, bug.Name, bug)
			} else {
				args := b.arguments(t, bug.Host)
				if chosen != "blind" {
					args = append(args, bug.Function)
				}
				f = audit(t, b.command(t), bug.Name, args)
			}
			f.note(t)
			if !f.Found {
				t.Errorf("it was not found in %.0f s: %s", f.Seconds, f.What)
			}
		})
	}
}

// What an audit finds in the planted binary is the bug that was chosen, and not another that is always there.
func TestAuditFindsNothingWithoutBug(t *testing.T) {
	b := &binaries{folder: t.TempDir(), tested: map[string]string{}}
	c := exec.Command(b.command(t), "audit", "--minutes", "0.25")
	c.Env = append(os.Environ(), Variable+"=")
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for _, bug := range Catalogue() {
		if bug.Test == "" {
			continue
		}
		if f := b.test(t, "", bug); f.Found {
			t.Errorf("%s fails: %s", bug.Test, f.What)
		}
	}
}

// audit audits the planted binary until it finds a violation, or the time is over.
func audit(t *testing.T, command, bug string, args []string) finding {
	t.Helper()
	minutes := fmt.Sprint(limit.Minutes())
	ctx, stop := context.WithTimeout(t.Context(), limit+time.Minute)
	defer stop()
	c := exec.CommandContext(ctx, command, append([]string{"audit", "--minutes", minutes}, args...)...)
	c.Env = append(os.Environ(), Variable+"="+bug)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 30 * time.Second
	said, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	f := finding{Bug: bug, Audit: strings.Join(args, " ")}
	for lines := bufio.NewScanner(said); lines.Scan(); {
		line := strings.TrimPrefix(lines.Text(), "geosql: ")
		if !f.Found {
			f.Seconds = time.Since(begun).Seconds()
			f.What, f.Found = strings.CutPrefix(line, "violated: ")
		}
		if f.Found {
			stop() // and read on, so that it can end
		}
	}
	_ = c.Wait() // it was interrupted, or has exit status 1
	if !f.Found {
		f.Seconds = time.Since(begun).Seconds()
	}
	return f
}

// test runs the test of a bug with an active bug, that one or none, which it finds if it fails.
func (b *binaries) test(t *testing.T, active string, bug Bug) finding {
	t.Helper()
	name := bug.Test
	c := exec.Command(b.tests(t, bug.Package), "-test.run", "^"+strings.ReplaceAll(name, "/", "$/^")+"$", "-test.timeout", limit.String())
	c.Dir = filepath.Join(root, bug.Package)
	c.Env = append(os.Environ(), Variable+"="+active, "GEOSQL_STATEMENTS=2000") // of 200, one in three misses a bug of sorters
	begun := time.Now()
	out, err := c.CombinedOutput()
	f := finding{Bug: active, Audit: name, Seconds: time.Since(begun).Seconds()}
	_, said, failed := strings.Cut(string(out), "--- FAIL: "+name+" ")
	if failed != (err != nil) {
		t.Fatalf("%v\n%s", err, out)
	}
	if f.Found = failed; failed {
		_, said, _ = strings.Cut(said, "\n") // after the time that it took
		f.What, _, _ = strings.Cut(strings.TrimSpace(said), "\n")
	}
	return f
}

// note logs a finding and appends it to the file that the environment names.
func (f finding) note(t *testing.T) {
	t.Helper()
	t.Logf("found %v after %.1f s: %s", f.Found, f.Seconds, f.What)
	name := os.Getenv(foundVariable)
	if name == "" {
		return
	}
	line, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.Write(append(line, '\n')); err != nil {
		t.Fatal(err)
	}
}

// binaries builds the command, the extension and the tests of packages with all bugs, each once.
type binaries struct {
	folder                  string
	overlay, built, shareds sync.Once
	tested                  map[string]string // the tests of each package that were built
}

// build runs a go command that builds with the overlay.
func (b *binaries) build(t *testing.T, command string, args ...string) {
	t.Helper()
	overlay := filepath.Join(b.folder, "overlay")
	b.overlay.Do(func() { goCommand(t, root, nil, "run", "-tags", "planted", "./internal/planted/overlay", overlay) })
	goCommand(t, root, nil, append([]string{command, "-buildvcs=false", "-overlay", filepath.Join(overlay, "overlay.json")}, args...)...)
}

// tests returns the path of the tests of a package.
func (b *binaries) tests(t *testing.T, folder string) string {
	path, built := b.tested[folder]
	if !built {
		path = filepath.Join(b.folder, fmt.Sprintf("tests%d", len(b.tested)))
		b.build(t, "test", "-tags", "planted", "-c", "-o", path, "./"+folder)
		b.tested[folder] = path
	}
	return path
}

// command returns the path of the command geosql.
func (b *binaries) command(t *testing.T) string {
	path := filepath.Join(b.folder, "geosql")
	b.built.Do(func() { b.build(t, "build", "-tags", "planted", "-o", path, "./cmd/geosql") })
	return path
}

// arguments returns the flags of an audit on a host.
func (b *binaries) arguments(t *testing.T, host string) []string {
	switch host {
	case extension:
		path := filepath.Join(b.folder, "geosql.so")
		b.shareds.Do(func() {
			b.build(t, "build", "-tags", "planted,geosql_loadable", "-buildmode=c-shared", "-o", path, "./cmd/geosql-extension")
		})
		return []string{"--extension", path}
	case server:
		return []string{"--server"}
	}
	return nil
}
