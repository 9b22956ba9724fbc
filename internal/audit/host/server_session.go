package host

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A serverSession is a session of a server.
type serverSession struct {
	database *serverDatabase
	conn     *pgx.Conn
	notices  []string
}

// Query implements [Session].
func (s *serverSession) Query(ctx context.Context, sql string, row func([]any) error) error {
	s.notices = s.notices[:0]
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	rows, err := s.conn.Query(ctx, sql)
	if err != nil {
		return s.explain(ctx, err)
	}
	defer rows.Close()
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			return err
		}
		if err := row(values); err != nil {
			return err
		}
	}
	return s.explain(ctx, rows.Err())
}

// Notices implements [Noticer].
func (s *serverSession) Notices() []string { return s.notices }

// note keeps a notice.
func (s *serverSession) note(_ *pgconn.PgConn, n *pgconn.Notice) {
	s.notices = append(s.notices, fullText((*pgconn.PgError)(n)))
}

// explain returns an error with all that the server says about it.
func (s *serverSession) explain(ctx context.Context, err error) error {
	var said *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &said):
		return errors.New(fullText(said))
	}
	select {
	case <-s.database.ended:
		return s.database.gone(ctx)
	default:
		return err
	}
}

// fullText returns the parts of a message, as psql shows them.
func fullText(e *pgconn.PgError) string {
	parts := []string{fmt.Sprintf("%s (%s)", e.Message, e.Code)}
	for _, more := range []string{e.Detail, e.Hint} {
		if more != "" {
			parts = append(parts, more)
		}
	}
	return strings.Join(parts, "; ")
}

// Close implements [Session].
func (s *serverSession) Close() error { return s.conn.Close(context.Background()) }
