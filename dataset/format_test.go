package dataset

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

var formats = []Format{CSV, CSVGzip, Parquet, GeoParquet, GeoJSON, GeoPackage}

func TestFormatOf(t *testing.T) {
	for path, want := range map[string]Format{
		"a.csv": CSV, "a.CSV.gz": CSVGzip, "a.b.parquet": Parquet, "x/a.geoparquet": GeoParquet, "a.geojson": GeoJSON, "A.GPKG": GeoPackage,
	} {
		if got, err := FormatOf(path); err != nil || got != want || got.Typed() != (want > CSVGzip) {
			t.Errorf("%s: %v, %v", path, got, err)
		}
	}
	for _, path := range []string{"a", "a.gz", "a.json", "csv", "a.csv.tmp"} {
		if _, err := FormatOf(path); err == nil || !strings.Contains(err.Error(), path+": unknown format: none of .csv, .csv.gz, .parquet, .geoparquet, .geojson, .gpkg") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestOpenUnknown(t *testing.T) {
	for _, name := range []string{"data", "data.json", "data.gz"} {
		refuses(t, file(t, name, "a,b\n1,2\n"), "unknown format")
	}
	folder := filepath.Join(t.TempDir(), "folder.csv")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	refuses(t, folder, "not a regular file")
	refuses(t, t.TempDir(), "not a regular file")
	refuses(t, t.TempDir()+"/none", "no such file")
	if err := readThrough(file(t, "a#b.csv", "a,b\n1,2\n")); err != nil {
		t.Error(err)
	}
}

// A cell that is not of its field's kind is refused with its place.
func TestMisfits(t *testing.T) {
	s := Schema{Name: "x", Fields: []Field{{"t", Text}, {"lat", Real}, {"lon", Real}, {"n", Integer}, {"x", Real}}, Points: []Point{{1, 2}}}
	good := []string{"x", "1", "2", "3", "4"}
	for _, format := range formats {
		w := create(t, format, s)
		for column, cells := range map[int][]string{
			0: {"\xff"}, 1: {"x", "1e999", "0x1p2"}, 2: {"1,5", "1_0"}, 3: {"1.5", "9223372036854775808", "x", "1 2"}, 4: {"1e", "0x10", "1e400"},
		} {
			for _, cell := range cells {
				bad := append([]string(nil), good...)
				bad[column] = cell
				_, err := w.Encode(batch(40, good, bad))
				want := "row 42, column " + s.Fields[column].Name + ": "
				if format.Typed() && (err == nil || !strings.Contains(err.Error(), want)) || !format.Typed() && err != nil {
					t.Errorf("%s: %q in column %d: %v", extensions[format], cell, column, err)
				}
			}
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestNotFinite(t *testing.T) {
	s := Schema{Name: "x", Fields: []Field{{"lat", Real}, {"lon", Real}, {"x", Real}}, Points: []Point{{0, 1}}}
	rows := batch(0, []string{"1", "2", "NaN"})
	for format, allowed := range map[Format]bool{Parquet: true, GeoParquet: true, GeoJSON: false, GeoPackage: false} {
		w := create(t, format, s)
		if _, err := w.Encode(rows); (err == nil) != allowed {
			t.Errorf("%s: %v", extensions[format], err)
		}
		if _, err := w.Encode(batch(0, []string{"NaN", "2", "3"})); (err == nil) != (format == Parquet) {
			t.Errorf("%s: a location that is no number: %v", extensions[format], err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestGeometryNeedsPoint(t *testing.T) {
	for _, format := range []Format{GeoParquet, GeoJSON, GeoPackage} {
		if _, err := format.Create(nil, Schema{Name: "x", Fields: []Field{{"a", Text}}}); err == nil {
			t.Error(extensions[format])
		}
	}
}

// Batches that are encoded at the same time, and one after the other with buffers
// that are used again, make the same file, but for what a file says of its time.
func TestEncodeConcurrently(t *testing.T) {
	const n = 12
	var batches []*Rows
	for i := range int64(n) {
		rows := batch(i*3, []string{"u", "1", "1.5", "2.5", "a"}, []string{strings.Repeat("v", int(i)), "-7", "3.5", "4.5", null}, []string{"w", null, null, null, "b"})
		batches = append(batches, rows)
	}
	for _, format := range formats {
		want := contents(t, write(t, t.TempDir(), format, benchSchema, batches...), format)
		same(t, contents(t, writeConcurrently(t, format, batches), format), want)
	}
}

func writeConcurrently(t *testing.T, format Format, batches []*Rows) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data"+extensions[format])
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w, err := format.Create(file, benchSchema)
	if err != nil {
		t.Fatal(err)
	}
	blocks, errs := make([]Block, len(batches)), make([]error, len(batches))
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

// contents is what a file of the schema of the benchmarks holds.
func contents(t *testing.T, path string, format Format) [][]string {
	t.Helper()
	if format == GeoJSON {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return [][]string{{string(text)}}
	}
	if format == GeoPackage {
		path += "#" + benchSchema.Name
	}
	r := open(t, path)
	defer r.Close()
	cells, err := read(r, all(r, "geom", "geometry"), 5)
	if err != nil {
		t.Fatal(err)
	}
	return cells
}

func TestFile(t *testing.T) {
	hash := file(t, "a#b.csv", "a\n")
	for path, want := range map[string]string{"x/a.csv": "x/a.csv", "x/a#1.db#t": "x/a#1.db", hash: hash} {
		if got := File(path); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
}
