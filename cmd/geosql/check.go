package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/geosql/geosql/cmd/geosql/internal/session"
	"github.com/geosql/geosql/internal/cli"
)

var checkCommand = &cli.Command{
	Name: "check", Operands: "DB [SQL]", Min: 1, Max: 2,
	Summary: "show where statements misuse sealed columns",
	Details: `Runs nothing and charges nothing. SQL, or without it standard input, may have several
statements. SQLite takes a sealed value for a blob: its sum is 0, and it is greater than any
number. Each row is a use of that kind: in result, the error; in sealed, the columns; in
through, the function, operator or clause; and a remedy. Copying, counting (count),
NULL tests, typeof and length are no misuse, and neither are results of private functions.
A use may be named that no result shows, but none is missed, unless an earlier statement has
copied sealed values into a public column. The exit status is 1 if there is a row.`,
	Setup: func(fs *flag.FlagSet) cli.Run {
		var f session.Flags
		f.Register(fs)
		return func(ctx context.Context, operands []string) error { return checkStatements(ctx, f, operands) }
	},
}

// checkStatements shows how statements misuse sealed columns.
func checkStatements(ctx context.Context, f session.Flags, operands []string) error {
	s, err := session.OpenExisting(operands[0], f)
	if err != nil {
		return err
	}
	return s.Close(showMisuses(ctx, s, operands[1:]))
}

// showMisuses shows how the statements of a text, or of standard input, misuse sealed columns.
func showMisuses(ctx context.Context, s *session.Session, texts []string) error {
	if len(texts) == 0 {
		text, err := cli.Await(ctx, func() (string, error) {
			text, err := io.ReadAll(os.Stdin)
			return string(text), err
		})
		if err != nil {
			return err
		}
		texts = []string{text}
	}
	list, err := s.Misuses(texts[0])
	if err != nil {
		return err
	}
	type row struct {
		Result  string `json:"result"`
		Sealed  string `json:"sealed"`
		Through string `json:"through"`
		Instead string `json:"instead"`
	}
	rows := make([]row, len(list))
	for i, m := range list {
		rows[i] = row{m.Result, strings.Join(m.Sealed, ", "), m.Through, m.Instead}
	}
	if err := session.ShowRows(ctx, s, rows); err != nil {
		return err
	}
	switch n := len(list); {
	case n == 1:
		return errors.New("1 use of a sealed column would be wrong")
	case n > 1:
		return fmt.Errorf("%d uses of sealed columns would be wrong", n)
	case term.IsTerminal(int(os.Stderr.Fd())):
		cli.Say("geosql: nothing depends on a sealed column other than through a private function")
	}
	return nil
}
