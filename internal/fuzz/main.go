// Command fuzz runs every fuzz target of the repository in turn, each for its share of the time.
// It finds the targets in the source, so that there is no list of them. A target that fails leaves
// the input that fails in testdata/fuzz beside it, and the others run all the same.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"time"
)

func main() {
	var (
		each     = flag.Duration("time", 0, "run each target for `duration`")
		hours    = flag.Float64("hours", 0, "run all targets for `n` hours together")
		parallel = flag.Int("parallel", runtime.GOMAXPROCS(0), "run a target in `n` processes")
		only     = flag.String("only", "", "run the targets with a package and name that match `regexp`")
		list     = flag.Bool("list", false, "list the targets and run nothing")
	)
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *each, *hours, *parallel, *only, *list); err != nil {
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, each time.Duration, hours float64, parallel int, only string, list bool) error {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	targets, err := find(".", wanted)
	switch {
	case err != nil:
		return err
	case len(targets) == 0:
		return fmt.Errorf("no target matches %q", only)
	case list:
		for _, t := range targets {
			fmt.Println(t)
		}
		return nil
	case (each > 0) == (hours > 0):
		return errors.New("one of -time and -hours must be given, and above 0")
	case hours > 0:
		each = time.Duration(hours * float64(time.Hour) / float64(len(targets)))
	}
	fmt.Printf("%d targets, each for %v, in %d processes\n", len(targets), each.Round(time.Millisecond), parallel)
	temporary, err := os.MkdirTemp("", "geosql-fuzz-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	start := time.Now()
	binaries := map[string]*binary{} // by folder
	for _, t := range targets {
		if binaries[t.dir()] != nil {
			continue
		}
		b, err := build(ctx, t.dir(), filepath.Join(temporary, fmt.Sprint(len(binaries))))
		if err != nil {
			return err
		}
		binaries[t.dir()] = b
	}
	fmt.Printf("%d packages built in %v\n", len(binaries), time.Since(start).Round(time.Second))
	total := result{seeds: 1}
	failed := 0
	for _, t := range targets {
		r, err := t.fuzz(ctx, binaries[t.dir()], each, parallel)
		if ctx.Err() != nil {
			err = errors.New("interrupted")
		}
		fmt.Printf("%-55s %s\n", t, r)
		if err != nil {
			fmt.Printf("%s\n%v\n", r.output, err)
			failed++
		}
		if ctx.Err() != nil {
			return err
		}
		total.executions += r.executions
		total.interesting += r.interesting
		total.took += r.took
	}
	fmt.Printf("%-55s %s\n", "all", total)
	if failed > 0 {
		return fmt.Errorf("%d of %d targets failed; inputs that fail are in testdata/fuzz beside them", failed, len(targets))
	}
	return nil
}
