//go:build !geosql_loadable

package sqlite

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

// echo answers its first argument.
func echo(c *Call) error {
	switch v := c.Arg(0); v.Type() {
	case Integer:
		c.ResultInt(0, v.Int())
	case Float:
		c.ResultFloat(0, v.Float())
	case Text:
		c.ResultText(0, v.Bytes())
	case Blob:
		c.ResultBlob(0, v.Bytes())
	case Null:
		c.ResultNull(0)
	}
	return nil
}

func TestArities(t *testing.T) {
	c := memory(t)
	register(t, c, Library{Scalars: []Scalar{{Name: "count_args", Args: []int{0, 1, 3, 12}, Call: func(c *Call) error {
		c.ResultInt(0, int64(c.Len()))
		return nil
	}}}})
	answers(t, c, `SELECT count_args(), count_args(1), COUNT_ARGS(1, 2, 3), count_args(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)`, `[[0 1 3 12]]`)
	fails(t, c, `SELECT count_args(1, 2)`, CodeError, "wrong number of arguments to function count_args()")
}

func TestArguments(t *testing.T) {
	c := memory(t)
	function(t, c, "show", 3, func(c *Call) error {
		var b strings.Builder
		for i := range c.Len() {
			fmt.Fprintf(&b, "%s %q;", c.Arg(i).Type(), fmt.Sprint(c.Arg(i).Copy()))
		}
		c.ResultString(0, b.String())
		return nil
	})
	answers(t, c, `SELECT show(-9223372036854775808, 1e999, NULL), show('', x'', 'a' || char(0) || 'b')`,
		`[[INTEGER "-9223372036854775808";REAL "+Inf";NULL "<nil>"; TEXT "";BLOB "[]";TEXT "a\x00b";]]`)
	answers(t, c, `SELECT show(x'00ff', 0.5, zeroblob(2))`, `[[BLOB "[0 255]";REAL "0.5";BLOB "[0 0]";]]`)
	run(t, c, `CREATE TABLE t(a)`, `INSERT INTO t VALUES (1), ('two'), (3.5)`)
	answers(t, c, `SELECT show(a, a + 1, NULL) FROM t`, `[[INTEGER "1";INTEGER "2";NULL "<nil>";] [TEXT "two";INTEGER "1";NULL "<nil>";] [REAL "3.5";REAL "4.5";NULL "<nil>";]]`)
}

func TestResultTypes(t *testing.T) {
	c := memory(t)
	function(t, c, "echo", 1, echo)
	function(t, c, "unset", 0, func(*Call) error { return nil })
	function(t, c, "nan", 0, func(c *Call) error { c.ResultFloat(0, math.NaN()); return nil })
	answers(t, c, `SELECT echo(-1), echo(9223372036854775807), echo(0.5), echo(-1e999), echo(NULL), echo(''), unset(), nan()`,
		`[[-1 9223372036854775807 0.5 -Inf <nil>  <nil> <nil>]]`)
	answers(t, c, `SELECT typeof(echo(x'')), hex(echo(x'00ff00')), length(echo(zeroblob(1000000)))`, `[[blob 00FF00 1000000]]`)
	answers(t, c, `SELECT typeof(echo('')), typeof(unset()), typeof(echo(2.0)), hex(echo('a' || char(0) || 'b'))`, `[[text null real 610062]]`)
}

// Texts about as long as the room inside a result, and much longer, arrive whole
// in each form of function.
func TestTextsAroundTheInlineBuffer(t *testing.T) {
	c := memory(t)
	letters := func(n int64) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = 'a' + byte(i%26)
		}
		return b
	}
	function(t, c, "letters", 1, func(c *Call) error { c.ResultText(0, letters(c.Arg(0).Int())); return nil })
	function(t, c, "letters_error", 1, func(c *Call) error { return errors.New(string(letters(c.Arg(0).Int()))) })
	function(t, c, "letters_twice", 1, func(c *Call) error {
		c.ResultText(0, letters(10*inline))
		c.ResultText(0, letters(c.Arg(0).Int()))
		return nil
	})
	register(t, c, Library{
		Aggregates: []Aggregate{{Name: "letters_of", Args: []int{1}, New: func() Group {
			n := int64(0)
			return &testGroup{
				step:  func(c *Call) error { n += c.Arg(0).Int(); return nil },
				final: func(c *Call) error { c.ResultText(0, letters(n)); return nil },
			}
		}}},
		Windows: []Window{{Name: "letters_row", Args: []int{1}, New: func() Partition {
			return &testPartition{row: func(c *Call) error { c.ResultText(0, letters(c.Arg(0).Int())); return nil }}
		}}},
		Tables: []Table{{Name: "letters_table", Columns: []string{"a", "b", "c"}, Hidden: []string{"n"}, Required: 1, Open: func() Cursor {
			n := int64(0)
			write := func(c *Call) (Rows, error) {
				for i := range 3 {
					c.ResultText(i, letters(n))
				}
				if n++; n > inline+2 {
					return LastRow, nil
				}
				return OneRow, nil
			}
			return &testCursor{
				filter: func(c *Call, _ uint) (Rows, error) { n = c.Arg(0).Int(); return write(c) },
				next:   write,
			}
		}}},
	})
	for _, n := range []int64{0, 1, inline - 2, inline - 1, inline, inline + 1, 2 * inline, 1 << 20} {
		want := string(letters(n))
		for _, sql := range []string{`SELECT letters(%d)`, `SELECT letters_twice(%d)`, `SELECT letters_of(%d)`, `SELECT letters_row(%d)`,
			numbers(3) + `SELECT DISTINCT letters_row(%d) FILTER (WHERE i <> 2) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) FROM s`,
			`SELECT c FROM letters_table(%d) LIMIT 1`} {
			sql = fmt.Sprintf(sql, n)
			rows, err := query(c, sql)
			if err != nil || len(rows) != 1 || rows[0][0] != want {
				t.Errorf("%s: another text, %v", sql, err)
			}
		}
		_, err := query(c, fmt.Sprintf(`SELECT letters_error(%d)`, n))
		if err == nil || err.Error() != want {
			t.Errorf("letters_error(%d): %d letters", n, len(fmt.Sprint(err)))
		}
	}
	answers(t, c, fmt.Sprintf(`SELECT count(*), min(length(a)), max(length(b)), sum(a = b AND b = c) FROM letters_table(%d)`, inline-2),
		fmt.Sprintf(`[[5 %d %d 5]]`, inline-2, inline+2))
}

// So do blobs. Those of a window function and a table are copied.
func TestBlobsAroundTheInlineBuffer(t *testing.T) {
	c := memory(t)
	function(t, c, "echo", 1, echo)
	register(t, c, Library{
		Windows: []Window{{Name: "echo_row", Args: []int{1}, New: func() Partition { return &testPartition{row: echo} }}},
		Tables: []Table{{Name: "echo_table", Columns: []string{"a"}, Hidden: []string{"given"}, Required: 1, Open: func() Cursor {
			return &testCursor{filter: func(c *Call, _ uint) (Rows, error) { return LastRow, echo(c) }}
		}}},
	})
	for _, n := range []int{0, 1, inline - 1, inline, inline + 1, 1 << 20} {
		answers(t, c, fmt.Sprintf(`WITH b AS (SELECT randomblob(%d) AS b LIMIT -1 OFFSET 0)
			SELECT b = echo(b), b = echo_row(b) OVER (ROWS UNBOUNDED PRECEDING), b = a, a = a, typeof(a) FROM b, echo_table(b)`, n), `[[1 1 1 1 blob]]`)
	}
}

func TestResultCanBeSetAgain(t *testing.T) {
	c := memory(t)
	long := strings.Repeat("x", 10*inline)
	function(t, c, "change_to", 1, func(c *Call) error {
		c.ResultString(0, long)
		switch c.Arg(0).Text() {
		case "int":
			c.ResultInt(0, 1)
		case "float":
			c.ResultFloat(0, 0.5)
		case "null":
			c.ResultNull(0)
		case "text":
			c.ResultString(0, "short")
		case "blob":
			c.ResultBlob(0, nil)
		case "error":
			return errors.New("no")
		}
		return nil
	})
	answers(t, c, `SELECT change_to('int'), change_to('float'), change_to('null'), change_to('text'), typeof(change_to('blob'))`, `[[1 0.5 <nil> short blob]]`)
	fails(t, c, `SELECT change_to('error')`, CodeError, "no")
}

// A call allocates nothing: the few allocations of a run of 1000 calls are the statement's.
func TestCallsDoNotAllocate(t *testing.T) {
	c := memory(t)
	register(t, c, everything(nil))
	for _, call := range []string{
		`SELECT sum(echo(i)) FROM s`, `SELECT sum(scoped(i)) FROM s`, `SELECT total(i) FROM s`,
		`SELECT sum(z) FROM (SELECT latest(i) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) AS z FROM s)`,
		`SELECT count(z) FROM (SELECT latest('text ' || i) OVER (PARTITION BY i < 500 ORDER BY i ROWS UNBOUNDED PRECEDING) AS z FROM s)`,
	} {
		s := prepare(t, c, numbers(1000)+call)
		if n := testing.AllocsPerRun(20, func() {
			if err := s.Run(); err != nil {
				t.Fatal(err)
			}
		}); n > 10 {
			t.Errorf("%s: %v allocations in 1000 calls", call, n)
		}
	}
}

type codedError int

func (e codedError) Error() string   { return fmt.Sprintf("coded %d", int(e)) }
func (e codedError) SQLiteCode() int { return int(e) }

func TestErrorCodes(t *testing.T) {
	c := memory(t)
	function(t, c, "fail", 1, func(c *Call) error {
		switch c.Arg(0).Text() {
		case "plain":
			return errors.New("plain")
		case "wrapped":
			return fmt.Errorf("outer: %w", codedError(CodeBusy))
		case "joined":
			return fmt.Errorf("%w and %w", errors.New("a"), codedError(codeConstraintUnique))
		}
		return codedError(CodeDenied)
	})
	fails(t, c, `SELECT fail('plain')`, CodeError, "plain")
	fails(t, c, `SELECT fail('coded')`, CodeDenied, "coded 279")
	fails(t, c, `SELECT fail('wrapped')`, CodeBusy, "outer: coded 5")
	fails(t, c, `SELECT fail('joined')`, codeConstraintUnique, "a and coded 2067")
	if rows, err := query(c, numbers(5)+`SELECT CASE WHEN i < 3 THEN i ELSE fail('coded') END FROM s`); err == nil || len(rows) != 2 {
		t.Errorf("%v, %v", rows, err)
	}
}

func TestFlags(t *testing.T) {
	c := memory(t)
	calls := 0
	count := func(c *Call) error { calls++; c.ResultInt(0, 1); return nil }
	register(t, c, Library{
		Scalars: []Scalar{
			{Name: "plain", Args: []int{1}, Call: count},
			{Name: "pure", Args: []int{1}, Flags: Deterministic | Innocuous, Call: count},
			{Name: "direct", Args: []int{1}, Flags: DirectOnly, Call: count},
		},
		Aggregates: []Aggregate{{Name: "direct_sum", Args: []int{1}, Flags: DirectOnly, New: func() Group { return &testGroup{} }}},
		Windows:    []Window{{Name: "direct_window", Args: []int{1}, Flags: DirectOnly, New: func() Partition { return &testPartition{} }}},
		Tables: []Table{
			{Name: "direct_table", Columns: []string{"a"}, Flags: DirectOnly, Open: func() Cursor { return &testCursor{} }},
			{Name: "plain_table", Columns: []string{"a"}, Open: func() Cursor { return &testCursor{} }},
		},
	})
	run(t, c, `CREATE TABLE t(a)`, `INSERT INTO t `+numbers(5)+`SELECT i FROM s`)
	for name, want := range map[string]int{"plain": 5, "pure": 1, "direct": 5} {
		calls = 0
		run(t, c, `SELECT `+name+`(1) FROM t`)
		if calls != want {
			t.Errorf("%s was called %d times for a constant and 5 rows, want %d", name, calls, want)
		}
	}

	run(t, c, `CREATE VIEW by_plain AS SELECT plain(a) FROM t`, `CREATE VIEW by_pure AS SELECT pure(a) FROM t`,
		`CREATE VIEW by_direct AS SELECT direct(a) FROM t`, `CREATE VIEW by_direct_sum AS SELECT direct_sum(a) FROM t`,
		`CREATE VIEW by_direct_window AS SELECT direct_window(a) OVER (ORDER BY a ROWS UNBOUNDED PRECEDING) FROM t`,
		`CREATE VIEW by_direct_group AS SELECT direct_window(a) FROM t GROUP BY rowid`,
		`CREATE VIEW by_direct_table AS SELECT a FROM direct_table`, `CREATE VIEW by_plain_table AS SELECT a FROM plain_table`)
	run(t, c, `SELECT * FROM by_plain`, `SELECT * FROM by_pure`, `SELECT * FROM by_plain_table`,
		`SELECT direct(a) FROM t`, `SELECT direct_sum(a) FROM t`, `SELECT direct_window(a) OVER (ORDER BY a ROWS UNBOUNDED PRECEDING) FROM t`,
		`SELECT * FROM direct_table`)
	fails(t, c, `SELECT * FROM by_direct`, CodeError, "unsafe use of direct()")
	fails(t, c, `SELECT * FROM by_direct_sum`, CodeError, "unsafe use of direct_sum()")
	fails(t, c, `SELECT * FROM by_direct_window`, CodeError, "unsafe use of direct_window()")
	fails(t, c, `SELECT * FROM by_direct_group`, CodeError, "unsafe use of direct_window()")
	fails(t, c, `SELECT * FROM by_direct_table`, CodeError, `unsafe use of virtual table "direct_table"`)
	run(t, c, `CREATE TRIGGER tr AFTER INSERT ON t BEGIN SELECT direct(1); END`)
	fails(t, c, `INSERT INTO t VALUES (6)`, CodeError, "unsafe use of direct()")
	run(t, c, `DROP TRIGGER tr`)

	fails(t, c, `CREATE INDEX ip ON t(plain(a))`, CodeError, "non-deterministic")
	fails(t, c, `CREATE TABLE g(a, b AS (plain(a)))`, CodeError, "non-deterministic")
	run(t, c, `CREATE INDEX id ON t(pure(a))`)

	run(t, c, `PRAGMA trusted_schema = OFF`, `SELECT * FROM by_pure`)
	fails(t, c, `SELECT * FROM by_plain`, CodeError, "unsafe use of plain()")
}

// panics are values that a function may panic with, and the errors that they become.
var panics = []struct {
	name  string
	panic func()
	code  int
	text  string
}{
	{"text", func() { panic("oh no") }, CodeError, "geosql internal error: oh no"},
	{"error", func() { panic(errors.New("wrong")) }, CodeError, "geosql internal error: wrong"},
	{"coded", func() { panic(codedError(CodeDenied)) }, CodeDenied, "geosql internal error: coded 279"},
	{"runtime", func() { var s []int; _ = s[len(s)] }, CodeError, "geosql internal error: runtime error: index out of range [0] with length 0"},
	{"nil pointer", func() { var v *testGroup; _ = v.step }, CodeError, "geosql internal error: runtime error: invalid memory address or nil pointer dereference"},
	{"number", func() { panic(7) }, CodeError, "geosql internal error: 7"},
	{"nil", func() { panic(nil) }, CodeError, "geosql internal error: panic called with nil argument"},
	{"long", func() { panic(strings.Repeat("long ", inline)) }, CodeError, "geosql internal error: " + strings.Repeat("long ", inline)},
}

func TestPanics(t *testing.T) {
	for _, p := range panics {
		t.Run(p.name, func(t *testing.T) {
			c := memory(t)
			register(t, c, panicLibrary(p.panic))
			for range 3 {
				for _, sql := range []string{
					`SELECT scalar()`, numbers(3) + `SELECT scalar() FROM s`, `SELECT new_group(1)`, `SELECT step(1)`, `SELECT final(1)`,
					numbers(30) + `SELECT final(i) FROM s GROUP BY i % 10`,
					`SELECT new_partition(1)`, `SELECT row(1)`,
					numbers(3) + `SELECT new_partition(i) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) FROM s`,
					numbers(3) + `SELECT row(i) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) FROM s`,
					numbers(3) + `SELECT end_partition(i) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING), row(i) OVER () FROM s WHERE i < 2`,
					`SELECT * FROM open_cursor`, `SELECT * FROM filter`, `SELECT * FROM next`, `SELECT * FROM (SELECT 1) LEFT JOIN next`,
				} {
					fails(t, c, sql, p.code, p.text)
				}
				answers(t, c, `SELECT a FROM next LIMIT 1`, `[[1]]`)
				answers(t, c, `SELECT count(*) FROM close`, `[[1]]`)
				answers(t, c, `SELECT end_scope()`, `[[<nil>]]`)
				answers(t, c, `SELECT end_partition(1)`, `[[<nil>]]`)
				answers(t, c, numbers(2)+`SELECT end_partition(i) OVER (PARTITION BY i ORDER BY i ROWS UNBOUNDED PRECEDING) FROM s`, `[[<nil>] [<nil>]]`)
				answers(t, c, `SELECT final(1) FROM (SELECT 1) WHERE false`, `[[<nil>]]`)
			}
			checkNothingLeft(t)
		})
	}
}

func TestPanicOfSeveralLines(t *testing.T) {
	c := memory(t)
	function(t, c, "burst", 0, func(*Call) error { panic("one\ntwo\r\nthree") })
	fails(t, c, `SELECT burst()`, CodeError, "geosql internal error: one")
}

// panicLibrary has a function for each place that may panic, named after it.
func panicLibrary(panics func()) Library {
	group := func(name string, g func() Group) Aggregate {
		return Aggregate{Name: name, Args: []int{1}, New: g}
	}
	window := func(name string, p func() Partition) Window {
		return Window{Name: name, Args: []int{1}, New: p}
	}
	cursor := func(name string, open func() Cursor) Table {
		return Table{Name: name, Columns: []string{"a", "b"}, Open: open}
	}
	fail := func(*Call) error { panics(); return nil }
	return Library{
		NewScope: func() Scope { return scopeFunc(panics) },
		Scalars: []Scalar{
			{Name: "scalar", Args: []int{0}, Call: fail},
			{Name: "end_scope", Args: []int{0}, Scoped: true, Call: func(*Call) error { return nil }},
		},
		Aggregates: []Aggregate{
			group("new_group", func() Group { panics(); return nil }),
			group("step", func() Group { return &testGroup{step: fail} }),
			group("final", func() Group { return &testGroup{final: fail} }),
		},
		Windows: []Window{
			window("new_partition", func() Partition { panics(); return nil }),
			window("row", func() Partition { return &testPartition{row: fail} }),
			window("end_partition", func() Partition { return &testPartition{end: panics} }),
		},
		Tables: []Table{
			cursor("open_cursor", func() Cursor { panics(); return nil }),
			cursor("filter", func() Cursor {
				return &testCursor{filter: func(c *Call, _ uint) (Rows, error) {
					c.ResultString(0, strings.Repeat("x", 2*inline))
					c.ResultString(1, strings.Repeat("x", 2*inline))
					panics()
					return LastRow, nil
				}}
			}),
			cursor("next", func() Cursor {
				return &testCursor{
					filter: func(c *Call, _ uint) (Rows, error) { c.ResultInt(0, 1); return OneRow, nil },
					next:   func(*Call) (Rows, error) { panics(); return NoRow, nil },
				}
			}),
			cursor("close", func() Cursor {
				return &testCursor{filter: func(*Call, uint) (Rows, error) { return LastRow, nil }, close: panics}
			}),
		},
	}
}

// A panic in Go code several statements deep comes out as the error of each.
func TestNestedPanic(t *testing.T) {
	c := memory(t)
	function(t, c, "burst", 0, func(*Call) error { panic("deep") })
	function(t, c, "outer", 0, func(*Call) error {
		_, err := query(c, `SELECT burst()`)
		return err
	})
	fails(t, c, `SELECT outer()`, CodeError, "geosql internal error: deep")
	checkNothingLeft(t)
}

// A function may run SQL that calls functions, itself too.
func TestNestedCalls(t *testing.T) {
	c := memory(t)
	function(t, c, "fibonacci", 1, func(call *Call) error {
		n := call.Arg(0).Int()
		if n < 2 {
			call.ResultInt(0, n)
			return nil
		}
		rows, err := query(c, fmt.Sprintf(`SELECT fibonacci(%d) + fibonacci(%d)`, n-1, n-2))
		if err != nil {
			return err
		}
		if call.Arg(0).Int() != n {
			return errors.New("an inner call changed the argument")
		}
		call.ResultInt(0, rows[0][0].(int64))
		return nil
	})
	register(t, c, Library{Aggregates: []Aggregate{{Name: "fibonacci_sum", Args: []int{1}, New: func() Group {
		sum := int64(0)
		return &testGroup{
			step: func(call *Call) error {
				rows, err := query(c, fmt.Sprintf(`SELECT fibonacci(%d)`, call.Arg(0).Int()))
				if err == nil {
					sum += rows[0][0].(int64)
				}
				return err
			},
			final: func(call *Call) error { call.ResultInt(0, sum); return nil },
		}
	}}}})
	answers(t, c, numbers(8)+`SELECT fibonacci(i) FROM s`, `[[1] [1] [2] [3] [5] [8] [13] [21]]`)
	answers(t, c, numbers(8)+`SELECT fibonacci_sum(i), fibonacci_sum(i + 1) FROM s`, `[[54 87]]`)
	checkNothingLeft(t)
}

// A later registration replaces the function of that name and arity, and closes
// a library when nothing of it is left.
func TestReplacedFunctions(t *testing.T) {
	c := memory(t)
	closed := ""
	library := func(name string, arities ...int) Library {
		return Library{
			Scalars: []Scalar{{Name: "who", Args: arities, Call: func(c *Call) error { c.ResultString(0, name); return nil }}},
			Close:   func() { closed += name },
		}
	}
	register(t, c, library("a", 0, 1))
	register(t, c, library("b", 1, 2))
	answers(t, c, `SELECT who(), who(1), who(1, 2)`, `[[a b b]]`)
	register(t, c, library("c", 0))
	if closed != "a" {
		t.Errorf("closed %q, want a", closed)
	}
	answers(t, c, `SELECT who(), who(1), who(1, 2)`, `[[c b b]]`)
	c.Close()
	if len(closed) != 3 {
		t.Errorf("closed %q, want a, b and c", closed)
	}
}

// SQLite replaces no function while a statement runs.
func TestRegisterWhileAStatementRuns(t *testing.T) {
	c := memory(t)
	function(t, c, "f", 0, func(c *Call) error { c.ResultInt(0, 1); return nil })
	s := prepare(t, c, `SELECT f() UNION ALL SELECT f()`)
	if more, err := s.Step(); err != nil || !more {
		t.Fatal(more, err)
	}
	closed := 0
	lib := Library{
		Scalars: []Scalar{{Name: "f", Args: []int{0}, Call: func(c *Call) error { c.ResultInt(0, 2); return nil }}},
		Close:   func() { closed++ },
	}
	checkError(t, "Register", c.Register(lib), CodeBusy, "geosql: cannot register f: unable to delete/modify user-function due to active statements")
	if closed != 1 {
		t.Errorf("the library was closed %d times", closed)
	}
	if more, err := s.Step(); err != nil || !more || row(s)[0] != int64(1) {
		t.Error(more, err)
	}
	s.Reset()
	register(t, c, lib)
	answers(t, c, `SELECT f()`, `[[2]]`)
}

func TestRegisterRefuses(t *testing.T) {
	c := memory(t)
	columns := func(n int) []string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf("c%d", i)
		}
		return list
	}
	for name, lib := range map[string]Library{
		"13 columns":    {Tables: []Table{{Name: "t", Columns: columns(13)}}},
		"13 arguments":  {Tables: []Table{{Name: "t", Columns: columns(1), Hidden: columns(13)}}},
		"a long schema": {Tables: []Table{{Name: "t", Columns: []string{strings.Repeat("x", 600)}}}},
	} {
		if err := c.Register(lib); err == nil || err.Error() != "sqlite: table t is too wide" {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, f := range map[string]Scalar{
		"a long name":         {Name: strings.Repeat("x", 256), Args: []int{0}, Call: echo},
		"too many arguments":  {Name: "f", Args: []int{1 << 16}, Call: echo},
		"too few, of several": {Name: "f", Args: []int{0, -2}, Call: echo},
	} {
		if err := c.Register(Library{Scalars: []Scalar{f}}); err == nil || !strings.Contains(err.Error(), "geosql: cannot register "+f.Name+": ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRegisterErrorSaysWhy(t *testing.T) {
	name := strings.Repeat("x", 256)
	err := memory(t).Register(Library{Scalars: []Scalar{{Name: name, Args: []int{0}, Call: echo}}})
	checkError(t, "Register", err, codeMisuse, "geosql: cannot register "+name+": bad parameter or other API misuse")
}

// A call's arguments have room for 12; a function that took more would write
// behind it.
func TestRegisterRefusesMoreArgumentsThanThereIsRoomFor(t *testing.T) {
	c := memory(t)
	for _, n := range []int{-1, 13, 127} {
		if c.Register(Library{Scalars: []Scalar{{Name: "f", Args: []int{n}, Call: echo}}}) == nil {
			t.Errorf("a scalar of %d arguments is registered", n)
		}
		if c.Register(Library{Aggregates: []Aggregate{{Name: "g", Args: []int{n}, New: func() Group { return &testGroup{} }}}}) == nil {
			t.Errorf("an aggregate of %d arguments is registered", n)
		}
		if c.Register(Library{Windows: []Window{{Name: "h", Args: []int{n}, New: func() Partition { return &testPartition{} }}}}) == nil {
			t.Errorf("a window function of %d arguments is registered", n)
		}
	}
}
