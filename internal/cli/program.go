package cli

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

// A Program is a command-line tool that has several commands. It adds the commands completion, help and
// version to them.
type Program struct {
	Name    string
	Summary string // a line
	Noun    string // the word for a command, such as study
	Groups  []Group
	Default *Command // runs if the first argument names no command; nil: one must be named
	Notes   string   // the end of the help
	Version string   // output of the command version

	// DefaultTopic is the name under which the help has the default command.
	DefaultTopic string

	// Topic returns the help on a name that is not a command. It may be nil.
	Topic func(name string) (string, error)
}

// A Group is commands that the help shows together.
type Group struct {
	Title    string // "" for none
	Commands []*Command
}

// A Command is a part of a Program with flags of its own.
type Command struct {
	Name     string // "" for the default command
	Operands string // as the usage shows them, such as DB TABLE FILE
	Min, Max int    // limits of the number of operands; a Max of -1 is no limit
	Summary  string // a line
	Details  string // further lines of the help
	Setup    Setup

	// Reject returns "" if the first operand of the default command, which names no command,
	// can be one of its operands. Otherwise it is taken for a mistyped command, and Reject
	// returns the right command if it is none. It may be nil.
	Reject func(operand string) (instead string)

	// KeepsInterrupt reports whether the command handles Ctrl-C itself, so that Ctrl-C does
	// not end its run. It may be nil.
	KeepsInterrupt func(operands []string) bool

	// OwnSignals says that the command handles all signals itself, so that none ends its run.
	OwnSignals bool
}

// A Setup defines the flags of a command and returns the function that runs the command once
// they are parsed.
type Setup func(fs *flag.FlagSet) Run

// A Run runs a command on its operands.
type Run func(ctx context.Context, operands []string) error

// Main runs a command line and returns its exit status.
func (p *Program) Main(args []string) int {
	// If a reader closes standard output, the process must not be killed before the
	// ledger is closed. Without the signal, the write fails: see ReaderLeft.
	signal.Ignore(syscall.SIGPIPE)
	err := p.run(args)
	Report(p.Name, err)
	return Status(err)
}

func (p *Program) run(args []string) error {
	inv, err := p.parse(args)
	if err != nil {
		return err
	}
	ctx := context.Background()
	if !inv.command.OwnSignals {
		ctx, _ = StopOn(ctx, inv.signals()...) // until the process has exited
	}
	return inv.run(ctx, inv.operands)
}

// An invocation is a parsed command line.
type invocation struct {
	command  *Command
	run      Run
	operands []string
}

// signals returns the signals that end the run. SIGHUP is not among them if nohup ignores it.
func (inv *invocation) signals() []os.Signal {
	signals := []os.Signal{syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	if keeps := inv.command.KeepsInterrupt; keeps == nil || !keeps(inv.operands) {
		signals = append(signals, os.Interrupt)
	}
	return signals
}

// parse parses a command line. Flags may stand anywhere before "--".
func (p *Program) parse(args []string) (*invocation, error) {
	known, flags, operands := p.split(args)
	command, rest := p.find(operands)
	switch {
	case slices.ContainsFunc(flags, givenFlag.asksForHelp):
		return p.helpInvocation(command), nil
	case slices.ContainsFunc(flags, givenFlag.asksForVersion):
		command, rest, flags = p.versionCommand(), nil, nil
	case command == nil && len(rest) == 0:
		return nil, UsageError("no " + p.Noun + " given")
	case command == nil:
		return nil, p.unknownError(rest[0])
	}
	if instead := command.reject(rest); instead != "" {
		return nil, UsageError(p.unknownError(rest[0]).Error() + "; " + instead)
	}
	inv := &invocation{command: command, operands: rest}
	fs := newFlagSet()
	inv.run = command.Setup(fs)
	if err := command.parseFlags(fs, flags, known); err != nil {
		return nil, UsageError(err.Error())
	}
	return inv, command.checkOperands(rest)
}

// find returns the command that the first operand names, or else the default command, and
// the remaining operands.
func (p *Program) find(operands []string) (*Command, []string) {
	if len(operands) > 0 && operands[0] != "" {
		if c := p.lookup(operands[0]); c != nil {
			return c, operands[1:]
		}
	}
	return p.Default, operands
}

// reject returns the result of Reject for the first of the operands.
func (c *Command) reject(operands []string) (instead string) {
	if c.Reject == nil || len(operands) == 0 || operands[0] == "" {
		return ""
	}
	return c.Reject(operands[0])
}

// unknownError returns the error about a name that no command has. It names the nearest one
// if there is one.
func (p *Program) unknownError(name string) error {
	text := "there is no " + p.Noun + " " + name
	if near := p.nearest(name); near != "" {
		return UsageError(text + " (did you mean " + near + "?)")
	}
	return UsageError(text)
}

// lookup returns the command with a name, or nil.
func (p *Program) lookup(name string) *Command {
	for _, c := range p.all() {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// Commands returns the commands of all groups.
func (p *Program) Commands() (commands []*Command) {
	for _, g := range p.Groups {
		commands = append(commands, g.Commands...)
	}
	return commands
}

// own are the commands that every program has.
func (p *Program) own() []*Command {
	return []*Command{p.completionCommand(), p.helpCommand(), p.versionCommand()}
}

// all returns the commands that have a name.
func (p *Program) all() []*Command { return append(p.Commands(), p.own()...) }

func namesOf(commands []*Command) (names []string) {
	for _, c := range commands {
		names = append(names, c.Name)
	}
	return names
}

// nearest returns the name of the command that a name was most likely meant to be, or "".
func (p *Program) nearest(name string) string { return Nearest(name, namesOf(p.all())) }

// flagSet returns the flags of the command.
func (c *Command) flagSet() *flag.FlagSet {
	fs := newFlagSet()
	c.Setup(fs)
	return fs
}

func newFlagSet() *flag.FlagSet {
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	return fs
}

// parseFlags sets the given flags of the command.
func (c *Command) parseFlags(fs *flag.FlagSet, given []givenFlag, known knownFlags) error {
	var args []string
	seen := map[string]bool{}
	for _, g := range given {
		f := fs.Lookup(g.name)
		switch {
		case f == nil && known[g.name] != nil:
			return errors.New(cmp.Or(c.Name, "running SQL") + " takes no flag -" + g.name)
		case f != nil && seen[g.name] && !mayRepeat(f):
			return errors.New("flag -" + g.name + " is given twice")
		}
		seen[g.name] = true
		args = append(args, g.args...)
	}
	return fs.Parse(args)
}

// checkOperands refuses a wrong number of operands.
func (c *Command) checkOperands(operands []string) error {
	switch n := len(operands); {
	case n < c.Min:
		return UsageError(c.Name + ": too few arguments")
	case c.Max >= 0 && n > c.Max:
		return UsageError(c.Name + ": too many arguments")
	}
	return nil
}
