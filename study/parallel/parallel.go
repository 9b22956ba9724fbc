// Package parallel shares out the work of a study among workers.
package parallel

import (
	"context"
	"sync"
	"sync/atomic"
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
