//go:build !geosql_loadable

package sqlite

/*
#include "shim.h"
*/
import "C"

import (
	"fmt"
	"reflect"
	"sync"
	"unsafe"

	sqlite3 "github.com/mattn/go-sqlite3" // also links SQLite itself
)

// FromDriver wraps a connection of mattn/go-sqlite3. The driver still owns it.
//
// The driver has no accessor for its handle, so the unexported field is read by
// reflection; a driver that keeps it elsewhere is an error, not a crash.
func FromDriver(conn *sqlite3.SQLiteConn) (*Conn, error) {
	if conn == nil {
		return nil, fmt.Errorf("geosql: nil connection")
	}
	f := reflect.ValueOf(conn).Elem().FieldByName("db")
	if !f.IsValid() || f.Kind() != reflect.Pointer {
		return nil, fmt.Errorf("geosql: this version of github.com/mattn/go-sqlite3 is not supported")
	}
	return FromHandle(f.UnsafePointer())
}

var auto struct {
	mu     sync.Mutex
	attach func(*Conn) error
}

// Auto calls attach for every connection that the process opens from now on,
// except those of Open, until CancelAuto.
func Auto(attach func(*Conn) error) error {
	auto.mu.Lock() // across gs_auto, so that two calls cannot leave half of each
	defer auto.mu.Unlock()
	auto.attach = attach
	if rc := C.gs_auto(); rc != 0 {
		return errorOf(rc)
	}
	return nil
}

// CancelAuto ends Auto.
func CancelAuto() {
	auto.mu.Lock()
	defer auto.mu.Unlock()
	auto.attach = nil
	C.gs_cancel_auto()
}

//export geosqlAuto
func geosqlAuto(db unsafe.Pointer, out *C.gs_result) {
	auto.mu.Lock()
	attach := auto.attach
	auto.mu.Unlock()
	if attach != nil { // nil if it was cancelled in between
		attachTo(db, out, attach)
	}
}

// Keywords returns the keywords of SQLite's SQL, in upper case.
func Keywords() (words []string) {
	for {
		var n C.int
		word := C.gs_keyword(C.int(len(words)), &n)
		if word == nil {
			return words
		}
		words = append(words, C.GoStringN(word, n))
	}
}
