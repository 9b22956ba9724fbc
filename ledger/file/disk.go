package file

import (
	"context"

	"github.com/geosql/geosql/ledger/internal/engine"
)

// A disk implements [engine.Store] for the core of a ledger.
type disk struct{ *Ledger }

// Retain implements [engine.Store].
func (d disk) Retain() error { return d.addReference() }

// Now implements [engine.Store].
func (d disk) Now() int64 { return d.clock() }

// View implements [engine.Store].
func (d disk) View(_ context.Context, work func(engine.Reader) error) error {
	return d.withStore(func(db *store) error {
		return db.inTransaction("BEGIN", func() error { return work(d.newReader(db)) })
	})
}

// LimitsSet implements [engine.Store].
func (d disk) LimitsSet(work func(engine.Reader, []engine.Key) error) error {
	if d.path == "" {
		return nil // there are no others
	}
	return d.watch(func(w *watcher) error {
		set, last, err := w.db.limitsSince(w.lastSeen)
		if err == nil && len(set) > 0 {
			err = work(d.newReader(w.db), set)
		}
		if err == nil {
			w.lastSeen = last
		}
		return err
	})
}

// Update implements [engine.Store]. Callers can join a transaction until it holds the write lock, for
// which processes queue. So a caller waits for the transaction that its process is in, then for one
// of every other process that asked before, then for its own.
func (d disk) Update(ctx context.Context, needs engine.Needs, work func(engine.Transaction) error) error {
	return d.jobs.Do(&engine.Job{Context: ctx, Needs: needs, Work: work})
}

// runJobs runs the jobs that wait in a transaction, unless an error says why none has begun.
func (l *Ledger) runJobs(t *transaction, err error) error {
	jobs := l.jobs.Take()
	switch {
	case err != nil:
		return err
	case t.marked:
		return t.errMarked()
	}
	return engine.RunJobs(jobs, t)
}
