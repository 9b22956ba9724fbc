package session

import (
	"bufio"
	"io"
	"strings"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/internal/sqltext"
)

// A statementReader splits a script at the line ends where its statements are
// complete. Each runs as soon as it has arrived, and a long script is neither held
// in memory nor read from its beginning again and again.
type statementReader struct{ r *bufio.Reader }

func NewStatementReader(r io.Reader) *statementReader {
	return &statementReader{bufio.NewReader(r)}
}

// Next returns the next statements. At the end it also returns an unfinished one,
// then io.EOF.
func (s *statementReader) Next() (string, error) {
	var text strings.Builder
	var end sqltext.Script
	for {
		line, err := s.r.ReadString('\n')
		text.WriteString(line)
		end.Read(line)
		switch {
		case err == io.EOF && text.Len() > 0:
			return text.String(), nil
		case err != nil:
			return "", err
		case end.Complete():
			return text.String(), nil
		}
	}
}

// prepare compiles the first statement of a text, and returns its text and the text behind it. The statement is nil if there
// is none.
func (s *Session) prepare(text string) (stmt *sqlite.Stmt, sql, tail string, err error) {
	before, first, tail := sqltext.SQLite.Split(text, sqltext.Budget{}) // SQLite copies all that it is given
	sql = text[len(before):]
	sql = sql[:min(len(first.SQL)+1, len(sql))] // with its semicolon
	stmt, _, err = s.Conn.Prepare(sql)
	return stmt, sql, tail, err
}
