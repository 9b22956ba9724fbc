package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"syscall"

	"golang.org/x/term"

	"github.com/geosql/geosql/internal/printable"
)

// A LineReader reads lines from a terminal, where arrow keys move in the line and to earlier ones. The terminal is raw only
// while a line is read. So Ctrl-C is a key. It ends in the error of the signal, and Ctrl-D in io.EOF.
type LineReader struct {
	terminal *term.Terminal
	left     bool // Ctrl-C was typed
}

// NewLineReader returns a reader from standard input, which echoes on standard error.
func NewLineReader() *LineReader {
	r := &LineReader{}
	r.terminal = term.NewTerminal(r, "")
	return r
}

// Read reads keys.
func (r *LineReader) Read(p []byte) (int, error) {
	n, err := os.Stdin.Read(p)
	r.left = bytes.IndexByte(p[:n], '\x03') >= 0
	return n, err
}

// Write writes to the terminal.
func (r *LineReader) Write(p []byte) (int, error) { return os.Stderr.Write(p) }

// Line asks for a line.
func (r *LineReader) Line(ctx context.Context, prompt string) (string, error) {
	fd := int(os.Stdin.Fd())
	state, err := term.MakeRaw(fd)
	if err != nil {
		return "", err
	}
	r.terminal.SetPrompt(printable.Text(prompt))
	if width, height, err := term.GetSize(int(os.Stderr.Fd())); err == nil && width > 0 {
		_ = r.terminal.SetSize(width, height)
	}
	line, err := Await(ctx, r.terminal.ReadLine)
	term.Restore(fd, state)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr)
	case err == io.EOF && r.left:
		fmt.Fprintln(os.Stderr, "^C")
		err = SignalError(syscall.SIGINT)
	case err == io.EOF:
		fmt.Fprintln(os.Stderr)
	}
	return line, err
}
