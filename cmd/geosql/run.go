package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/geosql/geosql/internal/sqlite"
)

// sqlCommand runs the SQL of the command line, of standard input, or of an
// interactive shell.
func sqlCommand(ctx context.Context, inv *invocation) error {
	s, err := openSession(inv.args[0], sqlite.ReadWrite|sqlite.Create, inv.ledger, inv.mode)
	if err != nil {
		return err
	}
	switch {
	case len(inv.args) == 2:
		err = s.run(ctx, inv.args[1])
	case inv.interactive():
		err = s.shell(ctx)
	default:
		err = s.runScript(ctx, os.Stdin)
	}
	return s.close(err)
}

// runScript runs the statements of r as they come.
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

// run runs the statements of text in order up to the first error. The end of
// ctx interrupts them.
func (s *session) run(ctx context.Context, text string) error {
	if strings.IndexByte(text, 0) >= 0 {
		return errors.New("the SQL holds a NUL character")
	}
	stop := interruptOn(ctx, s.conn)
	defer stop()
	for {
		tail, err := s.runFirst(text)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if tail == "" || err != nil {
			return err
		}
		text = tail
	}
}

// runFirst runs the first statement of text and returns what follows it, or ""
// where that holds no statement.
func (s *session) runFirst(text string) (tail string, err error) {
	stmt, tail, err := s.conn.Prepare(text)
	if stmt == nil || err != nil {
		return "", err
	}
	defer stmt.Close()
	return tail, s.printRows(stmt)
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
	err = s.printRows(stmt)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// printRows runs a statement. Nothing is written for one that fails before its
// first row.
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
