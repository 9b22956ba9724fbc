package main

import (
	"cmp"
	"errors"
	"flag"
	"io"
	iofs "io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/geosql/geosql/ledger"
)

// An invocation is a command line taken apart.
type invocation struct {
	command string   // "" runs SQL
	args    []string // what follows the command
	mode    mode
	ledger  ledgerFlags
	budget  budgetFlags
	study   studyFlags
}

// ledgerFlags say where the ledger is, and who besides its owner may read or write it.
type ledgerFlags struct {
	file string        // "" is the ledger beside the database
	mode iofs.FileMode // 0 is 0600, or what the ledger has
}

func (f *ledgerFlags) register(fs *flag.FlagSet) {
	fs.Func("ledger", "", func(v string) error {
		if v == "" {
			return errors.New("the file has an empty name")
		}
		f.file = v
		return nil
	})
	fs.Func("ledger-mode", "", func(v string) error {
		mode, err := strconv.ParseUint(v, 8, 32)
		if err != nil {
			return errors.New("it is a mode such as 0640")
		}
		f.mode = iofs.FileMode(mode)
		return ledger.CheckMode(f.mode)
	})
}

// budgetFlags are those of the command budget; nil and false are not given.
type budgetFlags struct {
	account, head, archive, before *string
	history, verify                bool
}

// arity gives the least and the largest number of a command's arguments.
var arity = map[string][2]int{
	"":        {1, 2},
	"import":  {3, 3},
	"budget":  {1, 1},
	"cost":    {2, 2},
	"study":   {1, 1},
	"demo":    {0, 0},
	"release": {0, 0},
	"help":    {0, 0},
	"version": {0, 0},
}

// outputFlags are those of every command that answers rows.
var outputFlags = []string{"table", "csv", "json", "ledger", "ledger-mode"}

// flagsOf lists the flags that a command takes.
var flagsOf = map[string][]string{
	"":       outputFlags,
	"cost":   outputFlags,
	"budget": append([]string{"account", "history", "verify", "head", "archive", "before"}, outputFlags...),
	"study":  studyFlagNames(),

	"release": releaseFlagNames(),
}

// parse takes a command line apart. Flags may stand anywhere before "--".
func parse(args []string) (*invocation, error) {
	inv := &invocation{}
	flags := inv.flagSet()
	words, err := parseFlags(flags, args)
	if errors.Is(err, flag.ErrHelp) {
		return &invocation{command: "help"}, nil
	}
	if err != nil {
		return nil, usageError(err.Error())
	}
	if len(words) > 0 && words[0] != "" {
		if _, ok := arity[words[0]]; ok {
			inv.command, words = words[0], words[1:]
		}
	}
	inv.args = words
	if err := inv.checkFlags(flags); err != nil {
		return inv, err
	}
	return inv, inv.check()
}

func (inv *invocation) flagSet() *flag.FlagSet {
	fs := flag.NewFlagSet("geosql", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	inv.ledger.register(fs)
	for name, m := range modes {
		boolFlag(fs, name, func() { inv.mode = m })
	}
	b := &inv.budget
	boolFlag(fs, "history", func() { b.history = true })
	boolFlag(fs, "verify", func() { b.verify = true })
	for name, value := range map[string]**string{"account": &b.account, "head": &b.head, "archive": &b.archive, "before": &b.before} {
		fs.Func(name, "", func(v string) error {
			*value = &v
			return nil
		})
	}
	inv.study.register(fs)
	return fs
}

func boolFlag(fs *flag.FlagSet, name string, set func()) {
	fs.BoolFunc(name, "", func(v string) error {
		if v != "true" {
			return errors.New("it takes no value")
		}
		set()
		return nil
	})
}

// checkFlags refuses flags where they say nothing.
func (inv *invocation) checkFlags(fs *flag.FlagSet) (err error) {
	fs.Visit(func(f *flag.Flag) {
		if err == nil && !slices.Contains(flagsOf[inv.command], f.Name) {
			command := cmp.Or(inv.command, "running SQL")
			err = usageError(command + " takes no flag -" + f.Name)
		}
	})
	if err != nil {
		return err
	}
	switch b := &inv.budget; {
	case b.head != nil && !b.verify:
		return usageError("-head is for -verify")
	case b.archive != nil && !b.verify && b.before == nil:
		return usageError("-archive needs -before TIME, or -verify")
	case b.before != nil && b.archive == nil:
		return usageError("-before is for -archive FILE")
	case b.verify && (b.before != nil || b.history || b.account != nil), b.before != nil && (b.history || b.account != nil):
		return usageError("one thing at a time: -verify, -archive with -before, or balances or -history with -account")
	}
	return nil
}

// check refuses a wrong number of arguments.
func (inv *invocation) check() error {
	n, limits := len(inv.args), arity[inv.command]
	switch {
	case inv.command == "" && n == 0:
		return usageError("no database given")
	case n < limits[0]:
		return usageError(inv.command + ": too few arguments")
	case n > limits[1] && inv.command == "":
		return usageError("too many arguments: quote the SQL")
	case n > limits[1]:
		return usageError(inv.command + ": too many arguments")
	case inv.command == "study":
		return inv.study.choose(inv.args[0])
	case inv.command == "release":
		return inv.study.give(&releaseTask{account: inv.budget.account, ledger: inv.ledger}, "release")
	case n > 0 && inv.args[0] == "":
		return usageError("the database has an empty name")
	}
	return nil
}

// parseFlags sets the flags among args and returns the other arguments. Package
// flag stops at the first argument that is none, so it is fed flag by flag.
func parseFlags(fs *flag.FlagSet, args []string) (words []string, err error) {
	given := repeats{}
	for len(args) > 0 {
		if args[0] == "--" {
			return append(words, args[1:]...), nil
		}
		if !isFlag(fs, args[0]) {
			words = append(words, args[0])
			args = args[1:]
			continue
		}
		n := min(flagLen(fs, args[0]), len(args))
		if err := fs.Parse(args[:n]); err != nil {
			return nil, err
		}
		if err := given.add(fs.Lookup(flagName(args[0]))); err != nil {
			return nil, err
		}
		args = args[n:]
	}
	return words, nil
}

// isFlag tells flags from SQL that starts with a comment: a flag holds no white
// space, except in its value.
func isFlag(fs *flag.FlagSet, arg string) bool {
	if len(arg) < 2 || arg[0] != '-' {
		return false
	}
	return !strings.ContainsAny(arg, " \t\r\n") || strings.Contains(arg, "=") && fs.Lookup(flagName(arg)) != nil
}

// flagName is the name in an argument such as -name or --name=value.
func flagName(arg string) string {
	name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	return name
}

// flagLen is the number of arguments that a flag takes up.
func flagLen(fs *flag.FlagSet, arg string) int {
	f := fs.Lookup(strings.TrimLeft(arg, "-"))
	if f == nil { // unknown, or with its value
		return 1
	}
	if takesNoValue(f) {
		return 1
	}
	return 2
}
