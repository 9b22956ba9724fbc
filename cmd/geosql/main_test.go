package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// asCommand in the environment makes the test binary be the command.
const asCommand = "GEOSQL_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

// command returns the command, ready to start, in an empty home directory.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	home := t.TempDir()
	cmd.Env = append(os.Environ(), asCommand+"=1", "GORACE=atexit_sleep_ms=0", "HOME="+home, "XDG_CONFIG_HOME="+home)
	return cmd
}

// A result is what a run left behind.
type result struct {
	out, err string
	status   int
}

// runWith runs the command on standard input.
func runWith(t *testing.T, stdin string, args ...string) result {
	t.Helper()
	cmd := command(t, args...)
	var out, errOut bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errOut
	err := cmd.Run()
	return result{out.String(), errOut.String(), exitStatus(t, err)}
}

func exitStatus(t *testing.T, err error) int {
	t.Helper()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return 0
}

// query runs the command and demands that it succeeds in silence.
func query(t *testing.T, args ...string) string {
	t.Helper()
	r := runWith(t, "", args...)
	if r.status != 0 || r.err != "" {
		t.Fatalf("geosql %q: status %d, %s", args, r.status, r.err)
	}
	return r.out
}

// wantError demands an exit status and one line of error that holds a text.
func wantError(t *testing.T, r result, status int, text string) {
	t.Helper()
	if r.status != status || !strings.HasPrefix(r.err, "geosql: ") || strings.Count(r.err, "\n") != 1 ||
		!strings.HasSuffix(r.err, "\n") || !strings.Contains(r.err, text) {
		t.Errorf("status %d, standard error %q; want %d and one line with %q", r.status, r.err, status, text)
	}
}

func tempFile(t *testing.T, name string) string {
	t.Helper()
	return filepath.Join(t.TempDir(), name)
}

func TestUsageErrors(t *testing.T) {
	db := tempFile(t, "x.db")
	for _, c := range []struct {
		args []string
		text string
	}{
		{nil, "no database given"},
		{[]string{"-csv"}, "no database given"},
		{[]string{""}, "empty name"},
		{[]string{"-nosuch", db}, "-nosuch"},
		{[]string{db, "SELECT 1", "--nosuch"}, "-nosuch"},
		{[]string{db, "-ledger"}, "needs an argument"},
		{[]string{db, "-ledger="}, "empty name"},
		{[]string{"-csv=1", db}, "takes no value"},
		{[]string{db, "SELECT", "1"}, "quote the SQL"},
		{[]string{"budget"}, "too few"},
		{[]string{"budget", db, "x"}, "too many"},
		{[]string{"import", db, "t"}, "too few"},
		{[]string{"import", "-csv", db, "t", "f"}, "import takes no flag -csv"},
		{[]string{"demo", "-json"}, "demo takes no flag -json"},
		{[]string{db, "-history"}, "running SQL takes no flag -history"},
		{[]string{"budget", db, "--head", "1:00"}, "-head is for -verify"},
		{[]string{"budget", db, "--archive", "f"}, "-archive needs -before"},
		{[]string{"budget", db, "--before", "2026-01-01"}, "-before is for -archive"},
		{[]string{"budget", db, "--verify", "--history"}, "one thing at a time"},
		{[]string{"budget", db, "--archive=f", "--before=0", "--account=ana"}, "one thing at a time"},
		{[]string{"help", "x"}, "too many"},
	} {
		r := runWith(t, "", c.args...)
		wantError(t, r, 2, c.text)
		if r.out != "" {
			t.Errorf("%q wrote %q to standard output", c.args, r.out)
		}
	}
	if _, err := os.Stat(db); err == nil {
		t.Error("a usage error created the database")
	}
}

func TestHelp(t *testing.T) {
	for _, arg := range []string{"help", "-h", "--help", "-help"} {
		if out := query(t, arg); out != usage {
			t.Errorf("%s printed %q", arg, out)
		}
	}
	for _, line := range strings.Split(usage, "\n") {
		if len(line) > 90 {
			t.Errorf("line of %d characters: %s", len(line), line)
		}
	}
}

// The examples of the usage run as they stand.
func TestUsageExamples(t *testing.T) {
	_, script, found := strings.Cut(usage, "\nExamples:\n")
	if !found {
		t.Fatal("the usage has no examples")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := command(t)
	cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-ec", `geosql() { "$SELF" "$@"; }` + "\n" + script}
	cmd.Env = append(cmd.Env, "SELF="+self)
	cmd.Dir = t.TempDir()
	trips := zipped(t, "person,lat,lon\nana,48.854,2.3331\nbo,48.861,2.3350\n")
	if err := os.WriteFile(filepath.Join(cmd.Dir, "trips.csv.gz"), []byte(trips), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	rows, err := os.ReadFile(filepath.Join(cmd.Dir, "private.csv"))
	if err != nil || !strings.HasPrefix(string(rows), "lat,lon\n") || strings.Count(string(rows), "\n") != 3 {
		t.Errorf("%v, %q", err, rows)
	}
}

func TestVersion(t *testing.T) {
	if out := query(t, "version"); !strings.HasPrefix(out, "geosql ") || !strings.Contains(out, "SQLite 3.") {
		t.Errorf("version printed %q", out)
	}
}

func TestDatabaseErrors(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(text, bytes.Repeat([]byte("no database\n"), 100), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, text string }{
		{dir, "is a directory"},
		{text, text + ": file is not a database"},
		{filepath.Join(dir, "none", "x.db"), "unable to open"},
	} {
		wantError(t, runWith(t, "", c.path, "SELECT 1"), 1, c.text)
		wantError(t, runWith(t, "", "budget", c.path), 1, "")
		csv := tempFile(t, "a.csv")
		if err := os.WriteFile(csv, []byte("a\n1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		wantError(t, runWith(t, "", "import", c.path, "t", csv), 1, c.text)
	}
}

func TestBudgetCreatesNothing(t *testing.T) {
	db := tempFile(t, "none.db")
	wantError(t, runWith(t, "", "budget", db), 1, "no such database")
	if left, _ := filepath.Glob(db + "*"); left != nil {
		t.Errorf("budget created %v", left)
	}
}

func TestErrorIsOneLine(t *testing.T) {
	r := runWith(t, "", ":memory:", "SELECT 'a\nb\r\nc")
	wantError(t, r, 1, "unrecognized token")
}

func TestStatus(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{fmt.Errorf("write: %w", syscall.EPIPE), 0},
		{errors.New("any"), 1},
		{usageError("any"), 2},
		{signalError(syscall.SIGINT), 130},
		{signalError(syscall.SIGTERM), 143},
	} {
		if got := status(c.err); got != c.want {
			t.Errorf("status(%v) = %d, want %d", c.err, got, c.want)
		}
	}
}
