package shell

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/geosql/geosql/cmd/geosql/internal/session"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/printable"
)

// Tour runs the statements of a script and shows them as the shell would, with
// their comments as captions. It continues after a refusal.
func Tour(ctx context.Context, s *session.Session, script io.Reader) error {
	statements := session.NewStatementReader(script)
	for {
		text, err := statements.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		showStatement(s, text)
		s.StartOutput()
		err = s.Run(ctx, text)
		if session.IsRefusal(err) {
			_, err = fmt.Fprintln(s.Out, printable.Text(cli.ErrorLine(session.Program, err)))
		}
		if err != nil {
			return err
		}
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
