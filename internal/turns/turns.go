// Package turns lets processes take turns: whoever asks first goes first.
//
// A lock that is tried again and again, as SQLite's is, goes to whoever tries at
// the right moment: a process that takes it, releases it and takes it again can
// keep another from it for seconds. Here everybody who wants a turn stands in a
// queue, which is a file: a place in it is a locked byte at an offset that is the
// time of asking, and who has to wait waits for the bytes below its own. The
// kernel drops the locks of a process that dies.
//
// The queue is for fairness alone. It excludes nobody: nobody waits for longer
// than his patience, nor for a place that is older than it, so that a process
// which stops in its place delays each other once. Where a queue cannot be kept
// at all nobody waits.
package turns

import (
	"io/fs"
	"os"
	"time"
)

// Queue is one process's access to a queue. A nil *Queue is one where nobody
// waits. One goroutine at a time uses it, from Enter to Leave, and none after Close.
type Queue struct {
	file *os.File
}

// Byte 0 is share-locked by everybody who has the queue open; places are above.
const presence = 0

// openings is how often Open tries while others remove the file.
const openings = 100

// Open opens the queue that is the file at path and makes the file where it is
// missing. Nothing is ever written to it; whoever closes it last removes it. Open
// returns nil where the file system or the operating system does not allow it,
// and where the file is somebody else's.
func Open(path string, mode os.FileMode) *Queue {
	for range openings {
		if !supported || !usable(path) {
			return nil
		}
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|noFollow, mode)
		if err != nil {
			return nil
		}
		q := &Queue{f}
		present, err := q.lock(presence, shared)
		if present && q.inPlace() {
			// Whoever may use what the queue is for may queue, whatever this
			// process's umask. Where the file is another user's, he has done so.
			_ = f.Chmod(mode)
			return q
		}
		f.Close()
		if err != nil {
			return nil
		}
		time.Sleep(time.Millisecond) // somebody is about to remove the file
	}
	return nil
}

// usable reports whether the file at path is a queue or missing. Another file is
// not even opened: to close it would drop the locks that this process may have
// on it.
func usable(path string) bool {
	file, err := os.Lstat(path)
	if err != nil {
		return os.IsNotExist(err)
	}
	return isQueue(file)
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
	if q == nil {
		return
	}
	// Of several that leave at the same time, the last to try finds nobody else.
	q.unlock(presence)
	if last, _ := q.lock(presence, exclusive); last && q.inPlace() {
		_ = os.Remove(q.file.Name()) // a file that stays does no harm
	}
	q.file.Close() // the locks go with it
}

// Enter waits until everybody who entered before has left, except those who did
// so longer ago than patience. It returns the place that the caller has to leave.
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

// takePlace locks a byte of its own and returns its offset, or 0 if it cannot:
// somebody else may have locked all of the file. The offset grows with time, by
// a clock that all processes share and nobody sets.
func (q *Queue) takePlace() int64 {
	for range 3 { // two may have come in the same nanosecond
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
