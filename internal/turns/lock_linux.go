package turns

import "golang.org/x/sys/unix"

const (
	monotonic = unix.CLOCK_MONOTONIC
	setLock   = unix.F_OFD_SETLK
	waitLock  = unix.F_OFD_SETLKW
	getLock   = unix.F_OFD_GETLK
)
