//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package beam

import (
	"os"
	"syscall"
)

// foldersLock reports whether lockFolder tells a folder that is in use.
const foldersLock = true

// lockFolder locks a folder until it is closed, or returns an error if another process has it.
func lockFolder(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
