package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"testing"

	"github.com/geosql/geosql/internal/cli/clitest"
)

func TestHistoryFile(t *testing.T) {
	for local, want := range map[string]string{`C:\Users\Ana\AppData\Local`: `C:\Users\Ana\AppData\Local\geosql\history`, "": ""} {
		t.Setenv("LOCALAPPDATA", local)
		if got := historyFile(); got != want {
			t.Errorf("with LOCALAPPDATA=%s the history is %s, want %s", local, got, want)
		}
	}
}

// A word that is shown in a command to type is one argument of cmd.exe and of PowerShell.
func TestShellWord(t *testing.T) {
	for word, want := range map[string]string{`C:\data\x.db`: `C:\data\x.db`, `C:\my data\x.db`: `"C:\my data\x.db"`} {
		if got := shellWord(word); got != want {
			t.Errorf("%s is shown as %s, want %s", word, got, want)
		}
	}
}

// A database whose path has a drive, a backslash, or letters beyond ASCII.
func TestPathsOfWindows(t *testing.T) {
	for _, name := range []string{"plain.db", "with space.db", "Zürich Ω.db"} {
		path := clitest.TempFile(t, name)
		if path[1] != ':' {
			t.Fatalf("%s names no drive", path)
		}
		clitest.Query(t, path, "SELECT budget_limit('*', 'm', 1)")
		if out := clitest.Query(t, "-csv", "--ledger", path+"-ledger", path, "SELECT count(*) AS n FROM ledger_limits"); out != "n\n1\n" {
			t.Errorf("%s: %q", path, out)
		}
	}
	clitest.WantError(t, clitest.Run(t, "", "import", "city", "t", "a.csv"), 2, "there is no database city")
	if instead := rejectDatabase(`data\city`); instead != "" {
		t.Errorf("a path with a backslash is no mistyped command: %s", instead)
	}
}

// Windows ends the input at Ctrl-C, and says only then that it was Ctrl-C.
func TestEndOfInputIsAnInterrupt(t *testing.T) {
	interrupted := errors.New("interrupted")
	ctx, interrupt := context.WithCancelCause(t.Context())
	if line, err := readAnswer(ctx, bufio.NewReader(endsBefore(func() { interrupt(interrupted) }))); err != interrupted {
		t.Errorf("%q, %v", line, err)
	}
	ended := endsBefore(func() {})
	if line, err := readAnswer(t.Context(), bufio.NewReader(ended)); err != io.EOF {
		t.Errorf("%q, %v", line, err)
	}
}

// endsBefore is an input that is at its end, before something is done.
type endsBefore func()

func (do endsBefore) Read([]byte) (int, error) {
	go do()
	return 0, io.EOF
}

// Nothing is served here, which is said before anything is opened.
func TestServeSaysThatItDoesNot(t *testing.T) {
	clitest.WantError(t, clitest.Run(t, "", "serve", "none.db", "--key", "none"), 1, "serve from Linux")
}
