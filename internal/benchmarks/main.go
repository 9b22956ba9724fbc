// Command benchmarks measures geosql from outside: through SQL, through its commands, and beside
// others that do the same. It must be run in the root of the repository.
//
//	go run ./internal/benchmarks growth    # how cost grows with rows, accounts, traces and places
//	go run ./internal/benchmarks beside    # Google's library, DuckDB and plain Go loops, in turns with geosql
//	go run ./internal/benchmarks build     # the first build of geosql, and its parts
//	go run ./internal/benchmarks bounds    # the bound on the cost of each work, and its cost
//
// With -write the tables go into docs/benchmarks.md, too; -h has the other flags.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
)

// commands holds the measurements, by name. Each has an empty folder for its data.
var commands = map[string]func(ctx context.Context, folder string, args []string) error{
	"growth": growth,
	"beside": beside,
	"build":  build,
	"bounds": bounds,
}

// errUsage follows an error that the flag package has printed.
var errUsage = errors.New("usage")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if len(os.Args) < 2 || commands[os.Args[1]] == nil && os.Args[1] != "work" {
		fmt.Fprintln(os.Stderr, "usage: go run ./internal/benchmarks growth|beside|build|bounds [-h]")
		os.Exit(2)
	}
	err := perform(ctx, os.Args[1], os.Args[2:])
	if ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errUsage):
		os.Exit(2)
	default:
		fmt.Fprintf(os.Stderr, "benchmarks: %s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
}

// perform runs a command, with a folder where temporary files are (TMPDIR).
func perform(ctx context.Context, name string, args []string) error {
	if name == "work" {
		return work(ctx, args)
	}
	folder, err := os.MkdirTemp("", "geosql-benchmarks")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	return commands[name](ctx, folder, args)
}

// parse reads the flags of a command, which has no other arguments.
func parse(flags *flag.FlagSet, args []string) error {
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return errUsage
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q is no flag; %s -h lists them", flags.Arg(0), flags.Name())
	}
	if _, err := os.Stat(page); err != nil {
		return errors.New("this must be run in the root of the repository")
	}
	return nil
}

// named returns the elements of the names in a list with commas between them, or says which there are of that kind.
func named[T any](all []T, list, kind string, name func(T) string) (some []T, err error) {
	for wanted := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(all, func(x T) bool { return name(x) == wanted })
		if i < 0 {
			var names []string
			for _, x := range all {
				names = append(names, name(x))
			}
			return nil, fmt.Errorf("-only: there is no %s %q; there are %s", kind, wanted, strings.Join(names, ", "))
		}
		some = append(some, all[i])
	}
	return some, nil
}

// machine describes the machine of the figures.
func machine() string {
	return fmt.Sprintf("%s, %s/%s, %d processors", strings.TrimPrefix(runtime.Version(), "go"), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
}
