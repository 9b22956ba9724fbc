package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/geosql/geosql/internal/printable"
)

// errInterrupt reports Ctrl-C while a line is being edited.
var errInterrupt = errors.New("interrupt")

// An editor reads lines from the terminal. The terminal is raw only while a line
// is being edited: everywhere else Ctrl-C is a signal and a line feed is enough.
// Prompts and echo go to standard error; only rows go to standard output.
type editor struct {
	term    *term.Terminal
	history *history
}

func newEditor(historyFile string) *editor {
	e := &editor{history: loadHistory(historyFile)}
	e.reset()
	return e
}

// reset discards the line that is being edited.
func (e *editor) reset() {
	e.term = term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{keyboard{os.Stdin}, echo{os.Stderr}}, "")
	e.term.History = e.history
}

// readLine reads a line. Its errors are errInterrupt, io.EOF for Ctrl-D, and the
// cause of ctx.
func (e *editor) readLine(ctx context.Context, prompt string) (string, error) {
	fd := int(os.Stdin.Fd())
	state, err := term.MakeRaw(fd)
	if err != nil {
		return "", err
	}
	defer term.Restore(fd, state)
	if width, height, err := term.GetSize(fd); err == nil && width > 0 {
		e.term.SetSize(width, height)
	}
	e.term.SetPrompt(prompt)
	line, err := await(ctx, e.term.ReadLine)
	switch {
	case err == errInterrupt:
		e.reset()
		io.WriteString(os.Stderr, "^C\r\n")
	case err != nil:
		io.WriteString(os.Stderr, "\r\n")
	}
	return line, err
}

// An echo shows what the editor writes. It replaces each invisible character of a line by a
// visible one, which takes the one column that the editor counts for it. The editor's own
// escape codes are ASCII, and it lets no other ASCII control character into a line.
type echo struct{ w io.Writer }

func (e echo) Write(p []byte) (int, error) {
	shown := bytes.Map(func(r rune) rune {
		if r >= utf8.RuneSelf && !printable.Is(string(r)) {
			return utf8.RuneError
		}
		return r
	}, p)
	if _, err := e.w.Write(shown); err != nil {
		return 0, err
	}
	return len(p), nil
}

// A keyboard turns Ctrl-C into errInterrupt, since package term treats it like
// Ctrl-D. As in a terminal, Ctrl-C drops what was typed with it.
type keyboard struct{ r io.Reader }

func (k keyboard) Read(p []byte) (int, error) {
	const ctrlC = 3
	n, err := k.r.Read(p)
	if i := bytes.IndexByte(p[:n], ctrlC); i >= 0 {
		return i, errInterrupt
	}
	return n, err
}
