//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package release

import (
	"io/fs"
	"os"
	"syscall"
)

// lock takes the file for this process alone, or reports that another one has it. It is
// the process's until it closes the file or ends.
func lock(file *os.File) error {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}

// private reports whether a file is the user's own and has one name only, so that a mode
// keeps it from everybody else.
func private(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid() && s.Nlink == 1
}
