package dataset

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// null stands for NULL among cells; no text of a test is that.
const null = "\x00NULL"

// batch makes rows of cells.
func batch(first int64, cells ...[]string) *Rows {
	rows := new(Rows)
	if len(cells) == 0 {
		return rows
	}
	rows.Reset(first, len(cells[0]))
	for _, row := range cells {
		for i, cell := range row {
			if cell == null {
				rows.Columns[i].AppendNull()
			} else {
				rows.Columns[i].Append([]byte(cell))
			}
		}
	}
	return rows
}

// tester is what a test and a property have in common.
type tester interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// create begins a data set in a file of its own.
func create(t testing.TB, format Format, s Schema) Writer {
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

// write writes a data set into a new file of a folder.
func write(t tester, folder string, format Format, s Schema, batches ...*Rows) string {
	t.Helper()
	path := filepath.Join(folder, "data"+extensions[format])
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

func open(t tester, path string) Reader {
	t.Helper()
	r, err := Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// all are the numbers of all columns, but for those of given names.
func all(r Reader, but ...string) (columns []int) {
	for i, f := range r.Fields() {
		if !slices.Contains(but, f.Name) {
			columns = append(columns, i)
		}
	}
	return columns
}

// read reads columns of a data set from the first row on.
func read(r Reader, columns []int, max int) (cells [][]string, err error) {
	if err := r.Start(columns); err != nil {
		return nil, err
	}
	var rows Rows
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
					row[c] = null
				}
			}
			cells = append(cells, row)
		}
	}
}

// file writes a file of a given text.
func file(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// refuses checks that opening a data set or reading all of it fails with a message
// of one line that begins with the path and holds a text.
func refuses(t *testing.T, path, want string) {
	t.Helper()
	err := readThrough(path)
	if err == nil {
		t.Errorf("%s: no error, want %q", path, want)
		return
	}
	got := err.Error()
	if !strings.Contains(got, want) || !strings.Contains(got, path) || strings.Contains(got, "\n") {
		t.Errorf("%s: error %q, want %q", path, got, want)
	}
}

func readThrough(path string) error {
	r, err := Open(context.Background(), path)
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = read(r, all(r), 100)
	return err
}

// nastyText draws text that formats have to quote or escape.
var nastyText = rapid.StringOf(rapid.SampledFrom([]rune("ab7,;\t\n\r\"'\\ .-\x00\x01\x7fé€😀\u2028<&|#")))

// nastyCell draws a cell of a kind.
func nastyCell(t *rapid.T, kind Kind) string {
	if rapid.IntRange(0, 4).Draw(t, "null") == 0 {
		return null
	}
	switch kind {
	case Integer:
		return fmt.Sprint(rapid.Int64().Draw(t, "integer"))
	case Real:
		return string(appendReal(nil, 0+rapid.Float64().Draw(t, "real"), 64)) // SQLite has no -0
	default:
		return nastyText.Draw(t, "text")
	}
}

// nasty is a schema with a location, whose columns have awkward names.
var nasty = Schema{
	Name: `the "layer"; of 'all'`,
	Fields: []Field{{`who, "exactly"`, Text}, {"lat", Real}, {"n; m", Integer}, {"x|y", Real}, {"lon", Real},
		{"Geometry", Text}, {"fid", Integer}, {"two\nlines", Text}},
	Points: []Point{{1, 4}},
}

// nastyBatches draws rows of the schema nasty in batches, and all of them in one list.
func nastyBatches(t *rapid.T) (batches []*Rows, cells [][]string) {
	for range rapid.IntRange(0, 3).Draw(t, "batches") {
		first := len(cells)
		for range rapid.IntRange(1, 5).Draw(t, "rows") {
			cells = append(cells, nastyRow(t))
		}
		batches = append(batches, batch(int64(first), cells[first:]...))
	}
	return batches, cells
}

func nastyRow(t *rapid.T) []string {
	row := make([]string, len(nasty.Fields))
	for i, f := range nasty.Fields {
		row[i] = nastyCell(t, f.Kind)
	}
	if row[1] == null || row[4] == null {
		row[1], row[4] = null, null
	} else {
		row[1] = string(appendReal(nil, rapid.Float64Range(-90, 90).Draw(t, "lat"), 64))
		row[4] = string(appendReal(nil, rapid.Float64Range(-180, 180).Draw(t, "lon"), 64))
	}
	return row
}

// same compares cells; both have the same rows.
func same(t tester, got, want [][]string) {
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

// without leaves columns out of rows.
func without(cells [][]string, columns ...int) [][]string {
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
