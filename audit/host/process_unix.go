//go:build unix

package host

import "syscall"

// ownGroup returns the attributes of a process that a terminal's Ctrl-C does not reach.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
