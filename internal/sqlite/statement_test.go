//go:build !geosql_loadable

package sqlite

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/printable/printabletest"
)

func prepare(t testing.TB, c *Conn, sql string) *Stmt {
	t.Helper()
	s, _, err := c.Prepare(sql)
	if err != nil {
		t.Fatalf("%s\n%v", sql, err)
	}
	t.Cleanup(s.Close)
	return s
}

func TestPrepareReturnsTheTail(t *testing.T) {
	c := memory(t)
	for _, p := range []struct {
		sql, tail string
		empty     bool
	}{
		{"", "", true},
		{" \t\n", "", true},
		{"-- nothing", "", true},
		{"/* nothing */", "", true},
		{"/* without end", "", true},
		{";", "", true},
		{";;", "", true},
		{"; SELECT 1", "", false},
		{"SELECT 1", "", false},
		{"SELECT 1;", "", false},
		{"SELECT ';'; SELECT 2; -- two", " SELECT 2; -- two", false},
		{"-- one\nSELECT 1 /* ; */; ä", " ä", false},
		{"SELECT 'ä'; ä", " ä", false},
	} {
		s, tail, err := c.Prepare(p.sql)
		if err != nil {
			t.Errorf("%q: %v", p.sql, err)
			continue
		}
		if tail != p.tail || (s == nil) != p.empty {
			t.Errorf("%q: statement %v, tail %q", p.sql, s, tail)
		}
		if s != nil {
			s.Close()
		}
	}
	_, tail, err := c.Prepare("SELECT 1 FROM nowhere; SELECT 2")
	checkError(t, "Prepare", err, CodeError, "no such table: nowhere")
	if tail != "" {
		t.Errorf("tail %q after an error", tail)
	}
}

// SQLite reads a statement up to the first NUL, so the text behind it would be left
// out silently and Exec would wait for its end forever.
func TestPrepareRefusesNUL(t *testing.T) {
	c := memory(t)
	for _, sql := range []string{"\x00", "SELECT 1;\x00", "SELECT 1\x00; SELECT 2", "SELECT 'a\x00b'", "-- \x00"} {
		s, _, err := c.Prepare(sql)
		checkError(t, sql, err, CodeError, "NUL")
		if s != nil {
			t.Errorf("%q: a statement", sql)
		}
		checkError(t, sql, c.Exec(sql), CodeError, "NUL")
	}
}

// SQLite quotes the SQL that it cannot compile as it stands there.
func TestErrorsSteerNothing(t *testing.T) {
	c := memory(t)
	for _, text := range printabletest.Texts() {
		for _, sql := range []string{"SELECT x'" + text + "'", `SELECT "` + text + `"()`, `SELECT * FROM "` + text + `"`} {
			if err := c.Exec(sql); err == nil || printabletest.Steers(err.Error()) {
				t.Errorf("%q: %q", sql, err)
			}
		}
	}
}

func TestExec(t *testing.T) {
	c := memory(t)
	run(t, c, ``, ` ; ; -- nothing`, `CREATE TABLE t(a); INSERT INTO t VALUES (1);; SELECT a FROM t; INSERT INTO t VALUES (2) -- last`)
	answers(t, c, `SELECT a FROM t`, `[[1] [2]]`)
}

func TestBindAndColumn(t *testing.T) {
	c := memory(t)
	s := prepare(t, c, `SELECT ?1 AS v, typeof(?1) AS "type of v", length(CAST(?1 AS BLOB))`)
	if s.Columns() != 3 || s.ColumnName(0) != "v" || s.ColumnName(1) != "type of v" {
		t.Errorf("%d columns, %q, %q", s.Columns(), s.ColumnName(0), s.ColumnName(1))
	}
	for _, p := range []struct {
		bind func()
		want string
	}{
		{func() { s.BindNull(1) }, "[<nil> null <nil>]"},
		{func() { s.BindInts(1, 0) }, "[0 integer 1]"},
		{func() { s.BindInts(1, math.MinInt64) }, "[-9223372036854775808 integer 20]"},
		{func() { s.BindInts(1, math.MaxInt64) }, "[9223372036854775807 integer 19]"},
		{func() { s.BindFloat(1, -0.5) }, "[-0.5 real 4]"},
		{func() { s.BindFloat(1, math.Inf(1)) }, "[+Inf real 3]"},
		{func() { s.BindFloat(1, math.NaN()) }, "[<nil> null <nil>]"}, // as SQLite does
		{func() { s.BindText(1, "") }, "[ text 0]"},
		{func() { s.BindText(1, "Erdős") }, "[Erdős text 6]"},
		{func() { s.BindText(1, "a\x00b") }, "[a\x00b text 3]"},
		{func() { s.BindText(1, "\x00") }, "[\x00 text 1]"},
	} {
		p.bind()
		if more, err := s.Step(); err != nil || !more {
			t.Fatal(more, err)
		}
		if got := fmt.Sprint(row(s)); got != p.want {
			t.Errorf("got %q, want %q", got, p.want)
		}
		s.Reset()
	}
	long := strings.Repeat("long ", 1<<18)
	s.BindText(1, long)
	if _, err := s.Step(); err != nil || row(s)[0] != long {
		t.Error("a long text is another")
	}
}

func TestColumnTypes(t *testing.T) {
	s := prepare(t, memory(t), `SELECT 1, 1.5, 'a', x'00ff', NULL, '', x''`)
	if more, err := s.Step(); err != nil || !more {
		t.Fatal(more, err)
	}
	types := make([]string, s.Columns())
	for i := range types {
		v := s.Column(i)
		types[i] = v.Type().String()
	}
	if got := fmt.Sprint(types); got != "[INTEGER REAL TEXT BLOB NULL TEXT BLOB]" {
		t.Error(got)
	}
	if got := fmt.Sprint(row(s)); got != `[1 1.5 a [0 255] <nil>  []]` {
		t.Error(got)
	}
	for _, i := range []int{5, 6} {
		if v := s.Column(i); len(v.Bytes()) != 0 || v.Text() != "" {
			t.Errorf("column %d is not empty", i)
		}
	}
	if v := s.Column(99); v.Type() != Null {
		t.Errorf("no column has type %s", v.Type())
	}
	if s := prepare(t, memory(t), `CREATE TABLE t(a)`); s.Columns() != 0 {
		t.Errorf("%d columns", s.Columns())
	}
}

func TestBindOutOfRangePanics(t *testing.T) {
	s := prepare(t, memory(t), `SELECT ?1`)
	for name, bind := range map[string]func(){
		"0": func() { s.BindNull(0) }, "2": func() { s.BindInts(2, 1) }, "-1": func() { s.BindText(-1, "a") }, "3": func() { s.BindFloat(3, 1) },
	} {
		func() {
			defer func() {
				if p, ok := recover().(string); !ok || !strings.Contains(p, "sqlite: bind: column index out of range") {
					t.Errorf("parameter %s: %v", name, p)
				}
			}()
			bind()
		}()
	}
}

func TestStepAndReset(t *testing.T) {
	c := memory(t)
	s := prepare(t, c, `SELECT value FROM json_each(?1)`)
	s.BindText(1, "[1, 2]")
	for range 2 {
		for _, want := range []bool{true, true, false} {
			if more, err := s.Step(); err != nil || more != want {
				t.Fatal(more, err)
			}
		}
	}
	for range 3 { // back to the start in the middle, parameters stay
		if more, err := s.Step(); err != nil || !more || row(s)[0] != int64(1) {
			t.Fatal(more, err)
		}
		s.Reset()
	}
	s.BindText(1, "[")
	_, err := s.Step()
	checkError(t, "Step", err, CodeError, "malformed JSON")
	s.BindText(1, "[3]") // an error has reset the statement
	if more, err := s.Step(); err != nil || !more || row(s)[0] != int64(3) {
		t.Error(more, err)
	}
}

func TestRun(t *testing.T) {
	c := memory(t)
	run(t, c, `CREATE TABLE t(a UNIQUE)`)
	s := prepare(t, c, `INSERT INTO t VALUES (?1) RETURNING a`)
	for i := range int64(3) {
		s.BindInts(1, i)
		if err := s.Run(); err != nil {
			t.Fatal(err)
		}
	}
	checkError(t, "Run", s.Run(), codeConstraintUnique, "UNIQUE")
	s.BindInts(1, 3)
	if err := s.Run(); err != nil {
		t.Error(err)
	}
	answers(t, c, `SELECT count(*) FROM t`, `[[4]]`)
}

// A statement without an end ends when another goroutine interrupts it, which
// it can as soon as the statement has called.
func TestInterrupt(t *testing.T) {
	c := memory(t)
	running := make(chan struct{}, 1)
	function(t, c, "running", 1, func(call *Call) error {
		select {
		case running <- struct{}{}:
		default:
		}
		return nil
	})
	go func() {
		<-running
		c.Interrupt()
	}()
	fails(t, c, `WITH RECURSIVE s(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM s) SELECT count(running(i)) FROM s`, codeInterrupt, "interrupted")
}

func TestRunning(t *testing.T) {
	c := memory(t)
	running := func(want int) {
		t.Helper()
		if got := len(c.Running()); got != want {
			t.Errorf("%d statements run, want %d", got, want)
		}
	}
	a, b := prepare(t, c, `SELECT 1 UNION ALL SELECT 2`), prepare(t, c, `SELECT 3`)
	running(0)
	a.Step()
	running(1)
	b.Step()
	running(2)
	b.Step() // to its end
	running(1)
	a.Reset()
	running(0)
}

// An error of the text says where it is, if SQLite does.
func TestPrepareSaysWhere(t *testing.T) {
	c := memory(t)
	for _, p := range []struct {
		sql    string
		offset int // -1 if SQLite does not say
	}{
		{"SELECT * FORM t", 9},
		{"SELECT 'ä', nosuch", 13},
		{"SELECT 1 FROM nowhere", -1},
		{"SELECT (", -1}, // the end of the text
	} {
		_, _, err := c.Prepare(p.sql)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%q: %v", p.sql, err)
			continue
		}
		if p.offset < 0 && e.SQL != "" || p.offset >= 0 && (e.SQL != p.sql || e.Offset != p.offset) {
			t.Errorf("%q: %v at byte %d of %q, want %d", p.sql, e, e.Offset, e.SQL, p.offset)
		}
	}
}

func TestKeywords(t *testing.T) {
	words := Keywords()
	if len(words) < 100 || !slices.Contains(words, "SELECT") || !slices.Contains(words, "WITHOUT") {
		t.Errorf("%d keywords: %q", len(words), words)
	}
}
