package sqlite

/*
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import "unsafe"

// A Watch notes whether the statements that a connection compiles call certain functions. It is
// the connection's authorizer, and allows everything.
type Watch struct {
	conn *Conn
	c    *C.gs_watch
}

// Watch begins to watch for functions of those names, in any of their forms.
func (c *Conn) Watch(functions []string) (*Watch, error) {
	w := &Watch{c, (*C.gs_watch)(C.calloc(1, C.sizeof_gs_watch))}
	w.c.names = nameList(functions)
	if rc := C.gs_set_watch(c.db, w.c); rc != 0 {
		w.free()
		return nil, c.lastError()
	}
	return w, nil
}

// Seen reports whether a statement that calls one of the functions was compiled since the last
// Reset. It also finds calls in views and triggers, but not a table-valued function if a join matches all columns of it that are
// read by USING or NATURAL: SQLite does not tell about these.
func (w *Watch) Seen() bool { return w.c.seen != 0 }

// Reset forgets the statements so far.
func (w *Watch) Reset() { w.c.seen = 0 }

// TakeDeclares reports whether a statement compiled since its last call, or since the watch began,
// may change the set of tables, or the set of their sealed columns: by a declaration, by ATTACH
// or ROLLBACK, or by a write into SQLite's tables or the table
// geosql_sealed_column.
func (w *Watch) TakeDeclares() bool {
	declares := w.c.declares != 0
	w.c.declares = 0
	return declares
}

// Close ends the watch, before the connection is closed.
func (w *Watch) Close() {
	C.gs_set_watch(w.conn.db, nil)
	w.free()
}

func (w *Watch) free() {
	C.free(unsafe.Pointer(w.c.names))
	C.free(unsafe.Pointer(w.c))
	w.c = nil
}
