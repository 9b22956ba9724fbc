//go:build !geosql_loadable

package sqlite

import (
	"errors"
	"fmt"
	"testing"
)

type scopeFunc func()

func (f scopeFunc) End() { f() }

// scopes counts scopes and tells which one a call is in.
type scopes struct{ begun, ended int }

type countedScope struct {
	scopes *scopes
	number int
	ended  bool
}

func (s *countedScope) End() {
	if s.ended {
		panic("ended twice")
	}
	s.ended = true
	s.scopes.ended++
}

// library has two scoped functions that answer the number of their scope, and
// one without.
func (s *scopes) library() Library {
	number := func(c *Call) error {
		scope := c.Scope().(*countedScope)
		if scope.ended {
			return errors.New("the scope has ended")
		}
		c.ResultInt(0, int64(scope.number))
		return nil
	}
	return Library{
		NewScope: func() Scope { s.begun++; return &countedScope{scopes: s, number: s.begun} },
		Scalars: []Scalar{
			{Name: "scope", Args: []int{0, 1}, Scoped: true, Call: number},
			{Name: "same_scope", Args: []int{0}, Scoped: true, Call: number},
			{Name: "no_scope", Args: []int{0}, Call: func(c *Call) error {
				if c.Scope() != nil {
					return errors.New("a scope")
				}
				return nil
			}},
		},
		Aggregates: []Aggregate{
			{Name: "group_scope", Args: []int{1}, Scoped: true, New: func() Group { return finalGroup(number) }},
			{Name: "group_place", Args: []int{1}, Scoped: true, New: func() Group {
				return finalGroup(func(c *Call) error { c.ResultInt(0, int64(c.Place())); return nil })
			}},
		},
	}
}

// finalGroup answers a group without reading its rows.
type finalGroup func(*Call) error

func (finalGroup) Step(*Call) error      { return nil }
func (f finalGroup) Final(c *Call) error { return f(c) }

func (s *scopes) check(t *testing.T, begun, ended int) {
	t.Helper()
	if s.begun != begun || s.ended != ended {
		t.Errorf("%d scopes begun and %d ended, want %d and %d", s.begun, s.ended, begun, ended)
	}
}

func scoped(t *testing.T) (*Conn, *scopes) {
	t.Helper()
	c, s := memory(t), new(scopes)
	register(t, c, s.library())
	t.Cleanup(func() { checkNothingLeft(t) })
	return c, s
}

func TestScopeIsSharedByTheCallsOfAStatement(t *testing.T) {
	c, s := scoped(t)
	answers(t, c, numbers(3)+`SELECT scope(), same_scope(), scope(i), no_scope() FROM s WHERE scope() > 0 ORDER BY scope(i)`,
		`[[1 1 1 <nil>] [1 1 1 <nil>] [1 1 1 <nil>]]`)
	s.check(t, 1, 1)
	answers(t, c, `SELECT scope(), (SELECT scope() FROM (SELECT 1 LIMIT 1)) UNION ALL SELECT scope(1), same_scope()`, `[[2 2] [2 2]]`)
	s.check(t, 2, 2)
	answers(t, c, `SELECT no_scope()`, `[[<nil>]]`)
	answers(t, c, numbers(3)+`SELECT scope() FROM s WHERE i > 3`, `[]`)
	s.check(t, 2, 2)
}

func TestScopeEndsWithTheRun(t *testing.T) {
	for name, end := range map[string]func(*Stmt){
		"reset":    (*Stmt).Reset,
		"finalise": (*Stmt).Close,
		"done": func(s *Stmt) {
			for more := true; more; {
				more, _ = s.Step()
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, s := scoped(t)
			stmt := prepare(t, c, numbers(3)+`SELECT scope() FROM s`)
			s.check(t, 0, 0)
			if more, err := stmt.Step(); err != nil || !more {
				t.Fatal(more, err)
			}
			s.check(t, 1, 0)
			end(stmt)
			s.check(t, 1, 1)
			if name == "finalise" {
				return
			}
			for run := range 3 {
				if more, err := stmt.Step(); err != nil || !more || row(stmt)[0] != int64(run+2) {
					t.Fatal(more, err)
				}
				s.check(t, run+2, run+1)
				stmt.Reset()
				s.check(t, run+2, run+2)
			}
		})
	}
}

func TestScopeEndsAfterAnError(t *testing.T) {
	c, s := scoped(t)
	function(t, c, "burst", 0, func(*Call) error { panic("burst") })
	for i, sql := range []string{
		numbers(5) + `SELECT scope(), json(CASE WHEN i < 3 THEN '1' ELSE '[' END) FROM s`,
		`SELECT scope(), burst()`,
		`SELECT scope(1 / burst())`,
		numbers(5) + `SELECT sum(scope()), json('[') FROM s`,
	} {
		if _, err := query(c, sql); err == nil {
			t.Errorf("%s: no error", sql)
		}
		if s.begun != s.ended {
			t.Errorf("%d: %d scopes begun and %d ended", i, s.begun, s.ended)
		}
	}
	run(t, c, `CREATE TABLE t(a UNIQUE)`)
	fails(t, c, `INSERT INTO t `+numbers(5)+`SELECT scope() FROM s`, codeConstraintUnique, "UNIQUE")
	if s.begun == 0 || s.begun != s.ended {
		t.Errorf("%d scopes begun and %d ended", s.begun, s.ended)
	}
}

func TestScopeEndsAfterAnInterrupt(t *testing.T) {
	c, s := scoped(t)
	function(t, c, "stop", 1, func(call *Call) error {
		if call.Arg(0).Int() == 100 {
			c.Interrupt()
		}
		return nil
	})
	_, err := query(c, `WITH RECURSIVE s(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM s) SELECT scope(), stop(i) FROM s`)
	checkError(t, "interrupted", err, codeInterrupt, "interrupted")
	s.check(t, 1, 1)
}

// Statements that run at the same time, also within one another, have a scope
// each.
func TestScopesOfStatements(t *testing.T) {
	c, s := scoped(t)
	a, b := prepare(t, c, numbers(2)+`SELECT scope() FROM s`), prepare(t, c, numbers(2)+`SELECT scope() FROM s`)
	for range 2 {
		for i, stmt := range []*Stmt{a, b} {
			if more, err := stmt.Step(); err != nil || !more || row(stmt)[0] != int64(i+1) {
				t.Fatal(i, more, err)
			}
		}
	}
	s.check(t, 2, 0)
	b.Reset()
	s.check(t, 2, 1)
	a.Reset()
	s.check(t, 2, 2)

	function(t, c, "inner", 0, func(call *Call) error {
		rows, err := query(c, `SELECT same_scope()`)
		if err == nil {
			call.ResultInt(0, rows[0][0].(int64))
		}
		return err
	})
	answers(t, c, numbers(2)+`SELECT scope(), inner(), same_scope() FROM s`, `[[3 4 3] [3 5 3]]`)
	s.check(t, 5, 5)
}

// Every run of a trigger has a scope of its own, which ends with it.
func TestScopesOfTriggers(t *testing.T) {
	c, s := scoped(t)
	run(t, c, `CREATE TABLE t(a)`, `CREATE TABLE log(a, b)`,
		`CREATE TRIGGER tr AFTER INSERT ON t BEGIN INSERT INTO log VALUES (scope(), same_scope()); END`,
		`INSERT INTO t VALUES (1), (2)`)
	answers(t, c, `SELECT count(*), sum(a = b) FROM log`, `[[2 2]]`)
	if s.begun == 0 || s.begun != s.ended {
		t.Errorf("%d scopes begun and %d ended", s.begun, s.ended)
	}
}

// A scope that cannot be made fails the call and nothing else.
func TestScopeThatPanics(t *testing.T) {
	c := memory(t)
	register(t, c, Library{
		NewScope: func() Scope { panic("no scope") },
		Scalars: []Scalar{{Name: "scope", Args: []int{0}, Scoped: true, Call: func(c *Call) error {
			if c.Scope() != nil {
				return fmt.Errorf("scope %v", c.Scope())
			}
			return errors.New("without a scope")
		}}},
	})
	fails(t, c, `SELECT scope()`, CodeError, "without a scope")
}

// Two libraries on one connection do not see each other's scopes.
func TestScopesOfLibraries(t *testing.T) {
	c := memory(t)
	var a, b scopes
	lib := b.library()
	lib.Scalars = []Scalar{lib.Scalars[1]} // same_scope
	register(t, c, a.library())
	register(t, c, lib)
	answers(t, c, numbers(2)+`SELECT scope(), same_scope() FROM s`, `[[1 1] [1 1]]`)
	a.check(t, 1, 1)
	b.check(t, 1, 1)
}

func TestAggregatesShareTheScope(t *testing.T) {
	c, s := scoped(t)
	answers(t, c, numbers(4)+`SELECT scope(), group_scope(i), same_scope() FROM s GROUP BY i % 2`, `[[1 1 1] [1 1 1]]`)
	s.check(t, 1, 1)
	answers(t, c, numbers(2000)+`SELECT group_scope(i) FROM s`, `[[2]]`) // more than a batch of rows
	s.check(t, 2, 2)
}

func TestPlaces(t *testing.T) {
	c, _ := scoped(t)
	for sql, want := range map[string]string{
		`SELECT group_place(i) FROM s GROUP BY i % 3`:                                                   `[[1] [1] [1]]`,
		`SELECT group_place(i), group_place(i + 1) FROM s GROUP BY i % 2`:                               `[[1 2] [1 2]]`,
		`SELECT group_place(i), group_place(i) FROM s GROUP BY i % 2`:                                   `[[1 1] [1 1]]`, // one instruction
		`SELECT group_place(i) FROM s UNION ALL SELECT group_place(i) FROM s`:                           `[[1] [2]]`,
		`SELECT (SELECT group_place(s.i) FROM s AS other) FROM s`:                                       `[[1]]`,
		`SELECT (SELECT group_place(other.i) FROM s AS other WHERE other.i < s.i) FROM s WHERE s.i > 1`: `[[1] [1] [1]]`,
	} {
		answers(t, c, numbers(4)+sql, want)
		answers(t, c, numbers(4)+sql, want) // another run begins anew
	}
}
