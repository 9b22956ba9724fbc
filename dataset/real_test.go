package dataset_test

import (
	"compress/gzip"
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/geosql/geosql/dataset/internal/datasettest"
)

// The census' commutes are the same here as to encoding/csv.
func TestRealCSV(t *testing.T) {
	data := os.Getenv("GEOSQL_DATA")
	if data == "" {
		data = filepath.Join("..", "..", "shared", "data")
	}
	path := filepath.Join(data, "lodes_detroit_h3", "od.csv.gz")
	zipped, err := os.Open(path)
	if err != nil {
		t.Skip("the census' commutes are not here: set GEOSQL_DATA to the folder of the data sets")
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
