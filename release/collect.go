package release

import (
	"context"

	"github.com/geosql/geosql/dataset"
)

// A collector appends the drawn batches to the temporary files, in the order of the input.
type collector struct {
	out     dataset.Writer
	rejects dataset.Writer
	rows    int64 // of the input up to the last batch
}

func (c *collector) append(b *batch) error {
	c.rows = b.end()
	if err := c.out.Append(b.block); err != nil || len(b.invalid) == 0 {
		return err
	}
	return c.rejects.Append(b.rejected)
}

// drawAll runs the second pass: it draws all locations.
func (r *run) drawAll(ctx context.Context, out, rejects dataset.Writer) error {
	workers := make([]func(*batch) error, r.spec.workers())
	drawers := make([]*drawer, len(workers))
	for w := range workers {
		drawers[w] = r.newDrawer(out, rejects)
		workers[w] = drawers[w].draw
	}
	c := &collector{out: out, rejects: rejects}
	err := r.newPipeline().run(ctx, workers, func(b *batch) error {
		if err := c.append(b); err != nil {
			return err
		}
		r.spec.report(Progress{Releasing, float64(b.end()) / float64(r.found.rows), b.end()})
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
