package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/geosql/geosql/internal/sqlite"
)

// A signalError is the signal that ended the run: exit status 128 + signal.
type signalError syscall.Signal

func (signalError) Error() string { return "interrupted" }

// stopOn returns a context that ends at the first of the signals, with a
// signalError as its cause. The signals stay caught until stop is called: one
// that is delivered twice must not kill the process before the ledger is closed
// and the exit status set.
func stopOn(parent context.Context, signals ...os.Signal) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, signals...)
	go func() {
		select {
		case s := <-caught:
			cancel(signalError(s.(syscall.Signal)))
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(caught)
		cancel(nil)
	}
}

// interruptOn interrupts the statements of conn once ctx has ended. After stop
// has returned it leaves the connection alone.
func interruptOn(ctx context.Context, conn *sqlite.Conn) (stop func()) {
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-ctx.Done():
		case <-quit:
			return
		}
		for { // SQLite forgets an interrupt that finds no statement running
			conn.Interrupt()
			select {
			case <-time.After(20 * time.Millisecond):
			case <-quit:
				return
			}
		}
	}()
	return func() {
		close(quit)
		<-ended
	}
}

// await returns what read returns, or the context's cause if that comes first;
// then read is left behind, blocked.
func await(ctx context.Context, read func() (string, error)) (string, error) {
	type result struct {
		text string
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text, err := read()
		done <- result{text, err}
	}()
	select {
	case r := <-done:
		return r.text, r.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}
