package sqlite

/*
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unsafe"
)

// A Guard lets the statements of a connection read and compute, and nothing else: no schema and no
// row changes, and no pragma, attached database or transaction. It is the connection's authorizer,
// so that a connection has a [Watch] or a Guard. It also ends statements that take too long.
type Guard struct {
	conn *Conn
	c    *C.gs_guard
}

// A Permit lists the tables and functions that statements may use under a [Guard]. They may read the tables of the
// main database that are not SQLite's or geosql's, and all of pg_catalog and information_schema.
type Permit struct {
	Functions []string // that may be called
	Tables    []string // of geosql's, that may be read
	Modules   []string // virtual tables that may not be read
}

// Guard begins to guard the connection.
func (c *Conn) Guard(p Permit) (*Guard, error) {
	g := &Guard{c, (*C.gs_guard)(C.calloc(1, C.sizeof_gs_guard))}
	functions := slices.Clone(p.Functions)
	for i, f := range functions {
		functions[i] = strings.ToLower(f)
	}
	slices.Sort(functions)
	functions = slices.Compact(functions)
	g.c.nfunctions = C.int(len(functions))
	g.c.functions = (**C.char)(C.calloc(C.size_t(len(functions)+1), C.size_t(unsafe.Sizeof(uintptr(0)))))
	for i, f := range functions {
		unsafe.Slice(g.c.functions, len(functions))[i] = C.CString(f)
	}
	g.c.tables, g.c.modules = nameList(p.Tables), nameList(p.Modules)
	if rc := C.gs_set_guard(c.db, g.c); rc != 0 {
		g.free()
		return nil, c.lastError()
	}
	c.guard = g
	return g, nil
}

// nameList returns names as the shim takes them.
func nameList(names []string) *C.char {
	return C.CString(strings.Join(append(names[:len(names):len(names)], ""), "\x00") + "\x00")
}

// Lift calls f, during which the guard of the connection, if it has one, allows everything.
func (c *Conn) Lift(f func() error) error {
	g := c.guard
	if g == nil {
		return f()
	}
	before := g.c.lifted
	g.c.lifted = 1
	defer func() { g.c.lifted = before }()
	return f()
}

// Begin forgets the notes about earlier statements.
func (g *Guard) Begin() {
	g.c.action, g.c.name[0], g.c.timed_out = 0, 0, 0
}

// MayRead reports whether statements may read a table of a database.
//
// SQLite does not tell the guard about everything that a statement reads: not about columns that a join matches by USING or
// NATURAL, and so not about a table if no other column of it is read. Look at the tables that the compiled statement opens, too.
func (g *Guard) MayRead(table, database string) bool {
	t, d := C.CString(table), C.CString(database)
	defer C.free(unsafe.Pointer(t))
	defer C.free(unsafe.Pointer(d))
	return C.gs_may_read(g.c, t, d) != 0
}

// An Action is an action that a statement attempted.
type Action int

// Some actions, as SQLite numbers them.
const (
	ActionDelete      Action = 9
	ActionInsert      Action = 18
	ActionPragma      Action = 19
	ActionRead        Action = 20
	ActionTransaction Action = 22
	ActionUpdate      Action = 23
	ActionAttach      Action = 24
	ActionDetach      Action = 25
	ActionFunction    Action = 31
	ActionSavepoint   Action = 32
)

// Denied returns the last action that was denied since Begin, and the table or function that it was
// about. The action is 0 if none was.
func (g *Guard) Denied() (Action, string) {
	return Action(g.c.action), C.GoString(&g.c.name[0])
}

// SetPatience lets statements run for so long from now on, and then ends them as Interrupt does. Zero
// is for ever.
func (g *Guard) SetPatience(d time.Duration) {
	g.c.patience, g.c.since = C.int64_t(d), 0
}

// TimedOut reports whether a statement was ended since Begin because it took too long.
func (g *Guard) TimedOut() bool { return g.c.timed_out != 0 }

// Close ends the guard, before the connection is closed.
func (g *Guard) Close() {
	C.gs_set_guard(g.conn.db, nil)
	g.conn.guard = nil
	g.free()
}

func (g *Guard) free() {
	for _, f := range unsafe.Slice(g.c.functions, g.c.nfunctions) {
		C.free(unsafe.Pointer(f))
	}
	C.free(unsafe.Pointer(g.c.functions))
	C.free(unsafe.Pointer(g.c.tables))
	C.free(unsafe.Pointer(g.c.modules))
	C.free(unsafe.Pointer(g.c))
	g.c = nil
}

// A Limit is a limit of a connection, as SQLite numbers it.
type Limit int

// The limits.
const (
	LimitLength Limit = iota // of a text, a blob or a row, in bytes
	LimitSQLLength
	LimitColumns
	LimitExprDepth
	LimitCompoundSelect
	LimitProgram // instructions of a compiled statement
	LimitFunctionArgs
	LimitAttached
	LimitLikePattern
	LimitVariables
	LimitTriggerDepth
	LimitWorkers
)

// SetLimit sets a limit.
func (c *Conn) SetLimit(l Limit, most int) { C.gs_limit(c.db, C.int(l), C.int(most)) }

// A Setting is an option of a connection, as SQLite numbers it.
type Setting int

// Some options.
const (
	AllowFTS3Tokenizer  Setting = 1004
	AllowExtensions     Setting = 1005
	Defensive           Setting = 1010 // no statement can damage the file
	WritableSchema      Setting = 1011
	QuotedTextInQueries Setting = 1013 // a name in quotes that is none is a text
	TrustedSchema       Setting = 1017 // views and triggers may call any function
)

// Configure switches an option on or off.
func (c *Conn) Configure(s Setting, on bool) error {
	if rc := C.gs_configure(c.db, C.int(s), cBool(on)); rc != 0 {
		return fmt.Errorf("sqlite: option %d cannot be set: %s", s, C.GoString(C.gs_errstr(rc)))
	}
	return nil
}

// Distrust is for a file that somebody else may have edited: views, triggers and the like may call only functions that are
// marked as harmless, and no statement can damage the file.
func (c *Conn) Distrust() error {
	return cmp.Or(c.Configure(TrustedSchema, false), c.Configure(Defensive, true))
}

// LimitHeap bounds the memory that SQLite takes in this process, over all connections: more is an
// error of the statement that wants it. It fails if SQLite does not count its memory.
func LimitHeap(bytes int64) error {
	if C.gs_limit_heap(C.int64_t(bytes)); int64(C.gs_limit_heap(-1)) != bytes {
		return fmt.Errorf("sqlite: memory cannot be limited to %d bytes", bytes)
	}
	return nil
}
