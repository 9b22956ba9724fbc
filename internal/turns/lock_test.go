//go:build linux || darwin || windows

package turns

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"
)

func TestFirstComeFirstServed(t *testing.T) {
	for _, n := range []int{1, 2, 16} {
		path := newPath(t)
		holder := open(t, path)
		first := holder.Enter(never)
		order := make(chan int, n)
		var all sync.WaitGroup
		for i := range n {
			q := open(t, path)
			p := q.takePlace()
			all.Go(func() {
				q.await(p, never)
				order <- i
				q.Leave(p)
			})
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

// A process that waits behind several goes when all have left, whatever their order: some
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
	place := last.takePlace()
	turn := make(chan struct{})
	go func() {
		last.await(place, never)
		close(turn)
	}()
	for n, i := range rand.Perm(len(queues)) {
		select {
		case <-turn:
			t.Fatalf("goes with %d before it", len(queues)-n)
		default:
		}
		queues[i].Leave(held[i])
	}
	<-turn
	last.Leave(place)
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

// waits counts the goroutines of all queues that still wait.
func waits() int {
	stacks := make([]byte, 1<<20)
	return bytes.Count(stacks[:runtime.Stack(stacks, true)], []byte("(*Queue).await.func1("))
}

// A wait that goes on after patience has ended, ends when the place is left, also where
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
	if holder.free(p, p+1) || !holder.free(presence+1, p) || !holder.free(p+1, math.MaxInt64) {
		t.Error("the place of the last one is not the only one")
	}
	stays.Leave(p)
	holder.Close()
	stays.Close()
	if exists(path) {
		t.Error("the file stays")
	}
}

// A program that locks the whole file, such as a backup, is no reason to wait.
func TestLockedFile(t *testing.T) {
	path := newPath(t)
	q := open(t, path)
	other, err := os.OpenFile(path, os.O_RDWR, 0)
	check(t, err)
	defer other.Close()
	check(t, lockBytes(other, presence+1, math.MaxInt64))
	if p := q.Enter(never); p != 0 {
		t.Errorf("place %d", p)
	}
	q.Close()
	check(t, lockBytes(other, presence, presence+1))

	path = newPath(t)
	locked, err := os.Create(path)
	check(t, err)
	defer locked.Close()
	check(t, lockBytes(locked, presence, math.MaxInt64))
	if Open(path, 0o600) != nil {
		t.Error("a queue whose file is locked")
	}
}
