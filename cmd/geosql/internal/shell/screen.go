package shell

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/term"

	"github.com/geosql/geosql/cmd/geosql/internal/output"
	"github.com/geosql/geosql/cmd/geosql/internal/session"
	"github.com/geosql/geosql/internal/cli"
)

// A screen is where the rows of a statement go: standard output, a file, or the user's pager.
type screen struct {
	session.RowFile
	width, height int // of the terminal
	ctx           context.Context
	pager         string // the command, "" for none

	running *exec.Cmd
	pipe    io.WriteCloser
}

// screen returns where the rows of a statement go, and fits the tables to it. A pager ends with
// ctx.
func (sh *shell) screen(ctx context.Context) *screen {
	out := os.Stdout
	if sh.file != nil {
		out = sh.file
	}
	width, height, err := term.GetSize(int(out.Fd()))
	s := &screen{RowFile: sh.Session.RowFile(out, err == nil), width: width, height: height, ctx: ctx}
	look := output.TerminalLook(out)
	look.Width, look.NoHeader = width, sh.Look.NoHeader
	sh.Look = look
	if sh.null != nil {
		sh.Look.Null = *sh.null
	}
	if height > 0 && sh.editor != nil && !sh.editor.pending() { // a pager would read text that was typed ahead
		s.pager = pagerCommand()
	}
	return s
}

// pagerCommand returns the command that shows long answers, "" for none: that of $PAGER, or
// less, which then leaves short answers where they are and does not wrap lines.
func pagerCommand() string {
	command, set := os.LookupEnv("PAGER")
	if !set {
		command = "less -RSFX" // which many a Windows has with git
	}
	words := strings.Fields(command)
	if len(words) == 0 {
		return ""
	}
	if _, err := exec.LookPath(words[0]); err != nil {
		return ""
	}
	return command
}

// errPagerLeft reports that the user has left the pager.
var errPagerLeft = errors.New("the pager was left")

// Write writes rows. The first that do not fit on the terminal start the pager.
func (s *screen) Write(p []byte) (int, error) {
	if s.pager != "" && s.pipe == nil && s.rowsOf(p) >= s.height {
		s.start()
	}
	if s.pipe == nil {
		s.pager = "" // the pager would not show the rows that the terminal shows already
		return s.RowFile.Write(p)
	}
	n, err := s.pipe.Write(p)
	if cli.ReaderLeft(err) || errors.Is(err, os.ErrClosed) {
		err = errPagerLeft
	}
	return n, err
}

// rowsOf returns the number of rows of the terminal that a text takes.
func (s *screen) rowsOf(text []byte) (rows int) {
	for line := range bytes.Lines(text) {
		rows += 1 + cli.Width(string(line))/max(s.width, 1)
	}
	return rows
}

// start starts the pager in place of the progress. If that fails, the terminal shows everything.
func (s *screen) start() {
	s.HideProgress()
	cmd := pagerProcess(s.ctx, s.pager)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	pipe, err := cmd.StdinPipe()
	if err != nil || cmd.Start() != nil {
		return
	}
	s.running, s.pipe = cmd, pipe
}

// close waits until the user has left the pager.
func (s *screen) close() error {
	if s.running == nil {
		return nil
	}
	s.pipe.Close()
	_ = s.running.Wait() // how it ended tells nothing about the answer
	return nil
}
