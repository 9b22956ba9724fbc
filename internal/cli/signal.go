package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// A SignalError reports the signal that ended the run. Its exit status is 128 + signal.
type SignalError syscall.Signal

func (SignalError) Error() string { return "interrupted" }

// StopOn returns a context that is cancelled by the first of the signals, with a
// SignalError as its cause. The signals stay caught until stop is called: a second
// signal must not kill the process before the ledger is closed and the exit status
// set.
func StopOn(parent context.Context, signals ...os.Signal) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, signals...)
	go func() {
		select {
		case s := <-caught:
			cancel(SignalError(s.(syscall.Signal)))
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(caught)
		cancel(nil)
	}
}
