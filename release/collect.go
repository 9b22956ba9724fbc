package release

import (
	"context"

	"github.com/geosql/geosql/dataset"
)

// A collector appends the drawn batches to the temporary files, in the order of the input.
type collector struct {
	out     dataset.Writer
	rejects dataset.Writer
	digest  *digest // nil if the batches are compared one by one
	rows    int64   // of the input
	kept    int64   // of them, in the output
}

func (c *collector) append(b *batch) error {
	if c.digest != nil {
		c.digest.add(b.hash)
	}
	c.rows += int64(b.rows.Len())
	c.kept += int64(b.out.Len())
	if err := c.out.Append(b.block); err != nil || len(b.invalid) == 0 {
		return err
	}
	return c.rejects.Append(b.rejected)
}

// drawAll runs the second pass: it draws all locations.
func (r *run) drawAll(ctx context.Context, out, rejects dataset.Writer) (*collector, error) {
	r.tables = r.newTables()
	workers := make([]func(*batch) error, r.spec.workers())
	drawers := make([]*drawer, len(workers))
	for w := range workers {
		drawers[w] = r.newDrawer(out, rejects)
		workers[w] = drawers[w].draw
	}
	c := &collector{out: out, rejects: rejects}
	if r.found.batches == nil {
		c.digest = &digest{columns: r.plan.fields}
	}
	err := r.newPipeline().run(ctx, workers, func(b *batch) error {
		if err := c.append(b); err != nil {
			return err
		}
		r.spec.report(Progress{Releasing, float64(c.rows) / float64(r.found.rows), c.rows})
		return nil
	})
	if err == nil && c.rows != r.found.rows {
		err = errChanged
	}
	if err != nil {
		return nil, err
	}
	for _, d := range drawers {
		for k := range d.surveys {
			r.surveys[k].merge(&d.surveys[k])
		}
		if r.tables != nil {
			r.tables.merge(d.tables)
		}
	}
	return c, nil
}
