// Package datasettest writes and reads data sets in tests of the formats.
package datasettest

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/geosql/geosql/dataset"
)

// Null stands for NULL among cells; no text of a test is that.
const Null = "\x00NULL"

// Batch returns rows of cells.
func Batch(first int64, cells ...[]string) *dataset.Rows {
	rows := new(dataset.Rows)
	if len(cells) == 0 {
		return rows
	}
	rows.Reset(first, len(cells[0]))
	for _, row := range cells {
		for i, cell := range row {
			if cell == Null {
				rows.Columns[i].AppendNull()
			} else {
				rows.Columns[i].Append([]byte(cell))
			}
		}
	}
	return rows
}

// A T is the common interface of a test and a property.
type T interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// Create begins a data set in a file of its own.
func Create(t testing.TB, format dataset.Format, s dataset.Schema) dataset.Writer {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	w, err := format.Create(file, s)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Write writes a data set into a new file of a folder.
func Write(t T, folder string, format dataset.Format, s dataset.Schema, batches ...*dataset.Rows) string {
	t.Helper()
	path := filepath.Join(folder, "data"+format.Extension())
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w, err := format.Create(file, s)
	if err != nil {
		t.Fatal(err)
	}
	for _, rows := range batches {
		block, err := w.Encode(rows)
		if err == nil {
			err = w.Append(block)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// Open opens a data set.
func Open(t T, path string) dataset.Reader {
	t.Helper()
	r, err := dataset.Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// All returns the numbers of all columns, but for those of given names.
func All(r dataset.Reader, but ...string) (columns []int) {
	for i, f := range r.Fields() {
		if !slices.Contains(but, f.Name) {
			columns = append(columns, i)
		}
	}
	return columns
}

// Read reads columns of a data set from the first row on.
func Read(r dataset.Reader, columns []int, max int) (cells [][]string, err error) {
	if err := r.Start(columns); err != nil {
		return nil, err
	}
	var rows dataset.Rows
	for {
		if err := r.Read(&rows, max); err == io.EOF {
			return cells, nil
		} else if err != nil {
			return cells, err
		}
		if rows.First != int64(len(cells)) || rows.Len() == 0 {
			return nil, fmt.Errorf("a batch of %d rows from %d after %d rows", rows.Len(), rows.First, len(cells))
		}
		for i := range rows.Len() {
			row := make([]string, len(rows.Columns))
			for c := range rows.Columns {
				text, isNull := rows.Columns[c].At(i)
				if row[c] = string(text); isNull {
					row[c] = Null
				}
			}
			cells = append(cells, row)
		}
	}
}

// File writes a file of a given text.
func File(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Refuses checks that opening a data set or reading all of it fails with a message
// of one line that begins with the path and holds a text.
func Refuses(t *testing.T, path, want string) {
	t.Helper()
	err := ReadThrough(path)
	if err == nil {
		t.Errorf("%s: no error, want %q", path, want)
		return
	}
	got := err.Error()
	if !strings.Contains(got, want) || !strings.Contains(got, path) || strings.Contains(got, "\n") {
		t.Errorf("%s: error %q, want %q", path, got, want)
	}
}

// ReadThrough opens a data set and reads all of it.
func ReadThrough(path string) error {
	r, err := dataset.Open(context.Background(), path)
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = Read(r, All(r), 100)
	return err
}

// nastyText draws text that formats have to quote or escape.
var nastyText = rapid.StringOf(rapid.SampledFrom([]rune("ab7,;\t\n\r\"'\\ .-\x00\x01\x7fé€😀\u2028<&|#")))

// nastyCell draws a cell of a kind.
func nastyCell(t *rapid.T, kind dataset.Kind) string {
	if rapid.IntRange(0, 4).Draw(t, "null") == 0 {
		return Null
	}
	switch kind {
	case dataset.Integer:
		return fmt.Sprint(rapid.Int64().Draw(t, "integer"))
	case dataset.Real:
		return realText(0 + rapid.Float64().Draw(t, "real")) // SQLite has no -0
	default:
		return nastyText.Draw(t, "text")
	}
}

// Nasty is a schema with a location and awkward names of columns.
var Nasty = dataset.Schema{
	Name: `the "layer"; of 'all'`,
	Fields: []dataset.Field{{Name: `who, "exactly"`, Kind: dataset.Text}, {Name: "lat", Kind: dataset.Real}, {Name: "n; m", Kind: dataset.Integer}, {Name: "x|y", Kind: dataset.Real}, {Name: "lon", Kind: dataset.Real},
		{Name: "Geometry", Kind: dataset.Text}, {Name: "fid", Kind: dataset.Integer}, {Name: "two\nlines", Kind: dataset.Text}},
	Points: []dataset.Point{{Lat: 1, Lon: 4}},
}

// NastyBatches draws rows of the schema Nasty in batches, and all of them in one list.
func NastyBatches(t *rapid.T) (batches []*dataset.Rows, cells [][]string) {
	for range rapid.IntRange(0, 3).Draw(t, "batches") {
		first := len(cells)
		for range rapid.IntRange(1, 5).Draw(t, "rows") {
			cells = append(cells, nastyRow(t))
		}
		batches = append(batches, Batch(int64(first), cells[first:]...))
	}
	return batches, cells
}

// realText returns a number as formats print it.
func realText(v float64) string {
	var c dataset.Column
	c.AppendReal(v)
	return string(c.Text())
}

func nastyRow(t *rapid.T) []string {
	row := make([]string, len(Nasty.Fields))
	for i, f := range Nasty.Fields {
		row[i] = nastyCell(t, f.Kind)
	}
	if row[1] == Null || row[4] == Null {
		row[1], row[4] = Null, Null
	} else {
		row[1] = realText(rapid.Float64Range(-90, 90).Draw(t, "lat"))
		row[4] = realText(rapid.Float64Range(-180, 180).Draw(t, "lon"))
	}
	return row
}

// Same compares cells; both have the same rows.
func Same(t T, got, want [][]string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	for i := range want {
		if !slices.Equal(got[i], want[i]) {
			t.Fatalf("row %d: %q, want %q", i, got[i], want[i])
		}
	}
}

// Without leaves columns out of rows.
func Without(cells [][]string, columns ...int) [][]string {
	var out [][]string
	for _, row := range cells {
		var short []string
		for i, cell := range row {
			if !slices.Contains(columns, i) {
				short = append(short, cell)
			}
		}
		out = append(out, short)
	}
	return out
}

// BenchRows is how many rows a batch of benchmarks has.
const BenchRows = 131072

// BenchSchema is that of rows of an account, a time, a place and a word.
var BenchSchema = dataset.Schema{Name: "bench", Fields: []dataset.Field{{Name: "user", Kind: dataset.Text}, {Name: "time", Kind: dataset.Integer}, {Name: "lat", Kind: dataset.Real}, {Name: "lon", Kind: dataset.Real}, {Name: "kind", Kind: dataset.Text}},
	Points: []dataset.Point{{Lat: 2, Lon: 3}}}

// BenchBatch returns BenchRows rows of BenchSchema.
func BenchBatch(first int64) *dataset.Rows {
	random := rand.New(rand.NewPCG(1, uint64(first)))
	rows := new(dataset.Rows)
	rows.Reset(first, 5)
	for range BenchRows {
		rows.Columns[0].Append(fmt.Appendf(nil, "user-%05d", random.IntN(10000)))
		rows.Columns[1].Append(fmt.Appendf(nil, "%d", 1_200_000_000+random.IntN(1_000_000)))
		rows.Columns[2].Append(fmt.Appendf(nil, "%.6f", 30+10*random.Float64()))
		rows.Columns[3].Append(fmt.Appendf(nil, "%.6f", 116+10*random.Float64()))
		rows.Columns[4].Append([]byte("home"))
	}
	return rows
}

// Location returns where a row of the schema Nasty is.
func Location(t T, row []string) (lat, lon float64, isNull bool) {
	t.Helper()
	rows := Batch(0, row)
	lat, lon, isNull, err := Nasty.Location(rows, 0)
	if err != nil {
		t.Fatal(err)
	}
	return lat, lon, isNull
}
