// Package workers has several goroutines do one piece of work.
package workers

import (
	"sync"
	"sync/atomic"
)

// Run calls work on n goroutines and returns when all of them have. If one panics, Run
// does, with the same value: a panic that stayed on a goroutine of its own would end the
// process, where the caller's is the error of one SQL statement.
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
