// Package parallel shares out the work of a study among workers.
package parallel

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/geosql/geosql/mechanism/exact"
)

// Each calls do(worker, k) for every k from 0 to n-1, in the goroutines of so many
// workers; calls with the same worker follow one another, so what belongs to a
// worker needs no lock. After each call it calls done, one at a time, in its own
// goroutine. It begins no call once ctx has ended, and then returns the cause of
// that.
func Each(ctx context.Context, workers, n int, do func(worker, k int), done func()) error {
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
				do(worker, k)
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
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// Workers do the work of a study, and tell how much of it is done. Each has a source of
// entropy of its own.
type Workers struct {
	// Progress, unless nil, is called again and again with how much of a run is done.
	Progress func(done, total int)

	Sources []*exact.Source // one for each worker

	done, total int
}

// NewWorkers returns a worker for each processor.
func NewWorkers() Workers {
	var w Workers
	for range runtime.GOMAXPROCS(0) {
		w.Sources = append(w.Sources, exact.NewSource(nil))
	}
	return w
}

// Begin sets how much there is to do in a run, of which nothing is done.
func (w *Workers) Begin(total int) { w.done, w.total = 0, total }

// Each calls do as the function of that name, and counts each call as done.
func (w *Workers) Each(ctx context.Context, n int, do func(worker, k int)) error {
	return Each(ctx, len(w.Sources), n, do, func() {
		w.done++
		if w.Progress != nil {
			w.Progress(w.done, w.total)
		}
	})
}
