package turns

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// places returns the places that others than q have, in order.
func places(q *Queue) []int64 { return placesIn(q, presence+1, math.MaxInt64) }

func placesIn(q *Queue, from, to int64) []int64 {
	if from == to {
		return nil
	}
	l := span(from, to, shared)
	if unix.FcntlFlock(q.file.Fd(), unix.F_OFD_GETLK, l) != nil || l.Type == unix.F_UNLCK {
		return nil
	}
	// The kernel tells any of them.
	return slices.Concat(placesIn(q, from, l.Start), []int64{l.Start}, placesIn(q, l.Start+1, to))
}

// standing waits until others than q have n places.
func standing(t testing.TB, q *Queue, n int) {
	t.Helper()
	until(t, func() bool { return len(places(q)) == n })
}

func TestFirstComeFirstServed(t *testing.T) {
	for _, n := range []int{1, 2, 16} {
		path := newPath(t)
		observer, holder := open(t, path), open(t, path)
		first := holder.Enter(never)
		order := make(chan int, n)
		var all sync.WaitGroup
		for i := range n {
			q := open(t, path)
			all.Go(func() {
				p := q.Enter(never)
				order <- i
				q.Leave(p)
			})
			standing(t, observer, i+2)
		}
		if len(order) != 0 {
			t.Errorf("%d of %d went before the first had left", len(order), n)
		}
		holder.Leave(first)
		all.Wait()
		for i := range n {
			if j := <-order; j != i {
				t.Errorf("number %d of %d went as number %d", j, n, i)
			}
		}
	}
}

// Who waits behind several goes when all have left, whatever their order: some
// leave because they lost patience.
func TestWaitsForAll(t *testing.T) {
	path := newPath(t)
	queues := make([]*Queue, 5)
	held := make([]int64, len(queues))
	for i := range queues {
		queues[i] = open(t, path)
		held[i] = queues[i].Enter(1) // nobody waits for a nanosecond
	}
	last := open(t, path)
	turn := make(chan int64)
	go func() { turn <- last.Enter(never) }()
	standing(t, queues[0], len(queues)) // without its own
	for n, i := range rand.Perm(len(queues)) {
		select {
		case <-turn:
			t.Fatalf("goes with %d before it", len(queues)-n)
		default:
		}
		queues[i].Leave(held[i])
	}
	last.Leave(<-turn)
}

// Nobody waits for longer than his patience, nor for a place that is older.
func TestPatience(t *testing.T) {
	path := newPath(t)
	holder, q := open(t, path), open(t, path)
	held := holder.Enter(never)
	for range 3 {
		q.Leave(q.Enter(time.Millisecond)) // the holder does not leave
	}
	place := held + int64(time.Minute)
	q.await(place+1, time.Minute) // would take a minute
	turn := make(chan struct{})
	go func() {
		q.await(place, time.Minute)
		close(turn)
	}()
	select {
	case <-turn:
		t.Error("went before a place that is not too old")
	case <-time.After(10 * time.Millisecond):
	}
	holder.Leave(held)
	<-turn
}

// waits counts what stays behind of all queues.
func waits() int {
	stacks := make([]byte, 1<<20)
	return bytes.Count(stacks[:runtime.Stack(stacks, true)], []byte("(*Queue).await.func1("))
}

// What stays behind when patience ends, ends with what it waits for, also where
// the queue has been closed.
func TestNoWaitStays(t *testing.T) {
	path := newPath(t)
	until(t, func() bool { return waits() == 0 }) // those of earlier tests
	holder, stays, closed := open(t, path), open(t, path), open(t, path)
	held := holder.Enter(never)
	for _, q := range []*Queue{stays, closed} {
		for range 5 {
			q.await(held+1, time.Millisecond)
		}
	}
	if n := waits(); n != 10 {
		t.Errorf("%d waits stayed behind, want 10", n)
	}
	closed.Close()
	holder.Leave(held)
	until(t, func() bool { return waits() == 0 })
	p := stays.Enter(never)
	if got := places(holder); len(got) != 1 || got[0] != p {
		t.Errorf("places %v, want %d", got, p)
	}
	stays.Leave(p)
	holder.Close()
	stays.Close()
	if exists(path) {
		t.Error("the file stays")
	}
}

// Whoever locks the whole file, such as a backup, is no reason to wait.
func TestLockedFile(t *testing.T) {
	path := newPath(t)
	q := open(t, path)
	other, err := os.OpenFile(path, os.O_RDWR, 0)
	check(t, err)
	defer other.Close()
	everything := &unix.Flock_t{Type: exclusive, Start: presence + 1}
	check(t, unix.FcntlFlock(other.Fd(), unix.F_OFD_SETLK, everything))
	if p := q.Enter(never); p != 0 {
		t.Errorf("place %d", p)
	}
	q.Close()
	everything = &unix.Flock_t{Type: exclusive}
	check(t, unix.FcntlFlock(other.Fd(), unix.F_OFD_SETLK, everything))
	check(t, os.WriteFile(path, nil, 0o600)) // the file was removed
	locked, err := os.OpenFile(path, os.O_RDWR, 0)
	check(t, err)
	defer locked.Close()
	check(t, unix.FcntlFlock(locked.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: exclusive}))
	if Open(path, 0o600) != nil {
		t.Error("a queue whose file is locked")
	}
}

func TestReadOnlyDirectory(t *testing.T) {
	path := newPath(t)
	dir := filepath.Dir(path)
	if os.Geteuid() == 0 { // whom permissions do not stop
		const nobody = 65534
		check(t, os.Chmod(filepath.Dir(dir), 0o755))
		check(t, syscall.Seteuid(nobody))
		defer syscall.Seteuid(0)
	} else {
		check(t, os.Chmod(dir, 0o500))
	}
	if Open(path, 0o600) != nil || exists(path) {
		t.Error("a queue in a directory that cannot be written")
	}
}

// Whoever may use the ledger may queue, whatever the umask of who was first.
func TestModeOfTheFile(t *testing.T) {
	path := newPath(t)
	defer syscall.Umask(syscall.Umask(0o077))
	q := Open(path, 0o664)
	defer q.Close()
	if file, err := os.Stat(path); err != nil || file.Mode() != 0o664 {
		t.Errorf("%v, %v", file.Mode(), err)
	}
}
