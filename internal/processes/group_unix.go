//go:build unix

// Package processes starts, finds and ends processes together with their children.
package processes

import (
	"os"
	"os/exec"
	"syscall"
)

// Group makes a command that has not started the first of a group of its own, which a terminal's Ctrl-C does not reach.
func Group(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// KillGroup kills the first of a group, and all that it has started.
func KillGroup(first *os.Process) error { return syscall.Kill(-first.Pid, syscall.SIGKILL) }
