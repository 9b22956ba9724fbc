package dataset_test

import (
	"bytes"
	"runtime"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/dataset/internal/datasettest"
)

// A dictionary of one long text, which every row has, does not fill the memory.
func TestLongTextOfManyRows(t *testing.T) {
	var file bytes.Buffer
	type row struct {
		Text string `parquet:"text,dict,zstd"`
	}
	w := parquet.NewGenericWriter[row](&file)
	rows := make([]row, 256)
	for i := range rows {
		rows[i].Text = strings.Repeat("x", 4<<20)
	}
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := datasettest.File(t, "data.parquet", file.String())
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r, err := dataset.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	_, err = datasettest.Read(r, []int{0}, 1000)
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "row group 1, column text: 256 rows have more than 256 MiB of text") {
		t.Errorf("the error is %v", err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 2<<30 { // with all that growing leaves behind
		t.Errorf("a file of %d bytes takes %d bytes of memory", file.Len(), took)
	}
}
