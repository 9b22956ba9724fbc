package dataset_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/dataset/internal/datasettest"
	"pgregory.net/rapid"
)

// emptyIsNull returns the cells as CSV keeps them.
func emptyIsNull(cells [][]string) [][]string {
	for _, row := range cells {
		for i := range row {
			if row[i] == "" {
				row[i] = datasettest.Null
			}
		}
	}
	return cells
}

func TestCSVRoundTrip(t *testing.T) {
	for _, format := range []dataset.Format{dataset.CSV, dataset.CSVGzip} {
		folder := t.TempDir()
		rapid.Check(t, func(t *rapid.T) {
			batches, cells := datasettest.NastyBatches(t)
			r := datasettest.Open(t, datasettest.Write(t, folder, format, datasettest.Nasty, batches...))
			defer r.Close()
			for i, f := range r.Fields() {
				if f != (dataset.Field{Name: datasettest.Nasty.Fields[i].Name, Kind: dataset.Text}) {
					t.Fatalf("field %d is %v", i, f)
				}
			}
			for _, max := range []int{1, 3, 1000} {
				got, err := datasettest.Read(r, datasettest.All(r), max)
				if err != nil {
					t.Fatal(err)
				}
				datasettest.Same(t, got, emptyIsNull(cells))
			}
		})
	}
}

// encoding/csv reads the package's files.
func TestCSVIsStandard(t *testing.T) {
	folder := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		batches, cells := datasettest.NastyBatches(t)
		text, err := os.ReadFile(datasettest.Write(t, folder, dataset.CSV, datasettest.Nasty, batches...))
		if err != nil {
			t.Fatal(err)
		}
		got, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range cells {
			for i := range row {
				row[i] = strings.ReplaceAll(strings.ReplaceAll(row[i], datasettest.Null, ""), "\r\n", "\n")
			}
		}
		datasettest.Same(t, got[1:], cells)
	})
}

func TestCSVBytes(t *testing.T) {
	s := dataset.Schema{Fields: []dataset.Field{{Name: "a", Kind: dataset.Text}, {Name: "b;c", Kind: dataset.Text}}}
	path := datasettest.Write(t, t.TempDir(), dataset.CSV, s, datasettest.Batch(0, []string{"x", datasettest.Null}, []string{"", `say "y"`}), datasettest.Batch(2, []string{"1;2", "3,4"}))
	got, err := os.ReadFile(path)
	if want := "a,\"b;c\"\nx,\n\"\",\"say \"\"y\"\"\"\n1;2,\"3,4\"\n"; err != nil || string(got) != want {
		t.Errorf("%v, %q, want %q", err, got, want)
	}
}

// A row that is one NULL must not become an empty line, which is no row.
func TestCSVSingleColumn(t *testing.T) {
	s := dataset.Schema{Fields: []dataset.Field{{Name: "a", Kind: dataset.Text}}}
	cells := [][]string{{datasettest.Null}, {"x"}, {datasettest.Null}}
	r := datasettest.Open(t, datasettest.Write(t, t.TempDir(), dataset.CSV, s, datasettest.Batch(0, cells...)))
	defer r.Close()
	got, err := datasettest.Read(r, []int{0}, 10)
	if err != nil {
		t.Fatal(err)
	}
	datasettest.Same(t, got, cells)
}

func TestCSVDialects(t *testing.T) {
	want := [][]string{{"1", "x;,y"}, {datasettest.Null, "z"}}
	for _, text := range []string{
		"a,b\n1,\"x;,y\"\n,z\n",
		"\uFEFFa;b\r\n1;\"x;,y\"\r\n;z",
		" a\tb \n\n1\tx;,y\n\r\n\tz\r",
		"\"a\",\"b\"\n\"1\",\"x;,y\"\n\"\",\"z\"\n\n",
	} {
		r := datasettest.Open(t, datasettest.File(t, "data.CSV", text))
		if names := fmt.Sprint(r.Fields()); names != "[{a text} {b text}]" {
			t.Errorf("%q: fields %s", text, names)
		}
		got, err := datasettest.Read(r, []int{0, 1}, 1)
		if err != nil {
			t.Fatal(err)
		}
		datasettest.Same(t, got, want)
		r.Close()
	}
}

// A file without a header line has the columns c1, c2, .. and loses no row.
func TestCSVWithoutHeader(t *testing.T) {
	for name, c := range map[string]struct {
		text      string
		separator byte
		rows      string
	}{
		"numbers":        {"1,2.5,x\n3,4.5,\n", ',', "[[1 2.5 x] [3 4.5 NULL]]"},
		"empty lines":    {"\n\n1,2\n\n3,4\n", ',', "[[1 2] [3 4]]"},
		"blank cells":    {",\n1,2\n", ',', "[[NULL NULL] [1 2]]"},
		"same cells":     {"1,1\n1,1\n", ',', "[[1 1] [1 1]]"},
		"decimal commas": {"0,5;0,7;a\n1,5;2;b\n", ';', "[[0,5 0,7 a] [1,5 2 b]]"},
		"equally many":   {"1;0,5\n2;0,7\n", ';', "[[1 0,5] [2 0,7]]"},
		"tabs":           {"0,5\t0,7\n1,5\t2\n", '\t', "[[0,5 0,7] [1,5 2]]"},
		"quotes":         {"\"a;b\",\"c\nd\"\ne,f\n", ',', "[[a;b c\nd] [e f]]"},
		"one column":     {"1\n2\n", ',', "[[1] [2]]"},
		"text":           {"a;b,c\nd,e;f;g\n", ',', "[[a;b c] [d e;f;g]]"},
		"byte order":     {"\uFEFF1,2\r\n3,4\r\n", ',', "[[1 2] [3 4]]"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := dataset.Open(t.Context(), datasettest.File(t, "data.csv", c.text), dataset.NoHeader)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			if form, ok := dataset.CSVFormOf(r); !ok || form != (dataset.CSVForm{Separator: c.separator}) {
				t.Errorf("form %v, %v", form, ok)
			}
			for i, f := range r.Fields() {
				if f.Name != fmt.Sprint("c", i+1) {
					t.Errorf("column %d is %s", i, f.Name)
				}
			}
			for range 2 { // it is read twice
				rows, err := datasettest.Read(r, datasettest.All(r), 1)
				if got := strings.ReplaceAll(fmt.Sprint(rows), datasettest.Null, "NULL"); err != nil || got != c.rows {
					t.Errorf("rows %q, %v; want %q", got, err, c.rows)
				}
			}
		})
	}
	for text, want := range map[string]string{
		"":             "data.csv: the file has no rows",
		"1,2\n3\n":     "data.csv: line 2: the row has 1 cells, but the first row has 2",
		"1,2\n3,\"4\n": "data.csv: line 2: a quote is not closed",
	} {
		r, err := dataset.Open(t.Context(), datasettest.File(t, "data.csv", text), dataset.NoHeader)
		if err == nil {
			_, err = datasettest.Read(r, datasettest.All(r), 10)
			r.Close()
		}
		if err == nil || !strings.HasSuffix(err.Error(), want) || strings.Count(err.Error(), "data.csv") != 1 {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
}

// The error about names that cannot be those of columns can be told from others.
func TestHeaderError(t *testing.T) {
	for text, want := range map[string]bool{"1,1\n": true, "a,,b\n": true, "": false, "a,b\"\n": false} {
		_, err := dataset.Open(t.Context(), datasettest.File(t, "data.csv", text))
		var header *dataset.HeaderError
		if err == nil || errors.As(err, &header) != want {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestCSVColumns(t *testing.T) {
	r := datasettest.Open(t, datasettest.File(t, "data.csv", "a,b,c\n1,2,3\n4,5,\"6\"\n"))
	defer r.Close()
	got, err := datasettest.Read(r, []int{2, 0}, 100)
	if err != nil {
		t.Fatal(err)
	}
	datasettest.Same(t, got, [][]string{{"3", "1"}, {"6", "4"}})
	for _, columns := range [][]int{{0, 0}, {3}, {-1}} {
		if r.Start(columns) == nil {
			t.Errorf("columns %v are accepted", columns)
		}
	}
}

func TestCSVPlaces(t *testing.T) {
	r := datasettest.Open(t, datasettest.File(t, "data.csv", "a,b\n\n1,\"two\nlines\"\n\n2,x\n"))
	defer r.Close()
	var rows dataset.Rows
	if err := errors.Join(r.Start([]int{1}), r.Read(&rows, 10)); err != nil {
		t.Fatal(err)
	}
	if rows.Where(0) != "line 3" || rows.Where(1) != "line 6" {
		t.Errorf("%s, %s", rows.Where(0), rows.Where(1))
	}
}

func TestBadCSV(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "there is no header line",
		"\n\n":                       "there is no header line",
		"a,,c\n":                     "column 2 has no name",
		"a,b,A\n":                    "two columns have the name A",
		"a,\x00b\n":                  "NUL",
		"a,b\r1,2\r3,4\r":            "LF or CRLF",
		"a,b\n1,2\n3\n":              "line 3: the row has 1 cells, but the header line has 2",
		"a,b\n1,2\n\n3,4,5\n":        "line 4: the row has 3 cells, but the header line has 2",
		"a,b\n1,\"2\n3\n\"\n4,5,6\n": "line 5: the row has 3 cells",
		"a,b\n1,2\n3,x\"y\n":         "line 3: a cell contains a quote",
		"a,b\n1,2\n3,\"x\"y\n":       "line 3: a closing quote is not followed",
		"a,b\n1,2\n3,\"x\n5,6\n":     "line 3: a quote is not closed",
		"a,\"b\n":                    "line 1: a quote is not closed",
	} {
		datasettest.Refuses(t, datasettest.File(t, "data.csv", text), want)
	}
	datasettest.Refuses(t, datasettest.File(t, "data.csv", "a,b\n1,\""+strings.Repeat("x,y\n", 16<<20/4)), "line 2: a row is longer than 16 MiB")
	datasettest.Refuses(t, t.TempDir()+"/none.csv", syscall.ENOENT.Error())
}

func TestBadGzip(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	fmt.Fprintln(z, "a,b")
	for i := range 10000 {
		fmt.Fprintf(z, "%d,%d\n", i, i*i)
	}
	z.Close()
	whole := zipped.Bytes()
	for _, n := range []int{3, 20, len(whole) / 2, len(whole) - 5} {
		datasettest.Refuses(t, datasettest.File(t, "data.csv.gz", string(whole[:n])), "truncated")
	}
	whole[len(whole)-6] ^= 1
	datasettest.Refuses(t, datasettest.File(t, "data.csv.gz", string(whole)), "checksum")
}

func TestFileThatChanges(t *testing.T) {
	path := datasettest.File(t, "data.csv", "a,b\n1,2\n")
	r := datasettest.Open(t, path)
	defer r.Close()
	if err := os.WriteFile(path, []byte("b,a\n1,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.Start([]int{0}); err == nil || !strings.Contains(err.Error(), "the header line has changed") {
		t.Error(err)
	}
}

// Long cells make short batches, the same ones every time.
func TestLongCells(t *testing.T) {
	var text strings.Builder
	text.WriteString("a,b\n")
	for i := range 10 {
		fmt.Fprintf(&text, "%d,%s\n", i, strings.Repeat("x", 1<<20))
	}
	r := datasettest.Open(t, datasettest.File(t, "data.csv", text.String()))
	defer r.Close()
	for range 2 {
		if err := r.Start([]int{0, 1}); err != nil {
			t.Fatal(err)
		}
		var rows dataset.Rows
		var sizes []int
		for r.Read(&rows, 1000) == nil {
			sizes = append(sizes, rows.Len())
		}
		if !slices.Equal(sizes, []int{4, 4, 2}) {
			t.Errorf("batches of %d rows", sizes)
		}
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	r, err := dataset.Open(ctx, datasettest.File(t, "data.csv", "a,b\n1,2\n"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cause := errors.New("enough")
	cancel(cause)
	if err := errors.Join(r.Start([]int{0}), r.Read(new(dataset.Rows), 1)); !errors.Is(err, cause) {
		t.Error(err)
	}
}

func TestProgress(t *testing.T) {
	r := datasettest.Open(t, datasettest.File(t, "data.csv", "a,b\n"+strings.Repeat("1,2\n", 1<<18)))
	defer r.Close()
	var rows dataset.Rows
	before := -1.0
	for err := r.Start([]int{0}); err != io.EOF; err = r.Read(&rows, 1<<16) {
		if progress := r.Progress(); err != nil || progress <= before || progress > 1 {
			t.Fatalf("%v, %v after %v", err, progress, before)
		} else {
			before = progress
		}
		if before == 1 {
			break
		}
	}
	if before < 0.5 {
		t.Error(before)
	}
}

// FuzzCSV checks that whatever is in a file, the same rows come in batches of any
// size, and the same error.
func FuzzCSV(f *testing.F) {
	for _, text := range []string{"a,b\n1,2\n3,\"4\n5\"\n", "a;b\n1;2\n3\n", "\uFEFFa\n\x00\n", "\x1f\x8b\x08\x00", "a\tb\r\n1\t\"2\"x"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := dataset.Open(context.Background(), datasettest.File(t, "data.csv", string(text)))
		if err != nil {
			return
		}
		defer r.Close()
		want, wantErr := datasettest.Read(r, datasettest.All(r), 1000)
		got, err := datasettest.Read(r, datasettest.All(r), 1)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Fatalf("%v, want %v", err, wantErr)
		}
		if err == nil {
			datasettest.Same(t, got, want)
		}
	})
}

// A text that begins like a formula gets an apostrophe; numbers, NULL and the rest do not.
func TestCSVEscapesFormulas(t *testing.T) {
	cells := []string{
		"=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "=a,\"b\"", "-", "+", "-.", "-Inf", "+NaN", "-0x1p-2", "-1_0", "-e", "-1e999",
		"-1.5", "+3", "-.5", "-1e-7", "-0", "1=1", " =1", "a", "'=1", "", datasettest.Null,
	}
	const escaped = 17 // the first of the cells
	want := slices.Clone(cells)
	for i := range escaped {
		want[i] = "'" + want[i]
	}
	s := dataset.Schema{Fields: make([]dataset.Field, len(cells))}
	for i := range cells {
		s.Fields[i].Name = fmt.Sprint("=", i)
	}
	s.Fields[1].Name = "-1"
	for _, format := range []dataset.Format{dataset.CSV, dataset.CSVGzip} {
		for _, s.EscapeFormulas = range []bool{false, true} {
			r := datasettest.Open(t, datasettest.Write(t, t.TempDir(), format, s, datasettest.Batch(0, cells)))
			got, err := datasettest.Read(r, datasettest.All(r), 10)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			if s.EscapeFormulas {
				datasettest.Same(t, got, emptyIsNull([][]string{want}))
			} else {
				datasettest.Same(t, got, emptyIsNull([][]string{slices.Clone(cells)}))
			}
			for i, f := range r.Fields() {
				name := s.Fields[i].Name
				if s.EscapeFormulas && i != 1 {
					name = "'" + name
				}
				if f.Name != name {
					t.Errorf("column %d has the name %s, not %s", i, f.Name, name)
				}
			}
		}
	}
}
