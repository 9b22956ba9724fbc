package output

import (
	"bufio"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/internal/sqlite"
)

// A csvWriter writes comma-separated values, quoted as in RFC 4180, with line feeds.
// NULL is empty, an empty text is "".
type csvWriter struct {
	w      *bufio.Writer
	header bool
	line   []byte
}

func (c *csvWriter) Begin(columns []string) error {
	if !c.header {
		return nil
	}
	c.line = c.line[:0]
	for i, name := range columns {
		c.separate(i)
		c.line = dataset.AppendCSV(c.line, []byte(name))
	}
	return c.flushLine()
}

func (c *csvWriter) Row(cells []sqlite.Value) error {
	c.line = c.line[:0]
	for i := range cells {
		c.separate(i)
		switch v := &cells[i]; v.Type() {
		case sqlite.Text:
			c.line = dataset.AppendCSV(c.line, v.Bytes())
		case sqlite.Blob:
			c.line = appendHex(c.line, v.Bytes())
		case sqlite.Integer, sqlite.Float:
			c.line = appendNumber(c.line, v)
		}
	}
	return c.flushLine()
}

func (c *csvWriter) End(bool) error { return nil }

func (c *csvWriter) separate(i int) {
	if i > 0 {
		c.line = append(c.line, ',')
	}
}

func (c *csvWriter) flushLine() error {
	c.line = append(c.line, '\n')
	_, err := c.w.Write(c.line)
	return err
}
