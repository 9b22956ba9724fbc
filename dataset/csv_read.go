package dataset

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/geosql/geosql/internal/printable"
)

// A csvReader reads CSV (RFC 4180). It does not use encoding/csv, which allocates for
// every row.
type csvReader struct {
	ctx       context.Context
	path      string
	file      *os.File
	size      int64
	fields    []Field
	noHeader  bool // the first line is a row
	separator byte
	split     splitter
	cells     cells
	to        []int32  // for each column of the file: its place in a batch, or -1
	chosen    int      // number of columns of a batch
	row       int64    // number of the next row
	read      int64    // number of bytes read from the file
	part      *csvPart // that is read; nil for the whole file
}

// OpenCSV opens a CSV file as [Open] does, whatever its extension.
func OpenCSV(ctx context.Context, path string, options ...Option) (Reader, error) {
	file, size, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	r := &csvReader{ctx: ctx, path: path, file: file, size: size, noHeader: slices.Contains(options, NoHeader)}
	if r.fields, err = r.readHeader(); err != nil {
		file.Close()
		return nil, wrap(path, err)
	}
	return r, nil
}

// A CSVForm says how a CSV file is written.
type CSVForm struct {
	Separator byte // of cells: a comma, a semicolon or a tab
	Header    bool // the first line names the columns
}

// CSVFormOf returns how the file of a reader is written. It reports false if that is not CSV.
func CSVFormOf(r Reader) (CSVForm, bool) {
	c, ok := r.(*csvReader)
	if !ok {
		return CSVForm{}, false
	}
	return CSVForm{c.separator, !c.noHeader}, true
}

// A HeaderError is the error about a first line that does not name the columns. Perhaps the
// file has no header line.
type HeaderError struct{ reason string }

func (e *HeaderError) Error() string { return e.reason }

func headerErrorf(format string, args ...any) error {
	return &HeaderError{fmt.Sprintf(format, args...)}
}

func (r *csvReader) Fields() []Field { return r.fields }

func (r *csvReader) Typed(int) bool { return false }

func (r *csvReader) Close() error { return r.file.Close() }

func (r *csvReader) Progress() float64 {
	size := r.size
	if r.part != nil {
		size = r.part.end - r.part.start
	}
	return float64(r.read) / float64(max(size, 1))
}

func (r *csvReader) Start(columns []int) (err error) {
	if r.to, err = places(columns, len(r.fields)); err != nil {
		return wrap(r.path, err)
	}
	fields, err := r.readHeader()
	if err == nil && !slices.Equal(fields, r.fields) {
		err = fmt.Errorf("the %s has changed", r.firstLine())
	}
	r.chosen, r.row = len(columns), 0
	if r.part != nil && err == nil {
		err = r.startPart()
	}
	return wrap(r.path, err)
}

// startPart goes to the first line of the part.
func (r *csvReader) startPart() error {
	if _, err := r.file.Seek(r.part.start, io.SeekStart); err != nil {
		return err
	}
	r.read = 0
	r.split.reset(io.LimitReader(counter{r}, r.part.end-r.part.start))
	r.split.lines = r.part.lines
	return nil
}

func (r *csvReader) Read(rows *Rows, max int) error {
	rows.Reset(r.row, r.chosen)
	if r.ctx.Err() != nil {
		return context.Cause(r.ctx)
	}
	for n := 0; n < max && !rows.Full(); n++ {
		record, err := r.split.next()
		if err == io.EOF && n > 0 {
			return nil
		}
		if err == io.EOF {
			return err
		}
		if err == nil {
			err = r.add(rows, record)
		}
		if err != nil {
			return r.atLatestRecord(err)
		}
		r.row++
	}
	return nil
}

// atLatestRecord adds the line of the latest record to an error.
func (r *csvReader) atLatestRecord(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return wrap(r.path, err)
	}
	return fmt.Errorf("%s: line %d: %w", r.path, r.split.line, err)
}

// add adds a record's cells to the batch.
func (r *csvReader) add(rows *Rows, record []byte) error {
	rows.lines = append(rows.lines, r.split.line)
	var cells int
	var err error
	if r.split.quoted {
		cells, err = r.addQuoted(rows, record)
	} else {
		cells = r.addPlain(rows, record)
	}
	if err == nil && cells != len(r.to) {
		err = fmt.Errorf("the row has %d cells, but the %s has %d", cells, r.firstLine(), len(r.to))
	}
	return err
}

// firstLine describes the first line.
func (r *csvReader) firstLine() string {
	if r.noHeader {
		return "first row"
	}
	return "header line"
}

// addPlain adds the cells of a record without quotes, and returns their number.
func (r *csvReader) addPlain(rows *Rows, record []byte) int {
	start, n := 0, 0
	for i, c := range record {
		if c == r.separator {
			r.addCell(rows, n, record[start:i])
			start = i + 1
			n++
		}
	}
	r.addCell(rows, n, record[start:])
	return n + 1
}

// addQuoted adds the cells of a record with quotes, and returns their number.
func (r *csvReader) addQuoted(rows *Rows, record []byte) (n int, err error) {
	for r.cells.start(record, r.separator); !r.cells.end; n++ {
		cell, err := r.cells.next()
		if err != nil {
			return n, err
		}
		r.addCell(rows, n, cell)
	}
	return n, nil
}

// addCell adds cell n of a record, which may have too many, if its column is chosen.
func (r *csvReader) addCell(rows *Rows, n int, cell []byte) {
	if n >= len(r.to) || r.to[n] < 0 {
		return
	}
	if column := &rows.Columns[r.to[n]]; len(cell) == 0 {
		column.AppendNull()
	} else {
		column.Append(cell)
	}
}

// readHeader goes to the first row and returns the names of the columns. They stand in the
// header line, or else are c1, c2, ..
func (r *csvReader) readHeader() ([]Field, error) {
	record, err := r.firstRecord()
	switch {
	case err == io.EOF && r.noHeader:
		return nil, errors.New("the file has no rows")
	case err == io.EOF:
		return nil, errors.New("there is no header line")
	case err != nil:
		return nil, err
	}
	if !r.noHeader {
		r.separator = separator(record)
		return r.parseHeader(record)
	}
	if r.separator, err = r.rowSeparator(record); err != nil {
		return nil, err
	}
	if record, err = r.firstRecord(); err != nil {
		return nil, err
	}
	fields, err := r.numberColumns(record)
	if err == nil {
		err = r.rewind()
	}
	return fields, err
}

// rewind seeks to the start of the file.
func (r *csvReader) rewind() error {
	if _, err := r.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	r.read = 0
	text, err := PlainText(counter{r})
	if err != nil {
		return err
	}
	r.split.reset(text)
	return nil
}

// firstRecord seeks to the start of the file and reads the first record. Its error is io.EOF
// if there is none.
func (r *csvReader) firstRecord() ([]byte, error) {
	if err := r.rewind(); err != nil {
		return nil, err
	}
	return r.split.next()
}

// A counter reads the file and counts the bytes.
type counter struct{ r *csvReader }

func (c counter) Read(p []byte) (int, error) {
	n, err := c.r.file.Read(p)
	c.r.read += int64(n)
	return n, err
}

// PlainText returns the text of a file, which may be compressed by gzip, without a byte
// order mark.
func PlainText(file io.Reader) (io.Reader, error) {
	text := bufio.NewReaderSize(file, 1<<16)
	if magic, _ := text.Peek(2); string(magic) == "\x1f\x8b" {
		unzipped, err := gzip.NewReader(text)
		if err != nil {
			return nil, err
		}
		text = bufio.NewReaderSize(unzipped, 1<<16)
	}
	const mark = "\uFEFF"
	if start, _ := text.Peek(len(mark)); string(start) == mark {
		text.Discard(len(mark))
	}
	return text, nil
}

// countUnquoted counts the bytes of a record that stand outside quotes.
func countUnquoted(record []byte) (counts [256]int) {
	quoted := false
	for _, c := range record {
		if c == '"' {
			quoted = !quoted
		} else if !quoted {
			counts[c]++
		}
	}
	return counts
}

// separator returns the separator that is most frequent outside quotes in the header
// line, or a comma if there is none.
func separator(header []byte) byte {
	counts := countUnquoted(header)
	best := byte(',')
	for _, c := range []byte(";\t") {
		if counts[c] > counts[best] {
			best = c
		}
	}
	return best
}

// rowSeparator returns the separator of a file without a header line, after the first
// record was read. Numbers may have decimal commas, so that a tab or semicolon counts before
// a comma if the first records have equally many of it.
func (r *csvReader) rowSeparator(first []byte) (byte, error) {
	const records = 20
	counts := countUnquoted(first)
	fallback := separator(first)
	same := [256]bool{'\t': true, ';': true}
	for range records - 1 {
		record, err := r.split.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return 0, fmt.Errorf("line %d: %w", r.split.line, err)
		}
		more := countUnquoted(record)
		for c := range same {
			same[c] = same[c] && more[c] == counts[c]
		}
	}
	for _, c := range []byte("\t;") {
		if same[c] && counts[c] > 0 {
			return c, nil
		}
	}
	return fallback, nil
}

// numberColumns returns the columns c1, c2, .. for the cells of a record.
func (r *csvReader) numberColumns(record []byte) ([]Field, error) {
	var fields []Field
	for r.cells.start(record, r.separator); !r.cells.end; {
		if _, err := r.cells.next(); err != nil {
			return nil, fmt.Errorf("line %d: %w", r.split.line, err)
		}
		fields = append(fields, Field{Name: fmt.Sprintf("c%d", len(fields)+1)})
	}
	return fields, nil
}

// parseHeader reads the names of the columns from the header line.
func (r *csvReader) parseHeader(header []byte) ([]Field, error) {
	var fields []Field
	seen := make(map[string]bool)
	for r.cells.start(header, r.separator); !r.cells.end; {
		cell, err := r.cells.next()
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", r.split.line, err)
		}
		name := strings.TrimSpace(string(cell))
		key := strings.ToLower(name)
		switch {
		case name == "":
			return nil, headerErrorf("column %d has no name in the header line", len(fields)+1)
		case strings.IndexByte(name, 0) >= 0:
			return nil, fmt.Errorf("the name of column %d contains a NUL character (is the file UTF-16?)", len(fields)+1)
		case strings.Contains(name, "\r"):
			return nil, errors.New("the header line contains a CR: lines must end with LF or CRLF")
		case seen[key]:
			return nil, headerErrorf("two columns have the name %s", printable.Text(name))
		}
		seen[key] = true
		fields = append(fields, Field{Name: name})
	}
	return fields, nil
}
