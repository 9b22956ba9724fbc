// Package turns lets processes take turns in the order in which they ask.
//
// A lock that processes try repeatedly, such as SQLite's, goes to the one that tries at
// the right moment: a process that takes it, releases it and takes it again can
// keep others waiting for seconds. Here every process that wants a turn takes a
// place in a queue. The queue is a file, and a place in it is a locked byte at
// the offset of the time of asking. A process waits for the bytes below its own. The
// kernel drops the locks of a process that dies.
//
// The queue only provides fairness and excludes nobody. Nobody waits for longer than
// its patience, nor for a place that is older than that, so that a process which
// hangs in its place delays every other process once. If no queue is possible,
// nobody waits.
package turns

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// A Queue is one process's access to a queue. With a nil *Queue nobody waits. Only one
// goroutine at a time may use it, from Enter to Leave, and none after Close.
type Queue struct {
	file *os.File
}

// presence is the byte that every process with the queue open locks as shared. Places
// are above it.
const presence = 0

// openings is how often Open tries if others remove the file.
const openings = 100

var (
	errNoQueue = errors.New("not a queue")
	errRemoved = errors.New("removed while it was opened")
)

// Open opens the queue in the file at path, which it creates if it is missing. Nothing
// is ever written to the file, and the last process to close it removes it. Open
// returns nil if the file system or the operating system does not allow a queue, or
// the file is not a queue.
func Open(path string, mode os.FileMode) *Queue {
	for range openings {
		q, err := tryOpen(path, mode)
		if err == nil {
			return q
		}
		if !errors.Is(err, errRemoved) && !inRemoval(err) {
			return nil
		}
		time.Sleep(time.Millisecond)
	}
	return nil
}

func tryOpen(path string, mode os.FileMode) (*Queue, error) {
	if !supported {
		return nil, errors.ErrUnsupported
	}
	if err := usable(path); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|noFollow, mode)
	if err != nil {
		return nil, err
	}
	q := &Queue{f}
	present, err := q.lock(presence, shared)
	if err == nil && !(present && q.inPlace()) {
		err = errRemoved
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	// The mode must not depend on this process's umask. If the file is
	// another user's, that user has set the mode.
	_ = f.Chmod(mode)
	return q, nil
}

// usable returns nil if the file at path is a queue or missing. Another file must not
// be opened, since closing it would drop the locks that this process may have on it.
func usable(path string) error {
	switch file, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil && !isQueue(file):
		return errNoQueue
	default:
		return err
	}
}

func isQueue(file fs.FileInfo) bool { return file.Mode().IsRegular() && file.Size() == 0 }

// inPlace reports whether the path still leads to the open file.
func (q *Queue) inPlace() bool {
	open, err := q.file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(q.file.Name())
	return err == nil && os.SameFile(open, there) && isQueue(there)
}

// Close leaves the queue.
func (q *Queue) Close() {
	if q != nil {
		q.close()
	}
}

// Enter waits until every process that entered before has left, except processes that
// entered longer ago than patience. It returns the place that the caller has to leave.
func (q *Queue) Enter(patience time.Duration) (place int64) {
	if q == nil {
		return 0
	}
	place = q.takePlace()
	if place != 0 {
		q.await(place, patience)
	}
	return place
}

// Leave ends the turn.
func (q *Queue) Leave(place int64) {
	if place != 0 {
		q.unlock(place)
	}
}

// takePlace locks a new byte and returns its offset, or 0 if it cannot: another process
// may have locked the whole file. The offset grows with time, by a clock that all
// processes share and nobody sets.
func (q *Queue) takePlace() int64 {
	for range 3 { // two processes may ask at the same time
		now := clock()
		ok, err := q.lock(now, exclusive)
		switch {
		case ok:
			return now
		case err != nil:
			return 0
		}
	}
	return 0
}

// await waits until there is no place before the caller's that is younger than
// patience.
func (q *Queue) await(place int64, patience time.Duration) {
	oldest := max(presence+1, place-int64(patience))
	if q.free(oldest, place) {
		return
	}
	free := make(chan struct{})
	go func() {
		defer close(free)
		q.waitFree(oldest, place) // stays behind where patience ends first
	}()
	select {
	case <-free:
	case <-time.After(patience):
	}
}
