//go:build unix

package file

import (
	"syscall"
	"testing"
)

// suspend stops the process until it is resumed.
func (h *helper) suspend(t *testing.T) {
	t.Helper()
	check(t, h.cmd.Process.Signal(syscall.SIGSTOP))
}

func (h *helper) resume(t *testing.T) {
	t.Helper()
	check(t, h.cmd.Process.Signal(syscall.SIGCONT))
}
