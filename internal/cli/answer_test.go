package cli

import (
	"bufio"
	"context"
	"errors"
	"strings"
	"testing"
)

// Ctrl-C cancels the answer, after any input.
func TestInterruptIsNoAnswer(t *testing.T) {
	ctx, interrupt := context.WithCancelCause(t.Context())
	interrupted := errors.New("interrupted")
	interrupt(interrupted)
	for range 100 { // which of the two is seen first is chance
		if line, err := ReadAnswer(ctx, bufio.NewReader(strings.NewReader("yes\n"))); line != "" || err != interrupted {
			t.Fatalf("%q, %v", line, err)
		}
	}
}
