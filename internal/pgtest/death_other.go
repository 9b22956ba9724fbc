//go:build !linux

package pgtest

import "syscall"

// dieWithParent does nothing: the guard ends the process.
func dieWithParent(*syscall.SysProcAttr) {}
