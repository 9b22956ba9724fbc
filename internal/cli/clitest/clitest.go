// Package clitest runs a command in its tests: the test binary is the command.
package clitest

import (
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asCommand in the environment makes the test binary be the command.
const asCommand = "GEOSQL_TEST_AS_COMMAND"

// program is the name of the command under test.
var program string

// Main is the TestMain of a command: it runs the tests, or main in a process that they
// started.
func Main(m *testing.M, name string, main func()) {
	if os.Getenv(asCommand) != "" {
		heedInterrupt()
		main()
	}
	program = name
	prepareInterrupts()
	m.Run()
}

// Command returns the command, ready to start, in an empty home directory.
func Command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	home := t.TempDir()
	cmd.Env = append(os.Environ(), asCommand+"=1", "GORACE=atexit_sleep_ms=0", "HOME="+home, "XDG_STATE_HOME="+home, "LOCALAPPDATA="+home, "XDG_CONFIG_HOME="+home, "APPDATA="+home)
	cmd.SysProcAttr = interruptible()
	return cmd
}

// TempIn returns variables of the environment that make a folder the one for temporary files, on any system.
func TempIn(folder string) []string { return []string{"TMPDIR=" + folder, "TMP=" + folder} }

// NoSuchFile is the system's error for a file that is missing. All number that error 2.
var NoSuchFile = syscall.Errno(2).Error()

// NeedsSh skips a test with a text for a shell where there is none.
func NeedsSh(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("it is written for sh, which Windows lacks")
	}
}

// A Result is the result of a run.
type Result struct {
	Out, Err string
	Status   int
}

// Run runs the command on standard input.
func Run(t *testing.T, stdin string, args ...string) Result {
	t.Helper()
	cmd := Command(t, args...)
	var out, errOut bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errOut
	err := cmd.Run()
	return Result{out.String(), errOut.String(), ExitStatus(t, err)}
}

// ExitStatus returns the exit status that an error of package exec tells.
func ExitStatus(t *testing.T, err error) int {
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

// Query runs the command and demands that it succeeds in silence.
func Query(t *testing.T, args ...string) string {
	t.Helper()
	r := Run(t, "", args...)
	if r.Status != 0 || r.Err != "" {
		t.Fatalf("%s %q: status %d, %s", program, args, r.Status, r.Err)
	}
	return r.Out
}

// Import runs the command import and demands that it succeeds. It returns the command's standard error.
func Import(t *testing.T, args ...string) (report string) {
	t.Helper()
	r := Run(t, "", append([]string{"import"}, args...)...)
	if r.Status != 0 || r.Out != "" || !strings.HasPrefix(r.Err, "imported ") {
		t.Fatalf("%s import %q: status %d, %q, %s", program, args, r.Status, r.Out, r.Err)
	}
	return r.Err
}

// WantError demands an exit status and one line of error that holds a text.
func WantError(t *testing.T, r Result, status int, text string) {
	t.Helper()
	if r.Status != status || !strings.HasPrefix(r.Err, program+": ") || strings.Count(r.Err, "\n") != 1 ||
		!strings.HasSuffix(r.Err, "\n") || !strings.Contains(r.Err, text) {
		t.Errorf("status %d, standard error %q; want %d and one line with %q", r.Status, r.Err, status, text)
	}
}

// Await returns once a condition holds, and ends the test if that takes a minute.
func Await(t *testing.T, condition string, holds func() bool) {
	t.Helper()
	for begun := time.Now(); !holds(); time.Sleep(time.Millisecond) {
		if time.Since(begun) > time.Minute {
			t.Fatalf("after a minute there is no %s", condition)
		}
	}
}

// TempFile returns the path of a file that does not exist yet.
func TempFile(t *testing.T, name string) string {
	t.Helper()
	return filepath.Join(t.TempDir(), name)
}

// WriteFile returns the path of a new file that holds a text.
func WriteFile(t *testing.T, text string) string {
	t.Helper()
	path := TempFile(t, "in.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Zipped returns a text as gzip compresses it.
func Zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Help runs the command and demands that its output fits on a screen.
func Help(t *testing.T, args ...string) string {
	t.Helper()
	out := Query(t, args...)
	if n := strings.Count(out, "\n"); n > 60 {
		t.Errorf("%q printed %d lines", args, n)
	}
	for line := range strings.Lines(out) {
		if len(line) > 100 {
			t.Errorf("%q printed a line of %d characters: %s", args, len(line), line)
		}
	}
	return out
}
