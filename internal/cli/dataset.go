package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/geosql/geosql/dataset"
)

// A DataSet is an input file.
type DataSet struct {
	dataset.Reader
	path string
}

// OpenDataSet opens an input file; one whose name does not tell the format is read as CSV.
func OpenDataSet(ctx context.Context, path string) (*DataSet, error) {
	r, err := dataset.Open(ctx, path)
	if errors.Is(err, dataset.ErrFormat) {
		r, err = dataset.OpenCSV(ctx, path)
	}
	if err != nil {
		return nil, err
	}
	return &DataSet{r, path}, nil
}

// batchRows is after how many rows an interrupt is noticed, and the progress shown.
const batchRows = 4096

// Each reads columns, by their numbers, calls row for every row i of a batch and returns
// how many there are. Errors of row get the place of the row.
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
