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
	greeting     = "geosql: end a statement with ';'. .help lists the commands, Ctrl-D leaves."
)

// shell reads statements from the terminal and runs each as soon as it is whole.
// Ctrl-C drops what was typed or interrupts what runs; neither it nor an error
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
		if leaves(ctx, err) {
			return leave(ctx, err)
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

// joinLine adds a line to a statement, which does not start with an empty one.
func joinLine(text, line string) string {
	if text == "" && strings.TrimSpace(line) == "" {
		return ""
	}
	return text + line + "\n"
}

// runTyped runs statements; Ctrl-C ends them only.
func (s *session) runTyped(ctx context.Context, text string) error {
	ctx, stop := cli.StopOn(ctx, os.Interrupt)
	defer stop()
	s.startOutput()
	return cmp.Or(s.run(ctx, text), s.out.Flush())
}

// errQuit is the wish to leave the shell.
var errQuit = errors.New("quit")

// leaves tells the errors that leave the shell from those that it reports.
func leaves(ctx context.Context, err error) bool {
	return ctx.Err() != nil || err == errQuit || errors.Is(err, syscall.EPIPE)
}

func leave(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == errQuit:
		return nil
	default:
		return err
	}
}
