// Package parallel divides the work of a study among workers.
package parallel

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/geosql/geosql/mechanism/exact"
)

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

// Workers do the work of a study, and report how much of it is done. Each has its own source
// of entropy.
type Workers struct {
	// Progress, unless nil, is called repeatedly with how much of a run is done.
	Progress func(done, total int)

	Sources []*exact.Source // one for each worker

	done, total int
}

// NewWorkers returns one worker for each processor.
func NewWorkers() Workers {
	var w Workers
	for range runtime.GOMAXPROCS(0) {
		w.Sources = append(w.Sources, exact.NewSource(nil))
	}
	return w
}

// Begin sets the amount of work of a run, and that none is done.
func (w *Workers) Begin(total int) { w.done, w.total = 0, total }

// Each calls do as the function of that name does, and counts each call as done.
func (w *Workers) Each(ctx context.Context, n int, do func(worker, k int) error) error {
	return Each(ctx, len(w.Sources), n, do, func() {
		w.done++
		if w.Progress != nil {
			w.Progress(w.done, w.total)
		}
	})
}
