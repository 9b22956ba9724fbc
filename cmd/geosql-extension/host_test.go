package main_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/need"
	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/sqlitefn"
)

// python finds a Python with a module sqlite3 that loads extensions.
func python(tb testing.TB) string {
	tb.Helper()
	return need.Python(tb, "import sqlite3; sqlite3.Connection.enable_load_extension", "python3")
}

// host is a SQLite that loads the extension, as Python's module sees it.
type host struct {
	name    string
	version string
	env     []string
}

// hosts are Python with the system's SQLite and with the bundled one.
func hosts(t *testing.T) (list []host) {
	t.Helper()
	needTools(t)
	for _, h := range []host{
		{name: "system"},
		{name: "bundled", env: []string{"LD_LIBRARY_PATH=" + filepath.Dir(bundled.path(t))}},
	} {
		cmd := exec.Command(python(t), "-c", "import sqlite3; print(sqlite3.sqlite_version, end='')")
		cmd.Env = append(os.Environ(), h.env...)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(h.name, err)
		}
		h.version = string(out)
		list = append(list, h)
	}
	if list[0].version == list[1].version {
		t.Log("both hosts have SQLite ", list[0].version)
	}
	return list
}

// script makes the command of a script of testdata. A script that hangs, as one that forks
// may, is ended.
func (h host) script(t *testing.T, so, name string, args ...string) *exec.Cmd {
	t.Helper()
	limited, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(limited, python(t), append([]string{filepath.Join("testdata", name)}, args...)...)
	cmd.WaitDelay = time.Minute // its children may have the pipe
	cmd.Env = append(os.Environ(), h.env...)
	cmd.Env = append(cmd.Env, "PYTHONDONTWRITEBYTECODE=1", "GEOSQL_SO="+so, "GEOSQL_SQLITE="+h.version)
	return cmd
}

// TestPython runs the scripts of testdata, which check their own results, each on a new database in one of the hosts.
func TestPython(t *testing.T) {
	all := hosts(t)
	for _, script := range []struct {
		name string
		args []string
	}{
		{"release.py", []string{sqlitefn.Version}},
		{"load.py", nil},
		{"cycles.py", nil},
		{"threads.py", nil},
		{"interrupt.py", nil},
		{"fork.py", nil},
		{"forkfirst.py", nil},
		{"exit.py", []string{"end"}},
		{"exit.py", []string{"exit"}},
		{"exit.py", []string{"_exit"}},
	} {
		for _, h := range trials.Some(t, 1, all...) {
			name := strings.Join(append([]string{h.name, script.name}, script.args...), " ")
			t.Run(name, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "main.db")
				cmd := h.script(t, library.path(t), script.name, append([]string{path}, script.args...)...)
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Errorf("%v\n%s", err, out)
				} else if len(out) > 0 {
					t.Logf("%s", out)
				}
			})
		}
	}
}

func TestPanics(t *testing.T) {
	for _, h := range hosts(t) {
		if out, err := h.script(t, panics.path(t), "panics.py").CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", h.name, err, out)
		}
	}
}

// shell runs SQLite's command on a database after loading the extension.
func shell(t *testing.T, path, input string) (stdout, stderr string, err error) {
	t.Helper()
	needTools(t, "sqlite3")
	cmd := exec.Command("sqlite3", "-batch", "-bail", "-cmd", ".load "+strings.TrimSuffix(library.path(t), ".so"), path)
	cmd.Stdin = strings.NewReader(input)
	var out, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &e
	err = cmd.Run()
	return out.String(), e.String(), err
}

func TestShell(t *testing.T) {
	path := filepath.Join(t.TempDir(), "main.db")
	out, e, err := shell(t, path, `
		SELECT geo_domain('beijing', 39.4, 115.4, 41.1, 117.6, 1) IS NULL, budget_limit('ana', 'm', 1) IS NULL;
		SELECT geoind_laplace('ana', 39.9, 116.3, 0.25) LIKE 'POINT(%)';
		BEGIN;
		SELECT count(lat) FROM geoind_laplace('ana', 39.9, 116.3, 0.25);
		ROLLBACK;
		SELECT budget_spent('ana', 'm');`)
	if want := "0|0\n1\n1\n0.5\n"; err != nil || out != want || e != "" {
		t.Errorf("%v, %s\nanswers\n%swant\n%s", err, e, out, want)
	}
	// Another process, and the ledger's own file.
	out, e, err = shell(t, path, `
		SELECT function, account, unit, epsilon FROM ledger_charges;
		ATTACH '`+path+`-ledger' AS book;
		SELECT account, unit, spent FROM book.balance;
		DETACH book;
		SELECT geoind_laplace('ana', 39.9, 116.3, 0.75);
		SELECT 'not reached';`)
	if want := "geoind_laplace|ana|m|0.25\ngeoind_laplace|ana|m|0.25\nana|m|500000000000\n"; out != want {
		t.Errorf("answers\n%swant\n%s", out, want)
	}
	if want := "account 'ana' has 0.50/m left of 1.00/m, 0.75/m asked, 0.25/m short"; err == nil || !strings.Contains(e, want) {
		t.Errorf("%v, error %q, want %q", err, e, want)
	}
}

// A reader that goes away ends the shell as it does without the extension.
func TestShellWhoseReaderGoesAway(t *testing.T) {
	needTools(t, "sqlite3")
	cmd := exec.Command("sqlite3", "-cmd", ".load "+library.path(t), ":memory:",
		`WITH RECURSIVE s(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM s) SELECT i FROM s`)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var some [100]byte
	if _, err := out.Read(some[:]); err != nil {
		t.Error(err)
	}
	out.Close()
	err = cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGPIPE {
		t.Error(err)
	}
}

// A host is refused if its SQLite is too old, lacks a feature, or is not the one
// that the process has loaded the extension with.
func TestRoutines(t *testing.T) {
	needTools(t)
	out, err := exec.Command(program("routines").path(t), library.path(t), bundled.path(t)).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	want := []string{
		"1 geosql: SQLite 3.37.2 is older than 3.38.0",
		"1 geosql: SQLite 9.9.9 was built without window functions",
		"1 geosql: SQLite 9.9.9 was built without virtual tables",
		"0 (null)", "0",
		"1 error during initialization: geosql: another copy of SQLite in this process has loaded it", "1",
		"0 (null)", "0",
	}
	if fmt.Sprint(lines) != fmt.Sprint(want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
}
