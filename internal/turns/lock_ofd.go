//go:build linux || darwin

package turns

import (
	"cmp"
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

const (
	supported = true
	noFollow  = unix.O_NOFOLLOW
)

// Open file description locks belong to the open file, not to the process: they
// exclude each other within a process too, and closing another descriptor of the
// file does not drop them.
const (
	exclusive = unix.F_WRLCK
	shared    = unix.F_RDLCK
)

// clock returns the nanoseconds since the machine's start.
func clock() int64 {
	var t unix.Timespec
	// Fails only for an unknown clock.
	_ = unix.ClockGettime(monotonic, &t)
	return t.Nano()
}

func span(from, to int64, kind int16) *unix.Flock_t {
	return &unix.Flock_t{Type: kind, Start: from, Len: to - from}
}

// flock calls fcntl for a lock of the file. The descriptor stays open during the call, even if the queue is closed; after that it is
// an error, since the descriptor may be another file's.
func (q *Queue) flock(what int, l *unix.Flock_t) error {
	conn, err := q.file.SyscallConn()
	if err != nil {
		return err
	}
	closed := conn.Control(func(fd uintptr) { err = unix.FcntlFlock(fd, what, l) })
	return cmp.Or(closed, err)
}

// lock tries to lock a byte and reports whether it has.
func (q *Queue) lock(at int64, kind int16) (bool, error) {
	err := q.flock(setLock, span(at, at+1, kind))
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return false, nil
	}
	return err == nil, err
}

func (q *Queue) unlock(at int64) {
	// Fails only for a closed file; then nothing is locked.
	_ = q.flock(setLock, span(at, at+1, unix.F_UNLCK))
}

// free reports whether nobody else has a place in [from, to).
func (q *Queue) free(from, to int64) bool {
	l := span(from, to, shared)
	err := q.flock(getLock, l)
	return err != nil || l.Type == unix.F_UNLCK
}

// waitFree waits until nobody else has a place in [from, to).
func (q *Queue) waitFree(from, to int64) {
	for err := error(unix.EINTR); errors.Is(err, unix.EINTR); {
		err = q.flock(waitLock, span(from, to, shared)) // of a closed file nobody waits for
	}
	_ = q.flock(setLock, span(from, to, unix.F_UNLCK))
}

// close closes the file, and removes it if this was the last process in the queue.
func (q *Queue) close() {
	// If several processes close the queue at the same time, the last one finds nobody.
	q.unlock(presence)
	if last, _ := q.lock(presence, exclusive); last && q.inPlace() {
		_ = os.Remove(q.file.Name()) // a leftover file does no harm
	}
	q.file.Close() // the locks go with it
}

// inRemoval reports whether a file could not be opened because another process is
// removing it: never, since here one that is removed has no name.
func inRemoval(error) bool { return false }
