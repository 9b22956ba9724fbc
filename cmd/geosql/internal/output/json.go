package output

import (
	"bufio"
	"math"
	"unicode/utf8"

	"github.com/geosql/geosql/internal/sqlite"
)

// A jsonWriter writes an array of objects per statement, a row per line. It does not
// close an array that an error cut off, which must not read as a whole answer.
type jsonWriter struct {
	w     *bufio.Writer
	names [][]byte // quoted, with the colon
	line  []byte   // the row to be written once it is known whether another follows
}

func (j *jsonWriter) Begin(columns []string) error {
	j.names = j.names[:0]
	for _, name := range columns {
		j.names = append(j.names, append(appendJSON(nil, []byte(name)), ':'))
	}
	j.line = append(j.line[:0], '[')
	return nil
}

func (j *jsonWriter) Row(cells []sqlite.Value) error {
	if len(j.line) > 1 {
		j.line = append(j.line, ",\n"...)
		if _, err := j.w.Write(j.line); err != nil {
			return err
		}
		j.line = j.line[:0]
	}
	for i := range cells {
		j.line = append(j.line, "{,"[min(i, 1)])
		j.line = append(j.line, j.names[i]...)
		j.line = appendJSONValue(j.line, &cells[i])
	}
	j.line = append(j.line, '}')
	return nil
}

func (j *jsonWriter) End(whole bool) error {
	if whole {
		j.line = append(j.line, ']')
	}
	j.line = append(j.line, '\n')
	_, err := j.w.Write(j.line)
	return err
}

func appendJSONValue(b []byte, v *sqlite.Value) []byte {
	switch v.Type() {
	case sqlite.Integer:
		return appendNumber(b, v)
	case sqlite.Float:
		if math.IsInf(v.Float(), 0) { // JSON has no name for it
			return append(b, "null"...)
		}
		return appendNumber(b, v)
	case sqlite.Text:
		return appendJSON(b, v.Bytes())
	case sqlite.Blob:
		return append(appendHex(append(b, '"'), v.Bytes()), '"')
	default:
		return append(b, "null"...)
	}
}

// appendJSON appends text as a JSON string. Bytes that are not UTF-8 become U+FFFD.
func appendJSON(b, text []byte) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r == '\t':
			b = append(b, `\t`...)
		case r < ' ':
			b = append(b, `\u00`...)
			b = append(b, hex[r>>4], hex[r&15])
		default:
			b = utf8.AppendRune(b, r)
		}
		text = text[n:]
	}
	return append(b, '"')
}
