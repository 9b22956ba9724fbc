package main

import (
	"bufio"
	"io"
	"strings"

	"github.com/geosql/geosql/internal/sqlite"
)

// A statementReader splits a script at the line ends where its statements are
// complete. Each runs as soon as it has arrived, and a long script is neither held
// in memory nor compiled from its full length again and again.
type statementReader struct{ r *bufio.Reader }

func newStatementReader(r io.Reader) *statementReader {
	return &statementReader{bufio.NewReader(r)}
}

// next returns the next statements. At the end it also returns an unfinished one,
// then io.EOF.
func (s *statementReader) next() (string, error) {
	var text strings.Builder
	for {
		line, err := s.r.ReadString('\n')
		text.WriteString(line)
		switch {
		case err == io.EOF && text.Len() > 0:
			return text.String(), nil
		case err != nil:
			return "", err
		case strings.Contains(line, ";") && sqlite.Complete(text.String()):
			return text.String(), nil
		}
	}
}
