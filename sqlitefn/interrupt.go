package sqlitefn

import (
	"cmp"
	"context"
	"time"
)

// pollInterval is how long an interrupt of a long computation may go unnoticed.
const pollInterval = 50 * time.Millisecond

// untilInterrupted runs work, which may take long, in another goroutine, and cancels
// it once the running statement has been interrupted. It does not begin in a statement
// that has been.
func (s *session) untilInterrupted(work func(context.Context) error) error {
	if err := s.interrupted(); err != nil {
		return err
	}
	if err := s.interrupted(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	done := make(chan error, 1)
	go func() { done <- work(ctx) }()
	poll := time.NewTicker(pollInterval)
	defer poll.Stop()
	for {
		select {
		case err := <-done:
			if err != nil {
				err = cmp.Or(context.Cause(ctx), err)
			}
			return err
		case <-poll.C:
			if err := s.interrupted(); err != nil {
				cancel(err)
			}
		}
	}
}

// interrupted is an error once the running statement has been interrupted: SQLite then
// stops every other one too, until the outermost has ended. It is for the goroutine
// of the statement.
func (s *session) interrupted() error { return s.conn.Exec("SELECT 1") }
