package beam

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/release"
)

// idle is how long a worker stays open between two shards. A process may live on for hours after
// the last one, and must not keep raw data for so long.
const idle = time.Minute

// Engines of tests take the place of these.
var (
	open      = openLedger
	runShards = release.RunShards
)

// A worker holds the open files of a process that releases shards of one spec file: the ledger, the output's
// target, and a copy of the input if it is on an object store.
type worker struct {
	turn        chan struct{} // holds an element while a shard is released
	spec        *Spec
	ledger      ledger.Shared
	target      release.Target
	closeTarget func() error   // nil before there is one
	folder      *privateFolder // nil if the input is a file of this machine
}

// A pool holds the workers of a process by the paths of their spec files. A runner makes and
// drops DoFns as it likes, several at a time, so they share workers.
type pool struct {
	mu      sync.Mutex
	free    *sync.Cond // signalled when a worker has no users
	workers map[string]*pooled
	done    Done
}

// Done counts the work of a process for a release.
type Done struct {
	Published int                   // shards that it drew and published
	Summary   *release.ShardSummary // of the release, if it is complete; otherwise of a shard, or nil
}

type pooled struct {
	*worker
	users int
	idle  *time.Timer // closes the worker; nil while there are users
}

func newPool() *pool {
	p := &pool{workers: map[string]*pooled{}}
	p.free = sync.NewCond(&p.mu)
	return p
}

// workers are the workers of this process.
var workers = newPool()

// use returns the worker of a spec file. It stays open until release is called, and then for a
// while.
func (p *pool) use(ctx context.Context, path string) (w *worker, release func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	x := p.workers[path]
	if x == nil {
		if w, err = openWorker(ctx, path); err != nil {
			return nil, nil, err
		}
		x = &pooled{worker: w}
		p.workers[path] = x
	}
	if x.idle != nil {
		x.idle.Stop()
		x.idle = nil
	}
	x.users++
	return x.worker, func() { p.release(path, x) }, nil
}

func (p *pool) release(path string, x *pooled) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if x.users--; x.users > 0 {
		return
	}
	p.free.Broadcast()
	var timer *time.Timer
	timer = time.AfterFunc(idle, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if x.idle == timer { // nobody has used it since
			delete(p.workers, path)
			x.worker.close() // there is nobody to tell
		}
	})
	x.idle = timer
}

// note keeps the summary of a shard, to be told at the end.
func (p *pool) note(s *release.ShardSummary) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done.Published += len(s.Published)
	if p.done.Summary == nil || s.Complete {
		p.done.Summary = s
	}
}

// closeAll waits until no worker is in use, and closes all. It returns the noted sums.
func (p *pool) closeAll() (done Done, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for slices.ContainsFunc(slices.Collect(maps.Values(p.workers)), (*pooled).used) {
		p.free.Wait()
	}
	for path, x := range p.workers {
		x.idle.Stop()
		x.idle = nil
		delete(p.workers, path)
		err = errors.Join(err, x.worker.close())
	}
	done, p.done = p.done, Done{}
	return done, err
}

func (x *pooled) used() bool { return x.users > 0 }

// openWorker reads a spec file and opens its files.
func openWorker(ctx context.Context, path string) (*worker, error) {
	spec, err := ReadSpec(ctx, path)
	if err != nil {
		return nil, err
	}
	w := &worker{spec: spec, turn: make(chan struct{}, 1)}
	if err := w.open(ctx); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

func (w *worker) open(ctx context.Context) (err error) {
	if err := w.fetch(ctx); err != nil {
		return err
	}
	if w.target, w.closeTarget, err = openTarget(w.spec.Release.Out); err != nil {
		return err
	}
	w.ledger, err = open(w.spec.Ledger)
	return err
}

// fetch makes input and region files of this machine.
func (w *worker) fetch(ctx context.Context) (err error) {
	s := w.spec
	remote := func(file string) bool { return scheme(file) != "" }
	folder := ""
	if slices.ContainsFunc([]string{s.Release.In, s.Region}, remote) {
		if w.folder, err = newPrivateFolder(); err != nil {
			return err
		}
		folder = w.folder.path
	}
	if s.Region != "" {
		region, err := fetch(ctx, s.Region, folder)
		if err != nil {
			return err
		}
		if err := s.readRegion(region); err != nil {
			return err
		}
	}
	s.Release.In, err = fetch(ctx, s.Release.In, folder)
	return err
}

// close closes the files, and removes downloads.
func (w *worker) close() (err error) {
	if w.ledger != nil {
		err = w.ledger.Close()
	}
	if w.closeTarget != nil {
		err = errors.Join(err, w.closeTarget())
	}
	if w.folder != nil {
		err = errors.Join(err, w.folder.remove())
	}
	return err
}

// run releases a shard. A process has one at a time, which uses all processors: several would
// need more memory and more of the ledger's connections, and be no faster.
func (w *worker) run(ctx context.Context, shard, of int) (*release.ShardSummary, error) {
	if of != w.spec.Shards {
		return nil, fmt.Errorf("%s says %d shards, and the job was submitted with %d: repeat the job", w.spec.path, w.spec.Shards, of)
	}
	select {
	case w.turn <- struct{}{}:
		defer func() { <-w.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return runShards(ctx, w.spec.Release, w.ledger, w.spec.Shards, shard, w.target)
}
