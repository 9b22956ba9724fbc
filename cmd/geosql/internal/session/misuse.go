package session

import (
	"errors"
	"fmt"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sqlitefn"
)

// Misuses returns the misuses of the statements of a text. None is run.
func (s *Session) Misuses(text string) (list []sqlitefn.Misuse, err error) {
	for first := true; ; first = false {
		stmt, sql, tail, err := s.prepare(text)
		switch {
		case err != nil:
			return nil, err
		case stmt == nil && first:
			return nil, errors.New("the SQL holds no statement")
		case stmt == nil:
			return list, nil
		}
		stmt.Close()
		more, err := s.meter.Misuses(sql)
		if err != nil {
			return nil, err
		}
		list, text = append(list, more...), tail
	}
}

// checkSealed returns the statement to run in place of a compiled one with the text sql. In a sealed
// database that is an error if the statement uses a sealed value as if it were the plain one; with
// an epsilon, aggregates over sealed values are made private. It closes a statement that is not to
// be run.
func (s *Session) checkSealed(stmt *sqlite.Stmt, sql string) (*sqlite.Stmt, string, error) {
	private, err := s.privateText(sql)
	if err == nil && private == sql {
		return stmt, sql, nil
	}
	stmt.Close()
	if err != nil {
		return nil, "", err
	}
	stmt, _, err = s.Conn.Prepare(private)
	return stmt, private, err
}

// privateText returns the text of a statement that is to run in place of another.
func (s *Session) privateText(sql string) (string, error) {
	sealed, err := s.meter.HasSealed()
	if !sealed || err != nil {
		return sql, err
	}
	if s.Epsilon != "" {
		return s.meter.Private(sql, s.Epsilon)
	}
	list, err := s.meter.Misuses(sql)
	switch {
	case err != nil:
		return "", err
	case len(list) == 0:
		return sql, nil
	case len(list) == 1:
		return "", list[0]
	}
	return "", fmt.Errorf("%w (and %s, which geosql check shows)", list[0], more(len(list)-1))
}

// more returns the number of misuses besides one.
func more(n int) string {
	if n == 1 {
		return "1 more"
	}
	return fmt.Sprintf("%d more", n)
}

// NeedSealed refuses an epsilon for a database that it has no use for.
func (s *Session) NeedSealed() error {
	sealed, err := s.meter.HasSealed()
	if err == nil && !sealed && s.Epsilon != "" {
		err = errors.New("-epsilon is for sealed databases, and this one has no sealed column")
	}
	return err
}
