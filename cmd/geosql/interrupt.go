package main

import (
	"bufio"
	"context"
	"io"
	"runtime"
	"time"

	"github.com/geosql/geosql/internal/sqlite"
)

// interruptOn interrupts the statements of conn once ctx has ended. It does not touch
// the connection after stop has returned.
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

// readAnswer returns a line that somebody types, with its end, or the context's cause if Ctrl-C comes first. Windows ends what
// is read from a console at Ctrl-C, and tells the program of it in another thread: it may come a moment later.
func readAnswer(ctx context.Context, from *bufio.Reader) (string, error) {
	line, err := await(ctx, func() (string, error) { return from.ReadString('\n') })
	if err == io.EOF && runtime.GOOS == "windows" {
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	return line, err
}

// await returns the result of read, or the context's cause if that comes first. In
// that case the goroutine of read stays behind, blocked.
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
