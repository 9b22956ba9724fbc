package postgres

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/geosql/geosql/internal/pgtest"
	"github.com/geosql/geosql/ledger"
)

// waitLess has transactions wait less for others.
func waitLess(t *testing.T, d time.Duration) {
	before := patience
	patience = d
	t.Cleanup(func() { patience = before })
}

// Items that come from the ledger need a connection while they are asked for, and many may ask at a
// time, with fewer connections.
func TestCannotPayAtOnce(t *testing.T) {
	waitLess(t, 30*time.Second)
	l := fresh(t)
	check(t, l.SetLimit("*", "m", one, 0))
	s := openSharded(t, l, 1)
	const n = mostChunk + 100
	check(t, s.SetCount(0, "d", nil, func(yield func(ledger.Item, error) bool) {
		for i := range n {
			if !yield(ledger.Item{Account: fmt.Sprintf("u%07d", i), Evaluations: 1}, nil) {
				return
			}
		}
	}))
	check(t, l.Charge("f", "m", items(one, "u0000007", fmt.Sprintf("u%07d", n-1))))
	const askers = 8
	var all sync.WaitGroup
	var begun atomic.Int32
	for range askers {
		all.Go(func() {
			waited := false
			var short []string
			err := l.CannotPay("m", func(yield func(ledger.Item, error) bool) {
				for x, err := range s.Accounts(0) {
					if !waited { // for the others to begin; some may not be able to
						waited = true
						begun.Add(1)
						for start := time.Now(); begun.Load() < askers && time.Since(start) < time.Second; time.Sleep(time.Millisecond) {
						}
					}
					x.Epsilon = tenth
					if !yield(x, err) {
						return
					}
				}
			}, nil, func(x ledger.Item, _ ledger.Standing) { short = append(short, x.Account) })
			if err != nil || strings.Join(short, " ") != fmt.Sprintf("u0000007 u%07d", n-1) {
				t.Errorf("%v cannot pay, %v", short, err)
			}
		})
	}
	all.Wait()
}

// wantLine checks that an error is one line that tells how to go on.
func wantLine(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "try again") || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "deadline") {
		t.Errorf("got %v, want %s", err, want)
	}
}

// A caller that waits for too long is told how to go on.
func TestPatienceEnds(t *testing.T) {
	url := pgtest.Start(t).Database(t)
	l := open(t, url)
	check(t, l.Charge("f", "m", nil))
	check(t, l.SetLimit("*", "m", one, 0))

	ctx := context.Background()
	conn, err := pgx.Connect(ctx, url)
	check(t, err)
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, "BEGIN; SELECT FROM geosql.writer FOR UPDATE")
	check(t, err)
	hurried := func(d time.Duration, call func() error) error {
		defer func(before time.Duration) { patience = before }(patience)
		patience = d
		return call()
	}
	charge := func() error { return l.Charge("f", "m", items(tenth, "ana")) }
	wantLine(t, hurried(time.Second, charge), "the server has not answered within 1s")
	_, err = conn.Exec(ctx, "ROLLBACK")
	check(t, err)
	check(t, charge())

	var kept []interface{ Release() }
	for range l.store.pool.Config().MaxConns {
		c, err := l.store.acquire(ctx)
		check(t, err)
		kept = append(kept, c)
	}
	wantLine(t, hurried(10*time.Millisecond, func() error { _, err := l.BalancesAfter("", ""); return err }),
		"all connections of this program to the server of the ledger were in use for 10ms")
	wantLine(t, hurried(10*time.Millisecond, charge), "all connections of this program")
	for _, c := range kept {
		c.Release()
	}
	check(t, charge())
	check(t, verify(l, "", nil))
}
