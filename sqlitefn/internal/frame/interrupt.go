package frame

import (
	"cmp"
	"context"
	"time"
)

// pollInterval is the longest time for which an interrupt of a long computation may go
// unnoticed.
const pollInterval = 50 * time.Millisecond

// Interruptibly runs work, which may take long, in another goroutine, and cancels it once
// the running statement has been interrupted. If that has happened already, work does not
// begin. A panic of work is repeated in the statement's goroutine, where it becomes an error;
// in its own goroutine it would end the process.
func (s *Session) Interruptibly(work func(context.Context) error) error {
	if err := s.interrupted(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			o.panicked = recover()
			done <- o
		}()
		o.err = work(ctx)
	}()
	poll := time.NewTicker(pollInterval)
	defer poll.Stop()
	for {
		select {
		case o := <-done:
			if o.panicked != nil {
				panic(o.panicked)
			}
			if o.err != nil {
				return cmp.Or(context.Cause(ctx), o.err)
			}
			return nil
		case <-poll.C:
			if err := s.interrupted(); err != nil {
				cancel(err)
			}
		}
	}
}

// An outcome is how a computation ended.
type outcome struct {
	err      error
	panicked any // nil if it did not panic
}

// interrupted returns an error once the running statement has been interrupted: SQLite then
// stops every other statement too, until the outermost has ended. It must be called from the
// statement's goroutine.
func (s *Session) interrupted() error { return s.Conn.Exec("SELECT 1") }
