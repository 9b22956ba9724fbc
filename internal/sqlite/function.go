package sqlite

/*
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"fmt"
	"strings"
	"unsafe"
)

// Flags of a function.
type Flags int

// Flags that SQLite knows. A function that releases or charges anything must be
// neither Deterministic nor Innocuous.
const (
	Deterministic Flags = 0x800    // same arguments give the same answer, so calls may be folded
	DirectOnly    Flags = 0x80000  // cannot be called from views, triggers or the schema
	Innocuous     Flags = 0x200000 // harmless wherever it is called from
)

// A Library is a set of functions to register on one connection.
type Library struct {
	Scalars    []Scalar
	Aggregates []Aggregate
	Windows    []Window
	Tables     []Table

	// NewScope starts the scope of a statement, at the first call of a function with
	// Scoped set. All such calls of the statement share the scope.
	NewScope func() Scope
	// Close runs when the connection has closed.
	Close func()
}

// A Scope lives as long as one run of a statement.
type Scope interface {
	// End runs when the statement is reset or finalised, also after an error.
	End()
}

// A Scalar is a scalar function.
type Scalar struct {
	Name   string
	Args   []int // numbers of arguments it takes
	Flags  Flags
	Scoped bool
	Call   func(*Call) error
}

// An Aggregate is an aggregate function.
type Aggregate struct {
	Name   string
	Args   []int // numbers of arguments it takes, at least one
	Flags  Flags
	Scoped bool
	New    func() Group // starts a group at its first row

	// Windowed says that its groups are [Valuer]s, which may be used as window functions.
	Windowed bool

	// Varying is how many arguments vary from row to row. The others, which come last, mostly stay the
	// same, and rows where they do have them no more: see [Call.NextRow]. 0 stands for all.
	Varying int
}

// A Group is the state of an aggregate over one group of rows.
type Group interface {
	// Step processes a row, and those after it that it takes with NextRow. Rows arrive in
	// batches, so that an error may surface some rows after its cause, but before the
	// answer.
	Step(*Call) error
	// Final sets the result and ends the group. It is called exactly once, also
	// after an error of Step and when the statement is aborted.
	Final(*Call) error
}

// A Valuer is a group that answers as a window function too, for any frame that begins with UNBOUNDED PRECEDING. For each row,
// or once for the peers of a RANGE or GROUPS frame, Step has been called for the rows up to the frame's end. The result of
// Final is nobody's where Value was called.
type Valuer interface {
	Group
	Value(*Call) error
}

// A Window is a window function that answers every row before it sees the next,
//
//	name(...) OVER (PARTITION BY ... ORDER BY ... ROWS UNBOUNDED PRECEDING)
//
// It is also a plain aggregate over groups of one row. Anything that would pass it
// a second row before the first is answered, or remove a row, is an error and is not
// passed on: a group of several rows, a frame with an end after the current row or
// a start that moves past a row, and peers in a RANGE or GROUPS frame.
//
// A row that FILTER leaves out, or with a frame that ends before it, has the answer of the
// last row in its frame, or NULL.
type Window struct {
	Name   string
	Args   []int // numbers of arguments it takes
	Flags  Flags
	Scoped bool
	New    func() Partition // starts a partition or group at its first answer
}

// A Partition is the state of a Window over one partition, or over the one row of a
// group. Several may exist at once: SQLite computes the function separately wherever
// a statement names it, and once more for an ORDER BY on its column.
type Partition interface {
	// Row processes a row and sets its result. It is called once for every row, and
	// not after an error. It may be called for the first row although the statement
	// is being aborted, which SQLite does not distinguish from the end of a group.
	Row(*Call) error
	// End ends the partition. It is called exactly once: when the next one starts, or
	// when the statement ends, is reset, aborted or finalised. It cannot report an
	// error, so that Row must write whatever must not be lost.
	End()
}

// A Table is a table-valued function.
type Table struct {
	Name      string
	Columns   []string // "lat REAL"
	Hidden    []string // arguments, "epsilon"
	Required  int      // how many of them must be given
	Flags     Flags    // DirectOnly or none
	SingleRow bool     // at most one row for given arguments
	Open      func() Cursor
}

// A Cursor iterates over the rows of a table-valued function.
type Cursor interface {
	// Filter starts again with the arguments of the call and sets the cells of the
	// first row. Bit i of used is set if column i will be read.
	Filter(c *Call, used uint) (Rows, error)
	// Next sets the cells of the next row.
	Next(*Call) (Rows, error)
	// Close runs when the statement that reads the table is reset or finalised.
	Close()
}

// Rows tells whether a cursor is at a row.
type Rows int

// The positions of a cursor.
const (
	NoRow   Rows = 0
	LastRow Rows = 1 // a row; Next need not be called
	OneRow  Rows = 2 // a row; there may be more
)

// A Call is one call of a function: its arguments and its result. It and the text of
// its arguments are valid only during the call.
type Call struct {
	args  []Value
	rows  []Value // the arguments that vary of the rows that follow
	vary  int     // how many each of them has
	out   []C.gs_result
	scope Scope
	place int

	aborted bool
}

// NewCall returns a call that no statement makes, for functions that are evaluated without SQLite. Its function must not set a
// result. The place is that of an aggregate: see Place.
func NewCall(args []Value, scope Scope, place int) *Call {
	return &Call{args: args, scope: scope, place: place}
}

// SetArgs sets the arguments of a call that NewCall returned, for another use of it.
func (c *Call) SetArgs(args []Value) { c.args = args }

// setRows makes the arguments those of a row with n and of others with the varying ones.
func (c *Call) setRows(n, varying int) {
	c.args, c.rows, c.vary = c.args[:n], c.args[n:], varying
}

// NextRow goes on to the next row of an aggregate, and reports whether there is one. The call has only those of its
// arguments that vary; the others are the same as in the row before, to the bit.
func (c *Call) NextRow() bool {
	if len(c.rows) == 0 {
		return false
	}
	c.args, c.rows = c.rows[:c.vary], c.rows[c.vary:]
	return true
}

// Ahead returns the rows of the batch that follow: the arguments that vary, so many of each row.
func (c *Call) Ahead() (values []Value, each int) { return c.rows, c.vary }

// Skip leaves out the next n rows, which the function has taken from Ahead.
func (c *Call) Skip(n int) { c.rows = c.rows[n*c.vary:] }

// Len returns the number of arguments.
func (c *Call) Len() int { return len(c.args) }

// Args returns the arguments.
func (c *Call) Args() []Value { return c.args }

// Arg returns argument i.
func (c *Call) Arg(i int) *Value { return &c.args[i] }

// Scope returns the scope of the running statement, for a function with Scoped set. It is
// nil where SQLite ends a group of an aborted statement after the end of its scope.
func (c *Call) Scope() Scope { return c.scope }

// Place returns the number of the instruction that calls an aggregate with Scoped set. Two
// instructions of a program never have the same number in one scope, except that those of a
// trigger may share the numbers of its statement's.
func (c *Call) Place() int { return c.place }

// Aborted reports that another call of the library has failed since the group began that ends
// now, or since a row of a window function was read that is answered now. So the statement is
// being aborted, and nobody gets the result. Other causes of an abort are not noticed.
func (c *Call) Aborted() bool { return c.aborted }

// ResultNull sets cell i to NULL. The result of a scalar or aggregate is cell 0.
func (c *Call) ResultNull(i int) { c.cell(i)._type = C.int(Null) }

// ResultInt sets cell i to an integer.
func (c *Call) ResultInt(i int, v int64) {
	r := c.cell(i)
	r._type, r.i = C.int(Integer), C.int64_t(v)
}

// ResultFloat sets cell i to a float.
func (c *Call) ResultFloat(i int, v float64) {
	r := c.cell(i)
	r._type, r.d = C.int(Float), C.double(v)
}

// ResultText sets cell i to a copy of text.
func (c *Call) ResultText(i int, text []byte) {
	r := c.cell(i)
	r._type = C.int(Text)
	setText(r, text)
}

// ResultString sets cell i to a copy of text.
func (c *Call) ResultString(i int, text string) {
	c.ResultText(i, unsafe.Slice(unsafe.StringData(text), len(text)))
}

// ResultBlob sets cell i to a copy of the bytes.
func (c *Call) ResultBlob(i int, b []byte) {
	r := c.cell(i)
	r._type = C.int(Blob)
	setText(r, b)
}

func (c *Call) cell(i int) *C.gs_result {
	r := &c.out[i]
	if r.big != nil {
		C.free(unsafe.Pointer(r.big))
		r.big = nil
	}
	return r
}

// setText writes text or the bytes of a blob into the result, in place if they fit.
func setText(r *C.gs_result, text []byte) {
	r.n = C.int(len(text))
	if len(text) < C.GS_INLINE {
		room := unsafe.Slice((*byte)(unsafe.Pointer(&r.text[0])), C.GS_INLINE)
		room[copy(room, text)] = 0
		return
	}
	room := C.malloc(C.size_t(len(text) + 1))
	b := unsafe.Slice((*byte)(room), len(text)+1)
	b[copy(b, text)] = 0
	r.big = (*C.char)(room)
}

// Register registers a library. A function that has the name and number of
// arguments of an earlier one replaces it.
func (c *Conn) Register(lib Library) error {
	o := &owner{lib: lib, auxiliary: int(C.GS_SCOPE - owners.Add(1))}
	o.failures = (*C.int)(C.calloc(1, C.sizeof_int))
	for i := range lib.Scalars {
		if err := c.registerScalar(o, &lib.Scalars[i]); err != nil {
			return err
		}
	}
	for i := range lib.Aggregates {
		if err := c.registerAggregate(o, &lib.Aggregates[i]); err != nil {
			return err
		}
	}
	for i := range lib.Windows {
		if err := c.registerWindow(o, &lib.Windows[i]); err != nil {
			return err
		}
	}
	for i := range lib.Tables {
		if err := c.registerTable(o, &lib.Tables[i]); err != nil {
			return err
		}
	}
	return nil
}

// scopeIndex returns the index of the owner's scopes, or 0 for a function without.
func (o *owner) scopeIndex(scoped bool) C.int {
	if !scoped {
		return 0
	}
	return C.int(o.auxiliary)
}

func (c *Conn) registerScalar(o *owner, f *Scalar) error {
	scope := o.scopeIndex(f.Scoped)
	b := binding{owner: o, scalar: f.Call}
	return c.registerArities(f.Name, f.Args, 0, b, func(name *C.char, n, b C.int) C.int {
		return C.gs_create_scalar(c.db, name, n, C.int(f.Flags), b, scope, o.failures)
	})
}

func (c *Conn) registerAggregate(o *owner, f *Aggregate) error {
	scope := o.scopeIndex(f.Scoped)
	b := binding{owner: o, newGroup: f.New}
	return c.registerArities(f.Name, f.Args, 1, b, func(name *C.char, n, b C.int) C.int {
		varying := n
		if f.Varying > 0 {
			varying = min(n, C.int(f.Varying))
		}
		return C.gs_create_aggregate(c.db, name, n, varying, cBool(f.Windowed), C.int(f.Flags), b, scope, o.failures)
	})
}

func (c *Conn) registerWindow(o *owner, f *Window) error {
	scope := o.scopeIndex(f.Scoped)
	b := binding{owner: o, name: f.Name, newPartition: f.New}
	return c.registerArities(f.Name, f.Args, 0, b, func(name *C.char, n, b C.int) C.int {
		return C.gs_create_window(c.db, name, n, C.int(f.Flags), b, scope, o.failures)
	})
}

// registerArities registers a function once for each of its numbers of arguments,
// which must be at least least.
func (c *Conn) registerArities(name string, args []int, least int, b binding, create func(name *C.char, n, binding C.int) C.int) error {
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	for _, n := range args {
		if n < least || n > C.GS_MAX_ARGS {
			return fmt.Errorf("geosql: cannot register %s: %d arguments", name, n)
		}
		each := b
		if rc := create(text, C.int(n), C.int(bind(&each))); rc != 0 {
			return c.registerError(name, rc)
		}
	}
	return nil
}

func (c *Conn) registerTable(o *owner, t *Table) error {
	schema := "CREATE TABLE x(" + strings.Join(t.Columns, ", ")
	for _, h := range t.Hidden {
		schema += ", " + h + " HIDDEN"
	}
	schema += ")"
	var ct C.gs_table
	if len(t.Columns) > C.GS_MAX_COLUMNS || len(t.Hidden) > C.GS_MAX_ARGS || len(schema) >= len(ct.schema) {
		return fmt.Errorf("sqlite: table %s is too wide", t.Name)
	}
	for i := range len(schema) {
		ct.schema[i] = C.char(schema[i])
	}
	ct.direct_only, ct.single_row = cBool(t.Flags&DirectOnly != 0), cBool(t.SingleRow)
	ct.columns = C.int(len(t.Columns))
	ct.required = C.int(t.Required)
	ct.optional = C.int(len(t.Hidden) - t.Required)
	ct.binding = C.int(bind(&binding{owner: o, name: t.Name, columns: len(t.Columns), open: t.Open}))
	name := C.CString(t.Name)
	defer C.free(unsafe.Pointer(name))
	if rc := C.gs_create_table(c.db, name, &ct); rc != 0 {
		return c.registerError(t.Name, rc)
	}
	return nil
}

func (c *Conn) registerError(name string, rc C.int) error {
	err := c.lastError()
	if err.Code == 0 { // misuse of the interface is no error of the connection
		err = errorOf(rc)
	}
	err.Message = "geosql: cannot register " + name + ": " + err.Message
	return err
}
