//go:build darwin || freebsd || linux

package files

import "golang.org/x/sys/unix"

// Room returns how many bytes the disk of a file has left for its user. It is negative if that is not known.
func Room(path string) int64 {
	var s unix.Statfs_t
	if unix.Statfs(path, &s) != nil {
		return -1
	}
	return int64(s.Bavail) * int64(s.Bsize)
}
