package keeper

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// hideMemory keeps other processes of the user from reading the memory of this one, and the kernel from writing it to a
// core file.
func hideMemory() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }

// lateTimers lets the timers of this thread, and of the processes that it starts, end up to 5 ms late and so together with others. Go's
// runtime would wake each worker every 20 µs while it works, for nothing that cannot wait: that took a fifth of its processor time.
func lateTimers() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, 5_000_000, 0, 0, 0) }

// attributes are those of a worker: the kernel kills it when the thread that started it ends, and the terminal's signals to
// the keeper do not reach it.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setsid: true}
}
