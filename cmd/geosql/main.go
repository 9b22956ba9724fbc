// Command geosql runs SQL over an SQLite database whose functions release
// locations, metered energy and whole traces privately, and charges every
// release to the person it is about.
package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"golang.org/x/term"

	"github.com/geosql/geosql/internal/printable"
)

//go:embed usage.txt
var usage string

// A usageError is a wrong flag or argument: exit status 2.
type usageError string

func (e usageError) Error() string { return string(e) + " ('geosql help' shows the usage)" }

func main() {
	// A reader that has seen enough must not kill the process before the ledger
	// is closed: a write then fails with EPIPE instead.
	signal.Ignore(syscall.SIGPIPE)
	err := geosql(os.Args[1:])
	report(err)
	os.Exit(status(err))
}

// geosql runs the command line.
func geosql(args []string) error {
	inv, err := parse(args)
	if err != nil {
		return err
	}
	ctx, _ := stopOn(context.Background(), inv.signals()...) // until the process has exited
	switch inv.command {
	case "help":
		_, err = fmt.Print(usage)
		return err
	case "version":
		return printVersion()
	case "import":
		return importCommand(ctx, inv)
	case "budget":
		return budgetCommand(ctx, inv)
	case "cost":
		return costCommand(ctx, inv)
	case "study", "release":
		return inv.study.chosen.run(ctx)
	case "demo":
		return demoCommand(ctx)
	default:
		return sqlCommand(ctx, inv)
	}
}

// signals are those that end the run. In the shell Ctrl-C has a meaning of its
// own, and nohup ignores SIGHUP beforehand.
func (inv *invocation) signals() []os.Signal {
	signals := []os.Signal{syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	if !inv.interactive() {
		signals = append(signals, os.Interrupt)
	}
	return signals
}

// interactive reports whether the statements come from a terminal.
func (inv *invocation) interactive() bool {
	return inv.command == "" && len(inv.args) == 1 && term.IsTerminal(int(os.Stdin.Fd()))
}

// report prints the one line of an error. A reader that closed standard output
// early (head) is none.
func report(err error) {
	if err == nil || errors.Is(err, syscall.EPIPE) {
		return
	}
	say("%s", errorLine(err))
}

// errorLine is what an error says to people.
func errorLine(err error) string { return "geosql: " + strings.TrimPrefix(err.Error(), "geosql: ") }

// say prints a line beside the rows. Names, cells and SQL in it steer no terminal.
func say(format string, args ...any) {
	fmt.Fprintln(os.Stderr, printable.Text(fmt.Sprintf(format, args...)))
}

// status is the exit status that goes with an error.
func status(err error) int {
	var wrong usageError
	var sig signalError
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
