package dataset_test

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/dataset/internal/datasettest"
)

// batches reads a data set twice, and returns the cells and the places of each batch.
func batches(t *testing.T, r dataset.Reader, columns []int, max int) (cells [][][]string, places []string) {
	t.Helper()
	for range 2 {
		cells, places = nil, nil
		if err := r.Start(columns); err != nil {
			t.Fatal(err)
		}
		for rows := (dataset.Rows{Secret: []bool{true}}); ; {
			err := r.Read(&rows, max)
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if rows.First != int64(len(places)) {
				t.Fatalf("a batch after %d rows begins at %d", len(places), rows.First)
			}
			batch := make([][]string, rows.Len())
			for i := range batch {
				for c := range rows.Columns {
					text, null := rows.Columns[c].At(i)
					batch[i] = append(batch[i], fmt.Sprint(string(text), null))
				}
				places = append(places, rows.Where(i))
			}
			cells = append(cells, batch)
		}
	}
	return cells, places
}

// A data set of rows with weights reads as one that has its rows so often, batch by batch: all weights up to 3 of three rows, in formats with
// and without types.
func TestRepeatIsRows(t *testing.T) {
	const n, most = 3, 3
	schemas := map[string]dataset.Schema{}
	for name, kind := range map[string]dataset.Kind{"text": dataset.Text, "integer": dataset.Integer, "real": dataset.Real} {
		schemas[name] = dataset.Schema{Fields: []dataset.Field{{Name: "w", Kind: kind}, {Name: "x"}}}
	}
	for name, schema := range schemas {
		format, unit := dataset.Parquet, "row"
		if name == "text" {
			format, unit = dataset.CSV, "line"
		}
		folder := t.TempDir()
		for code := range 1 << (2 * n) {
			var weighted, literal [][]string
			var places []string
			for i := range n {
				weight := code >> (2 * i) % (most + 1)
				row := fmt.Sprint("row ", i)
				weighted = append(weighted, []string{strconv.Itoa(weight), row})
				for range weight {
					literal = append(literal, []string{"1", row})
					place := i + 1
					if unit == "line" {
						place++
					}
					places = append(places, fmt.Sprint(unit, " ", place))
				}
			}
			for _, max := range []int{1, 3, 100} {
				path := datasettest.Write(t, folder, format, schema, datasettest.Batch(0, weighted...))
				r := dataset.Repeat(datasettest.Open(t, path), 0)
				got, gotPlaces := batches(t, r, []int{0, 1}, max)
				r.Close()
				var want [][][]string
				if len(literal) > 0 {
					r := datasettest.Open(t, datasettest.Write(t, folder, format, schema, datasettest.Batch(0, literal...)))
					want, _ = batches(t, r, []int{0, 1}, max)
					r.Close()
				}
				if !reflect.DeepEqual(got, want) || !slices.Equal(gotPlaces, places) {
					t.Fatalf("%s, %d at a time, weights %v: %v at %v, want %v at %v", name, max, weighted, got, gotPlaces, want, places)
				}
			}
		}
	}
}

// Batches with long cells end where they end in a file with the rows themselves, so that memory has the same bound.
func TestRepeatedRowsFillBatches(t *testing.T) {
	text := strings.Repeat("x", 1<<16-8)
	schema := dataset.Schema{Fields: []dataset.Field{{Name: "w"}, {Name: "x"}}}
	weighted := datasettest.Open(t, datasettest.Write(t, t.TempDir(), dataset.CSV, schema, datasettest.Batch(0, []string{"250", text}, []string{"1", "y"}, []string{"0", text}, []string{"350", text})))
	defer weighted.Close()
	literal := datasettest.Open(t, datasettest.Write(t, t.TempDir(), dataset.CSV, schema, repeated(250, "1", text), repeated(1, "1", "y"), repeated(350, "1", text)))
	defer literal.Close()
	got, _ := batches(t, dataset.Repeat(weighted, 0), []int{0, 1}, 1<<15)
	want, _ := batches(t, literal, []int{0, 1}, 1<<15)
	if len(want) < 2 || !reflect.DeepEqual(got, want) {
		t.Errorf("%d batches, want %d", len(got), len(want))
	}
}

// A cell that is no weight is read as it is, once.
func TestRepeatKeepsWhatIsNoWeight(t *testing.T) {
	for _, cell := range []string{"-1", "1.5", "x", "1000001", datasettest.Null, " ", "9223372036854775808"} {
		schema := dataset.Schema{Fields: []dataset.Field{{Name: "x"}, {Name: "w"}}}
		r := dataset.Repeat(datasettest.Open(t, datasettest.Write(t, t.TempDir(), dataset.CSV, schema, datasettest.Batch(0, []string{"a", "2"}, []string{"b", cell}, []string{"c", " 1 "}))), 1)
		got, err := datasettest.Read(r, []int{1, 0}, 100)
		if want := [][]string{{"1", "a"}, {"1", "a"}, {cell, "b"}, {"1", "c"}}; err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %q, %v", cell, got, err)
		}
		r.Close()
	}
}
