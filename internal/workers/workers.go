// Package workers runs one piece of work on several goroutines.
package workers

import (
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
