package cli

import (
	"flag"
	"maps"
	"strings"
)

// knownFlags holds the flags of all commands by name. Since a flag may stand before the
// name of its command, a flag that takes a value in one command takes a value in all. The
// exception are flags that take none when SQL is run: in a command of another kind they take a
// value after the command's name.
type knownFlags map[string]*flag.Flag

// knownFlags returns the flags of a command line.
func (p *Program) knownFlags(args []string) knownFlags {
	known, preset := knownFlags{}, knownFlags{}
	if p.Default != nil {
		p.Default.flagSet().VisitAll(func(f *flag.Flag) { preset[f.Name] = f })
	}
	for _, c := range p.all() {
		c.flagSet().VisitAll(func(f *flag.Flag) {
			if other := known[f.Name]; other != nil && takesNoValue(other) != takesNoValue(f) && preset[f.Name] == nil {
				panic("cli: flag -" + f.Name + " takes a value in some commands only")
			}
			known[f.Name] = f
		})
	}
	maps.Copy(known, preset)
	if len(args) > 0 {
		if c := p.lookup(args[0]); c != nil {
			c.flagSet().VisitAll(func(f *flag.Flag) { known[f.Name] = f })
		}
	}
	return known
}

// A givenFlag is a flag on the command line. Its args are the flag and, if the value is a
// separate argument, the value.
type givenFlag struct {
	name string
	args []string
}

func (g givenFlag) asksForHelp() bool    { return g.name == "h" || g.name == "help" }
func (g givenFlag) asksForVersion() bool { return g.name == "version" }

// split separates the flags among args from the operands, since package flag stops at the
// first operand.
func (k knownFlags) split(args []string) (flags []givenFlag, operands []string) {
	for len(args) > 0 {
		switch {
		case args[0] == "--":
			return flags, append(operands, args[1:]...)
		case k.isFlag(args[0]):
			n := min(k.length(args[0]), len(args))
			flags = append(flags, givenFlag{flagName(args[0]), args[:n]})
			args = args[n:]
		default:
			operands = append(operands, args[0])
			args = args[1:]
		}
	}
	return flags, operands
}

// isFlag reports whether an argument is a flag, as opposed to SQL that starts with a
// comment. A flag has no white space, except in its value.
func (k knownFlags) isFlag(arg string) bool {
	if len(arg) < 2 || arg[0] != '-' {
		return false
	}
	return !strings.ContainsAny(arg, " \t\r\n") || strings.Contains(arg, "=") && k[flagName(arg)] != nil
}

// flagName returns the name in an argument such as -name or --name=value.
func flagName(arg string) string {
	name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	return name
}

// length returns the number of arguments that a flag takes up.
func (k knownFlags) length(arg string) int {
	f := k[strings.TrimLeft(arg, "-")]
	if f == nil || takesNoValue(f) { // nil: unknown, or with its value
		return 1
	}
	return 2
}
