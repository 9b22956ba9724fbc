package table

import (
	"os"
	"slices"
	"strings"
	"sync"
)

// A buffer holds text.
type buffer struct{ b []byte }

func (b *buffer) Write(p []byte) (int, error) {
	b.b = append(b.b, p...)
	return len(p), nil
}

// textFile is a file that blocks of text are appended to. Their buffers are used
// again.
type textFile struct {
	file  *os.File
	spare sync.Pool // of *buffer
}

func (f *textFile) buffer() *buffer {
	b, _ := f.spare.Get().(*buffer)
	if b == nil {
		b = new(buffer)
	}
	b.b = b.b[:0]
	return b
}

func (f *textFile) Append(block Block) error {
	_, err := f.file.Write(block.buffer.b)
	f.spare.Put(block.buffer)
	return err
}

func (f *textFile) Close() error { return nil }

// A csvWriter writes CSV (RFC 4180, but with LF at the end of lines). NULL is an
// empty cell, the empty text "".
type csvWriter struct {
	textFile
	columns int
}

func createCSV(file *os.File, s Schema) (Writer, error) {
	w := &csvWriter{textFile{file: file}, len(s.Fields)}
	_, err := file.Write(csvHeader(s))
	return w, err
}

// csvHeader puts names with any character that readers take for a separator in
// quotes, since it is in the header line that they look for one.
func csvHeader(s Schema) []byte {
	var line []byte
	for _, f := range s.Fields {
		if strings.ContainsAny(f.Name, ";\t|") {
			line = append(appendQuoted(line, []byte(f.Name)), ',')
		} else {
			line = append(appendCSV(line, []byte(f.Name)), ',')
		}
	}
	line[len(line)-1] = '\n'
	return line
}

func (w *csvWriter) Encode(rows *Rows) (Block, error) {
	out := w.buffer()
	out.b = appendCSVRows(out.b, rows)
	return Block{buffer: out}, nil
}

func appendCSVRows(out []byte, rows *Rows) []byte {
	out = slices.Grow(out, rows.text()+rows.Len()*len(rows.Columns)) // but for quotes
	for i := range rows.Len() {
		start := len(out)
		for c := range rows.Columns {
			if text, null := rows.Columns[c].At(i); !null {
				out = appendCSV(out, text)
			}
			out = append(out, ',')
		}
		if len(out) == start+1 { // a row of one NULL, which as an empty line would be none
			out = append(out[:start], `"",`...)
		}
		out[len(out)-1] = '\n'
	}
	return out
}

// special are the characters that make quotes necessary.
var special = [256]bool{'"': true, ',': true, '\n': true, '\r': true}

// appendCSV appends a cell, in quotes where they are needed.
func appendCSV(out, text []byte) []byte {
	if len(text) == 0 {
		return append(out, `""`...)
	}
	for _, c := range text {
		if special[c] {
			return appendQuoted(out, text)
		}
	}
	return append(out, text...)
}

func appendQuoted(out, text []byte) []byte {
	out = append(out, '"')
	for _, c := range text {
		if c == '"' {
			out = append(out, '"')
		}
		out = append(out, c)
	}
	return append(out, '"')
}
