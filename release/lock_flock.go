//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package release

import (
	"io/fs"
	"os"
	"syscall"
)

// lock locks the file until the process closes it or ends. It returns an error if another
// process has locked the file.
func lock(file *os.File) error {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}

// private reports whether a file is the user's own and has only one name, so that its mode
// can keep others from reading it.
func private(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid() && s.Nlink == 1
}
