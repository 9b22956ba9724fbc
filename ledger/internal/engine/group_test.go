package engine

import (
	"context"
	"errors"
	"testing"
	"time"
)

// A caller who gives up during a transaction with others waits for it no longer, whether or not it leads, and the others get
// another transaction.
func TestGivingUpEndsOneWait(t *testing.T) {
	for name, leads := range map[string]bool{"the leader": true, "another caller": false} {
		t.Run(name, func(t *testing.T) {
			began, answers := make(chan []*Job, 1), make(chan struct{})
			var q Queue
			turn, held := make(chan struct{}, 1), make(chan struct{})
			q.Enter = func(context.Context) error { <-held; turn <- struct{}{}; return nil }
			q.Commit = func() error {
				defer func() { <-turn }()
				jobs := q.Take()
				began <- jobs
				ctx, end := Within(jobs)
				defer end()
				select {
				case <-answers:
					return nil
				case <-ctx.Done():
					return ErrGaveUp
				}
			}
			ctx, cancel := context.WithCancel(t.Context())
			impatient, patient := make(chan error, 1), make(chan error, 1)
			start := []func(){
				func() { impatient <- q.Do(&Job{Context: ctx}) },
				func() { patient <- q.Do(&Job{Context: t.Context()}) },
			}
			if !leads {
				start[0], start[1] = start[1], start[0]
			}
			for i, begin := range start {
				go begin()
				for q.Waiting() <= i {
					time.Sleep(time.Millisecond)
				}
			}
			close(held)
			if jobs := <-began; len(jobs) != 2 {
				t.Fatalf("%d callers share a transaction", len(jobs))
			}
			cancel()
			if err := <-impatient; !errors.Is(err, context.Canceled) {
				t.Errorf("who gave up has %v", err)
			}
			if jobs := <-began; len(jobs) != 1 {
				t.Errorf("%d callers share the next transaction", len(jobs))
			}
			close(answers)
			if err := <-patient; err != nil {
				t.Error(err)
			}
		})
	}
}
