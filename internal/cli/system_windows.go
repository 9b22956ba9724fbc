package cli

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// ReaderLeft reports whether an error says that the reader of a pipe has gone.
func ReaderLeft(err error) bool {
	return errors.Is(err, windows.ERROR_BROKEN_PIPE) || errors.Is(err, windows.ERROR_NO_DATA)
}

// Obeys reports whether a file is a terminal that obeys escape sequences, as consoles do once they are told to.
func Obeys(f *os.File) bool {
	console := windows.Handle(f.Fd())
	var mode uint32
	return windows.GetConsoleMode(console, &mode) == nil &&
		windows.SetConsoleMode(console, mode|windows.ENABLE_PROCESSED_OUTPUT|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
