package main

import (
	"context"
	"errors"
	"flag"
	"os"

	"golang.org/x/term"

	"github.com/geosql/geosql/cmd/geosql/internal/session"
	"github.com/geosql/geosql/cmd/geosql/internal/shell"
	"github.com/geosql/geosql/cmd/geosql/internal/store"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/decimal"
	"github.com/geosql/geosql/internal/sqlite"
)

var sqlCommand = &cli.Command{
	Operands: "[FLAGS] DB [SQL]", Max: -1,
	Summary: "run SQL, standard input or a shell; create DB",
	Details: `Write ./NAME for a database that has the name of a command, and to create one with a name
without a dot; "--" ends the flags. Numbers are printed without exponents, blobs in hexadecimal.
Only rows go to standard output. The first error stops the program, which then prints one
line on standard error.

Examples:
  geosql import city.db trip trips.csv.gz
  geosql city.db "SELECT geo_domain('city', 48.80, 2.22, 48.91, 2.48, 1)"
  geosql city.db "SELECT budget_limit('*', 'm', 0.02)"
  geosql -csv city.db "SELECT geoind_laplace(person, lat, lon, 0.01) AS at FROM trip" > at.csv
`,
	Setup: func(fs *flag.FlagSet) cli.Run {
		var f session.Flags
		var noPreflight, yes bool
		var epsilon string
		f.Register(fs)
		f.Sealed.Register(fs)
		cli.Switch(fs, "no-preflight", "run statements as far as the budgets reach", func() { noPreflight = true })
		cli.Switch(fs, "yes", "in a shell, do not ask before a large charge", func() { yes = true })
		epsilonVar(fs, &epsilon)
		return func(ctx context.Context, operands []string) error {
			return runSQL(ctx, f, noPreflight, yes, epsilon, operands)
		}
	},
	Reject:         store.Reject,
	KeepsInterrupt: interactive,
}

// interactive reports whether the statements come from a terminal.
func interactive(operands []string) bool {
	return len(operands) == 1 && term.IsTerminal(int(os.Stdin.Fd()))
}

// runSQL runs the SQL of the command line, of standard input, or of an
// interactive shell.
func runSQL(ctx context.Context, f session.Flags, noPreflight, yes bool, epsilon string, operands []string) error {
	switch n := len(operands); {
	case n == 0:
		return cli.UsageError("no database given")
	case n > 2:
		return cli.UsageError("too many arguments: put the SQL in quotes")
	}
	if err := store.CheckName(operands[0]); err != nil {
		return err
	}
	s, err := openForSQL(operands[0], f, epsilon)
	if err != nil {
		return err
	}
	s.NoPreflight, s.Epsilon = noPreflight, epsilon
	if err := s.NeedSealed(); err != nil {
		return s.Close(err)
	}
	switch {
	case len(operands) == 2 && shell.IsCommand(operands[1]):
		err = shell.Do(ctx, s, operands[1])
	case len(operands) == 2:
		err = s.Run(ctx, operands[1])
	case interactive(operands):
		err = shell.Run(ctx, s, yes)
	default:
		err = s.RunScript(ctx, os.Stdin)
	}
	return s.Close(err)
}

// openForSQL opens a database, and creates it unless a key or an epsilon says that it is a sealed one.
func openForSQL(path string, f session.Flags, epsilon string) (*session.Session, error) {
	if epsilon != "" || len(f.Sealed.Keys.Names) > 0 {
		return session.OpenExisting(path, f)
	}
	return f.Open(path, sqlite.ReadWrite|sqlite.Create)
}

// epsilonVar defines the flag -epsilon of the SQL command. The value is a number in decimals.
func epsilonVar(fs *flag.FlagSet, epsilon *string) {
	const usage = "make built-in aggregates over sealed columns private"
	fs.Func("epsilon", usage+", at `E`", func(v string) error {
		x, err := cli.Number(v)
		if err == nil && !(x > 0) {
			err = errors.New("it must be above 0, such as 0.1")
		}
		*epsilon = decimal.Format(x)
		return err
	})
}
