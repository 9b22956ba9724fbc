//go:build !geosql_loadable

package sqlite

import (
	"errors"
	"fmt"
	"testing"
)

// testCursor is a cursor of functions; each may be missing.
type testCursor struct {
	filter func(*Call, uint) (Rows, error)
	next   func(*Call) (Rows, error)
	close  func()
}

func (c *testCursor) Filter(call *Call, used uint) (Rows, error) {
	if c.filter == nil {
		return NoRow, nil
	}
	return c.filter(call, used)
}

func (c *testCursor) Next(call *Call) (Rows, error) {
	if c.next == nil {
		return NoRow, nil
	}
	return c.next(call)
}

func (c *testCursor) Close() {
	if c.close != nil {
		c.close()
	}
}

// cursors counts the events of the cursors of the tables upto(last, first),
// numbers up to last, and pair(a, b), one row or none.
type cursors struct {
	opened, filtered, closed int
	used                     uint // of the last filter
}

func (k *cursors) library() Library {
	return Library{Tables: []Table{
		{
			Name: "upto", Columns: []string{"i INTEGER", "text"}, Hidden: []string{"last", "first"}, Required: 1,
			Open: func() Cursor {
				k.opened++
				var i, last int64
				show := func(c *Call) (Rows, error) {
					if i > last {
						return NoRow, nil
					}
					c.ResultInt(0, i)
					c.ResultString(1, fmt.Sprint("number ", i))
					return OneRow, nil
				}
				return &testCursor{
					filter: func(c *Call, used uint) (Rows, error) {
						k.filtered++
						k.used = used
						if c.Len() < 1 {
							return NoRow, errors.New("upto: last is missing")
						}
						i, last = 1, c.Arg(0).Int()
						if c.Len() > 1 {
							i = c.Arg(1).Int()
						}
						return show(c)
					},
					next:  func(c *Call) (Rows, error) { i++; return show(c) },
					close: func() { k.closed++ },
				}
			},
		},
		{
			Name: "pair", Columns: []string{"sum", "product"}, Hidden: []string{"a", "b"}, Required: 2, SingleRow: true,
			Open: func() Cursor {
				k.opened++
				return &testCursor{
					filter: func(c *Call, used uint) (Rows, error) {
						k.filtered++
						k.used = used
						if c.Len() < 2 {
							return NoRow, codedError(CodeDenied)
						}
						a, b := c.Arg(0).Int(), c.Arg(1).Int()
						if a < 0 {
							return NoRow, nil
						}
						c.ResultInt(0, a+b)
						if b > 0 {
							c.ResultInt(1, a*b)
						}
						return LastRow, nil
					},
					next:  func(*Call) (Rows, error) { return NoRow, errors.New("asked for a second row") },
					close: func() { k.closed++ },
				}
			},
		},
	}}
}

func tabled(t *testing.T) (*Conn, *cursors) {
	t.Helper()
	c, k := memory(t), new(cursors)
	register(t, c, k.library())
	t.Cleanup(func() {
		if k.opened != k.closed {
			t.Errorf("%d cursors opened and %d closed", k.opened, k.closed)
		}
		checkNothingLeft(t)
	})
	return c, k
}

func (k *cursors) filters(t *testing.T, want int) {
	t.Helper()
	if k.filtered != want {
		t.Errorf("filtered %d times, want %d", k.filtered, want)
	}
	k.filtered = 0
}

func TestTableRows(t *testing.T) {
	c, k := tabled(t)
	answers(t, c, `SELECT * FROM upto(3)`, `[[1 number 1] [2 number 2] [3 number 3]]`)
	answers(t, c, `SELECT i FROM upto(4, 3)`, `[[3] [4]]`)
	answers(t, c, `SELECT i FROM upto WHERE first = 3 AND last = 4`, `[[3] [4]]`)
	answers(t, c, `SELECT i FROM upto(0)`, `[]`)
	answers(t, c, `SELECT rowid, i FROM upto(3, 2)`, `[[0 2] [1 3]]`)
	answers(t, c, `SELECT count(*), sum(i) FROM upto(10000)`, `[[10000 50005000]]`)
	k.filters(t, 6)
	answers(t, c, `SELECT * FROM pair(3, 4)`, `[[7 12]]`)
	answers(t, c, `SELECT * FROM pair(3, 0)`, `[[3 <nil>]]`)
	answers(t, c, `SELECT * FROM pair(-1, 0)`, `[]`)
	answers(t, c, `SELECT sum, sum, product FROM (SELECT * FROM pair(3, 4))`, `[[7 7 12]]`)
	k.filters(t, 4)
	answers(t, c, `SELECT last, first, a FROM upto(1), pair(1, 2)`, `[[<nil> <nil> <nil>]]`)
}

func TestTableArguments(t *testing.T) {
	c, _ := tabled(t)
	fails(t, c, `SELECT * FROM upto`, CodeError, "upto: last is missing")
	fails(t, c, `SELECT * FROM upto()`, CodeError, "upto: last is missing")
	fails(t, c, `SELECT * FROM upto WHERE first = 1`, CodeError, "upto: last is missing")
	fails(t, c, `SELECT * FROM pair`, CodeDenied, "coded 279")
	fails(t, c, `SELECT * FROM pair(1)`, CodeDenied, "coded 279")
	fails(t, c, `SELECT * FROM pair WHERE a > 1 AND b = 1`, CodeDenied, "coded 279")
	fails(t, c, `SELECT * FROM pair(1, 2, 3)`, CodeError, "too many arguments on pair()")
	answers(t, c, `SELECT sum FROM pair WHERE a IN (1, 2) AND b = 5`, `[[6] [7]]`)
}

func TestTableUsedColumns(t *testing.T) {
	c, k := tabled(t)
	for sql, want := range map[string]uint{
		`SELECT sum FROM pair(1, 2)`: 1, `SELECT product FROM pair(1, 2)`: 2, `SELECT * FROM pair(1, 2)`: 3, `SELECT 1 FROM pair(1, 2)`: 0,
	} {
		run(t, c, sql)
		if got := k.used & 3; got != want {
			t.Errorf("%s: uses columns %b, want %b", sql, got, want)
		}
	}
}

func TestTableInJoins(t *testing.T) {
	c, k := tabled(t)
	run(t, c, `CREATE TABLE t(x)`, `INSERT INTO t VALUES (1), (-1), (2)`)
	answers(t, c, `SELECT x, sum FROM t, pair(x, 10)`, `[[1 11] [2 12]]`)
	answers(t, c, `SELECT x, sum FROM pair(x, 10), t`, `[[1 11] [2 12]]`)
	answers(t, c, `SELECT x, sum FROM t LEFT JOIN pair(x, 10)`, `[[1 11] [-1 <nil>] [2 12]]`)
	answers(t, c, `SELECT x, sum FROM t LEFT JOIN pair(x, 10) ON sum > 11`, `[[1 <nil>] [-1 <nil>] [2 12]]`)
	k.filters(t, 12)
	answers(t, c, `SELECT x, (SELECT sum FROM pair(x, 10)) FROM t`, `[[1 11] [-1 <nil>] [2 12]]`)
	answers(t, c, `SELECT x FROM t WHERE EXISTS (SELECT 1 FROM pair(x, 10))`, `[[1] [2]]`)
	k.filters(t, 6)
	answers(t, c, `SELECT x, i FROM t JOIN upto(x)`, `[[1 1] [2 1] [2 2]]`)
	answers(t, c, `SELECT sum FROM upto(3), pair(i, i) WHERE sum = 4 OR product = 9`, `[[4] [6]]`)
	answers(t, c, `SELECT sum FROM pair(3, 4), t`, `[[7] [7] [7]]`)
	answers(t, c, `SELECT x, i FROM upto(2, x), t WHERE x > 0`, `[[1 1] [1 2] [2 2]]`) // an optional argument waits for t too
}

func TestCursorsCloseEarly(t *testing.T) {
	c, k := tabled(t)
	answers(t, c, `SELECT i FROM upto(1000000) LIMIT 2`, `[[1] [2]]`)
	s := prepare(t, c, `SELECT a.i, b.i FROM upto(3) a, upto(1000000) b`)
	for _, end := range []func(){s.Reset, s.Close} {
		if more, err := s.Step(); err != nil || !more {
			t.Fatal(more, err)
		}
		if k.opened-k.closed != 2 {
			t.Errorf("%d cursors are open, want 2", k.opened-k.closed)
		}
		end()
		if k.opened != k.closed {
			t.Errorf("%d cursors stay open", k.opened-k.closed)
		}
	}
	fails(t, c, `SELECT i, json(CASE WHEN i > 2 THEN '[' ELSE '1' END) FROM upto(9)`, CodeError, "malformed JSON")
}

// The tables and a function of one library can share a name, as the two forms of
// one function do.
func TestTableAndScalarOfOneName(t *testing.T) {
	c := memory(t)
	register(t, c, Library{
		Scalars: []Scalar{{Name: "both", Args: []int{1}, Call: echo}},
		Tables: []Table{{Name: "both", Columns: []string{"v"}, Hidden: []string{"arg"}, Required: 1, Open: func() Cursor {
			return &testCursor{filter: func(c *Call, _ uint) (Rows, error) { return LastRow, echo(c) }}
		}}},
	})
	answers(t, c, `SELECT both(1), v FROM both('x')`, `[[1 x]]`)
}
