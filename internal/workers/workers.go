// Package workers divides work among goroutines.
package workers

import (
	"context"
	"sync"
	"sync/atomic"
)

// Run calls work on n goroutines and returns when all calls have. If one panics, Run
// panics with the same value: a panic that stayed on its own goroutine would end the
// process, while the caller's is only the error of one SQL statement.
func Run(n int, work func()) {
	var running sync.WaitGroup
	var panicked atomic.Pointer[any]
	for range n {
		running.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					panicked.Store(&p)
				}
			}()
			work()
		})
	}
	running.Wait()
	if p := panicked.Load(); p != nil {
		panic(*p)
	}
}

// Each calls do(worker, k) for every k from 0 to n-1, with one goroutine for each worker.
// Calls with the same worker follow one another, so data of a worker need no lock. After
// each call Each calls done, one at a time, in its own goroutine. Once a call has failed or
// ctx has ended, it begins no call and returns the error or the cause.
func Each(ctx context.Context, workers, n int, do func(worker, k int) error, done func()) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	finished := make(chan struct{})
	var next atomic.Int64
	var running sync.WaitGroup
	for worker := range workers {
		running.Go(func() {
			for ctx.Err() == nil {
				k := int(next.Add(1)) - 1
				if k >= n {
					return
				}
				if err := do(worker, k); err != nil {
					stop(err)
					return
				}
				finished <- struct{}{}
			}
		})
	}
	go func() {
		running.Wait()
		close(finished)
	}()
	for range finished {
		done()
	}
	return context.Cause(ctx)
}
