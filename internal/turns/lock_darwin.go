package turns

import "golang.org/x/sys/unix"

// These are in the headers of macOS 14 and later, and kernels before that have the
// locks too. One that has not refuses the first lock, and then there is no queue.
const (
	monotonic = unix.CLOCK_MONOTONIC_RAW // the other one counts microseconds
	setLock   = 90
	waitLock  = 91
	getLock   = 92
)
