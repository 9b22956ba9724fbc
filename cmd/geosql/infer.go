package main

import (
	"slices"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/dataset/infer"
	"github.com/geosql/geosql/internal/cli"
)

// inferKinds returns the columns of a data set with their kinds. It reads columns whose
// kind the data set does not give to their end.
func inferKinds(d *cli.DataSet) ([]dataset.Field, error) {
	fields := slices.Clone(d.Fields())
	var untyped []int
	for i := range fields {
		if !d.Typed(i) {
			untyped = append(untyped, i)
		}
	}
	if untyped == nil {
		return fields, nil
	}
	inferred := make([]infer.Column, len(untyped))
	_, err := d.Each("reading", untyped, func(batch *dataset.Rows, i int) error {
		for k := range inferred {
			text, _ := batch.Columns[k].At(i)
			if cell := cli.TrimBlanks(string(text)); cell != "" {
				inferred[k].Add(cell)
			}
		}
		return nil
	})
	for k, i := range untyped {
		fields[i].Kind = inferred[k].Kind()
	}
	return fields, err
}
