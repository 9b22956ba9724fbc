//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

// Package files hides differences of systems with files that are locked, or renamed and removed while they are
// open.
package files

import (
	"cmp"
	"os"
	"path/filepath"
	"syscall"
)

// Lock locks a file, or a folder, until it is closed or the process ends. It reports false if somebody else has
// locked it. Only those are locked out who call Lock.
func Lock(file *os.File) (bool, error) {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == syscall.EWOULDBLOCK {
		return false, nil
	}
	return err == nil, err
}

// OpenShared opens a file for its owner to read and write. Others may rename and remove it while it is open. Flag
// may have [os.O_CREATE] and [os.O_EXCL].
func OpenShared(path string, flag int) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|flag, 0o600)
}

// CreateNameless creates a file that is gone when it is closed or the process ends. The path is its name for a
// moment, and on Windows as long as it is open.
func CreateNameless(path string) (*os.File, error) {
	f, err := OpenShared(path, os.O_CREATE|os.O_EXCL)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(path); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Private reports whether a file is the user's own and has only one name, so that its mode can keep others from
// reading it.
func Private(file *os.File) (bool, error) {
	info, err := file.Stat()
	if err != nil {
		return false, err
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid() && s.Nlink == 1, nil
}

// Rename gives a file another name, in place of a file that has it, and waits until that is on disk.
func Rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return SyncFolder(filepath.Dir(to))
}

// SyncFolder waits until the names of the files in a folder are on disk.
func SyncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return cmp.Or(folder.Sync(), folder.Close())
}
