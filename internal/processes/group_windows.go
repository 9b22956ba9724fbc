// Package processes starts, finds and ends processes together with their children.
package processes

import (
	"os"
	"os/exec"
	"syscall"
)

// Group makes a command that has not started the first of a group of its own, which a console's Ctrl-C does not reach.
func Group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// KillGroup kills the first of a group. Windows leaves its children alone, and they have to notice.
func KillGroup(first *os.Process) error { return first.Kill() }
