package host

import "syscall"

// ownGroup returns the attributes of a process that a console's Ctrl-C does not reach.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
