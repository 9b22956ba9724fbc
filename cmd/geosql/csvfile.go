package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// headerMax bounds the part of a header line that the separator is found from.
const headerMax = 1 << 16

// A csvFile is an input file that stands behind its header line.
type csvFile struct {
	path   string
	file   *os.File
	reader *csv.Reader
	names  []string // of the columns
}

// openCSV opens a file of comma-, semicolon- or tab-separated values, which may
// be compressed with gzip, and reads its header line.
func openCSV(path string) (*csvFile, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	f := &csvFile{path: path, file: file}
	if err := f.start(); err != nil {
		file.Close()
		return nil, err
	}
	return f, nil
}

func (f *csvFile) close() { f.file.Close() }

func (f *csvFile) start() error {
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file (it is read twice)", f.path)
	}
	text, err := plain(f.file)
	if err != nil {
		return f.wrap(err)
	}
	f.reader = csv.NewReader(text)
	f.reader.Comma = separator(text)
	f.reader.ReuseRecord = true
	header, err := f.reader.Read()
	if err == io.EOF {
		return fmt.Errorf("%s has no header line", f.path)
	}
	if err != nil {
		return f.wrap(err)
	}
	f.names, err = columnHeads(header)
	return f.wrap(err)
}

// plain decompresses gzip and drops a byte order mark.
func plain(file io.Reader) (*bufio.Reader, error) {
	text := bufio.NewReaderSize(file, headerMax)
	if magic, _ := text.Peek(2); string(magic) == "\x1f\x8b" {
		unzipped, err := gzip.NewReader(text)
		if err != nil {
			return nil, err
		}
		text = bufio.NewReaderSize(unzipped, headerMax)
	}
	const mark = "\uFEFF"
	if start, _ := text.Peek(len(mark)); string(start) == mark {
		text.Discard(len(mark))
	}
	return text, nil
}

// separator is the one of the separators that stands most often outside quotes
// in the first line; a comma where there is none.
func separator(text *bufio.Reader) rune {
	head, _ := text.Peek(headerMax)
	counts := map[byte]int{}
	quoted := false
	for _, c := range head {
		if c == '\n' && !quoted {
			break
		}
		if c == '"' {
			quoted = !quoted
		} else if !quoted {
			counts[c]++
		}
	}
	best := byte(',')
	for _, c := range []byte(";\t") {
		if counts[c] > counts[best] {
			best = c
		}
	}
	return rune(best)
}

// columnHeads trims the names of the columns and refuses those that a table
// cannot have.
func columnHeads(header []string) ([]string, error) {
	names := make([]string, len(header))
	seen := make(map[string]bool)
	for i, cell := range header {
		name := strings.TrimSpace(cell)
		key := strings.ToLower(name)
		switch {
		case name == "":
			return nil, fmt.Errorf("column %d has no name in the header line", i+1)
		case strings.IndexByte(name, 0) >= 0:
			return nil, fmt.Errorf("the name of column %d holds a NUL character (UTF-16?)", i+1)
		case seen[key]:
			return nil, fmt.Errorf("two columns have the name %s", name)
		}
		seen[key] = true
		names[i] = name
	}
	return names, nil
}

// each calls row for every row of the file and returns their number. Cells are
// valid only during the call; all rows are as long as the header.
func (f *csvFile) each(ctx context.Context, what string, row func(cells []string) error) (rows int64, err error) {
	progress := newProgress(what, f.file)
	defer progress.clear()
	for ; ; rows++ {
		if rows%1024 == 0 {
			if ctx.Err() != nil {
				return rows, context.Cause(ctx)
			}
			progress.show(rows)
		}
		cells, err := f.reader.Read()
		if err == io.EOF {
			return rows, nil
		}
		if errors.Is(err, csv.ErrFieldCount) {
			line, _ := f.reader.FieldPos(0)
			return rows, fmt.Errorf("%s: line %d has %d fields, the header has %d", f.path, line, len(cells), len(f.names))
		}
		if err == nil {
			err = row(cells)
		}
		if err != nil {
			return rows, f.wrap(err)
		}
	}
}

// wrap puts the file's name in front of an error, and the line if it is one of
// the format.
func (f *csvFile) wrap(err error) error {
	var parse *csv.ParseError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &parse):
		return fmt.Errorf("%s: line %d: %w", f.path, parse.Line, parse.Err)
	default:
		return fmt.Errorf("%s: %w", f.path, err)
	}
}
