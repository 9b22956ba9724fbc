// Package parallel divides the work of a study among workers.
package parallel

import (
	"context"
	"runtime"

	"github.com/geosql/geosql/internal/workers"
	"github.com/geosql/geosql/mechanism/exact"
)

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

// Each calls do as [workers.Each] does, and counts each call as done.
func (w *Workers) Each(ctx context.Context, n int, do func(worker, k int) error) error {
	return workers.Each(ctx, len(w.Sources), n, do, func() {
		w.done++
		if w.Progress != nil {
			w.Progress(w.done, w.total)
		}
	})
}

// Report calls row with the measurement of each element of a list, until one of the calls fails.
func Report[E, R any](list []E, measure func(E) (R, error), row func(R) error) error {
	for _, x := range list {
		r, err := measure(x)
		if err != nil {
			return err
		}
		if err := row(r); err != nil {
			return err
		}
	}
	return nil
}
