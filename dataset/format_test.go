package dataset_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/dataset/internal/datasettest"
	_ "github.com/geosql/geosql/dataset/sqlite" // GeoPackage, and tables of SQLite
)

var formats = []dataset.Format{dataset.CSV, dataset.CSVGzip, dataset.Parquet, dataset.GeoParquet, dataset.GeoJSON, dataset.GeoPackage}

func TestFormatOf(t *testing.T) {
	for path, want := range map[string]dataset.Format{
		"a.csv": dataset.CSV, "a.CSV.gz": dataset.CSVGzip, "a.b.parquet": dataset.Parquet, "x/a.geoparquet": dataset.GeoParquet, "a.geojson": dataset.GeoJSON, "A.GPKG": dataset.GeoPackage,
	} {
		if got, err := dataset.FormatOf(path); err != nil || got != want || got.Typed() != (want > dataset.CSVGzip) {
			t.Errorf("%s: %v, %v", path, got, err)
		}
	}
	for _, path := range []string{"a", "a.gz", "a.json", "csv", "a.csv.tmp"} {
		if _, err := dataset.FormatOf(path); err == nil || !strings.Contains(err.Error(), path+": unknown format: the extension is not one of .csv, .csv.gz, .parquet, .geoparquet, .geojson, .gpkg") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestOpenUnknown(t *testing.T) {
	for _, name := range []string{"data", "data.json", "data.gz"} {
		datasettest.Refuses(t, datasettest.File(t, name, "a,b\n1,2\n"), "unknown format")
	}
	folder := filepath.Join(t.TempDir(), "folder.csv")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	datasettest.Refuses(t, folder, "not a regular file")
	datasettest.Refuses(t, t.TempDir(), "not a regular file")
	datasettest.Refuses(t, t.TempDir()+"/none", syscall.ENOENT.Error())
	if err := datasettest.ReadThrough(datasettest.File(t, "a#b.csv", "a,b\n1,2\n")); err != nil {
		t.Error(err)
	}
}

// A cell that is not of its field's kind is refused with its place.
func TestMisfits(t *testing.T) {
	s := dataset.Schema{Name: "x", Fields: []dataset.Field{{Name: "t", Kind: dataset.Text}, {Name: "lat", Kind: dataset.Real}, {Name: "lon", Kind: dataset.Real}, {Name: "n", Kind: dataset.Integer}, {Name: "x", Kind: dataset.Real}}, Points: []dataset.Point{{Lat: 1, Lon: 2}}}
	good := []string{"x", "1", "2", "3", "4"}
	for _, format := range formats {
		w := datasettest.Create(t, format, s)
		for column, cells := range map[int][]string{
			0: {"\xff"}, 1: {"x", "1e999", "0x1p2"}, 2: {"1,5", "1_0"}, 3: {"1.5", "9223372036854775808", "x", "1 2"}, 4: {"1e", "0x10", "1e400"},
		} {
			for _, cell := range cells {
				bad := append([]string(nil), good...)
				bad[column] = cell
				_, err := w.Encode(datasettest.Batch(40, good, bad))
				want := "row 42, column " + s.Fields[column].Name + ": "
				if format.Typed() && (err == nil || !strings.Contains(err.Error(), want)) || !format.Typed() && err != nil {
					t.Errorf("%s: %q in column %d: %v", format.Extension(), cell, column, err)
				}
			}
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestNotFinite(t *testing.T) {
	s := dataset.Schema{Name: "x", Fields: []dataset.Field{{Name: "lat", Kind: dataset.Real}, {Name: "lon", Kind: dataset.Real}, {Name: "x", Kind: dataset.Real}}, Points: []dataset.Point{{Lat: 0, Lon: 1}}}
	rows := datasettest.Batch(0, []string{"1", "2", "NaN"})
	for format, allowed := range map[dataset.Format]bool{dataset.Parquet: true, dataset.GeoParquet: true, dataset.GeoJSON: false, dataset.GeoPackage: false} {
		w := datasettest.Create(t, format, s)
		if _, err := w.Encode(rows); (err == nil) != allowed {
			t.Errorf("%s: %v", format.Extension(), err)
		}
		if _, err := w.Encode(datasettest.Batch(0, []string{"NaN", "2", "3"})); (err == nil) != (format == dataset.Parquet) {
			t.Errorf("%s: a location that is no number: %v", format.Extension(), err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestGeometryNeedsPoint(t *testing.T) {
	for _, format := range []dataset.Format{dataset.GeoParquet, dataset.GeoJSON, dataset.GeoPackage} {
		if _, err := format.Create(nil, dataset.Schema{Name: "x", Fields: []dataset.Field{{Name: "a", Kind: dataset.Text}}}); err == nil {
			t.Error(format.Extension())
		}
	}
}

// Batches that are encoded at the same time, and one after the other with buffers
// that are used again, make the same file, except for its time of creation.
func TestEncodeConcurrently(t *testing.T) {
	const n = 12
	var batches []*dataset.Rows
	for i := range int64(n) {
		rows := datasettest.Batch(i*3, []string{"u", "1", "1.5", "2.5", "a"}, []string{strings.Repeat("v", int(i)), "-7", "3.5", "4.5", datasettest.Null}, []string{"w", datasettest.Null, datasettest.Null, datasettest.Null, "b"})
		batches = append(batches, rows)
	}
	for _, format := range formats {
		want := contents(t, datasettest.Write(t, t.TempDir(), format, datasettest.BenchSchema, batches...), format)
		datasettest.Same(t, contents(t, writeConcurrently(t, format, batches), format), want)
	}
}

func writeConcurrently(t *testing.T, format dataset.Format, batches []*dataset.Rows) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data"+format.Extension())
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w, err := format.Create(file, datasettest.BenchSchema)
	if err != nil {
		t.Fatal(err)
	}
	blocks, errs := make([]dataset.Block, len(batches)), make([]error, len(batches))
	var all sync.WaitGroup
	for i, rows := range batches {
		all.Go(func() { blocks[i], errs[i] = w.Encode(rows) })
	}
	all.Wait()
	for _, block := range blocks {
		errs = append(errs, w.Append(block))
	}
	if err := errors.Join(append(errs, w.Close())...); err != nil {
		t.Fatal(err)
	}
	return path
}

// contents returns the cells of a file of the schema of the benchmarks.
func contents(t *testing.T, path string, format dataset.Format) [][]string {
	t.Helper()
	if format == dataset.GeoJSON {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return [][]string{{string(text)}}
	}
	if format == dataset.GeoPackage {
		path += "#" + datasettest.BenchSchema.Name
	}
	r := datasettest.Open(t, path)
	defer r.Close()
	cells, err := datasettest.Read(r, datasettest.All(r, "geom", "geometry"), 5)
	if err != nil {
		t.Fatal(err)
	}
	return cells
}

func TestFileName(t *testing.T) {
	hash := datasettest.File(t, "a#b.csv", "a\n")
	for path, want := range map[string]string{"x/a.csv": "x/a.csv", "x/a#1.db#t": "x/a#1.db", hash: hash} {
		if got := dataset.FileName(path); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
}
