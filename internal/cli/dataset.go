package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/geosql/geosql/dataset"
)

// A DataSet is an input file that is open for reading.
type DataSet struct {
	dataset.Reader
	path string
}

// OpenDataSet opens an input file. It reads a file with a name that does not tell the format as
// CSV.
func OpenDataSet(ctx context.Context, path string, options ...dataset.Option) (*DataSet, error) {
	r, err := dataset.Open(ctx, path, options...)
	if errors.Is(err, dataset.ErrFormat) {
		r, err = dataset.OpenCSV(ctx, path, options...)
	}
	if err != nil {
		return nil, err
	}
	return &DataSet{r, path}, nil
}

// batchRows is the number of rows after which an interrupt is noticed and the progress shown.
const batchRows = 4096

// Each reads columns, given by their numbers, calls row for every row i of each batch, and
// returns the number of rows. It adds the place of the row to the errors of row.
func (d *DataSet) Each(what string, columns []int, row func(batch *dataset.Rows, i int) error) (rows int64, err error) {
	if err := d.Start(columns); err != nil {
		return 0, err
	}
	line, begun := NewTerminalLine(), time.Now()
	defer line.Clear()
	var batch dataset.Rows
	for {
		err := d.Read(&batch, batchRows)
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		for i := range batch.Len() {
			if err := row(&batch, i); err != nil {
				return rows, fmt.Errorf("%s: %s: %w", d.path, batch.Where(i), err)
			}
		}
		rows += int64(batch.Len())
		line.Show("%s: %s, %d rows", what, ShareAndRest(d.Progress(), TimeLeft(begun, d.Progress())), rows)
	}
}
