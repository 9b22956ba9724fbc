package worker

import "golang.org/x/sys/unix"

// callsOfArchitecture are calls that newer architectures do not have.
var callsOfArchitecture = []uintptr{
	unix.SYS_STAT, unix.SYS_LSTAT, unix.SYS_NEWFSTATAT, unix.SYS_ACCESS, unix.SYS_READLINK, unix.SYS_POLL,
	unix.SYS_EPOLL_WAIT, unix.SYS_ARCH_PRCTL, unix.SYS_TIME,
}

var callsThatOpen = []uintptr{unix.SYS_OPENAT, unix.SYS_OPEN}
