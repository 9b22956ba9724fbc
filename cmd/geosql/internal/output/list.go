package output

import (
	"bufio"
	"strings"

	"github.com/geosql/geosql/internal/sqlite"
)

// A listWriter writes the values of a row with | between them.
type listWriter struct {
	w    *bufio.Writer
	look Look
}

func (l *listWriter) Begin([]string) error { return nil }

func (l *listWriter) Row(cells []sqlite.Value) error {
	row := make([]string, len(cells))
	for i := range cells {
		row[i] = strings.ReplaceAll(newCell(&cells[i], l.look).text, "\n", `\n`)
	}
	_, err := l.w.WriteString(strings.Join(row, "|") + "\n")
	return err
}

func (l *listWriter) End(bool) error { return nil }
