// Package sqlite is a small layer over SQLite's C API and the only package of
// the project that knows C.
//
// It opens connections (the ledger's, the command's), runs statements, and
// registers scalar, aggregate, window and table-valued functions on a raw handle
// with their flags and error codes. A function call crosses from C to Go once and
// allocates nothing.
//
// Two builds come from the same source. The static build calls the SQLite that
// github.com/mattn/go-sqlite3 links into the program. With the tag
// geosql_loadable the package calls its host's SQLite through the routines that
// a loadable extension is given, and links none.
//
// A Conn and what belongs to it must not be used concurrently, except
// Conn.Interrupt.
package sqlite

/*
#cgo CFLAGS: -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra
#cgo geosql_loadable CFLAGS: -DGEOSQL_LOADABLE -fvisibility=hidden
#cgo linux LDFLAGS: -lpthread
#cgo noescape gs_columns
#cgo nocallback gs_columns
#cgo noescape gs_bind_text
#cgo nocallback gs_bind_text
#cgo noescape gs_bind_int64
#cgo nocallback gs_bind_int64
#cgo noescape gs_step
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"fmt"
	"os"
	"strings"
	"unsafe"

	"github.com/geosql/geosql/internal/printable"
)

// Result codes that the project returns or tells apart.
const (
	CodeError  = 1
	CodeBusy   = 5
	CodeDenied = 23 | 1<<8 // SQLITE_AUTH_USER
)

// Error is an error of SQLite.
type Error struct {
	Code    int // extended result code
	Message string
}

func (e *Error) Error() string { return e.Message }

// SQLiteCode makes the code also that of a function which fails with the error.
func (e *Error) SQLiteCode() int { return e.Code }

// Busy reports whether another connection held the lock for longer than the
// busy timeout.
func (e *Error) Busy() bool { return e.Code&0xff == CodeBusy }

// Version is the version of the SQLite in use, such as "3.53.4".
func Version() string { return C.GoString(C.gs_libversion()) }

// Complete reports whether text ends with a whole SQL statement.
func Complete(text string) bool {
	s := C.CString(text)
	defer C.free(unsafe.Pointer(s))
	return C.gs_complete(s) != 0
}

// OpenFlags say how Open opens a file.
type OpenFlags int

// Flags of Open. Without one of the first two a file cannot be opened. What Create
// makes is for its owner alone, and so are the files that SQLite puts beside it.
const (
	ReadOnly  OpenFlags = 0x1
	ReadWrite OpenFlags = 0x2
	Create    OpenFlags = 0x4

	noMutex      OpenFlags = 0x8000 // a Conn is used by one goroutine at a time anyway
	privateCache OpenFlags = 0x40000
)

// Conn is a connection.
type Conn struct {
	db    unsafe.Pointer // *sqlite3
	owned bool
}

// Open opens the database at path, a file name taken literally or ":memory:".
func Open(path string, flags OpenFlags) (*Conn, error) {
	if flags&Create != 0 && path != ":memory:" {
		makePrivate(path)
	}
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	c := &Conn{owned: true}
	if rc := C.gs_open(name, C.int(flags|noMutex|privateCache), &c.db); rc != 0 {
		err := &Error{int(rc), C.GoString(C.gs_errstr(rc))}
		if c.db != nil {
			err = c.lastError()
			C.gs_close(c.db)
		}
		return nil, err
	}
	return c, nil
}

// makePrivate makes a file that is missing: SQLite itself would let anybody read it. The
// file is new, so that no lock of this process goes when its descriptor is closed. Where
// it cannot be made SQLite says why.
func makePrivate(path string) {
	if f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
		f.Close()
	}
}

// Handle is a number that no other open connection of the process has.
func (c *Conn) Handle() uintptr { return uintptr(c.db) }

// Close closes a connection that Open returned. Statements that are still open
// keep it alive until they are closed.
func (c *Conn) Close() error {
	if !c.owned || c.db == nil {
		return nil
	}
	rc := C.gs_close(c.db)
	c.db = nil
	if rc != 0 {
		return &Error{int(rc), C.GoString(C.gs_errstr(rc))}
	}
	return nil
}

// BusyTimeout sets for how many milliseconds a locked database is waited for.
func (c *Conn) BusyTimeout(ms int) { C.gs_busy_timeout(c.db, C.int(ms)) }

// AutoCommit reports whether no transaction is open on the connection.
func (c *Conn) AutoCommit() bool { return C.gs_autocommit(c.db) != 0 }

// Writing reports whether the connection has a write transaction open on the main
// database: what it reads there need not be committed.
func (c *Conn) Writing() bool { return C.gs_writing(c.db) != 0 }

// Writable reports whether the main database was opened for writing. With
// ReadWrite SQLite opens a file that may not be written for reading.
func (c *Conn) Writable() bool { return C.gs_readonly(c.db) == 0 }

// Running is the number of statements that have begun and not come to their end.
func (c *Conn) Running() int { return int(C.gs_running(c.db)) }

// Named reports whether the text of a running statement has a name in it, whatever its
// case.
func (c *Conn) Named(name string) bool {
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	return C.gs_named(c.db, text) != 0
}

// Interrupt makes the running statements stop; it may be called from any
// goroutine while the connection is open.
func (c *Conn) Interrupt() { C.gs_interrupt(c.db) }

// File returns the file of the main database as SQLite names it, and false for
// a database that lives in memory or is temporary.
func (c *Conn) File() (path string, onDisk bool) {
	var vfs [32]C.char
	name := C.GoString(C.gs_filename(c.db, &vfs[0], C.int(len(vfs))))
	// The name of the file system in memory is followed by an address in some versions.
	return name, name != "" && !strings.HasPrefix(C.GoString(&vfs[0]), "memdb")
}

// lastError is SQLite's message, which quotes SQL and names, fit to be printed.
func (c *Conn) lastError() *Error {
	return &Error{int(C.gs_errcode(c.db)), printable.Text(C.GoString(C.gs_errmsg(c.db)))}
}

// QuoteName returns a name as an SQL identifier in quotes.
func QuoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// Exec runs every statement of sql and discards their rows.
func (c *Conn) Exec(sql string) error {
	for sql != "" {
		s, tail, err := c.Prepare(sql)
		if err != nil {
			return err
		}
		if s != nil {
			for more := true; more && err == nil; {
				more, err = s.Step()
			}
			s.Close()
		}
		if err != nil {
			return err
		}
		sql = tail
	}
	return nil
}

// Prepare compiles the first statement of sql and returns what follows it. The
// statement is nil where sql holds only white space and comments.
func (c *Conn) Prepare(sql string) (s *Stmt, tail string, err error) {
	if int(C.int(len(sql))) != len(sql) {
		return nil, "", &Error{CodeError, fmt.Sprintf("statement of %d bytes is too long", len(sql))}
	}
	if strings.IndexByte(sql, 0) >= 0 { // where SQLite would stop reading
		return nil, "", &Error{CodeError, "statement contains a NUL character"}
	}
	s = &Stmt{conn: c}
	var end C.int
	text := C.CString(sql) // SQLite wants the end marked, a Go string has no mark
	defer C.free(unsafe.Pointer(text))
	if rc := C.gs_prepare(c.db, text, C.int(len(sql)), &s.p, &end); rc != 0 {
		return nil, "", c.lastError()
	}
	tail = sql[end:]
	if s.p == nil {
		return nil, tail, nil
	}
	s.columns = int(C.gs_column_count(s.p))
	return s, tail, nil
}

// Stmt is a compiled statement.
type Stmt struct {
	conn    *Conn
	p       unsafe.Pointer // *sqlite3_stmt
	columns int
}

// Close ends the statement.
func (s *Stmt) Close() { C.gs_finalize(s.p); s.p = nil }

// Reset makes the statement ready for another run; parameters stay bound.
func (s *Stmt) Reset() { C.gs_reset(s.p) }

// Step runs the statement up to its next row; it reports false after the last.
// After an error or the last row the statement is reset.
func (s *Stmt) Step() (bool, error) {
	switch rc := C.gs_step(s.p); rc {
	case 100: // SQLITE_ROW
		return true, nil
	case 101: // SQLITE_DONE
		return false, nil
	default:
		err := s.conn.lastError()
		C.gs_reset(s.p)
		return false, err
	}
}

// Run steps through the statement to its end and ignores its rows.
func (s *Stmt) Run() error {
	for {
		more, err := s.Step()
		if !more || err != nil {
			return err
		}
	}
}

func (s *Stmt) bound(rc C.int) {
	if rc != 0 {
		panic("sqlite: bind: " + s.conn.lastError().Message) // a wrong index: a bug of the caller
	}
}

// BindInts binds parameters from i on, counted from 1.
func (s *Stmt) BindInts(i int, v ...int64) {
	s.bound(C.gs_bind_int64(s.p, C.int(i), (*C.int64_t)(unsafe.SliceData(v)), C.int(len(v))))
}

// BindFloat binds parameter i, counted from 1.
func (s *Stmt) BindFloat(i int, v float64) { s.bound(C.gs_bind_double(s.p, C.int(i), C.double(v))) }

// BindNull binds parameter i, counted from 1.
func (s *Stmt) BindNull(i int) { s.bound(C.gs_bind_null(s.p, C.int(i))) }

// BindText binds parameter i, counted from 1; the text is copied.
func (s *Stmt) BindText(i int, v string) {
	p := (*C.char)(unsafe.Pointer(unsafe.StringData(v)))
	s.bound(C.gs_bind_text(s.p, C.int(i), p, C.int(len(v))))
}

// BindBlob binds parameter i, counted from 1; the bytes are copied.
func (s *Stmt) BindBlob(i int, v []byte) {
	p := (*C.char)(unsafe.Pointer(unsafe.SliceData(v)))
	s.bound(C.gs_bind_blob(s.p, C.int(i), p, C.int(len(v))))
}

// Columns is the number of columns, 0 for a statement that returns no rows.
func (s *Stmt) Columns() int { return s.columns }

// ColumnName is the name of column i, counted from 0.
func (s *Stmt) ColumnName(i int) string { return C.GoString(C.gs_column_name(s.p, C.int(i))) }

// Column is the value of column i, counted from 0, in the current row. Text and
// blobs stay valid until the next call of Step, Reset or Close.
func (s *Stmt) Column(i int) Value {
	var v [1]Value
	s.Row(i, v[:])
	return v[0]
}

// Row sets values to the columns from i on, at once. See Column.
func (s *Stmt) Row(i int, values []Value) {
	C.gs_columns(s.p, C.int(i), (*C.gs_value)(unsafe.Pointer(unsafe.SliceData(values))), C.int(len(values)))
}

// Type is the type of a value.
type Type int

// Types of values.
const (
	Integer Type = 1
	Float   Type = 2
	Text    Type = 3
	Blob    Type = 4
	Null    Type = 5
)

func (t Type) String() string {
	return [...]string{"", "INTEGER", "REAL", "TEXT", "BLOB", "NULL"}[t]
}

// Value is a value in memory of SQLite's.
type Value struct{ c C.gs_value }

// Type is the value's type.
func (v *Value) Type() Type { return Type(v.c._type) }

// Int is the value of an Integer.
func (v *Value) Int() int64 { return *(*int64)(unsafe.Pointer(&v.c.u)) }

// Float is the value of a Float.
func (v *Value) Float() float64 { return *(*float64)(unsafe.Pointer(&v.c.u)) }

// Bytes is the value of a Text or Blob. It lies in SQLite's memory and is valid
// for as long as the source of the value says.
func (v *Value) Bytes() []byte {
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&v.c.u)), int(v.c.n))
}

// Text is a copy of the value of a Text or Blob.
func (v *Value) Text() string { return string(v.Bytes()) }
