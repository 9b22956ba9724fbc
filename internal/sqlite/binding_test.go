//go:build !geosql_loadable

package sqlite

import (
	"errors"
	"fmt"
	"sync"
	"testing"
)

// bindings lists the functions that are registered in the process.
func bindings() (list []*binding, room int) {
	table.mu.Lock()
	defer table.mu.Unlock()
	if pages := table.pages.Load(); pages != nil {
		for _, p := range *pages {
			for _, b := range p {
				if b != nil {
					list = append(list, b)
				}
			}
		}
		room = len(*pages) * pageSize
	}
	return list, room
}

// checkNothingLeft checks that no group, partition, cursor or scope outlived its statement
// in any library. Tests of the package run one after the other.
func checkNothingLeft(t *testing.T) {
	t.Helper()
	list, _ := bindings()
	for _, b := range list {
		o := b.owner
		if n := len(o.groups.items) - len(o.groups.free); n != 0 {
			t.Errorf("%d groups are left", n)
		}
		if n := len(o.partitions.items) - len(o.partitions.free); n != 0 {
			t.Errorf("%d partitions are left", n)
		}
		if n := len(o.cursors.items) - len(o.cursors.free); n != 0 {
			t.Errorf("%d cursors are left", n)
		}
		if n := len(o.scopes.items) - len(o.scopes.free); n != 0 {
			t.Errorf("%d scopes are left", n)
		}
	}
}

// everything is a library with a function of each kind.
func everything(closed func()) Library {
	return Library{
		NewScope: func() Scope { return scopeFunc(func() {}) },
		Close:    closed,
		Scalars: []Scalar{
			{Name: "echo", Args: []int{1, 2, 3}, Call: echo},
			{Name: "scoped", Args: []int{1}, Scoped: true, Call: echo},
		},
		Aggregates: (&groups{}).library().Aggregates,
		Windows:    []Window{{Name: "latest", Args: []int{1}, New: func() Partition { return &testPartition{row: echo} }}},
		Tables:     (&cursors{}).library().Tables,
	}
}

const useEverything = `SELECT echo(i), scoped(i), sum FROM upto(20) JOIN pair(i, i) UNION ALL SELECT total(i), i, i FROM upto(20) GROUP BY i
	UNION ALL SELECT latest(i) OVER (PARTITION BY i % 3 ORDER BY i ROWS UNBOUNDED PRECEDING), i, i FROM upto(20)`

// The numbers of closed connections are used again.
func TestBindingsAreReused(t *testing.T) {
	cycle := func() {
		c, err := Open(":memory:", ReadWrite)
		if err != nil {
			t.Fatal(err)
		}
		closed := 0
		register(t, c, everything(func() { closed++ }))
		run(t, c, useEverything)
		if closed != 0 {
			t.Fatal("closed before the connection")
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if closed != 1 {
			t.Fatalf("closed %d times", closed)
		}
	}
	cycle()
	list, room := bindings()
	for range 1000 {
		cycle()
	}
	again, roomAgain := bindings()
	if len(again) != len(list) || roomAgain != room {
		t.Errorf("%d bindings in %d places, were %d in %d", len(again), roomAgain, len(list), room)
	}
}

// A library with nothing in it, or without Close, is no special case.
func TestSmallLibraries(t *testing.T) {
	c := memory(t)
	register(t, c, Library{})
	register(t, c, Library{Scalars: []Scalar{{Name: "echo", Args: []int{1}, Call: echo}}})
	answers(t, c, `SELECT echo(1)`, `[[1]]`)
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// A panic of Close reaches nobody.
func TestCloseThatPanics(t *testing.T) {
	before, _ := bindings()
	c := memory(t)
	register(t, c, everything(func() { panic("cannot close") }))
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if after, _ := bindings(); len(after) != len(before) {
		t.Errorf("%d bindings are left", len(after)-len(before))
	}
}

// Connections are independent: they are opened, used and closed at the same time.
func TestConcurrentConnections(t *testing.T) {
	before, _ := bindings()
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for i := range 30 {
				if err := useConnection(i); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	if after, _ := bindings(); len(after) != len(before) {
		t.Errorf("%d bindings are left", len(after)-len(before))
	}
}

func useConnection(i int) error {
	c, err := Open(":memory:", ReadWrite)
	if err != nil {
		return err
	}
	defer c.Close()
	closed := 0 // without a lock: a library belongs to its connection
	err = c.Register(everything(func() { closed++ }))
	if err != nil {
		return err
	}
	if err := c.Exec(useEverything); err != nil {
		return err
	}
	rows, err := query(c, fmt.Sprintf(`SELECT echo(%d), total(i) FROM upto(%d)`, i, i))
	if err != nil {
		return err
	}
	if i > 0 && fmt.Sprint(rows) != fmt.Sprintf(`[[%d %d]]`, i, i*(i+1)/2) {
		return fmt.Errorf("%d: answers %v", i, rows)
	}
	if err := c.Close(); err != nil {
		return err
	}
	if closed != 1 {
		return errors.New("not closed once")
	}
	return nil
}
