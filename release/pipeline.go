package release

import (
	"context"
	"io"
	"sync"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/mechanism/exact"
)

// A pipeline reads a data set in batches, which several workers process, and commits them
// in order.
type pipeline struct {
	reader  dataset.Reader
	columns []int
	size    int      // of a batch, in rows
	batches []*batch // all batches; their number bounds the memory
}

// newPipeline returns a pipeline for the run's workers.
func (r *run) newPipeline() *pipeline {
	for len(r.batches) < r.spec.workers()+2 { // the second pass reuses those of the first
		b := newBatch()
		b.rows.Secret = r.plan.secret()
		r.batches = append(r.batches, b)
	}
	reader := r.reader
	if r.spec.Weight != "" {
		reader = dataset.Repeat(reader, r.plan.read[r.plan.weight])
	}
	return &pipeline{reader, r.plan.read, r.sizes.batch, r.batches}
}

// run reads the data set from its start. Each batch is processed by one of the workers,
// which are goroutines, and then committed, in the order of the data set. The first error
// in that order ends the run, and so does cancelling ctx.
func (p *pipeline) run(ctx context.Context, workers []func(*batch) error, commit func(*batch) error) error {
	if err := p.reader.Start(p.columns); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	free, todo, order := p.newQueue(), p.newQueue(), p.newQueue()
	for _, b := range p.batches {
		free <- b
	}
	var all sync.WaitGroup
	for _, work := range workers {
		all.Go(func() {
			for b := range todo {
				b.err = recoverEntropy(work, b)
				b.done <- struct{}{}
			}
		})
	}
	var unread error
	all.Go(func() {
		defer close(todo)
		defer close(order)
		unread = p.read(ctx, free, func(b *batch) { order <- b; todo <- b })
	})
	err := commitAll(ctx, order, free, commit)
	stop()
	for b := range order {
		<-b.done
	}
	all.Wait()
	if err == nil {
		err = unread
	}
	return err
}

// newQueue returns a queue with room for all batches, so that only the reader waits, for a
// free batch.
func (p *pipeline) newQueue() chan *batch { return make(chan *batch, len(p.batches)) }

func (p *pipeline) read(ctx context.Context, free <-chan *batch, pass func(*batch)) error {
	for number := 0; ; number++ {
		select {
		case b := <-free:
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			err := p.reader.Read(&b.rows, p.size)
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
			b.number, b.share = number, p.reader.Progress()
			pass(b)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func commitAll(ctx context.Context, order <-chan *batch, free chan<- *batch, commit func(*batch) error) error {
	for b := range order {
		<-b.done
		err := b.err
		if err == nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if err == nil {
			err = commit(b)
		}
		if err != nil {
			return err
		}
		free <- b
	}
	return nil
}

// recoverEntropy calls work and turns its panic about a failed source of entropy into an
// error.
func recoverEntropy(work func(*batch) error, b *batch) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *exact.EntropyError:
			err = p
		default:
			panic(p)
		}
	}()
	return work(b)
}
