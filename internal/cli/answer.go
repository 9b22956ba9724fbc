package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	"golang.org/x/term"
)

// ReadAnswer returns a line that somebody types, with its end, or the context's cause if Ctrl-C comes first. Windows
// ends a read from a console at Ctrl-C, and tells the program of it in another thread: it may come a moment later.
func ReadAnswer(ctx context.Context, from *bufio.Reader) (string, error) {
	line, err := Await(ctx, func() (string, error) { return from.ReadString('\n') })
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

// Await returns the result of read, or the context's cause if that comes first. In
// that case the goroutine of read stays behind, blocked.
func Await(ctx context.Context, read func() (string, error)) (string, error) {
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

// Interactive reports whether a question would be seen and could be answered.
func Interactive() bool {
	return term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stderr.Fd()))
}

// AskYes asks a question on the terminal, and returns an error with the text otherwise unless the
// answer is yes.
func AskYes(ctx context.Context, question, otherwise string) error {
	fmt.Fprint(os.Stderr, question)
	answer, err := ReadAnswer(ctx, bufio.NewReader(os.Stdin))
	switch {
	case err != nil && err != io.EOF:
		return err
	case strings.TrimSpace(answer) != "yes":
		return errors.New(otherwise)
	}
	return nil
}
