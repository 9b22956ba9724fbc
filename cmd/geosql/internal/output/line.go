package output

import (
	"bufio"
	"strings"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/internal/sqlite"
)

// A lineWriter writes a line per column, name = value, for people to read. An empty line stands
// between rows. A text of several lines goes on below its beginning.
type lineWriter struct {
	w       *bufio.Writer
	look    Look
	started bool // an earlier row is followed by an empty line
	names   []string
	margin  string
}

func (l *lineWriter) Begin(columns []string) error {
	l.names = make([]string, len(columns))
	width := 0
	for i, name := range columns {
		l.names[i] = printable.Text(name)
		width = max(width, cli.Width(l.names[i]))
	}
	for i, name := range l.names {
		l.names[i] = strings.Repeat(" ", width-cli.Width(name)) + name + " = "
	}
	l.margin = strings.Repeat(" ", width+len(" = "))
	return nil
}

func (l *lineWriter) Row(cells []sqlite.Value) error {
	row := make([]cell, len(cells))
	for i := range cells {
		row[i] = newCell(&cells[i], l.look)
	}
	return l.writeRow(row)
}

// writeRow writes a row. Errors of the buffered writer stay until the last write.
func (l *lineWriter) writeRow(row []cell) error {
	if l.started {
		l.w.WriteByte('\n')
	}
	l.started = true
	for i, c := range row {
		begin := l.names[i]
		for line := range strings.SplitSeq(c.text, "\n") {
			l.w.WriteString(strings.TrimRight(begin+line, " "))
			l.w.WriteByte('\n')
			begin = l.margin
		}
	}
	_, err := l.w.Write(nil)
	return err
}

func (l *lineWriter) End(bool) error { return nil }
