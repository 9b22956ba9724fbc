package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/geosql/geosql/internal/printable"
)

// A UsageError reports a wrong flag or argument. Its exit status is 2.
type UsageError string

func (e UsageError) Error() string { return string(e) }

// An ExitError is an exit status of a command that has already said why.
type ExitError int

func (e ExitError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// Status returns the exit status for an error. A reader that closes standard output early,
// such as head, is not an error.
func Status(err error) int {
	var wrong UsageError
	var sig SignalError
	var exit ExitError
	switch {
	case err == nil, ReaderLeft(err):
		return 0
	case errors.As(err, &wrong):
		return 2
	case errors.As(err, &sig):
		return 128 + int(sig)
	case errors.As(err, &exit):
		return int(exit)
	default:
		return 1
	}
}

// Report prints an error of a program on one line of standard error.
func Report(program string, err error) {
	if exit := ExitError(0); err != nil && !ReaderLeft(err) && !errors.As(err, &exit) {
		Say("%s", ErrorLine(program, err))
	}
}

// ErrorLine returns the line that shows an error of a program.
func ErrorLine(program string, err error) string {
	line := program + ": " + strings.TrimPrefix(err.Error(), "geosql: ")
	if wrong := UsageError(""); errors.As(err, &wrong) {
		line += " ('" + program + " help' shows the usage)"
	}
	return line
}

// Say prints a line on standard error. Names, cells and SQL in it cannot control the
// terminal.
func Say(format string, args ...any) {
	fmt.Fprintln(os.Stderr, printable.Text(fmt.Sprintf(format, args...)))
}
