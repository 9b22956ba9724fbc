//go:build !geosql_loadable

package sqlite

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// inline is GS_INLINE of shim.h: texts shorter than this are not allocated.
const inline = 104

// memory opens a database in memory that the end of the test closes.
func memory(t testing.TB) *Conn {
	t.Helper()
	return openAt(t, ":memory:", ReadWrite)
}

func openAt(t testing.TB, path string, flags OpenFlags) *Conn {
	t.Helper()
	c, err := Open(path, flags)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// register registers a library that the test needs.
func register(t testing.TB, c *Conn, lib Library) {
	t.Helper()
	if err := c.Register(lib); err != nil {
		t.Fatal(err)
	}
}

// function registers a scalar function without flags.
func function(t testing.TB, c *Conn, name string, arity int, call func(*Call) error) {
	t.Helper()
	register(t, c, Library{Scalars: []Scalar{{Name: name, Args: []int{arity}, Call: call}}})
}

// query runs one statement up to its end or first error and returns the rows
// before that.
func query(c *Conn, sql string) (rows [][]any, err error) {
	s, _, err := c.Prepare(sql)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	for {
		more, err := s.Step()
		if err != nil || !more {
			return rows, err
		}
		rows = append(rows, row(s))
	}
}

// row is the current row of a statement.
func row(s *Stmt) []any {
	values := make([]any, s.Columns())
	for i := range values {
		v := s.Column(i)
		values[i] = v.Copy()
	}
	return values
}

// run runs statements to their ends.
func run(t testing.TB, c *Conn, statements ...string) {
	t.Helper()
	for _, sql := range statements {
		if err := c.Exec(sql); err != nil {
			t.Fatalf("%s\n%v", sql, err)
		}
	}
}

// answers checks all rows, printed as fmt does.
func answers(t testing.TB, c *Conn, sql, want string) {
	t.Helper()
	rows, err := query(c, sql)
	if err != nil {
		t.Errorf("%s\n%v", sql, err)
	} else if got := fmt.Sprint(rows); got != want {
		t.Errorf("%s\nanswers %s, want %s", sql, got, want)
	}
}

// fails checks that a statement fails with the extended code and text, and that
// the connection lives on.
func fails(t testing.TB, c *Conn, sql string, code int, text string) {
	t.Helper()
	rows, err := query(c, sql)
	checkError(t, sql, err, code, text)
	if len(rows) > 0 && err == nil {
		t.Errorf("answers %v", rows)
	}
	answers(t, c, `SELECT 1`, `[[1]]`)
}

func checkError(t testing.TB, what string, err error, code int, text string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Errorf("%s\nerror %v, want one of SQLite's with code %d", what, err, code)
		return
	}
	if e.Code != code {
		t.Errorf("%s\ncode %d, want %d (%s)", what, e.Code, code, e.Message)
	}
	if e.Error() != text && (text == "" || !strings.Contains(e.Error(), text)) {
		t.Errorf("%s\nerror %q, want %q", what, e, text)
	}
	if strings.Contains(e.Error(), "\n") {
		t.Errorf("%s\nerror of several lines: %q", what, e)
	}
}

// numbers is a common table expression s of one column i, 1 to n.
func numbers(n int) string {
	return fmt.Sprintf(`WITH RECURSIVE s(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM s WHERE i < %d) `, n)
}
