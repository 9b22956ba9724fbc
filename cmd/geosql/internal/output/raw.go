package output

import (
	"bufio"
	"errors"

	"github.com/geosql/geosql/internal/sqlite"
)

// A rawWriter writes the one value of a statement: a text or a number on a line, and of a blob its bytes
// and nothing else. It writes the first row as it comes, since that may have been paid for.
type rawWriter struct {
	w    *bufio.Writer
	some bool
}

func (r *rawWriter) Begin([]string) error {
	r.some = false
	return nil
}

func (r *rawWriter) Row(cells []sqlite.Value) error {
	if r.some {
		return errors.New("the answer has more than one row, and --raw prints one value")
	}
	r.some = true
	v := &cells[0]
	var line []byte
	switch v.Type() {
	case sqlite.Blob:
		_, err := r.w.Write(v.Bytes())
		return err
	case sqlite.Text:
		line = v.Bytes()
	case sqlite.Integer, sqlite.Float:
		line = appendNumber(nil, v)
	}
	if _, err := r.w.Write(line); err != nil {
		return err
	}
	return r.w.WriteByte('\n')
}

func (r *rawWriter) End(bool) error { return nil }
