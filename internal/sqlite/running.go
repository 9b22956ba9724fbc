package sqlite

/*
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"sync"
	"unsafe"
)

// A Running is a statement that has begun and not ended.
type Running struct {
	SQL     string // empty if a legacy function has prepared the statement
	Columns int    // of its rows; 0 if it returns none

	stmt     unsafe.Pointer
	returned int
	steps    int
}

// Running returns the statements that have begun and not ended, in reverse order of their preparation.
func (c *Conn) Running() (list []Running) {
	for {
		var r C.gs_running
		if C.gs_running_at(c.db, C.int(len(list)), &r) == 0 {
			return list
		}
		list = append(list, Running{C.GoString(r.sql), int(r.columns), r.stmt, int(r.returned), int(r.steps)})
	}
}

// Is reports whether it is the statement s that runs.
func (r *Running) Is(s *Stmt) bool { return r.stmt == s.p }

// Returned reports whether the statement is known to have returned a row since it began. One that waits for its program is
// always known. While it goes on, SQLite 3.40 does not tell, and 3.53 does: see tellsRows.
func (r *Running) Returned() bool { return r.returned > 0 }

// Silent reports whether the statement is known not to have returned a row since it began, so that its program has not been
// able to do anything in between. Ask from within a function that the statement calls.
func (r *Running) Silent() bool {
	// Only a first run has executed no instruction before: they are counted when sqlite3_step returns.
	return !r.Returned() && (r.Columns == 0 || r.steps == 0 || tellsRows())
}

// tellsRows reports whether SQLite tells of a statement that goes on whether it has returned a row.
var tellsRows = sync.OnceValue(func() bool {
	c, err := Open(":memory:", ReadWrite)
	if err != nil {
		return false
	}
	defer c.Close()
	return C.gs_tells_rows(c.db) != 0
})

// Unlocked reports whether nothing keeps other connections from changing a database of the connection while a statement reads
// it: the file was opened as immutable, without locks, or through a file system of SQLite that has none.
func (c *Conn) Unlocked(database string) bool {
	name := C.CString(database)
	defer C.free(unsafe.Pointer(name))
	return C.gs_unlocked(c.db, name) != 0
}

// Reading reports whether the connection has a transaction open on one of its databases. Each running statement that uses the
// database has opened one.
func (c *Conn) Reading(database string) bool {
	name := C.CString(database)
	defer C.free(unsafe.Pointer(name))
	return C.gs_reading(c.db, name) != 0
}
