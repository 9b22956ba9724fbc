//go:build !geosql_loadable

package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// frameRefusal is the error of the function trail where it would get a second row
// before it answered the first, or lose one.
const frameRefusal = "trail: takes one row at a time: write OVER (PARTITION BY ... ORDER BY ... ROWS UNBOUNDED PRECEDING)"

// testPartition is a partition of functions; each may be missing.
type testPartition struct {
	row func(*Call) error
	end func()
}

func (p *testPartition) Row(c *Call) error {
	if p.row == nil {
		return nil
	}
	return p.row(c)
}

func (p *testPartition) End() {
	if p.end != nil {
		p.end()
	}
}

// trails counts the partitions of the window function trail, which answers with
// all rows that its partition has seen, and fails for the text 'no'.
type trails struct{ begun, ended, rows int }

func (w *trails) library() Library {
	return Library{Windows: []Window{{Name: "trail", Args: []int{1, 4}, New: func() Partition {
		w.begun++
		var seen []string
		ended := false
		return &testPartition{
			row: func(c *Call) error {
				if ended {
					return errors.New("trail: a row after the end")
				}
				w.rows++
				var row []string
				for i := range c.Len() {
					row = append(row, fmt.Sprint(c.Arg(i).Copy()))
				}
				seen = append(seen, strings.Join(row, "/"))
				if row[0] == "no" {
					return codedError(CodeDenied)
				}
				c.ResultString(0, strings.Join(seen, "+"))
				return nil
			},
			end: func() {
				if ended {
					panic("ended twice")
				}
				ended = true
				w.ended++
			},
		}
	}}}}
}

// windowed has the function trail and a table t of rows i = 1 to 5: three of a
// partition p, the last two with the same g, then two of another.
func windowed(t *testing.T) (*Conn, *trails) {
	t.Helper()
	c, w := memory(t), new(trails)
	register(t, c, w.library())
	run(t, c, `CREATE TABLE t(i INTEGER PRIMARY KEY, p, g)`,
		`INSERT INTO t VALUES (1, 'a', 1), (2, 'a', 2), (3, 'a', 2), (4, 'b', 1), (5, 'b', 2)`)
	t.Cleanup(func() {
		if w.begun != w.ended {
			t.Errorf("%d partitions begun and %d ended", w.begun, w.ended)
		}
		checkNothingLeft(t)
	})
	return c, w
}

// inOrder is the window that the function is made for.
const inOrder = `OVER (PARTITION BY p ORDER BY i ROWS UNBOUNDED PRECEDING)`

func TestWindow(t *testing.T) {
	c, w := windowed(t)
	answers(t, c, `SELECT trail(i) `+inOrder+` FROM t`, `[[1] [1+2] [1+2+3] [4] [4+5]]`)
	if *w != (trails{2, 2, 5}) {
		t.Errorf("%+v", *w)
	}
	answers(t, c, `SELECT trail(i) OVER (ORDER BY i DESC ROWS UNBOUNDED PRECEDING) FROM t ORDER BY i`, `[[5+4+3+2+1] [5+4+3+2] [5+4+3] [5+4] [5]]`)
	answers(t, c, `SELECT trail(p, i, i / 2.0, NULL) `+inOrder+` FROM t WHERE i < 3`, `[[a/1/0.5/<nil>] [a/1/0.5/<nil>+a/2/1/<nil>]]`)
	answers(t, c, `SELECT trail(NULL) `+inOrder+` FROM t WHERE i < 3`, `[[<nil>] [<nil>+<nil>]]`)
	answers(t, c, `SELECT trail(i) `+inOrder+` FROM t WHERE i > 5`, `[]`)
	fails(t, c, `SELECT trail(i, i) `+inOrder+` FROM t`, CodeError, "wrong number of arguments to function trail()")
	fails(t, c, `SELECT trail(DISTINCT i) `+inOrder+` FROM t`, CodeError, "DISTINCT is not supported for window functions")
}

// The answer for each frame, or the number of rows that were answered before it was refused.
func TestWindowFrames(t *testing.T) {
	frames := []struct {
		window string
		want   string // "" if it is refused
		rows   int    // that the function saw
	}{
		{`PARTITION BY p ORDER BY i`, `[[1] [1+2] [1+2+3] [4] [4+5]]`, 5},
		{`PARTITION BY p ORDER BY i GROUPS UNBOUNDED PRECEDING`, `[[1] [1+2] [1+2+3] [4] [4+5]]`, 5},
		{`PARTITION BY p ROWS UNBOUNDED PRECEDING`, `[[1] [1+2] [1+2+3] [4] [4+5]]`, 5},
		{`ORDER BY i ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW`, `[[1] [1+2] [1+2+3] [1+2+3+4] [1+2+3+4+5]]`, 5},
		// A row with a frame that ends before it shows the answer of the frame's last row.
		{`PARTITION BY p ORDER BY i ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING`, `[[<nil>] [1] [1+2] [<nil>] [4]]`, 3},
		{`PARTITION BY p ORDER BY i ROWS BETWEEN 1 PRECEDING AND 2 PRECEDING`, `[[<nil>] [<nil>] [<nil>] [<nil>] [<nil>]]`, 0},
		// A start that never passes a row is as good as none.
		{`PARTITION BY p ORDER BY i ROWS 2 PRECEDING`, `[[1] [1+2] [1+2+3] [4] [4+5]]`, 5},
		{`PARTITION BY i ORDER BY i ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING`, `[[1] [2] [3] [4] [5]]`, 5},
		// With EXCLUDE every row is the group of a plain aggregate.
		{`PARTITION BY i ORDER BY i ROWS UNBOUNDED PRECEDING EXCLUDE TIES`, `[[1] [2] [3] [4] [5]]`, 5},
		{`ORDER BY i ROWS CURRENT ROW EXCLUDE NO OTHERS`, `[[1] [2] [3] [4] [5]]`, 5},

		{`PARTITION BY p ORDER BY i ROWS UNBOUNDED PRECEDING EXCLUDE NO OTHERS`, ``, 1},
		{`PARTITION BY p ORDER BY i ROWS UNBOUNDED PRECEDING EXCLUDE CURRENT ROW`, ``, 1},
		{`PARTITION BY p ORDER BY g`, ``, 1},
		{`PARTITION BY p ORDER BY g GROUPS UNBOUNDED PRECEDING`, ``, 1},
		{`PARTITION BY p`, ``, 0},
		{``, ``, 0},
		{`PARTITION BY p ORDER BY i ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING`, ``, 0},
		{`PARTITION BY p ORDER BY i ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING`, ``, 0},
		{`PARTITION BY p ORDER BY i ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING`, ``, 0},
		{`PARTITION BY p ORDER BY i ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING`, ``, 0},
		{`PARTITION BY p ORDER BY i ROWS CURRENT ROW`, ``, 1},
		{`PARTITION BY p ORDER BY i ROWS 1 PRECEDING`, ``, 2},
		{`PARTITION BY p ORDER BY i RANGE 1 PRECEDING`, ``, 2},
	}
	for _, f := range frames {
		c, w := windowed(t)
		sql := `SELECT trail(i) OVER (` + f.window + `) FROM t ORDER BY i`
		if f.want != "" {
			answers(t, c, sql, f.want)
		} else {
			fails(t, c, sql, CodeError, frameRefusal)
		}
		if w.rows != f.rows {
			t.Errorf("%s: %d rows were seen, want %d", f.window, w.rows, f.rows)
		}
	}
}

// A row that a FILTER leaves out is not seen.
func TestFilteredWindow(t *testing.T) {
	for filter, want := range map[string]string{
		`i <> 2`:        `[[1] [1] [1+3] [4] [4+5] 4]`,
		`i <> 1`:        `[[<nil>] [2] [2+3] [4] [4+5] 4]`,
		`i IN (1, 5)`:   `[[1] [1] [1] [<nil>] [5] 2]`,
		`false`:         `[[<nil>] [<nil>] [<nil>] [<nil>] [<nil>] 0]`,
		`p IS NOT NULL`: `[[1] [1+2] [1+2+3] [4] [4+5] 5]`,
	} {
		c, w := windowed(t)
		rows, err := query(c, `SELECT trail(i) FILTER (WHERE `+filter+`) `+inOrder+` FROM t`)
		if got := strings.TrimSuffix(fmt.Sprint(rows), "]") + fmt.Sprintf(" %d]", w.rows); err != nil || got != want {
			t.Errorf("%s: rows and number of rows seen %s, want %s; %v", filter, got, want, err)
		}
	}
}

// How often SQLite computes a window function: once for each time it is written,
// and once more to sort by its column.
func TestWindowIsComputedOnceWhereverItIsWritten(t *testing.T) {
	z := `trail(i) ` + inOrder + ` AS z`
	for sql, rows := range map[string]int{
		`SELECT z, z || z FROM (SELECT ` + z + ` FROM t) WHERE z <> ''`:                           5,
		`WITH c AS (SELECT ` + z + ` FROM t) SELECT * FROM c UNION ALL SELECT * FROM c`:           5,
		`WITH c AS (SELECT i, ` + z + ` FROM t) SELECT a.z, b.z FROM c AS a JOIN c AS b USING(i)`: 5,
		`SELECT count(*) FROM (SELECT ` + z + ` FROM t)`:                                          5,
		`SELECT z FROM (SELECT ` + z + ` FROM t) ORDER BY z LIMIT 1`:                              5,
		`SELECT ` + z + ` FROM t LIMIT 2`:                                                         2,
		`SELECT ` + z + ` FROM t LIMIT 1 OFFSET 1`:                                                2,
		`SELECT z FROM (SELECT p, ` + z + ` FROM t) WHERE p = 'b'`:                                2,
		`SELECT z FROM (SELECT i, ` + z + ` FROM t) WHERE i = 2`:                                  5,
		`SELECT ` + z + `, ` + z + ` FROM t`:                                                      10,
		`SELECT ` + z + ` FROM t ORDER BY z`:                                                      10,
		`EXPLAIN SELECT ` + z + ` FROM t`:                                                         0,
	} {
		c, w := windowed(t)
		run(t, c, sql)
		if w.rows != rows {
			t.Errorf("%s\n%d rows were seen, want %d", sql, w.rows, rows)
		}
	}
}

// As a plain aggregate the function takes groups of one row.
func TestWindowAsAggregate(t *testing.T) {
	c, w := windowed(t)
	answers(t, c, `SELECT trail('x')`, `[[x]]`)
	answers(t, c, `SELECT trail(p, i, g, NULL), trail(i) FROM t WHERE i = 2`, `[[a/2/2/<nil> 2]]`)
	answers(t, c, `SELECT trail(p) FROM t GROUP BY i`, `[[a] [a] [a] [b] [b]]`)
	if w.rows != 8 || w.begun != 8 {
		t.Errorf("%+v", *w)
	}
	answers(t, c, `SELECT trail(i) FROM t WHERE i > 5`, `[[<nil>]]`)
	answers(t, c, `SELECT trail(i) FILTER (WHERE false) FROM t`, `[[<nil>]]`)
	answers(t, c, `SELECT trail(i) FROM t WHERE i > 5 GROUP BY p`, `[]`)
	fails(t, c, `SELECT trail(i) FROM t`, CodeError, frameRefusal)
	fails(t, c, `SELECT p, trail(i) FROM t GROUP BY p`, CodeError, frameRefusal)
	if w.rows != 8 || w.begun != 8 {
		t.Errorf("%+v: a group of several rows was seen", *w)
	}
}

// However a statement ends, every partition is given up.
func TestPartitionsOfAbortedStatements(t *testing.T) {
	const two = `, trail(i) OVER (ORDER BY i DESC ROWS UNBOUNDED PRECEDING)`
	t.Run("error of a row", func(t *testing.T) {
		c, w := windowed(t)
		for i, want := range []string{"[]", "[[1]]", "[[1] [1+2]]", "[[1] [1+2] [1+2+3]]", "[[1] [1+2] [1+2+3] [4]]"} {
			rows, err := query(c, fmt.Sprintf(`SELECT trail(CASE i WHEN %d THEN 'no' ELSE i END) %s FROM t`, i+1, inOrder))
			checkError(t, want, err, CodeDenied, "coded 279")
			if got := fmt.Sprint(rows); got != want {
				t.Errorf("rows %s before the error, want %s", got, want)
			}
		}
		if w.rows != 1+2+3+4+5 {
			t.Errorf("%d rows were seen, want none after an error", w.rows)
		}
		const no = `trail(CASE i WHEN 2 THEN 'no' ELSE i END) ` + inOrder
		w.rows = 0
		fails(t, c, `SELECT trail(i) `+inOrder+`, `+no+`, trail(i) `+inOrder+` FROM t`, CodeDenied, "coded 279")
		if w.rows != 5 {
			t.Errorf("%d rows were seen, want 5: the second row waited for its answer in one of three partitions", w.rows)
		}
		fails(t, c, `SELECT trail('no')`, CodeDenied, "coded 279")
		fails(t, c, `SELECT trail(nullif(p, 'b')) `+inOrder+two+`, trail('no') `+inOrder+` FROM t`, CodeDenied, "coded 279")
	})
	t.Run("refused frame", func(t *testing.T) {
		c, _ := windowed(t)
		fails(t, c, `SELECT trail(p) `+inOrder+`, trail(i) OVER (ORDER BY p)`+two+` FROM t`, CodeError, frameRefusal)
		fails(t, c, `SELECT trail(p) `+inOrder+`, trail(i) OVER (ORDER BY i ROWS 1 PRECEDING)`+two+` FROM t`, CodeError, frameRefusal)
	})
	t.Run("error elsewhere", func(t *testing.T) {
		c, w := windowed(t)
		fails(t, c, `SELECT trail(i) `+inOrder+two+`, json(CASE i WHEN 2 THEN '[' ELSE '1' END) FROM t`, CodeError, "malformed JSON")
		*w = trails{}
		fails(t, c, `SELECT trail(i) `+inOrder+`, total_of(i) `+inOrder+` FROM t`, CodeError, "no such function: total_of")
		if w.begun != 0 {
			t.Errorf("%+v", *w)
		}
	})
	t.Run("closed early", func(t *testing.T) {
		c, w := windowed(t)
		s := prepare(t, c, `SELECT trail(i) `+inOrder+two+` FROM t`)
		for range 2 {
			for range 4 {
				if more, err := s.Step(); err != nil || !more {
					t.Fatal(more, err)
				}
			}
			if w.begun == w.ended {
				t.Error("no partition is alive")
			}
			s.Reset()
			if w.begun != w.ended {
				t.Errorf("%+v after a reset", *w)
			}
		}
		if _, err := s.Step(); err != nil {
			t.Error(err)
		}
		s.Close()
	})
	t.Run("interrupt", func(t *testing.T) {
		c, w := windowed(t)
		function(t, c, "stop", 1, func(call *Call) error {
			if call.Arg(0).Int() == 100 {
				c.Interrupt()
			}
			call.ResultInt(0, 1)
			return nil
		})
		fails(t, c, `WITH RECURSIVE s(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM s), z AS (SELECT i, trail(NULL) OVER (ROWS UNBOUNDED PRECEDING) FROM s) SELECT stop(i) FROM z`, codeInterrupt, "interrupted")
		if w.rows < 100 {
			t.Errorf("%d rows were seen", w.rows)
		}
	})
}

// The row of a step outlives it, since the steps of several functions share their
// registers: texts and blobs of every length arrive whole.
func TestWindowCopiesItsArguments(t *testing.T) {
	c := memory(t)
	register(t, c, Library{Windows: []Window{{Name: "measure", Args: []int{4}, New: func() Partition {
		return &testPartition{row: func(c *Call) error {
			text, blob, empty, n := c.Arg(0).Bytes(), c.Arg(1).Bytes(), c.Arg(2), int(c.Arg(3).Int())
			if len(text) != n || len(blob) != n || empty.Type() != Text || len(empty.Bytes()) != 0 {
				return fmt.Errorf("%d: lengths %d, %d and %d", n, len(text), len(blob), len(empty.Bytes()))
			}
			for i := range n {
				if text[i] != byte('a'+n%26) || blob[i] != 0 {
					return fmt.Errorf("%d: byte %d is %q or %d", n, i, text[i], blob[i])
				}
			}
			c.ResultInt(0, int64(n))
			return nil
		}}
	}}}})
	const sql = `WITH RECURSIVE s(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM s WHERE i < 300),
		l(i, n) AS (SELECT i, i FROM s UNION ALL SELECT 1000 - i, 50 * i FROM s),
		a AS (SELECT i, n, replace(hex(zeroblob((n + 1) / 2)), '0', char(97 + n %% 26)) AS text FROM l),
		z AS (SELECT n, measure(substr(text, 1, n), zeroblob(n), '', n) OVER w AS n1, measure('', x'', '', 0) OVER w AS n2,
			measure('hhhhhhh', zeroblob(7), '', 7) OVER w AS n3
			FROM a WINDOW w AS (ORDER BY i %s))
		SELECT count(*), sum(n1 = n AND n2 = 0 AND n3 = 7) FROM z`
	for _, frame := range []string{`ROWS UNBOUNDED PRECEDING`, ``} {
		answers(t, c, fmt.Sprintf(sql, frame), `[[602 602]]`)
	}
}

// A partition may run SQL, with its own function too.
func TestNestedWindow(t *testing.T) {
	c := memory(t)
	register(t, c, Library{Windows: []Window{{Name: "count_down", Args: []int{1}, New: func() Partition {
		sum := int64(0)
		return &testPartition{row: func(call *Call) error {
			n := call.Arg(0).Int()
			if n > 0 {
				rows, err := query(c, fmt.Sprintf(`SELECT count_down(column1) OVER (ORDER BY column1 ROWS UNBOUNDED PRECEDING) FROM (VALUES (%d), (0))`, n-1))
				if err != nil {
					return err
				}
				sum += rows[len(rows)-1][0].(int64)
			}
			if call.Arg(0).Int() != n {
				return errors.New("an inner call changed the argument")
			}
			sum++
			call.ResultInt(0, sum)
			return nil
		}}
	}}}})
	answers(t, c, numbers(4)+`SELECT count_down(i - 1) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) FROM s`, `[[1] [4] [9] [16]]`)
	checkNothingLeft(t)
}

// Users of the driver have the function too.
func TestWindowThroughTheDriver(t *testing.T) {
	conn, w := driverConn(t, ":memory:"), new(trails)
	register(t, fromDriver(t, conn), w.library())
	rows, err := conn.QueryContext(context.Background(), numbers(3)+`SELECT trail(i) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) FROM s`, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1", "1+2"} { // and not the third
		cell := make([]driver.Value, 1)
		if err := rows.Next(cell); err != nil || fmt.Sprint(cell[0]) != want {
			t.Errorf("%v, want %s; %v", cell[0], want, err)
		}
	}
	if err := rows.Close(); err != nil {
		t.Error(err)
	}
	if *w != (trails{1, 1, 2}) {
		t.Errorf("%+v", *w)
	}
	if _, err := conn.Exec(numbers(3)+`SELECT trail(i) FROM s`, nil); err == nil || err.Error() != frameRefusal {
		t.Error(err)
	}
	checkNothingLeft(t)
}

// A rolling group answers with the rows of its frame, and how often it was asked before.
type rolling struct {
	rows  []string
	asked int
}

func (g *rolling) Step(c *Call) error {
	g.rows = append(g.rows, fmt.Sprint(c.Arg(0).Copy()))
	return nil
}

func (g *rolling) Value(c *Call) error {
	if slices.Contains(g.rows, "no") {
		return errors.New("rolling: no")
	}
	c.ResultString(0, fmt.Sprintf("%d:%s", g.asked, strings.Join(g.rows, "+")))
	g.asked++
	return nil
}

func (g *rolling) Final(c *Call) error {
	c.ResultString(0, strings.Join(g.rows, "+"))
	return nil
}

// An aggregate of valuers is asked for each row of a window, once for all peers, and not where a row leaves the frame.
func TestWindowedAggregate(t *testing.T) {
	c, _ := windowed(t)
	register(t, c, Library{Aggregates: []Aggregate{{Name: "rolling", Args: []int{1}, Windowed: true, New: func() Group { return new(rolling) }}}})
	for window, want := range map[string]string{
		`PARTITION BY p ORDER BY i ROWS UNBOUNDED PRECEDING`:                                 `[[0:1] [1:1+2] [2:1+2+3] [0:4] [1:4+5]]`,
		`PARTITION BY p ORDER BY i ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING`: `[[0:1+2+3] [1:1+2+3] [2:1+2+3] [0:4+5] [1:4+5]]`,
		`PARTITION BY p ORDER BY i ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING`:         `[[0:1+2] [1:1+2+3] [2:1+2+3] [0:4+5] [1:4+5]]`,
		`PARTITION BY p ORDER BY i ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING`:         `[[<nil>] [0:1] [1:1+2] [<nil>] [0:4]]`,
		`PARTITION BY p ORDER BY g`: `[[0:1] [1:1+2+3] [1:1+2+3] [0:4] [1:4+5]]`,
		`PARTITION BY p ORDER BY g RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING`: `[[0:1+2+3] [1:1+2+3] [1:1+2+3] [0:4+5] [1:4+5]]`,
	} {
		answers(t, c, `SELECT rolling(i) OVER (`+window+`) FROM t ORDER BY i`, want)
	}
	answers(t, c, `SELECT rolling(i) FROM t GROUP BY p`, `[[1+2+3] [4+5]]`)
	fails(t, c, `SELECT rolling(i) OVER (ORDER BY i ROWS 1 PRECEDING) FROM t`, CodeError, "the frame of the window has to begin with UNBOUNDED PRECEDING")
	fails(t, c, `SELECT rolling(iif(i = 3, 'no', i)) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) FROM t`, CodeError, "rolling: no")
}
