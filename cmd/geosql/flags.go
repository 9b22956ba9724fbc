package main

import (
	"errors"
	"flag"
	"io"
	"strings"
)

// An invocation is a command line taken apart.
type invocation struct {
	command string   // "" runs SQL
	args    []string // what follows the command
	mode    mode
	ledger  string // "" is the ledger beside the database
}

// arity gives the least and the largest number of a command's arguments.
var arity = map[string][2]int{
	"":        {1, 2},
	"import":  {3, 3},
	"budget":  {1, 1},
	"demo":    {0, 0},
	"help":    {0, 0},
	"version": {0, 0},
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
	return inv, inv.check(flags.NFlag())
}

func (inv *invocation) flagSet() *flag.FlagSet {
	fs := flag.NewFlagSet("geosql", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Func("ledger", "", func(v string) error {
		if v == "" {
			return errors.New("the file has an empty name")
		}
		inv.ledger = v
		return nil
	})
	for name, m := range modes {
		fs.BoolFunc(name, "", func(v string) error {
			if v != "true" {
				return errors.New("it takes no value")
			}
			inv.mode = m
			return nil
		})
	}
	return fs
}

// check refuses a wrong number of arguments, and flags where they say nothing.
func (inv *invocation) check(flags int) error {
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
	case n > 0 && inv.args[0] == "":
		return usageError("the database has an empty name")
	case flags > 0 && inv.command != "" && inv.command != "budget":
		return usageError(inv.command + " takes no flags")
	}
	return nil
}

// parseFlags sets the flags among args and returns the other arguments. Package
// flag stops at the first argument that is none, so it is fed flag by flag.
func parseFlags(fs *flag.FlagSet, args []string) (words []string, err error) {
	for len(args) > 0 {
		if args[0] == "--" {
			return append(words, args[1:]...), nil
		}
		if !isFlag(args[0]) {
			words = append(words, args[0])
			args = args[1:]
			continue
		}
		n := min(flagLen(fs, args[0]), len(args))
		if err := fs.Parse(args[:n]); err != nil {
			return nil, err
		}
		args = args[n:]
	}
	return words, nil
}

// isFlag tells flags from SQL that starts with a comment: a flag holds no white
// space, except in the name of a file.
func isFlag(arg string) bool {
	if len(arg) < 2 || arg[0] != '-' {
		return false
	}
	return !strings.ContainsAny(arg, " \t\r\n") || strings.HasPrefix(strings.TrimLeft(arg, "-"), "ledger=")
}

// flagLen is the number of arguments that a flag takes up.
func flagLen(fs *flag.FlagSet, arg string) int {
	f := fs.Lookup(strings.TrimLeft(arg, "-"))
	if f == nil { // unknown, or with its value
		return 1
	}
	if b, ok := f.Value.(interface{ IsBoolFlag() bool }); ok && b.IsBoolFlag() {
		return 1
	}
	return 2
}
