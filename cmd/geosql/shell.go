package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/sqlite"
)

const (
	prompt       = "geosql> "
	continuation = "   ...> "
	greeting     = "geosql: end a statement with ';'. Type .help for the commands, Ctrl-D to leave."
)

// shell reads statements from the terminal and runs each as soon as it is complete.
// Ctrl-C drops what was typed or interrupts what runs. Neither Ctrl-C nor an error
// leaves the shell.
func (s *session) shell(ctx context.Context) error {
	// While a line is edited Ctrl-C is a key; an interrupt sent from elsewhere
	// must not leave the terminal raw.
	signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	fmt.Fprintln(os.Stderr, greeting)
	ed := newEditor(historyFile())
	defer ed.history.save()
	text := ""
	for {
		line, err := ed.readLine(ctx, nextPrompt(text))
		switch {
		case err == errInterrupt:
			text = ""
			continue
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		if text == "" && strings.HasPrefix(line, ".") {
			err = s.dotCommand(ctx, line)
		} else if text = joinLine(text, line); sqlite.Complete(text) {
			err = s.runTyped(ctx, text)
			text = ""
		}
		if endsShell(ctx, err) {
			return shellError(ctx, err)
		}
		cli.Report(programName, err)
	}
}

func nextPrompt(text string) string {
	if text == "" {
		return prompt
	}
	return continuation
}

// joinLine adds a line to a statement. A statement does not start with an empty line.
func joinLine(text, line string) string {
	if text == "" && strings.TrimSpace(line) == "" {
		return ""
	}
	return text + line + "\n"
}

// runTyped runs statements. Ctrl-C ends the statements and not the shell.
func (s *session) runTyped(ctx context.Context, text string) error {
	ctx, stop := cli.StopOn(ctx, os.Interrupt)
	defer stop()
	s.startOutput()
	return cmp.Or(s.run(ctx, text), s.out.Flush())
}

// errQuit reports that the user wants to leave the shell.
var errQuit = errors.New("quit")

// endsShell reports whether an error ends the shell. It reports other errors and continues.
func endsShell(ctx context.Context, err error) bool {
	return ctx.Err() != nil || err == errQuit || errors.Is(err, syscall.EPIPE)
}

// shellError returns the error of the shell after an error that ended it.
func shellError(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == errQuit:
		return nil
	default:
		return err
	}
}
