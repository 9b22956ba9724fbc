package dataset

import (
	"bytes"
	"encoding/csv"
	"io"
	"slices"
	"strings"
	"testing"
)

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
		if !slices.EqualFunc(got, want, slices.Equal[[]string]) {
			t.Fatalf("%q, want %q", got, want)
		}
	})
}
