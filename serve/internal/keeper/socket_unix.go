//go:build unix

package keeper

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Supported returns why no sessions are served on this system, or nil.
func Supported() error { return nil }

// socketPair returns the two ends of a socket. The first can have deadlines.
func socketPair() (ours, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return nil, nil, err
	}
	for _, fd := range fds {
		unix.CloseOnExec(fd)
	}
	if err := unix.SetNonblock(fds[0], true); err != nil {
		return nil, nil, errors.Join(err, unix.Close(fds[0]), unix.Close(fds[1]))
	}
	return os.NewFile(uintptr(fds[0]), "worker"), os.NewFile(uintptr(fds[1]), "keeper"), nil
}
