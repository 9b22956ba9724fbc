package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/geosql/geosql/dataset"
)

// ReadColumns reads a data set and calls row for each of its rows with the cells of the
// given columns, in their order, and a function that says where the row is. Each column is
// given by the names that it may have. The first that exists counts. NULL is the
// empty text. The cells and where are valid only during the call.
func ReadColumns(ctx context.Context, path string, columns [][]string, row func(where func() string, cells []string) error) error {
	d, err := OpenDataSet(ctx, path)
	if err != nil {
		return err
	}
	defer d.Close()
	chosen, places, err := d.find(columns)
	if err != nil {
		return err
	}
	cells := make([]string, len(columns))
	var batch *dataset.Rows
	var i int
	where := func() string { return batch.Where(i) }
	_, err = d.Each("reading", chosen, func(b *dataset.Rows, n int) error {
		batch, i = b, n
		for k, place := range places {
			text, _ := batch.Columns[place].At(i)
			cells[k] = string(text)
		}
		return row(where, cells)
	})
	return err
}

// find returns the numbers of the columns in the data set, each once, and the index of each
// column among them.
func (d *DataSet) find(columns [][]string) (chosen, places []int, err error) {
	var all []string
	for _, f := range d.Fields() {
		all = append(all, f.Name)
	}
	for _, names := range columns {
		known := slices.IndexFunc(names, func(name string) bool { return slices.Contains(all, name) })
		if known < 0 {
			return nil, nil, fmt.Errorf("%s has no column %s: it has %s", d.path, strings.Join(names, " or "), strings.Join(all, ", "))
		}
		number := slices.Index(all, names[known])
		if !slices.Contains(chosen, number) {
			chosen = append(chosen, number)
		}
		places = append(places, slices.Index(chosen, number))
	}
	return chosen, places, nil
}
