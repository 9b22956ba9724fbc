package clitest

import (
	"os"
	"strings"
	"testing"

	"github.com/geosql/geosql/dataset"
)

// ParquetFile writes rows of cells, separated by |, into a Parquet file. A - is NULL.
func ParquetFile(t *testing.T, fields []dataset.Field, rows ...string) string {
	t.Helper()
	path := TempFile(t, "in.parquet")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w, err := dataset.Parquet.Create(file, dataset.Schema{Fields: fields})
	if err != nil {
		t.Fatal(err)
	}
	var batch dataset.Rows
	batch.Reset(0, len(fields))
	for _, row := range rows {
		for c, cell := range strings.Split(row, "|") {
			if cell == "-" {
				batch.Columns[c].AppendNull()
			} else {
				batch.Columns[c].Append([]byte(cell))
			}
		}
	}
	block, err := w.Encode(&batch)
	if err == nil {
		err = w.Append(block)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}
