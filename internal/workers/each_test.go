package workers

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
)

func TestEach(t *testing.T) {
	for _, workers := range []int{1, 3, 20} {
		const n = 10
		var calls [n]atomic.Int64
		busy := make([]bool, workers) // the race detector sees two calls of a worker at once
		done := 0
		err := Each(t.Context(), workers, n, func(worker, k int) error {
			busy[worker] = !busy[worker]
			calls[k].Add(1)
			busy[worker] = !busy[worker]
			return nil
		}, func() { done++ })
		if err != nil || done != n || slices.Contains(busy, true) {
			t.Errorf("%d workers: %v, %d done", workers, err, done)
		}
		for k := range calls {
			if calls[k].Load() != 1 {
				t.Errorf("%d workers: %d called %d times", workers, k, calls[k].Load())
			}
		}
	}
}

func TestEachEndsWithItsContext(t *testing.T) {
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	calls := 0
	err := Each(ctx, 1, 1000, func(_, k int) error {
		if calls++; k == 2 {
			cancel(cause)
		}
		return nil
	}, func() {})
	if err != cause || calls != 3 {
		t.Errorf("%v after %d calls", err, calls)
	}
}

func TestEachEndsWithTheErrorOfACall(t *testing.T) {
	full := errors.New("disk full")
	done := 0
	err := Each(t.Context(), 1, 1000, func(_, k int) error {
		if k == 2 {
			return full
		}
		return nil
	}, func() { done++ })
	if err != full || done != 2 {
		t.Errorf("%v after %d calls", err, done)
	}
}

func TestEachOfNothing(t *testing.T) {
	if err := Each(t.Context(), 2, 0, nil, nil); err != nil {
		t.Error(err)
	}
}
