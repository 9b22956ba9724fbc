package main

import (
	"errors"
	"fmt"

	"github.com/geosql/geosql/internal/sqlite"
)

// checkSealed returns the statement to run in place of a compiled one, whose text is sql. In a sealed
// database that is an error if the statement uses a sealed value as if it were what it hides; with
// an epsilon, aggregates over sealed values are made private. It closes a statement that is not to
// be run.
func (s *session) checkSealed(stmt *sqlite.Stmt, sql string) (*sqlite.Stmt, string, error) {
	private, err := s.privateText(sql)
	if err == nil && private == sql {
		return stmt, sql, nil
	}
	stmt.Close()
	if err != nil {
		return nil, "", err
	}
	stmt, _, err = s.conn.Prepare(private)
	return stmt, private, err
}

// privateText returns the text of a statement that is to run in place of another.
func (s *session) privateText(sql string) (string, error) {
	sealed, err := s.meter.HasSealed()
	if !sealed || err != nil {
		return sql, err
	}
	if s.epsilon != "" {
		return s.meter.Private(sql, s.epsilon)
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

// more returns how many misuses there are besides one.
func more(n int) string {
	if n == 1 {
		return "1 more"
	}
	return fmt.Sprintf("%d more", n)
}

// needSealed refuses an epsilon for a database that it has no use for.
func (s *session) needSealed() error {
	sealed, err := s.meter.HasSealed()
	if err == nil && !sealed && s.epsilon != "" {
		err = errors.New("-epsilon is for sealed databases, and this one has no sealed column")
	}
	return err
}
