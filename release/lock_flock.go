//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package release

import (
	"os"
	"syscall"
)

// lock takes the file for this process alone, or reports that another one has it. It is
// the process's until it closes the file or ends.
func lock(file *os.File) error {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
