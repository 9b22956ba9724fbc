package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/internal/sqlite"
)

//go:embed demo_data.sql
var demoData string

//go:embed demo.sql
var demoTour string

var demoCommand = &cli.Command{
	Name: "demo", Summary: "show a guided tour on made-up data",
	Setup: func(*flag.FlagSet) cli.Run {
		return func(ctx context.Context, _ []string) error { return demonstrate(ctx) }
	},
}

// demonstrate shows the main functions at work on made-up data. Database and ledger are in memory: the demo needs
// no folder that it may write into, which an empty container lacks.
func demonstrate(ctx context.Context) error {
	s, err := openSession(":memory:", sqlite.ReadWrite, ledgerFlags{}, tableMode)
	if err != nil {
		return err
	}
	if err := s.conn.Exec(demoData); err != nil {
		return s.close(err)
	}
	return s.close(tour(ctx, s, strings.NewReader(demoTour)))
}

// tour runs the statements of a script and shows them as the shell would, with
// their comments as captions. It continues after a refusal.
func tour(ctx context.Context, s *session, script io.Reader) error {
	statements := newStatementReader(script)
	for {
		text, err := statements.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		showStatement(s, text)
		s.startOutput()
		err = s.run(ctx, text)
		if isRefusal(err) {
			_, err = fmt.Fprintln(s.out, printable.Text(cli.ErrorLine(programName, err)))
		}
		if err != nil {
			return err
		}
	}
}

// showStatement shows a statement as the shell would, with its comments as captions.
func showStatement(s *session, text string) {
	shown := prompt
	for line := range strings.Lines(text) {
		if caption, ok := strings.CutPrefix(line, "--"); ok {
			fmt.Fprint(s.out, strings.TrimPrefix(caption, " "))
		} else if line == "\n" {
			fmt.Fprint(s.out, line)
		} else {
			fmt.Fprint(s.out, shown, line)
			shown = continuation
		}
	}
}

// isRefusal reports whether an error is that of a charge that a budget does not allow.
func isRefusal(err error) bool {
	var e interface{ SQLiteCode() int } // of the engine, or of the preflight
	return errors.As(err, &e) && e.SQLiteCode() == sqlite.CodeDenied
}
