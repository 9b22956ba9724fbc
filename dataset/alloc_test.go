package dataset_test

import (
	"io"
	"testing"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/dataset/internal/datasettest"
)

// Neither reading nor writing allocates for a row: beyond its buffers, which the
// first rounds make, a batch of 10,000 rows costs some allocations of the decoder or
// encoder at most.
func TestNoAllocationPerRow(t *testing.T) {
	const rows, few = 10_000, 1000
	data := new(dataset.Rows)
	full := datasettest.BenchBatch(0)
	data.Reset(0, len(full.Columns))
	for c := range full.Columns {
		for i := range rows {
			text, _ := full.Columns[c].At(i)
			data.Columns[c].Append(text)
		}
	}
	for _, format := range formats {
		if n := writeAllocations(t, format, data); n > few {
			t.Errorf("%s: writing allocates %v times", format.Extension(), n)
		}
	}
	for format, table := range map[dataset.Format]string{dataset.CSV: "", dataset.CSVGzip: "", dataset.Parquet: "", dataset.GeoPackage: "#" + datasettest.BenchSchema.Name} {
		r := datasettest.Open(t, datasettest.Write(t, t.TempDir(), format, datasettest.BenchSchema, data)+table)
		if n := readAllocations(t, r); n > few {
			t.Errorf("%s: reading allocates %v times", format.Extension(), n)
		}
		r.Close()
	}
}

func writeAllocations(t *testing.T, format dataset.Format, rows *dataset.Rows) float64 {
	t.Helper()
	w := datasettest.Create(t, format, datasettest.BenchSchema)
	defer w.Close()
	return testing.AllocsPerRun(5, func() {
		block, err := w.Encode(rows)
		if err == nil {
			err = w.Append(block)
		}
		if err != nil {
			t.Fatal(err)
		}
	})
}

func readAllocations(t *testing.T, r dataset.Reader) float64 {
	t.Helper()
	columns := datasettest.All(r, "geom")
	var rows dataset.Rows
	return testing.AllocsPerRun(5, func() {
		err := r.Start(columns)
		for err == nil {
			err = r.Read(&rows, 4000)
		}
		if err != io.EOF {
			t.Fatal(err)
		}
	})
}
