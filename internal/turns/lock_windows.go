package turns

import (
	"errors"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

const (
	supported = true
	noFollow  = windows.FILE_FLAG_OPEN_REPARSE_POINT
)

// Locks belong to the open file: they exclude each other within a process too. They
// also keep others from writing the locked bytes, but the file has none.
const (
	exclusive = windows.LOCKFILE_EXCLUSIVE_LOCK
	shared    = 0
)

var (
	kernel                    = windows.NewLazySystemDLL("kernel32.dll")
	queryPerformanceCounter   = kernel.NewProc("QueryPerformanceCounter")
	queryPerformanceFrequency = kernel.NewProc("QueryPerformanceFrequency")
)

// clock returns the nanoseconds since the machine's start. The clocks that are cheaper
// stand still for milliseconds, in which several processes ask.
func clock() int64 {
	count, frequency := ask(queryPerformanceCounter), ask(queryPerformanceFrequency)
	const second = 1e9
	return count/frequency*second + count%frequency*second/frequency
}

// ask returns the number that a procedure stores, without the allocations of LazyProc.Call: every turn asks the clock.
func ask(procedure *windows.LazyProc) (n int64) {
	// Neither fails on any Windows that Go supports.
	_, _, _ = syscall.SyscallN(procedure.Addr(), uintptr(unsafe.Pointer(&n)))
	return n
}

// lockRange locks [from, to), and waits for it unless the kind says otherwise.
func lockRange(f *os.File, from, to int64, kind uint32) error {
	n := to - from
	return windows.LockFileEx(windows.Handle(f.Fd()), kind, 0, uint32(n), uint32(n>>32), overlapped(from))
}

func unlockRange(f *os.File, from, to int64) {
	n := to - from
	// Fails only where nothing is locked.
	_ = windows.UnlockFileEx(windows.Handle(f.Fd()), 0, uint32(n), uint32(n>>32), overlapped(from))
}

func overlapped(at int64) *windows.Overlapped {
	return &windows.Overlapped{Offset: uint32(at), OffsetHigh: uint32(at >> 32)}
}

// lock tries to lock a byte and reports whether it has.
func (q *Queue) lock(at int64, kind uint32) (bool, error) {
	err := lockRange(q.file, at, at+1, kind|windows.LOCKFILE_FAIL_IMMEDIATELY)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

func (q *Queue) unlock(at int64) { unlockRange(q.file, at, at+1) }

// free reports whether nobody else has a place in [from, to). Only who locks them learns it.
func (q *Queue) free(from, to int64) bool {
	err := lockRange(q.file, from, to, shared|windows.LOCKFILE_FAIL_IMMEDIATELY)
	if err == nil {
		unlockRange(q.file, from, to)
	}
	return !errors.Is(err, windows.ERROR_LOCK_VIOLATION)
}

// waitFree waits until nobody else has a place in [from, to). It opens the file once
// more, since Windows lets nobody use an open file, not even to leave, while it waits
// for a lock there.
func (q *Queue) waitFree(from, to int64) {
	f, err := os.OpenFile(q.file.Name(), os.O_RDWR|noFollow, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if lockRange(f, from, to, shared) == nil {
		unlockRange(f, from, to)
	}
}

// close closes the file, and removes it if this was the last process in the queue:
// Windows keeps a file that anybody has open.
func (q *Queue) close() {
	q.file.Close() // the locks go with it
	if path := q.file.Name(); usable(path) == nil {
		_ = os.Remove(path) // a leftover file does no harm
	}
}

// inRemoval reports whether a file could not be opened because another process is
// removing it. Windows has no error for that alone: where a folder cannot be written,
// openings end after all tries.
func inRemoval(err error) bool {
	return errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_ACCESS_DENIED)
}
