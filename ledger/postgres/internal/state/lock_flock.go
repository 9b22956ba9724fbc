//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package state

import (
	"os"
	"syscall"
)

// Lock locks the file until it is closed or the process ends. It reports false if somebody has
// locked it.
func Lock(file *os.File) (bool, error) {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == syscall.EWOULDBLOCK {
		return false, nil
	}
	return err == nil, err
}

// reusable says that a file can be taken when its process has ended.
const reusable = true
