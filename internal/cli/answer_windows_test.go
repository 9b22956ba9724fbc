package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"testing"
)

// A word that is shown in a command to type is one argument of cmd.exe and of PowerShell.
func TestShellWord(t *testing.T) {
	for word, want := range map[string]string{`C:\data\x.db`: `C:\data\x.db`, `C:\my data\x.db`: `"C:\my data\x.db"`} {
		if got := ShellWord(word); got != want {
			t.Errorf("%s is shown as %s, want %s", word, got, want)
		}
	}
}

// Windows ends the input at Ctrl-C, and says only then that it was Ctrl-C.
func TestEndOfInputIsAnInterrupt(t *testing.T) {
	interrupted := errors.New("interrupted")
	ctx, interrupt := context.WithCancelCause(t.Context())
	if line, err := ReadAnswer(ctx, bufio.NewReader(endsBefore(func() { interrupt(interrupted) }))); err != interrupted {
		t.Errorf("%q, %v", line, err)
	}
	ended := endsBefore(func() {})
	if line, err := ReadAnswer(t.Context(), bufio.NewReader(ended)); err != io.EOF {
		t.Errorf("%q, %v", line, err)
	}
}

// endsBefore is an input that is at its end, before something is done.
type endsBefore func()

func (do endsBefore) Read([]byte) (int, error) {
	go do()
	return 0, io.EOF
}
