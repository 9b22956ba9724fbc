package release

import (
	"cmp"
	"slices"

	"github.com/geosql/geosql/dataset"
)

// formats are those of the outputs.
type formats []dataset.Format

// typed reports whether one of them has types.
func (all formats) typed() bool { return slices.ContainsFunc(all, dataset.Format.Typed) }

// holdsAll and holds are as those of one format, for all of them.
func (all formats) holdsAll(kind dataset.Kind, c *dataset.Column) bool {
	return !slices.ContainsFunc(all, func(f dataset.Format) bool { return !f.HoldsAll(kind, c) })
}

func (all formats) holds(kind dataset.Kind, c *dataset.Column, i int) bool {
	return !slices.ContainsFunc(all, func(f dataset.Format) bool { return !f.Holds(kind, c, i) })
}

// writers write the same rows to all outputs.
type writers []dataset.Writer

// Encode implements [dataset.Writer].
func (all writers) Encode(rows *dataset.Rows) (dataset.Block, error) {
	blocks := make([]dataset.Block, len(all))
	for i, w := range all {
		var err error
		if blocks[i], err = w.Encode(rows); err != nil {
			return nil, err
		}
	}
	return blocks, nil
}

// Append implements [dataset.Writer].
func (all writers) Append(b dataset.Block) error {
	for i, block := range b.([]dataset.Block) {
		if err := all[i].Append(block); err != nil {
			return err
		}
	}
	return nil
}

// Close implements [dataset.Writer].
func (all writers) Close() (err error) {
	for _, w := range all {
		err = cmp.Or(err, w.Close())
	}
	return err
}

// create begins the outputs in their temporary files.
func (r *run) create() (all writers, err error) {
	for i, f := range r.outs {
		schema := r.plan.schema
		schema.Name = layerName(f.path)
		w, err := r.formats[i].Create(f.File, schema)
		if err != nil {
			return nil, cmp.Or(err, all.Close())
		}
		all = append(all, w)
	}
	return all, nil
}
