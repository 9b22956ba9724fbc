package release

import (
	"context"
	"io"
	"sync"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/mechanism/exact"
)

// A pipeline reads a data set in batches that several workers deal with, and hands them
// out in their order.
type pipeline struct {
	reader  dataset.Reader
	columns []int
	size    int      // of a batch, in rows
	batches []*batch // all there are: they bound the memory
}

// pipeline is one for the run's workers.
func (r *run) pipeline() *pipeline {
	for len(r.batches) < r.spec.workers()+2 { // in the first pass
		b := newBatch()
		b.rows.Secret = r.plan.secret()
		r.batches = append(r.batches, b)
	}
	return &pipeline{r.reader, r.plan.read, r.sizes.batch, r.batches}
}

// run reads the data set from its start. Every batch is worked on by one of the workers,
// each of which is a goroutine, and then committed, in the order of the data set. The
// first error in that order ends it, and so does ctx.
func (p *pipeline) run(ctx context.Context, workers []func(*batch) error, commit func(*batch) error) error {
	if err := p.reader.Start(p.columns); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	free, todo, order := p.queue(), p.queue(), p.queue()
	for _, b := range p.batches {
		free <- b
	}
	var all sync.WaitGroup
	for _, work := range workers {
		all.Go(func() {
			for b := range todo {
				b.err = guarded(work, b)
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

// queue has room for all batches, so that only a lack of free ones makes anybody wait.
func (p *pipeline) queue() chan *batch { return make(chan *batch, len(p.batches)) }

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

// guarded makes entropy that runs dry an error.
func guarded(work func(*batch) error, b *batch) (err error) {
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
