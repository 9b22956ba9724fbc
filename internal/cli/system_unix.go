//go:build unix

package cli

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/term"
)

// ReaderLeft reports whether an error says that the reader of a pipe has gone.
func ReaderLeft(err error) bool { return errors.Is(err, syscall.EPIPE) }

// Obeys reports whether a file is a terminal that obeys escape sequences.
func Obeys(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
