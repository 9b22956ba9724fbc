package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// An action is a step of the go command for a build.
type action struct {
	ID              int
	Mode, Package   string
	Deps            []int         // the IDs of the actions before it
	CmdUser, CmdSys time.Duration // of the programs that it ran
}

func (a action) cpu() time.Duration { return a.CmdUser + a.CmdSys }

// target is the package that is built.
const target = "./cmd/geosql"

// build is the command: it builds geosql with an empty cache, as on a fresh machine that has the modules.
func build(ctx context.Context, folder string, args []string) error {
	const heavy = 20 // packages that are listed
	if err := parse(flag.NewFlagSet("build", flag.ContinueOnError), args); err != nil {
		return err
	}
	if out, err := exec.CommandContext(ctx, "go", "mod", "download").CombinedOutput(); err != nil {
		return fmt.Errorf("go mod download: %w\n%s", err, out)
	}
	text, u, err := freshBuild(ctx, folder)
	if err != nil {
		return err
	}
	var actions []action
	if err := json.Unmarshal(text, &actions); err != nil {
		return err
	}
	modules, importers, err := packages(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %.1f s by the clock, %.1f s of processors, on %s\n\n", target, u.wall.Seconds(), u.cpu.Seconds(), machine())
	byModule, byPackage := map[string]time.Duration{}, map[string]time.Duration{}
	var linking time.Duration
	for _, a := range actions {
		switch {
		case a.Mode == "link":
			linking += a.cpu()
		case a.Package != "":
			byPackage[a.Package] += a.cpu()
			byModule[modules[a.Package]] += a.cpu()
		}
	}
	fmt.Println("seconds of processors, by module (compilers, assemblers and linker; the rest is the go command itself):")
	printHeaviest(byModule, len(byModule), func(string) string { return "" })
	fmt.Printf("%8.1f  linking\n\n", linking.Seconds())
	fmt.Println("by package, and the imports that bring it in:")
	printHeaviest(byPackage, heavy, func(name string) string { return importPath(importers, name) })
	chain, took := longest(actions)
	fmt.Printf("\nthe longest chain, which more processors do not shorten: %.1f s\n", took.Seconds())
	for _, a := range chain {
		if a.cpu() >= 300*time.Millisecond {
			fmt.Printf("%8.1f  %s %s\n", a.cpu().Seconds(), a.Mode, a.Package)
		}
	}
	return nil
}

// longest returns the chain of actions that wait for each other and take the longest.
func longest(actions []action) (chain []action, took time.Duration) {
	byID := map[int]action{}
	for _, a := range actions {
		byID[a.ID] = a
	}
	type end struct {
		took   time.Duration
		before int // the action that it waits for, or -1
	}
	ends := map[int]end{}
	var visit func(id int) time.Duration
	visit = func(id int) time.Duration {
		if e, ok := ends[id]; ok {
			return e.took
		}
		e := end{before: -1}
		for _, dep := range byID[id].Deps {
			if t := visit(dep); e.before < 0 || t > e.took {
				e.took, e.before = t, dep
			}
		}
		e.took += byID[id].cpu()
		ends[id] = e
		return e.took
	}
	last := -1
	for _, a := range actions {
		if t := visit(a.ID); last < 0 || t > took {
			took, last = t, a.ID
		}
	}
	for at := last; at >= 0; at = ends[at].before {
		chain = append(chain, byID[at])
	}
	slices.Reverse(chain)
	return chain, took
}

// freshBuild builds the target with an empty cache, and returns the actions of the go command.
func freshBuild(ctx context.Context, dir string) (actions []byte, u usage, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return nil, u, err
	}
	if dir, err = os.MkdirTemp(dir, "build"); err != nil {
		return nil, u, err
	}
	defer os.RemoveAll(dir)
	graph := filepath.Join(dir, "actions.json")
	cmd := exec.Command("go", "build", "-debug-actiongraph", graph, "-o", filepath.Join(dir, "program"), target)
	cmd.Env = append(os.Environ(), "GOCACHE="+filepath.Join(dir, "cache"))
	if _, u, err = run(ctx, cmd); err != nil {
		return nil, u, err
	}
	actions, err = os.ReadFile(graph)
	return actions, u, err
}

func printHeaviest(times map[string]time.Duration, n int, more func(name string) string) {
	names := slices.SortedFunc(maps.Keys(times), func(a, b string) int { return cmp.Or(cmp.Compare(times[b], times[a]), strings.Compare(a, b)) })
	for _, name := range names[:min(n, len(names))] {
		if times[name] >= 50*time.Millisecond {
			fmt.Printf("%8.1f  %s%s\n", times[name].Seconds(), name, more(name))
		}
	}
}

// packages returns the modules of the packages that a build needs, and the package by which each is reached from
// the target on the shortest way.
func packages(ctx context.Context) (modules, importers map[string]string, err error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-deps", "-json=ImportPath,Imports,Standard,Module", target).Output()
	if err != nil {
		return nil, nil, fmt.Errorf("go list: %w", err)
	}
	type listed struct {
		ImportPath string
		Imports    []string
		Standard   bool
		Module     *struct{ Path string }
	}
	all := map[string]listed{}
	modules, importers = map[string]string{}, map[string]string{}
	last := ""
	for decoder := json.NewDecoder(strings.NewReader(string(out))); decoder.More(); {
		var p listed
		if err := decoder.Decode(&p); err != nil {
			return nil, nil, err
		}
		all[p.ImportPath], last = p, p.ImportPath
		switch {
		case p.Standard:
			modules[p.ImportPath] = "the standard library"
		case p.Module != nil:
			modules[p.ImportPath] = p.Module.Path
		}
	}
	if last == "" {
		return nil, nil, errors.New("go list names no package")
	}
	for queue := []string{last}; len(queue) > 0; queue = queue[1:] { // the target comes after all that it needs
		for _, name := range all[queue[0]].Imports {
			if _, ok := importers[name]; !ok && name != last {
				importers[name] = queue[0]
				queue = append(queue, name)
			}
		}
	}
	return modules, importers, nil
}

// importPath writes through which packages one is reached.
func importPath(importers map[string]string, name string) string {
	s := ""
	for at := importers[name]; at != ""; at = importers[at] {
		s += " < " + at
	}
	return s
}
