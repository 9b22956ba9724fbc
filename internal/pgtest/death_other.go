//go:build !linux

package pgtest

import "syscall"

// dieWithParent does nothing: the guard ends the process.
func dieWithParent(*syscall.SysProcAttr) {}

// children returns none: servers' processes end by themselves when the first is gone.
func children(int) []int { return nil }
