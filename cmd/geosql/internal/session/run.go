package session

import (
	"cmp"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/geosql/geosql/cmd/geosql/internal/store"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/sqlite"
)

// RunScript runs the statements of r as they arrive.
func (s *Session) RunScript(ctx context.Context, r io.Reader) error {
	statements := NewStatementReader(r)
	for {
		text, err := cli.Await(ctx, statements.Next)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := cmp.Or(s.Run(ctx, text), s.Out.Flush()); err != nil {
			return err
		}
	}
}

// Run runs the statements of text in order, up to the first error. Cancelling ctx
// interrupts them.
func (s *Session) Run(ctx context.Context, text string) error {
	if strings.IndexByte(text, 0) >= 0 {
		return errors.New("the SQL contains a NUL character")
	}
	stop := store.InterruptOn(ctx, s.Conn)
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

// runFirst runs the first statement of text and returns the text behind it. It returns
// "" if text has no statement.
func (s *Session) runFirst(ctx context.Context, text string) (tail string, err error) {
	s.meter.Reset()
	stmt, sql, tail, err := s.prepare(text)
	if stmt == nil || err != nil {
		return "", err
	}
	if stmt, sql, err = s.checkSealed(stmt, sql); err != nil {
		return "", err
	}
	if s.meter.MayCharge() {
		return tail, s.runPayable(ctx, stmt, sql)
	}
	err = s.printRows(stmt)
	stmt.Close()
	return tail, cmp.Or(err, s.flushCharged())
}

// RunWith runs one statement with text parameters, nil for NULL.
func (s *Session) RunWith(ctx context.Context, sql string, params ...*string) error {
	stmt, _, err := s.Conn.Prepare(sql)
	if err != nil {
		return err
	}
	defer stmt.Close()
	for i, p := range params {
		if p != nil {
			stmt.BindText(i+1, *p)
		}
	}
	stop := store.InterruptOn(ctx, s.Conn)
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
func (s *Session) printRows(stmt *sqlite.Stmt) error {
	if stmt.Columns() == 0 {
		return stmt.Run()
	}
	if err := s.Mode.Check(stmt.Columns()); err != nil {
		return err
	}
	more, err := stmt.Step()
	if err != nil {
		return err
	}
	if err := s.rows.Begin(columnNames(stmt)); err != nil {
		return err
	}
	cells := make([]sqlite.Value, stmt.Columns())
	for more && err == nil {
		stmt.Row(0, cells)
		if err := s.rows.Row(cells); err != nil {
			return err
		}
		more, err = stmt.Step()
	}
	return cmp.Or(err, s.rows.End(err == nil))
}

func columnNames(stmt *sqlite.Stmt) []string {
	names := make([]string, stmt.Columns())
	for i := range names {
		names[i] = stmt.ColumnName(i)
	}
	return names
}
