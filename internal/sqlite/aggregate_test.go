//go:build !geosql_loadable

package sqlite

import (
	"errors"
	"fmt"
	"testing"
)

// testGroup is a group of functions; each may be missing.
type testGroup struct {
	step, final func(*Call) error
}

func (g *testGroup) Step(c *Call) error {
	if g.step == nil {
		return nil
	}
	return g.step(c)
}

func (g *testGroup) Final(c *Call) error {
	if g.final == nil {
		return nil
	}
	return g.final(c)
}

// groups counts the groups of the aggregate total.
type groups struct{ begun, ended int }

func (g *groups) library() Library {
	return Library{Aggregates: []Aggregate{{Name: "total", Args: []int{1}, New: func() Group {
		g.begun++
		sum, ended := int64(0), false
		return &testGroup{
			step: func(c *Call) error {
				if c.Arg(0).Type() == Null {
					return errors.New("total: NULL")
				}
				sum += c.Arg(0).Int()
				return nil
			},
			final: func(c *Call) error {
				if ended {
					return errors.New("total: final twice")
				}
				ended = true
				g.ended++
				c.ResultInt(0, sum)
				return nil
			},
		}
	}}}}
}

func grouped(t *testing.T) (*Conn, *groups) {
	t.Helper()
	c, g := memory(t), new(groups)
	register(t, c, g.library())
	t.Cleanup(func() {
		if g.begun != g.ended {
			t.Errorf("%d groups begun and %d ended", g.begun, g.ended)
		}
		checkNothingLeft(t)
	})
	return c, g
}

func TestAggregate(t *testing.T) {
	c, g := grouped(t)
	answers(t, c, numbers(10)+`SELECT total(i), total(2 * i), total(i) FILTER (WHERE i > 8) FROM s`, `[[55 110 19]]`)
	answers(t, c, numbers(10)+`SELECT i % 3, total(i) FROM s GROUP BY 1`, `[[0 18] [1 22] [2 15]]`)
	answers(t, c, numbers(6)+`SELECT total(DISTINCT i / 2) FROM s`, `[[6]]`)
	if g.begun != 7 {
		t.Errorf("%d groups", g.begun)
	}
	fails(t, c, numbers(3)+`SELECT total(i) OVER () FROM s`, CodeError, "total() may not be used as a window function")
}

func TestManyGroups(t *testing.T) {
	c, g := grouped(t)
	const n = 20000
	answers(t, c, numbers(3*n)+fmt.Sprintf(`, g AS (SELECT total(i) AS sum FROM s GROUP BY i %% %d) SELECT count(*), sum(sum) FROM g`, n),
		fmt.Sprintf(`[[%d %d]]`, n, 3*n*(3*n+1)/2))
	if g.begun != n {
		t.Errorf("%d groups, want %d", g.begun, n)
	}
}

// A group may take rows of a batch itself, as many as it likes, and has the others step by step.
func TestAhead(t *testing.T) {
	c := memory(t)
	register(t, c, Library{Aggregates: []Aggregate{{Name: "scaled", Args: []int{2}, Varying: 1, New: func() Group {
		sum, factor := int64(0), int64(0)
		return &testGroup{
			step: func(c *Call) error {
				factor = c.Arg(1).Int()
				for more := true; more; more = c.NextRow() {
					sum += factor * c.Arg(0).Int()
					values, each := c.Ahead()
					if each != 1 {
						return fmt.Errorf("%d arguments vary", each)
					}
					taken := min(len(values), int(c.Arg(0).Int()%5))
					for i := range values[:taken] {
						sum += factor * values[i].Int()
					}
					c.Skip(taken)
				}
				return nil
			},
			final: func(c *Call) error {
				c.ResultInt(0, sum)
				return nil
			},
		}
	}}}})
	answers(t, c, numbers(3000)+`SELECT scaled(i, 2) FROM s`, `[[9003000]]`)
	answers(t, c, numbers(3000)+`SELECT scaled(i, i / 700) = sum(i * (i / 700)) FROM s`, `[[1]]`)
	answers(t, c, numbers(1)+`SELECT scaled(i, 3) FROM s`, `[[3]]`)
	checkNothingLeft(t)
}

func TestFinalWithoutStep(t *testing.T) {
	c, g := grouped(t)
	answers(t, c, numbers(3)+`SELECT total(i) FROM s WHERE i > 3`, `[[<nil>]]`)
	answers(t, c, numbers(3)+`SELECT total(i) FILTER (WHERE i > 3) FROM s`, `[[<nil>]]`)
	answers(t, c, numbers(3)+`SELECT total(i) FROM s WHERE i > 3 GROUP BY i`, `[]`)
	if g.begun != 0 {
		t.Errorf("%d groups", g.begun)
	}
}

// However a statement ends, every group is finished.
func TestGroupsOfAbortedStatements(t *testing.T) {
	t.Run("error of the group", func(t *testing.T) {
		c, _ := grouped(t)
		fails(t, c, numbers(9)+`SELECT total(nullif(i, 5)) FROM s`, CodeError, "total: NULL")
		fails(t, c, numbers(9)+`SELECT total(i), total(nullif(i, 5)) FROM s GROUP BY i % 2`, CodeError, "total: NULL")
	})
	t.Run("error elsewhere", func(t *testing.T) {
		c, _ := grouped(t)
		fails(t, c, numbers(9)+`SELECT total(i), total(json(CASE i WHEN 5 THEN '[' ELSE '1' END)) FROM s`, CodeError, "malformed JSON")
	})
	t.Run("closed early", func(t *testing.T) {
		c, _ := grouped(t)
		s := prepare(t, c, numbers(9)+`SELECT i % 3, total(i) FROM s GROUP BY 1`)
		for range 2 {
			if more, err := s.Step(); err != nil || !more {
				t.Fatal(more, err)
			}
			s.Reset()
		}
		if _, err := s.Step(); err != nil {
			t.Error(err)
		}
		s.Close()
	})
	t.Run("interrupt", func(t *testing.T) {
		c, _ := grouped(t)
		function(t, c, "stop", 1, func(call *Call) error {
			if call.Arg(0).Int() == 100 {
				c.Interrupt()
			}
			call.ResultInt(0, 1)
			return nil
		})
		fails(t, c, `WITH RECURSIVE s(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM s) SELECT total(stop(i)) FROM s`, codeInterrupt, "interrupted")
	})
}

func TestErrorOfFinal(t *testing.T) {
	c := memory(t)
	register(t, c, Library{Aggregates: []Aggregate{{Name: "refuse", Args: []int{1}, New: func() Group {
		return &testGroup{final: func(*Call) error { return codedError(CodeDenied) }}
	}}}})
	fails(t, c, numbers(9)+`SELECT refuse(i) FROM s`, CodeDenied, "coded 279")
	checkNothingLeft(t)
}

// A group knows that its statement is being aborted if another call of the library has failed.
func TestAborted(t *testing.T) {
	c := memory(t)
	var told []bool
	tell := func(call *Call) error {
		told = append(told, call.Aborted())
		return nil
	}
	register(t, c, Library{
		Scalars: []Scalar{{Name: "burst", Args: []int{1}, Call: func(call *Call) error {
			if call.Aborted() {
				t.Error("a call of a scalar is aborted")
			}
			if call.Arg(0).Int() == 3 {
				return codedError(CodeDenied)
			}
			return nil
		}}},
		Aggregates: []Aggregate{{Name: "watch", Args: []int{1}, New: func() Group { return &testGroup{final: tell} }}},
		Windows:    []Window{{Name: "await", Args: []int{1}, New: func() Partition { return &testPartition{row: tell} }}},
	})
	for _, q := range []struct{ sql, fails, want string }{
		{numbers(2) + `SELECT watch(burst(i)), watch(i) FROM s`, "", `[false false]`},
		{numbers(4) + `SELECT watch(i), watch(burst(i)) FROM s`, "coded 279", `[true true]`},
		{numbers(4) + `SELECT watch(i), burst(i) FROM s GROUP BY i`, "coded 279", `[false false false]`},
		{numbers(4) + `SELECT i, watch(burst(1 + i)) FROM s GROUP BY i`, "coded 279", `[false]`},
		{`SELECT await(1), watch(1), burst(2)`, "", `[false false]`},
		{`SELECT await(1), watch(1), max(burst(3))`, "coded 279", `[true true]`},
		{numbers(2) + `SELECT await(i) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) FROM s`, "", `[false false]`},
		{`SELECT watch(1), max(json('['))`, "malformed JSON", `[false]`}, // no call of the library
	} {
		told = nil
		if _, err := query(c, q.sql); fmt.Sprint(err) != q.fails && (err != nil || q.fails != "") {
			t.Errorf("%s\nfails with %v", q.sql, err)
		}
		if got := fmt.Sprint(told); got != q.want {
			t.Errorf("%s\ntells %s, want %s", q.sql, got, q.want)
		}
	}
}
