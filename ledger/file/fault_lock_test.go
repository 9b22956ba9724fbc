package file

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/need"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/internal/turns"
)

// A script makes another program take a lock, say so, and keep it until the end
// of its input.
const (
	immediate = "BEGIN IMMEDIATE; SELECT 'held';\n"
	exclusive = "BEGIN EXCLUSIVE; SELECT 'held';\n"
	reading   = "BEGIN; SELECT iif(count(*) > 0, 'held', '') FROM entry;\n"
	alone     = "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; SELECT 'held';\n"
)

// program locks a ledger by the sqlite3 program.
func program(t *testing.T, path, script string) *helper {
	t.Helper()
	return startHolding(t, exec.Command(need.Program(t, "sqlite3"), path), script)
}

// process locks it by another process of this project's SQLite.
func process(t *testing.T, path, script string) *helper {
	t.Helper()
	return startHolding(t, playing("hold", path, script), "")
}

// holdLock runs a script that locks, and holds the lock.
func holdLock(path, script string) error {
	conn, err := sqlite.Open(path, sqlite.ReadWrite)
	if err != nil {
		return err
	}
	if err := conn.Exec(script); err != nil {
		return err
	}
	fmt.Println("held")
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	return conn.Close()
}

// Nothing that writes is granted while another holds the lock for longer than it
// is waited for.
func TestCrashFaultLocked(t *testing.T) {
	for name, lock := range map[string]func(t *testing.T, path string) *helper{
		"sqlite3, immediate": func(t *testing.T, path string) *helper { return program(t, path, immediate) },
		"sqlite3, exclusive": func(t *testing.T, path string) *helper { return program(t, path, exclusive) },
		"another process":    func(t *testing.T, path string) *helper { return process(t, path, immediate) },
	} {
		t.Run(name, func(t *testing.T) {
			path, head := faultLedger(t)
			l := open(t, path)
			l.db.conn.BusyTimeout(1)
			other := lock(t, path)
			failing(t, l, "database is locked")
			if b := balance(t, l, "ana"); b.Remaining() != faultLimit-faultSpent {
				t.Errorf("got %+v", b)
			}
			other.release(t)
			intact(t, path, &head) // the same connection
		})
	}
}

// The same with the time that it is waited for, on three ledgers at once: one in
// use; one that another program keeps to itself, so that it cannot be opened; and
// one with a suspended process at the head of the queue, which holds
// the others up and stops nobody.
func TestCrashFaultLockedForLong(t *testing.T) {
	t.Parallel()
	locked, lockedHead := faultLedger(t)
	inUse := open(t, locked)
	locker := process(t, locked, immediate)
	kept, keptHead := faultLedger(t)
	keeper := process(t, kept, alone)
	queued, _ := faultLedger(t)
	waiting := open(t, queued)
	sleeper := startHolding(t, playing("stand in the queue", queued), "")
	sleeper.suspend(t)

	var charging, delayed error
	var opening []byte // output of a process that opens it
	var all sync.WaitGroup
	all.Go(func() { charging = charge(inUse, "ana", 1) })
	all.Go(func() { opening, _ = playing("identify", kept).CombinedOutput() })
	all.Go(func() { delayed = charge(waiting, "ana", 1) })
	all.Wait()

	if charging == nil || charging.Error() != "ledger: database is locked" {
		t.Errorf("charging: %v", charging)
	}
	const refusing = "x-ledger\": database is locked by a process with a missing -wal or -shm file: end that process, which saves its charges\n"
	if !strings.HasSuffix(string(opening), refusing) {
		t.Errorf("opening: %s", opening)
	}
	if delayed != nil {
		t.Errorf("behind a suspended process: %v", delayed)
	}
	locker.release(t)
	keeper.release(t)
	check(t, sleeper.cmd.Process.Kill())
	intact(t, locked, &lockedHead) // the same connection
	intact(t, kept, &keptHead)
	check(t, charge(waiting, "ana", 1))
}

// A lock that is let go in time is waited for, also when its holder is suspended
// meanwhile.
func TestCrashFaultLockedForAWhile(t *testing.T) {
	path, head := faultLedger(t)
	l := open(t, path)
	other := process(t, path, immediate)
	other.suspend(t)
	done := make(chan error)
	go func() { done <- charge(l, "bob", 1) }()
	time.Sleep(50 * time.Millisecond)
	other.resume(t)
	other.release(t)
	check(t, <-done)
	intact(t, path, &head)
}

// A reader does not stand in the way.
func TestCrashFaultRead(t *testing.T) {
	path, head := faultLedger(t)
	other := process(t, path, reading)
	intact(t, path, &head)
	other.release(t)
}

// standInQueue stays at the head of a ledger's queue.
func standInQueue(path string) error {
	q := turns.Open(path+"-queue", 0o600)
	q.Enter(time.Hour)
	fmt.Println("held")
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}
