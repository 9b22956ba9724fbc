package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/geosql/geosql/internal/printable"
)

// A UsageError is a wrong flag or argument: exit status 2.
type UsageError string

func (e UsageError) Error() string { return string(e) }

// Status returns the exit status that goes with an error. A reader that closed standard
// output early (head) is no error.
func Status(err error) int {
	var wrong UsageError
	var sig SignalError
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE):
		return 0
	case errors.As(err, &wrong):
		return 2
	case errors.As(err, &sig):
		return 128 + int(sig)
	default:
		return 1
	}
}

// Report prints the one line of an error of a program.
func Report(program string, err error) {
	if err != nil && !errors.Is(err, syscall.EPIPE) {
		Say("%s", ErrorLine(program, err))
	}
}

// ErrorLine returns what an error of a program says to people.
func ErrorLine(program string, err error) string {
	line := program + ": " + strings.TrimPrefix(err.Error(), "geosql: ")
	if wrong := UsageError(""); errors.As(err, &wrong) {
		line += " ('" + program + " help' shows the usage)"
	}
	return line
}

// Say prints a line beside the rows. Names, cells and SQL in it steer no terminal.
func Say(format string, args ...any) {
	fmt.Fprintln(os.Stderr, printable.Text(fmt.Sprintf(format, args...)))
}
