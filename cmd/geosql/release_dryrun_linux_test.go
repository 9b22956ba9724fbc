package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/geosql/geosql/internal/cli/clitest"
)

// Ctrl-C ends a dry run, which leaves nothing.
func TestReleaseDryRunInterrupted(t *testing.T) {
	p := newPublisher(t, 1_000_000)
	cmd := clitest.Command(t, append(p.args, "--limit", "1000", "--dry-run", "--workers", "1")...)
	var said, out bytes.Buffer
	cmd.Stderr, cmd.Stdout = &said, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitUntilOpen(cmd.Process.Pid, p.path("in.csv"))
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if status := clitest.ExitStatus(t, cmd.Wait()); status != 130 || said.String() != "geosql: release: interrupted\n" || out.Len() > 0 {
		t.Errorf("status %d, %q, %q", status, said.String(), out.String())
	}
	p.wantFiles(t, "in.csv")
}

// waitUntilOpen returns once a process has a file open, or has ended.
func waitUntilOpen(pid int, path string) {
	isPath := func(descriptor string) bool {
		to, err := os.Readlink(descriptor)
		return err == nil && to == path
	}
	for {
		open, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		if len(open) == 0 || slices.ContainsFunc(open, isPath) {
			return
		}
	}
}
