package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// A usage is the cost of a process.
type usage struct {
	wall, cpu time.Duration
	memory    int64 // the most bytes that were resident at a time
}

// run runs a program to its end and returns its standard output. The system counts the memory
// of the process that starts another as memory of the other, too, so this one has to stay small.
func run(ctx context.Context, cmd *exec.Cmd) (out []byte, u usage, err error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	start := time.Now()
	if err = cmd.Start(); err != nil {
		return nil, u, err
	}
	defer context.AfterFunc(ctx, func() { cmd.Process.Kill() })()
	err = cmd.Wait()
	u.wall = time.Since(start)
	if ctx.Err() != nil {
		return nil, u, ctx.Err()
	}
	if err != nil {
		said := strings.TrimSpace(stderr.String())
		return nil, u, fmt.Errorf("%s: %w: %s", cmd.Args[0], err, said[strings.LastIndexByte(said, '\n')+1:])
	}
	u.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	u.memory, err = peakMemory(cmd.ProcessState)
	return stdout.Bytes(), u, err
}

// A task is the work of a process of this program for another one.
type task struct {
	Do       string `json:"do"`
	File     string `json:"file"`
	Rows     int    `json:"rows"`
	Accounts int    `json:"accounts"`
	Size     int    `json:"size"`
}

// A time is how long a task took, in seconds, and the time compared with.
type timing struct {
	Seconds float64 `json:"seconds"`
	Base    float64 `json:"base"`
}

// start has a process of the program do t, which is this one, perhaps of other sources.
func (t task) start(ctx context.Context, program string) (timing, usage, error) {
	var result timing
	order, err := json.Marshal(t)
	if err != nil {
		return result, usage{}, err
	}
	out, u, err := run(ctx, exec.Command(program, "work", string(order)))
	if err == nil {
		err = json.Unmarshal(out, &result)
	}
	if err != nil {
		err = fmt.Errorf("%s of %d: %w", t.Do, t.Size, err)
	}
	return result, u, err
}

// work is the command of such a process: it writes a timing to standard output.
func work(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return errors.New("it is for this program only")
	}
	var t task
	if err := json.Unmarshal([]byte(args[0]), &t); err != nil {
		return err
	}
	do, ok := tasks[t.Do]
	if !ok {
		return fmt.Errorf("there is no task %q", t.Do)
	}
	result, err := do(ctx, t)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(result)
}

// buildProgram builds the command of a folder of the sources.
func buildProgram(ctx context.Context, folder, program string) error {
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", program, folder).CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", folder, err, out)
	}
	return nil
}
