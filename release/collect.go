package release

import (
	"context"

	"github.com/geosql/geosql/dataset"
)

// A collector takes the batches in the order of the input, when they are drawn, and adds
// them to the temporary files.
type collector struct {
	out     dataset.Writer
	rejects dataset.Writer
	rows    int64 // of the input that were taken
}

func (c *collector) take(b *batch) error {
	c.rows = b.last()
	if err := c.out.Append(b.block); err != nil || len(b.invalid) == 0 {
		return err
	}
	return c.rejects.Append(b.rejected)
}

// drawAll is the second pass.
func (r *run) drawAll(ctx context.Context, out, rejects dataset.Writer) error {
	workers := make([]func(*batch) error, r.spec.workers())
	drawers := make([]*drawer, len(workers))
	for w := range workers {
		drawers[w] = r.newDrawer(out, rejects)
		workers[w] = drawers[w].draw
	}
	c := &collector{out: out, rejects: rejects}
	err := r.pipeline().run(ctx, workers, func(b *batch) error {
		if err := c.take(b); err != nil {
			return err
		}
		r.spec.tell(Progress{Releasing, float64(b.last()) / float64(r.found.rows), b.last()})
		return nil
	})
	if err == nil && c.rows != r.found.rows {
		err = errChanged
	}
	if err != nil {
		return err
	}
	for _, d := range drawers {
		for k := range d.surveys {
			r.surveys[k].merge(&d.surveys[k])
		}
	}
	return nil
}
