package dataset

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A buffer holds text.
type buffer struct{ b []byte }

func (b *buffer) Write(p []byte) (int, error) {
	b.b = append(b.b, p...)
	return len(p), nil
}

// A textFile is a file to which blocks of text are appended. It reuses their buffers.
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
	b := block.(*buffer)
	_, err := f.file.Write(b.b)
	f.spare.Put(b)
	return err
}

func (f *textFile) Close() error { return nil }

// A csvWriter writes CSV (RFC 4180, but with LF at the end of lines). NULL is written as an
// empty cell, the empty text as "".
type csvWriter struct {
	textFile
	csvText
}

func createCSV(file *os.File, s Schema) (Writer, error) {
	w := &csvWriter{textFile{file: file}, csvText{s.EscapeFormulas}}
	_, err := file.Write(w.headerLine(s.Fields))
	return w, err
}

// A csvText encodes rows as CSV.
type csvText struct{ escapeFormulas bool }

// headerLine returns the header line. It quotes names that contain any character that
// readers might take for the separator, since they look for it in the header line.
func (t csvText) headerLine(fields []Field) []byte {
	var line []byte
	for _, f := range fields {
		name := t.escape([]byte(f.Name))
		if strings.ContainsAny(f.Name, ";\t|") {
			line = append(appendQuoted(line, name), ',')
		} else {
			line = append(AppendCSV(line, name), ',')
		}
	}
	line[len(line)-1] = '\n'
	return line
}

func (w *csvWriter) Encode(rows *Rows) (Block, error) {
	out := w.buffer()
	out.b = w.appendRows(out.b, rows)
	return out, nil
}

// appendRows appends a line for each row.
func (t csvText) appendRows(out []byte, rows *Rows) []byte {
	out = slices.Grow(out, rows.most()+rows.Len()*len(rows.Columns)) // without quotes and apostrophes
	for i := range rows.Len() {
		start := len(out)
		for c := range rows.Columns {
			if text, null := rows.Columns[c].At(i); !null {
				out = AppendCSV(out, t.escape(text))
			}
			out = append(out, ',')
		}
		if len(out) == start+1 { // a row of one NULL: an empty line would not count as a row
			out = append(out[:start], `"",`...)
		}
		out[len(out)-1] = '\n'
	}
	return out
}

// escape returns the text of a cell as it is written, without quotes.
func (t csvText) escape(text []byte) []byte {
	if t.escapeFormulas && isFormula(text) {
		return append([]byte{'\''}, text...)
	}
	return text
}

// isFormula reports whether a spreadsheet program may take a text for a formula: it begins
// like one and is not a number. Some programs skip tabs and line ends before the sign.
func isFormula(text []byte) bool {
	if len(text) == 0 || !strings.ContainsRune("=+-@\t\r\n", rune(text[0])) {
		return false
	}
	_, err := strconv.ParseFloat(string(text), 64)
	return err != nil || len(bytes.Trim(text, "+-.0123456789eE")) > 0 // such as -Inf
}

// special holds the characters that make quotes necessary.
var special = [256]bool{'"': true, ',': true, '\n': true, '\r': true}

// AppendCSV appends a cell that is not NULL, in quotes if it is empty or needs them.
func AppendCSV(out, text []byte) []byte {
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
