package dataset_test

import (
	"compress/gzip"
	"encoding/csv"
	"os"
	"strings"
	"testing"

	"github.com/geosql/geosql/dataset/internal/datasettest"
	"github.com/geosql/geosql/internal/need"
)

// The census' commutes are the same here as to encoding/csv.
func TestRealCSV(t *testing.T) {
	path := need.Data(t, "lodes_detroit_h3/od.csv.gz")
	zipped, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer zipped.Close()
	text, err := gzip.NewReader(zipped)
	if err != nil {
		t.Fatal(err)
	}
	want, err := csv.NewReader(text).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	r := datasettest.Open(t, path)
	defer r.Close()
	var names []string
	for _, f := range r.Fields() {
		names = append(names, f.Name)
	}
	if got := strings.Join(names, ","); got != "home_cell,work_cell,jobs" {
		t.Error(got)
	}
	got, err := datasettest.Read(r, datasettest.All(r), 10_000)
	if err != nil {
		t.Fatal(err)
	}
	datasettest.Same(t, got, want[1:])
}
