package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A target is a fuzz target.
type target struct {
	module string // the folder of its module
	folder string // of its package, below the module's
	name   string
}

// dir returns the folder of the target's package.
func (t target) dir() string { return filepath.Join(t.module, t.folder) }

// String returns the target's package and name.
func (t target) String() string { return filepath.ToSlash(filepath.Join(t.dir(), t.name)) }

var declaration = regexp.MustCompile(`(?m)^func (Fuzz\w*)\(\w+ \*testing\.F\)`)

// find returns the targets below root that match only, in the order of their folders.
func find(root string, only *regexp.Regexp) (targets []target, err error) {
	modules := map[string]string{} // by folder
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path != root && (d.Name()[0] == '.' || d.Name() == "testdata" || d.Name() == "node_modules") {
				return filepath.SkipDir
			}
			modules[path] = modules[filepath.Dir(path)]
			if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil {
				modules[path] = path
			}
			return nil
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		module := modules[filepath.Dir(path)]
		folder, err := filepath.Rel(module, filepath.Dir(path))
		if err != nil {
			return err
		}
		for _, m := range declaration.FindAllSubmatch(source, -1) {
			t := target{module, folder, string(m[1])}
			if only.MatchString(t.String()) {
				targets = append(targets, t)
			}
		}
		return nil
	})
	return targets, err
}

// A result is the result of a run of targets.
type result struct {
	executions, interesting int
	seeds                   int // that were run before any other input; 0 if time was too short for all
	took                    time.Duration
	output                  []byte
}

// String returns the result as a line for a terminal.
func (r result) String() string {
	text := fmt.Sprintf("%9d executions, %4d new inputs, %v", r.executions, r.interesting, r.took.Round(time.Second))
	if r.seeds == 0 {
		text += " (not all seeds)"
	}
	return text
}

var (
	gathered = regexp.MustCompile(`coverage: (\d+)/\d+ completed, now fuzzing`)
	progress = regexp.MustCompile(`execs: (\d+) \(.*new interesting: (\d+)`)
)

// read takes the go command's report of its progress.
func (r *result) read(output []byte) {
	r.output = output
	if m := gathered.FindSubmatch(output); m != nil {
		r.seeds, _ = strconv.Atoi(string(m[1]))
	}
	if all := progress.FindAllSubmatch(output, -1); all != nil {
		last := all[len(all)-1]
		r.executions, _ = strconv.Atoi(string(last[1]))
		r.interesting, _ = strconv.Atoi(string(last[2]))
	}
}

// ranOut reports whether a run has failed only because its time was over, which Go before 1.27 may take for an error
// (go.dev/issue/75804). An input that fails is always named.
func (r *result) ranOut() bool {
	return bytes.Contains(r.output, []byte("\n    context deadline exceeded\nFAIL\n")) && !bytes.Contains(r.output, []byte("Failing input"))
}

// minimizing is how long an input is made shorter, be it one that fails or one that is new. The default
// of a minute would be spent on the first new input.
const minimizing = "1s"

// fuzz runs the target. The tests of its package are in the binary.
func (t target) fuzz(ctx context.Context, b *binary, each time.Duration, parallel int) (result, error) {
	cmd := exec.CommandContext(ctx, b.path, "-test.run=^$", "-test.fuzz=^"+t.name+"$", "-test.fuzzcachedir="+b.inputs,
		"-test.fuzztime="+each.String(), "-test.fuzzminimizetime="+minimizing, "-test.parallel="+strconv.Itoa(parallel))
	cmd.Dir = t.dir()
	cmd.Env = append(os.Environ(), "GEOSQL_WHOLE=1") // all seeds
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	start := time.Now()
	err := cmd.Run()
	r := result{took: time.Since(start)}
	r.read(output.Bytes())
	if err != nil && r.ranOut() {
		err = nil
	}
	return r, err
}
