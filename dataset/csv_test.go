package dataset

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
	"testing"

	"pgregory.net/rapid"
)

// emptyIsNull is what becomes of cells in CSV.
func emptyIsNull(cells [][]string) [][]string {
	for _, row := range cells {
		for i := range row {
			if row[i] == "" {
				row[i] = null
			}
		}
	}
	return cells
}

func TestCSVRoundTrip(t *testing.T) {
	for _, format := range []Format{CSV, CSVGzip} {
		folder := t.TempDir()
		rapid.Check(t, func(t *rapid.T) {
			batches, cells := nastyBatches(t)
			r := open(t, write(t, folder, format, nasty, batches...))
			defer r.Close()
			for i, f := range r.Fields() {
				if f != (Field{nasty.Fields[i].Name, Text}) {
					t.Fatalf("field %d is %v", i, f)
				}
			}
			for _, max := range []int{1, 3, 1000} {
				got, err := read(r, all(r), max)
				if err != nil {
					t.Fatal(err)
				}
				same(t, got, emptyIsNull(cells))
			}
		})
	}
}

// encoding/csv reads what the package writes.
func TestCSVIsStandard(t *testing.T) {
	folder := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		batches, cells := nastyBatches(t)
		text, err := os.ReadFile(write(t, folder, CSV, nasty, batches...))
		if err != nil {
			t.Fatal(err)
		}
		got, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range cells {
			for i := range row {
				row[i] = strings.ReplaceAll(strings.ReplaceAll(row[i], null, ""), "\r\n", "\n")
			}
		}
		same(t, got[1:], cells)
	})
}

func TestCSVBytes(t *testing.T) {
	s := Schema{Fields: []Field{{"a", Text}, {"b;c", Text}}}
	path := write(t, t.TempDir(), CSV, s, batch(0, []string{"x", null}, []string{"", `say "y"`}), batch(2, []string{"1;2", "3,4"}))
	got, err := os.ReadFile(path)
	if want := "a,\"b;c\"\nx,\n\"\",\"say \"\"y\"\"\"\n1;2,\"3,4\"\n"; err != nil || string(got) != want {
		t.Errorf("%v, %q, want %q", err, got, want)
	}
}

// A row that is one NULL must not become an empty line, which is no row.
func TestCSVSingleColumn(t *testing.T) {
	s := Schema{Fields: []Field{{"a", Text}}}
	cells := [][]string{{null}, {"x"}, {null}}
	r := open(t, write(t, t.TempDir(), CSV, s, batch(0, cells...)))
	defer r.Close()
	got, err := read(r, []int{0}, 10)
	if err != nil {
		t.Fatal(err)
	}
	same(t, got, cells)
}

func TestCSVDialects(t *testing.T) {
	want := [][]string{{"1", "x;,y"}, {null, "z"}}
	for _, text := range []string{
		"a,b\n1,\"x;,y\"\n,z\n",
		"\uFEFFa;b\r\n1;\"x;,y\"\r\n;z",
		" a\tb \n\n1\tx;,y\n\r\n\tz\r",
		"\"a\",\"b\"\n\"1\",\"x;,y\"\n\"\",\"z\"\n\n",
	} {
		r := open(t, file(t, "data.CSV", text))
		if names := fmt.Sprint(r.Fields()); names != "[{a text} {b text}]" {
			t.Errorf("%q: fields %s", text, names)
		}
		got, err := read(r, []int{0, 1}, 1)
		if err != nil {
			t.Fatal(err)
		}
		same(t, got, want)
		r.Close()
	}
}

func TestCSVColumns(t *testing.T) {
	r := open(t, file(t, "data.csv", "a,b,c\n1,2,3\n4,5,\"6\"\n"))
	defer r.Close()
	got, err := read(r, []int{2, 0}, 100)
	if err != nil {
		t.Fatal(err)
	}
	same(t, got, [][]string{{"3", "1"}, {"6", "4"}})
	for _, columns := range [][]int{{0, 0}, {3}, {-1}} {
		if r.Start(columns) == nil {
			t.Errorf("columns %v are accepted", columns)
		}
	}
}

func TestCSVPlaces(t *testing.T) {
	r := open(t, file(t, "data.csv", "a,b\n\n1,\"two\nlines\"\n\n2,x\n"))
	defer r.Close()
	var rows Rows
	if err := errors.Join(r.Start([]int{1}), r.Read(&rows, 10)); err != nil {
		t.Fatal(err)
	}
	if rows.Where(0) != "line 3" || rows.Where(1) != "line 6" {
		t.Errorf("%s, %s", rows.Where(0), rows.Where(1))
	}
	var some Rows
	some.Reset(0, 1)
	some.Columns[0].Append([]byte("x"))
	some.Place(&rows, 1)
	if some.Where(0) != "line 6" {
		t.Error(some.Where(0))
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
		"a,b\n1,2\n3\n":              "line 3: 1 cells, but the header line has 2",
		"a,b\n1,2\n\n3,4,5\n":        "line 4: 3 cells, but the header line has 2",
		"a,b\n1,\"2\n3\n\"\n4,5,6\n": "line 5: 3 cells",
		"a,b\n1,2\n3,x\"y\n":         "line 3: a quote stands in a cell",
		"a,b\n1,2\n3,\"x\"y\n":       "line 3: a closing quote is not followed",
		"a,b\n1,2\n3,\"x\n5,6\n":     "line 3: a quote is not closed",
		"a,\"b\n":                    "line 1: a quote is not closed",
	} {
		refuses(t, file(t, "data.csv", text), want)
	}
	refuses(t, file(t, "data.csv", "a,b\n1,\""+strings.Repeat("x,y\n", recordMax/4)), "line 2: a row is longer than 16 MiB")
	refuses(t, t.TempDir()+"/none.csv", "no such file")
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
		refuses(t, file(t, "data.csv.gz", string(whole[:n])), "truncated")
	}
	whole[len(whole)-6] ^= 1
	refuses(t, file(t, "data.csv.gz", string(whole)), "checksum")
}

func TestFileThatChanges(t *testing.T) {
	path := file(t, "data.csv", "a,b\n1,2\n")
	r := open(t, path)
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
	r := open(t, file(t, "data.csv", text.String()))
	defer r.Close()
	for range 2 {
		if err := r.Start([]int{0, 1}); err != nil {
			t.Fatal(err)
		}
		var rows Rows
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
	r, err := Open(ctx, file(t, "data.csv", "a,b\n1,2\n"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cause := errors.New("enough")
	cancel(cause)
	if err := errors.Join(r.Start([]int{0}), r.Read(new(Rows), 1)); !errors.Is(err, cause) {
		t.Error(err)
	}
}

func TestDone(t *testing.T) {
	r := open(t, file(t, "data.csv", "a,b\n"+strings.Repeat("1,2\n", 1<<18)))
	defer r.Close()
	var rows Rows
	before := -1.0
	for err := r.Start([]int{0}); err != io.EOF; err = r.Read(&rows, 1<<16) {
		if done := r.Done(); err != nil || done <= before || done > 1 {
			t.Fatalf("%v, %v after %v", err, done, before)
		} else {
			before = done
		}
		if before == 1 {
			break
		}
	}
	if before < 0.5 {
		t.Error(before)
	}
}

// splitAll takes text apart as the reader does.
func splitAll(text []byte) (records [][]string, err error) {
	var s splitter
	var c cells
	s.reset(bytes.NewReader(text))
	for {
		record, err := s.next()
		if err == io.EOF {
			return records, nil
		}
		if err != nil {
			return records, err
		}
		var row []string
		for c.start(record, ','); !c.end; {
			cell, err := c.next()
			if err != nil {
				return records, err
			}
			row = append(row, strings.ReplaceAll(string(cell), "\r\n", "\n"))
		}
		records = append(records, row)
	}
}

// FuzzSplit compares with encoding/csv, which takes CR from CR LF also in quotes.
func FuzzSplit(f *testing.F) {
	for _, text := range []string{"a,b\n1,2\n", "\"a\"\"b\",\r\n\"x\ny\"", "a\"b\n", "\"a\"b\n", "\"a\n", ",\n\n,\r", "\r\r\n\"\r\r\n\"\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		reader := csv.NewReader(bytes.NewReader(text))
		reader.FieldsPerRecord = -1
		var want [][]string
		row, wantErr := reader.Read()
		for ; wantErr == nil; row, wantErr = reader.Read() {
			want = append(want, row)
		}
		got, err := splitAll(text)
		if (wantErr == io.EOF) != (err == nil) {
			t.Fatalf("error %v, want %v", err, wantErr)
		}
		same(t, got, want)
	})
}

// FuzzCSV checks that whatever is in a file, the same rows come in batches of any
// size, and the same error.
func FuzzCSV(f *testing.F) {
	for _, text := range []string{"a,b\n1,2\n3,\"4\n5\"\n", "a;b\n1;2\n3\n", "\uFEFFa\n\x00\n", "\x1f\x8b\x08\x00", "a\tb\r\n1\t\"2\"x"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := Open(context.Background(), file(t, "data.csv", string(text)))
		if err != nil {
			return
		}
		defer r.Close()
		want, wantErr := read(r, all(r), 1000)
		got, err := read(r, all(r), 1)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Fatalf("%v, want %v", err, wantErr)
		}
		if err == nil {
			same(t, got, want)
		}
	})
}

// A text that begins like a formula gets an apostrophe; numbers, NULL and the rest do not.
func TestCSVEscapesFormulas(t *testing.T) {
	cells := []string{
		"=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "=a,\"b\"", "-", "+", "-.", "-Inf", "+NaN", "-0x1p-2", "-1_0", "-e", "-1e999",
		"-1.5", "+3", "-.5", "-1e-7", "-0", "1=1", " =1", "a", "'=1", "", null,
	}
	const escaped = 17 // the first of the cells
	want := slices.Clone(cells)
	for i := range escaped {
		want[i] = "'" + want[i]
	}
	s := Schema{Fields: make([]Field, len(cells))}
	for i := range cells {
		s.Fields[i].Name = fmt.Sprint("=", i)
	}
	s.Fields[1].Name = "-1"
	for _, format := range []Format{CSV, CSVGzip} {
		for _, s.EscapeFormulas = range []bool{false, true} {
			r := open(t, write(t, t.TempDir(), format, s, batch(0, cells)))
			got, err := read(r, all(r), 10)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			if s.EscapeFormulas {
				same(t, got, emptyIsNull([][]string{want}))
			} else {
				same(t, got, emptyIsNull([][]string{slices.Clone(cells)}))
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
