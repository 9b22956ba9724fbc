package sqlite

/*
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/geosql/geosql/internal/printable"
)

// C refers to Go values by small numbers. A binding is a registered function of one
// connection. Groups, partitions, cursors and scopes are numbered within their owner.

// An owner is a library registered on one connection. SQLite serialises the calls on a
// connection, so that nothing here needs a lock.
type owner struct {
	lib        Library
	auxiliary  int // index of its scopes in the auxiliary data of a statement
	bindings   int // number of registered bindings; guarded by table.mu
	groups     slots[Group]
	partitions slots[Partition]
	cursors    slots[Cursor]
	scopes     slots[Scope]
	failures   *C.int  // number of calls that failed, which C reads; freed with the last binding
	calls      []*Call // free calls; several are in use if a function calls another through SQL
}

// owners is the number of owners created so far.
var owners atomic.Int32

type binding struct {
	owner        *owner
	name         string
	columns      int
	scalar       func(*Call) error
	newGroup     func() Group
	newPartition func() Partition
	open         func() Cursor
}

// slots numbers values from 1.
type slots[T any] struct {
	items []T
	free  []int
}

func (s *slots[T]) add(v T) int {
	if n := len(s.free); n > 0 {
		i := s.free[n-1]
		s.free = s.free[:n-1]
		s.items[i-1] = v
		return i
	}
	s.items = append(s.items, v)
	return len(s.items)
}

func (s *slots[T]) get(i int) T { return s.items[i-1] }

func (s *slots[T]) remove(i int) T {
	var zero T
	v := s.items[i-1]
	s.items[i-1] = zero
	s.free = append(s.free, i)
	return v
}

// table holds all bindings of the process, in pages. A binding is found without a
// lock: its page never moves, and its entry changes only when its function is
// destroyed.
var table struct {
	mu    sync.Mutex
	pages atomic.Pointer[[]*page]
	free  []int // free numbers; the last is used next
}

const pageSize = 256

type page [pageSize]*binding

func entry(i int) **binding { return &(*table.pages.Load())[uint(i)/pageSize][uint(i)%pageSize] }

func bound(i C.int) *binding { return *entry(int(i)) }

func bind(b *binding) int {
	table.mu.Lock()
	defer table.mu.Unlock()
	if len(table.free) == 0 {
		addPage()
	}
	n := len(table.free) - 1
	i := table.free[n]
	table.free = table.free[:n]
	*entry(i) = b
	b.owner.bindings++
	return i
}

// addPage adds a page. The caller holds the table's lock.
func addPage() {
	var pages []*page
	if p := table.pages.Load(); p != nil {
		pages = *p
	}
	room := len(pages) * pageSize
	pages = append(pages[:len(pages):len(pages)], new(page))
	table.pages.Store(&pages)
	for i := pageSize - 1; i >= 0; i-- {
		table.free = append(table.free, room+i)
	}
}

//export geosqlUnbind
func geosqlUnbind(i C.int) {
	defer ignorePanic()
	o := unbind(int(i))
	if o == nil {
		return
	}
	C.free(unsafe.Pointer(o.failures))
	if o.lib.Close != nil {
		o.lib.Close()
	}
}

// unbind frees binding i. If it was the last of its owner, unbind returns the owner.
func unbind(i int) *owner {
	table.mu.Lock()
	defer table.mu.Unlock()
	o := (*entry(i)).owner
	*entry(i) = nil
	table.free = append(table.free, i)
	o.bindings--
	if o.bindings > 0 {
		return nil
	}
	return o
}

// ignorePanic, deferred, ends a panic where no error can be reported.
func ignorePanic() { _ = recover() }

func (o *owner) call(n C.int, args *C.gs_value, out *C.gs_result, cells int) *Call {
	var c *Call
	if k := len(o.calls); k > 0 {
		c = o.calls[k-1]
		o.calls = o.calls[:k-1]
	} else {
		c = new(Call)
	}
	c.args = unsafe.Slice((*Value)(unsafe.Pointer(args)), int(n))
	c.out = unsafe.Slice(out, cells)
	return c
}

// endCall, deferred, ends a call and makes an error or a panic its result. A panic
// must not unwind through SQLite's frames.
func (o *owner) endCall(c *Call, err *error) {
	if p := recover(); p != nil {
		*err = panicError(p)
	}
	if *err != nil {
		*o.failures++
		c.fail(*err)
	}
	*c = Call{}
	o.calls = append(o.calls, c)
}

func panicError(p any) error {
	if err, ok := p.(error); ok {
		return fmt.Errorf("geosql internal error: %w", err)
	}
	return fmt.Errorf("geosql internal error: %v", p)
}

// fail makes an error the result. The result code is that of the error's method
// SQLiteCode, if it has one. The text is made printable, since an error may quote
// anything.
func (c *Call) fail(err error) {
	r := c.cell(0)
	r.code = CodeError
	var coded interface{ SQLiteCode() int }
	if errors.As(err, &coded) {
		r.code = C.int(coded.SQLiteCode())
	}
	setText(r, []byte(printable.Text(err.Error())))
}

// attachTo calls attach on a connection that SQLite passes to an extension.
func attachTo(db unsafe.Pointer, out *C.gs_result, attach func(*Conn) error) {
	c := &Call{out: unsafe.Slice(out, 1)}
	var err error
	defer func() {
		if p := recover(); p != nil {
			err = panicError(p)
		}
		if err != nil {
			c.fail(err)
		}
	}()
	err = attach(&Conn{db: db})
}

//export geosqlScalar
func geosqlScalar(i, scope, n C.int, args *C.gs_value, out *C.gs_result) {
	b := bound(i)
	c := b.owner.call(n, args, out, 1)
	c.scope = b.owner.scope(scope)
	var err error
	defer b.owner.endCall(c, &err)
	err = b.scalar(c)
}

// scope returns the scope of that number, nil for 0.
func (o *owner) scope(i C.int) Scope {
	if i == 0 {
		return nil
	}
	return o.scopes.get(int(i))
}

// geosqlBeginScope begins a scope and returns its number, or 0 if that fails.
//
//export geosqlBeginScope
func geosqlBeginScope(i C.int) C.int {
	defer ignorePanic()
	o := bound(i).owner
	return C.int(o.scopes.add(o.lib.NewScope()))
}

//export geosqlEndScope
func geosqlEndScope(i, scope C.int) {
	defer ignorePanic()
	bound(i).owner.scopes.remove(int(scope)).End()
}

// geosqlStep passes rows to a group: n arguments of the first, and the varying ones of each other. It
// returns the number of the group, which is a new one if group is 0.
//
//export geosqlStep
func geosqlStep(i, scope, place, group, n, varying, values C.int, args *C.gs_value, out *C.gs_result) (state C.int) {
	b := bound(i)
	c := b.owner.call(values, args, out, 1)
	c.setRows(int(n), int(varying))
	c.scope, c.place = b.owner.scope(scope), int(place)
	state = group
	var err error
	defer b.owner.endCall(c, &err)
	err = steps(c, b.group(&state))
	return state
}

// group returns a group by its number, or a new one for 0, which gets a number.
func (b *binding) group(number *C.int) Group {
	if *number == 0 {
		*number = C.int(b.owner.groups.add(b.newGroup()))
	}
	return b.owner.groups.get(int(*number))
}

// steps passes the rows of a batch to a group, up to the first error.
func steps(c *Call, g Group) error {
	for {
		if err := g.Step(c); err != nil {
			return err
		}
		if !c.NextRow() {
			return nil
		}
	}
}

// geosqlFinal passes the last rows to a group and ends it.
//
//export geosqlFinal
func geosqlFinal(i, scope, place, group, aborted, n, varying, values C.int, args *C.gs_value, out *C.gs_result) {
	b := bound(i)
	c := b.owner.call(values, args, out, 1)
	c.scope, c.place, c.aborted = b.owner.scope(scope), int(place), aborted != 0
	var err error
	defer b.owner.endCall(c, &err)
	var g Group
	if group == 0 {
		g = b.newGroup()
	} else {
		g = b.owner.groups.remove(int(group))
	}
	if values > 0 {
		c.setRows(int(n), int(varying))
		err = lastSteps(c, g)
	}
	c.args, c.rows = nil, nil
	if final := g.Final(c); err == nil {
		err = final
	}
}

// geosqlValue passes rows to a group and answers it without ending it. It returns the number of the group.
//
//export geosqlValue
func geosqlValue(i, scope, place, group, n, varying, values C.int, args *C.gs_value, out *C.gs_result) (state C.int) {
	b := bound(i)
	c := b.owner.call(values, args, out, 1)
	c.scope, c.place = b.owner.scope(scope), int(place)
	state = group
	var err error
	defer b.owner.endCall(c, &err)
	g := b.group(&state).(Valuer)
	if values > 0 {
		c.setRows(int(n), int(varying))
		if err = steps(c, g); err != nil {
			return state
		}
	}
	c.args, c.rows = nil, nil
	err = g.Value(c)
	return state
}

// lastSteps calls steps and returns a panic as an error, since Final has to follow.
func lastSteps(c *Call, g Group) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicError(p)
		}
	}()
	return steps(c, g)
}

// geosqlRow passes a row of n arguments to a partition, which answers it. It returns
// the number of the partition, which is a new one if partition is 0.
//
//export geosqlRow
func geosqlRow(i, scope, partition, aborted, n C.int, args *C.gs_value, out *C.gs_result) (state C.int) {
	b := bound(i)
	c := b.owner.call(n, args, out, 1)
	c.scope, c.aborted = b.owner.scope(scope), aborted != 0
	state = partition
	var err error
	defer b.owner.endCall(c, &err)
	if state == 0 {
		state = C.int(b.owner.partitions.add(b.newPartition()))
	}
	err = b.owner.partitions.get(int(state)).Row(c)
	return state
}

// geosqlRefuseFrame makes the result the error about a frame in which a row arrives
// before the last one was answered, or which a row leaves.
//
//export geosqlRefuseFrame
func geosqlRefuseFrame(i C.int, out *C.gs_result) {
	b := bound(i)
	c := &Call{out: unsafe.Slice(out, 1)}
	*b.owner.failures++
	c.fail(fmt.Errorf("%s: takes one row at a time: write OVER (PARTITION BY ... ORDER BY ... ROWS UNBOUNDED PRECEDING)", b.name))
}

//export geosqlEndPartition
func geosqlEndPartition(i, partition C.int) {
	defer ignorePanic()
	bound(i).owner.partitions.remove(int(partition)).End()
}

//export geosqlFilter
func geosqlFilter(i C.int, cursor *C.int, used, n C.int, args *C.gs_value, cells *C.gs_result) (rows C.int) {
	b := bound(i)
	c := b.owner.call(n, args, cells, b.columns)
	var err error
	defer b.owner.endCall(c, &err)
	if *cursor == 0 {
		*cursor = C.int(b.owner.cursors.add(b.open()))
	}
	var r Rows
	r, err = b.owner.cursors.get(int(*cursor)).Filter(c, uint(used))
	return C.int(r)
}

//export geosqlNext
func geosqlNext(i, cursor C.int, cells *C.gs_result) (rows C.int) {
	b := bound(i)
	c := b.owner.call(0, nil, cells, b.columns)
	var err error
	defer b.owner.endCall(c, &err)
	var r Rows
	r, err = b.owner.cursors.get(int(cursor)).Next(c)
	return C.int(r)
}

//export geosqlCloseCursor
func geosqlCloseCursor(i, cursor C.int) {
	defer ignorePanic()
	bound(i).owner.cursors.remove(int(cursor)).Close()
}
