package shell

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"golang.org/x/term"

	"github.com/geosql/geosql/cmd/geosql/internal/session"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/printable"
)

// Tour runs the statements of a script and shows them as the shell would, with
// their comments as captions. It continues after a refusal. On a terminal it waits
// for a key between two statements.
func Tour(ctx context.Context, s *session.Session, script string) error {
	var steps []string
	for statements := session.NewStatementReader(strings.NewReader(script)); ; {
		text, err := statements.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		steps = append(steps, text)
	}
	waits := term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd()))
	for i, text := range steps {
		if waits && i > 0 {
			if goOn, err := waitForKey(ctx, fmt.Sprintf("[%d of %d: any key shows more, q ends]", i, len(steps))); err != nil || !goOn {
				return err
			}
		}
		showStatement(s, text)
		s.StartOutput()
		err := s.Run(ctx, text)
		if session.IsRefusal(err) {
			_, err = fmt.Fprintln(s.Out, printable.Text(cli.ErrorLine(session.Program, err)))
		}
		if err == nil {
			err = s.Out.Flush()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// The keys that end a tour.
const (
	ctrlC    = '\x03'
	ctrlD    = '\x04'
	lastKeys = "qQ\x1b\x04" // and Escape
)

// waitForKey shows a prompt until a key is pressed, and reports whether the tour goes on.
func waitForKey(ctx context.Context, prompt string) (goOn bool, err error) {
	fd := int(os.Stdin.Fd())
	state, err := term.MakeRaw(fd)
	if err != nil {
		return false, err
	}
	defer term.Restore(fd, state)
	fmt.Fprint(os.Stderr, prompt)
	defer fmt.Fprint(os.Stderr, "\r\x1b[K")
	keys := make(chan byte, 1)
	go func() {
		var key [1]byte
		if n, _ := os.Stdin.Read(key[:]); n == 0 {
			key[0] = ctrlD
		}
		keys <- key[0]
	}()
	select {
	case key := <-keys:
		if key == ctrlC {
			return false, cli.SignalError(syscall.SIGINT)
		}
		return strings.IndexByte(lastKeys, key) < 0, nil
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}

// showStatement shows a statement as the shell would, with its comments as captions.
func showStatement(s *session.Session, text string) {
	shown := Prompt
	for line := range strings.Lines(text) {
		if caption, ok := strings.CutPrefix(line, "--"); ok {
			fmt.Fprint(s.Out, strings.TrimPrefix(caption, " "))
		} else if line == "\n" {
			fmt.Fprint(s.Out, line)
		} else {
			fmt.Fprint(s.Out, shown, line)
			shown = Continuation
		}
	}
}
