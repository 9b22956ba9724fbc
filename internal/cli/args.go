package cli

import (
	"flag"
	"maps"
	"slices"
	"strings"
)

// knownFlags holds the flags of all commands by name. A flag may stand before the name of its
// command.
type knownFlags map[string]*flag.Flag

// knownFlags returns the flags of all commands. Of a flag that takes a value in some commands only,
// which is called mixed, it returns one that takes none.
func (p *Program) knownFlags() (known knownFlags, mixed map[string]bool) {
	known, mixed = knownFlags{}, map[string]bool{}
	add := func(f *flag.Flag) {
		other := known[f.Name]
		if other != nil && takesNoValue(other) != takesNoValue(f) {
			mixed[f.Name] = true
		}
		if other == nil || takesNoValue(f) {
			known[f.Name] = f
		}
	}
	for _, c := range p.all() {
		c.flagSet().VisitAll(add)
	}
	if p.Default != nil {
		p.Default.flagSet().VisitAll(add)
	}
	return known, mixed
}

// split separates the flags among args from the operands. Whether a mixed flag takes a value is
// for the command to say, and which command is meant may depend on that: split finds a command
// that has the flags which it is found with.
func (p *Program) split(args []string) (known knownFlags, flags []givenFlag, operands []string) {
	known, mixed := p.knownFlags()
	for _, takesValue := range []bool{false, true} {
		guess := maps.Clone(known)
		for name := range mixed {
			if takesValue {
				guess[name] = valued
			}
		}
		_, operands = guess.split(args)
		command, _ := p.find(operands)
		if command == nil {
			continue
		}
		command.flagSet().VisitAll(func(f *flag.Flag) { guess[f.Name] = f })
		flags, operands = guess.split(args)
		again, _ := p.find(operands)
		foreign := func(g givenFlag) bool { return mixed[g.name] && command.flagSet().Lookup(g.name) == nil }
		if again == command && !slices.ContainsFunc(flags, foreign) {
			return known, flags, operands
		}
	}
	flags, operands = known.split(args)
	return known, flags, operands
}

// valued is a flag that takes a value.
var valued = func() *flag.Flag {
	fs := newFlagSet()
	fs.String("valued", "", "")
	return fs.Lookup("valued")
}()

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
