package file

import (
	"fmt"
	"math"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/internal/turns"
	"github.com/geosql/geosql/ledger"
	"golang.org/x/sys/unix"
)

// line is the queue of a ledger's processes, seen by one that only
// looks.
type line struct{ file *os.File }

func newLine(t *testing.T, path string) line {
	t.Helper()
	f, err := os.OpenFile(path+"-queue", os.O_RDWR, 0)
	check(t, err)
	t.Cleanup(func() { f.Close() })
	return line{f}
}

// length is how many have a place, those in their turn included: a byte above the
// first one is locked.
func (q line) length(t *testing.T) int { return q.lengthIn(t, 1, math.MaxInt64) }

func (q line) lengthIn(t *testing.T, from, to int64) int {
	t.Helper()
	if from == to {
		return 0
	}
	l := unix.Flock_t{Type: unix.F_RDLCK, Start: from, Len: to - from}
	check(t, unix.FcntlFlock(q.file.Fd(), unix.F_OFD_GETLK, &l)) // any of them
	if l.Type == unix.F_UNLCK {
		return 0
	}
	return q.lengthIn(t, from, l.Start) + 1 + q.lengthIn(t, l.Start+1, to)
}

func (q line) await(t *testing.T, length int) {
	t.Helper()
	for q.length(t) != length {
		time.Sleep(50 * time.Microsecond)
	}
}

// crowd starts players that charge until the test ends.
func crowd(t *testing.T, role, path string) (names []string) {
	t.Helper()
	for i := range 4 {
		name := string(rune('a' + i))
		p := start(t, role, path, name)
		t.Cleanup(func() {
			p.cmd.Process.Kill()
			p.cmd.Wait()
		})
		names = append(names, name)
	}
	return names
}

// transactionsAfter counts, by the function that charged, the transactions after
// an entry, and returns the last entry.
func transactionsAfter(t *testing.T, a *auditor, entry int64) (counts map[string]int64, last int64) {
	t.Helper()
	db, counts := &store{conn: a.conn}, map[string]int64{}
	sql := fmt.Sprintf("SELECT function, count(DISTINCT time), max(id) FROM entry WHERE id > %d GROUP BY function", entry)
	check(t, db.query(sql, func(s *sqlite.Stmt) error {
		function, n, id := s.Column(0), s.Column(1), s.Column(2)
		counts[function.Text()], last = n.Int(), max(last, id.Int())
		return nil
	}))
	return counts, max(last, entry)
}

// Between two turns of a process that always wants one, every other process has
// exactly one transaction, however many want one too, unless the machine stands still
// for as long as they have patience. A process that waits took its place in this round or in the
// one before.
func TestProcessesTakeTurns(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("*", "m", one, 0))
	line, a := newLine(t, l.Path()), newAuditor(t, l.Path())
	defer a.close()
	// The test is in the queue twice: it asks for its next turn while it is in one.
	queues := []*turns.Queue{turns.Open(l.Path()+"-queue", 0o600), turns.Open(l.Path()+"-queue", 0o600)}
	defer queues[0].Close()
	defer queues[1].Close()
	place := queues[0].Enter(time.Hour)
	began := time.Now()
	names := crowd(t, "charge for ever", l.Path())
	line.await(t, 1+len(names))
	_, last := transactionsAfter(t, a, 0)
	for round, judged := 0, 0; judged < 50; round++ {
		before := began
		began = time.Now()
		turn := make(chan int64)
		go func() { turn <- queues[(round+1)%2].Enter(time.Hour) }()
		line.await(t, 2+len(names))
		queues[round%2].Leave(place)
		place = <-turn
		var counts map[string]int64
		counts, last = transactionsAfter(t, a, last)
		if time.Since(before) < busyTimeout*time.Millisecond {
			judged++
			for _, name := range names {
				if counts[name] != 1 {
					t.Errorf("process %s had %d transactions between two turns", name, counts[name])
				}
			}
		}
		line.await(t, 1+len(names))
	}
}

// Without the queue another process has many, so that the test above means
// something.
func TestWithoutAQueueProcessesPushIn(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("*", "m", one, 0))
	a := newAuditor(t, l.Path())
	defer a.close()
	l.withoutQueue()
	l.db.conn.BusyTimeout(100) // it may be starved: that is the point
	names := crowd(t, "push in", l.Path())
	_, last := transactionsAfter(t, a, 0)
	var most int64
	for most < 5 {
		_ = l.Charge("test", "m", []ledger.Item{{Account: "test", Epsilon: 1, Evaluations: 1}})
		var counts map[string]int64
		counts, last = transactionsAfter(t, a, last)
		for _, name := range names {
			most = max(most, counts[name])
		}
	}
}

// Callers join a transaction until it is their process's turn, or it has lost patience.
func TestCallersJoinWhileTheProcessWaits(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("*", "m", 10, 0))
	line := newLine(t, l.Path())
	other := turns.Open(l.Path()+"-queue", 0o600)
	defer other.Close()
	place := other.Enter(time.Hour)
	began := time.Now()
	n := commits(t, l, func() {
		var all sync.WaitGroup
		for i := range 3 {
			all.Go(func() {
				if err := charge(l, "ana", 1); err != nil {
					t.Error(err)
				}
			})
			for l.jobs.Waiting() <= i {
				time.Sleep(10 * time.Microsecond)
			}
			line.await(t, 2)
		}
		other.Leave(place)
		all.Wait()
	})
	if n != 1 && time.Since(began) < busyTimeout*time.Millisecond {
		t.Errorf("%d commits", n)
	}
}
