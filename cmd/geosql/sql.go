package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/sqlite"
)

var sqlCommand = &cli.Command{
	Operands: "[-table|-csv|-json|-geojson] DB [SQL]", Max: -1,
	Summary: "run SQL, standard input or a shell; make a missing DB",
	Setup: func(fs *flag.FlagSet) cli.Run {
		var f outputFlags
		var noPreflight bool
		var epsilon string
		f.register(fs)
		f.sealed.register(fs)
		cli.Switch(fs, "no-preflight", "run statements as far as the budgets reach, without asking first what they cost", func() { noPreflight = true })
		epsilonVar(fs, &epsilon)
		return func(ctx context.Context, operands []string) error {
			return runSQL(ctx, f, noPreflight, epsilon, operands)
		}
	},
	Reject:         rejectDatabase,
	KeepsInterrupt: interactive,
}

// interactive reports whether the statements come from a terminal.
func interactive(operands []string) bool {
	return len(operands) == 1 && term.IsTerminal(int(os.Stdin.Fd()))
}

// runSQL runs the SQL of the command line, of standard input, or of an
// interactive shell.
func runSQL(ctx context.Context, f outputFlags, noPreflight bool, epsilon string, operands []string) error {
	switch n := len(operands); {
	case n == 0:
		return cli.UsageError("no database given")
	case n > 2:
		return cli.UsageError("too many arguments: put the SQL in quotes")
	}
	if err := checkDatabase(operands[0]); err != nil {
		return err
	}
	s, err := openForSQL(operands[0], f, epsilon)
	if err != nil {
		return err
	}
	s.noPreflight, s.epsilon = noPreflight, epsilon
	if err := s.needSealed(); err != nil {
		return s.close(err)
	}
	switch {
	case len(operands) == 2:
		err = s.run(ctx, operands[1])
	case interactive(operands):
		err = openShell(ctx, s)
	default:
		err = s.runScript(ctx, os.Stdin)
	}
	return s.close(err)
}

// openForSQL opens a database, and creates it unless a key or an epsilon says that it is a sealed one.
func openForSQL(path string, f outputFlags, epsilon string) (*session, error) {
	if epsilon != "" || len(f.sealed.keys.names) > 0 {
		return openExisting(path, f)
	}
	return f.openSession(path, sqlite.ReadWrite|sqlite.Create)
}

// runScript runs the statements of r as they arrive.
func (s *session) runScript(ctx context.Context, r io.Reader) error {
	statements := newStatementReader(r)
	for {
		text, err := await(ctx, statements.next)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := cmp.Or(s.run(ctx, text), s.out.Flush()); err != nil {
			return err
		}
	}
}

// run runs the statements of text in order, up to the first error. Cancelling ctx
// interrupts them.
func (s *session) run(ctx context.Context, text string) error {
	if strings.IndexByte(text, 0) >= 0 {
		return errors.New("the SQL contains a NUL character")
	}
	stop := interruptOn(ctx, s.conn)
	defer stop()
	defer s.watch()()
	for text != "" {
		tail, err := s.runFirst(ctx, text)
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return afterCharging(err, s.meter.Charged())
		}
		text = tail
	}
	return nil
}

// runFirst runs the first statement of text and returns what follows it. It returns
// "" if text has no statement.
func (s *session) runFirst(ctx context.Context, text string) (tail string, err error) {
	s.meter.Reset()
	stmt, sql, tail, err := s.prepare(text)
	if stmt == nil || err != nil {
		return "", err
	}
	if stmt, sql, err = s.checkSealed(stmt, sql); err != nil {
		return "", err
	}
	if s.meter.MayCharge() && !s.noPreflight {
		return tail, s.runPayable(ctx, stmt, sql)
	}
	err = s.printRows(stmt)
	stmt.Close()
	return tail, cmp.Or(err, s.flushCharged())
}

// runWith runs one statement with text parameters, nil for NULL.
func (s *session) runWith(ctx context.Context, sql string, params ...*string) error {
	stmt, _, err := s.conn.Prepare(sql)
	if err != nil {
		return err
	}
	defer stmt.Close()
	for i, p := range params {
		if p != nil {
			stmt.BindText(i+1, *p)
		}
	}
	stop := interruptOn(ctx, s.conn)
	defer stop()
	defer s.watch()()
	err = s.printRows(stmt)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// printRows runs a statement and writes its rows. It writes nothing if the statement
// fails before its first row.
func (s *session) printRows(stmt *sqlite.Stmt) error {
	if stmt.Columns() == 0 {
		return stmt.Run()
	}
	more, err := stmt.Step()
	if err != nil {
		return err
	}
	if err := s.rows.begin(columnNames(stmt)); err != nil {
		return err
	}
	cells := make([]sqlite.Value, stmt.Columns())
	for more && err == nil {
		stmt.Row(0, cells)
		if err := s.rows.row(cells); err != nil {
			return err
		}
		more, err = stmt.Step()
	}
	return cmp.Or(err, s.rows.end(err == nil))
}

func columnNames(stmt *sqlite.Stmt) []string {
	names := make([]string, stmt.Columns())
	for i := range names {
		names[i] = stmt.ColumnName(i)
	}
	return names
}
