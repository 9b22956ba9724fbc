// Package sqlite is a small layer over SQLite's C API. It is the only package of the
// project that uses C.
//
// It opens connections (the ledger's, the command's), runs statements, and
// registers scalar, aggregate, window and table-valued functions on a raw handle
// with their flags and error codes. A function call crosses from C to Go once and
// allocates nothing.
//
// Two builds come from the same source. The static build calls the SQLite that
// github.com/mattn/go-sqlite3 links into the program. With the tag
// geosql_loadable the package links no SQLite and calls that of its host, through
// the routines that a loadable extension is given.
//
// A Conn and its parts must not be used concurrently, except Conn.Interrupt.
package sqlite

/*
// Without hidden, a function of the shim would call another through a table, since cgo's code may be moved and replaced.
#cgo CFLAGS: -std=c11 -D_GNU_SOURCE -O2 -fvisibility=hidden -Wall -Wextra
#cgo geosql_loadable CFLAGS: -DGEOSQL_LOADABLE
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
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"
	"unsafe"

	"github.com/geosql/geosql/internal/printable"
)

// Result codes that the project returns or distinguishes.
const (
	CodeError  = 1
	CodeBusy   = 5
	CodeFull   = 13
	CodeDenied = 23 | 1<<8 // SQLITE_AUTH_USER
)

// An Error is an error of SQLite.
type Error struct {
	Code    int // extended result code
	Message string

	// SQL is the text that did not compile, and Offset the byte of it where it went wrong.
	// SQL is empty if SQLite does not say where.
	SQL    string
	Offset int
}

func (e *Error) Error() string { return e.Message }

// SQLiteCode returns the code. A function that fails with the error fails with it too.
func (e *Error) SQLiteCode() int { return e.Code }

// Busy reports whether another connection held the lock for longer than the
// busy timeout.
func (e *Error) Busy() bool { return e.Code&0xff == CodeBusy }

// Full reports whether a disk is full.
func (e *Error) Full() bool { return e.Code&0xff == CodeFull }

// Version returns the version of the SQLite in use, such as "3.53.4".
func Version() string { return C.GoString(C.gs_libversion()) }

// Complete reports whether text ends with a complete SQL statement.
func Complete(text string) bool {
	s := C.CString(text)
	defer C.free(unsafe.Pointer(s))
	return C.gs_complete(s) != 0
}

// OpenFlags say how Open opens a file.
type OpenFlags int

// Flags of Open. One of the first two is required. With Create, a missing file is created
// for its owner only, and so are the files that SQLite puts beside it. On Windows, where files
// have no mode, all of them are for the users of the folder.
const (
	ReadOnly  OpenFlags = 0x1
	ReadWrite OpenFlags = 0x2
	Create    OpenFlags = 0x4
	AttachURI OpenFlags = 0x40 // ATTACH takes URIs. Open itself takes a name literally all the same

	noMutex      OpenFlags = 0x8000 // a Conn is used by one goroutine at a time anyway
	privateCache OpenFlags = 0x40000
)

// A Conn is a connection.
type Conn struct {
	db    unsafe.Pointer // *sqlite3
	owned bool
	guard *Guard // nil without one
}

// Open opens the database at path, a file name taken literally or ":memory:".
func Open(path string, flags OpenFlags) (*Conn, error) {
	if flags&Create != 0 && path != ":memory:" {
		makePrivate(path)
	}
	if flags&AttachURI != 0 && strings.HasPrefix(path, "file:") {
		path = "./" + path
	}
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	c := &Conn{owned: true}
	if rc := C.gs_open(name, C.int(flags|noMutex|privateCache), &c.db); rc != 0 {
		err := errorOf(rc)
		if c.db != nil {
			err = c.lastError()
			C.gs_close(c.db)
		}
		return nil, err
	}
	return c, nil
}

// makePrivate creates a missing file, which SQLite itself would let anybody read. Closing
// the descriptor drops no lock of this process, since the file is new. If it cannot be
// created, SQLite reports the error.
func makePrivate(path string) {
	if f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
		f.Close()
	}
}

// FromHandle wraps a connection by its handle, an *sqlite3 of C. The connection still
// belongs to its opener.
func FromHandle(db unsafe.Pointer) (*Conn, error) {
	if db == nil {
		return nil, fmt.Errorf("geosql: connection is closed")
	}
	return &Conn{db: db}, nil
}

// Handle returns the connection's *sqlite3, nil if it is closed.
func (c *Conn) Handle() unsafe.Pointer { return c.db }

// Close closes a connection that Open returned. Statements that are still open
// keep it alive until they are closed.
func (c *Conn) Close() error {
	if !c.owned || c.db == nil {
		return nil
	}
	rc := C.gs_close(c.db)
	c.db = nil
	if rc != 0 {
		return errorOf(rc)
	}
	return nil
}

// BusyTimeout sets how many milliseconds to wait for a locked database.
func (c *Conn) BusyTimeout(ms int) { C.gs_busy_timeout(c.db, C.int(ms)) }

// AutoCommit reports whether no transaction is open on the connection.
func (c *Conn) AutoCommit() bool { return C.gs_autocommit(c.db) != 0 }

// Writing reports whether the connection has a write transaction open on the main
// database. If so, it may read uncommitted data there.
func (c *Conn) Writing() bool { return C.gs_writing(c.db) != 0 }

// Uncommitted reports whether a transaction is open that has changed a database, so that a
// rollback would change it back.
func (c *Conn) Uncommitted() bool { return C.gs_uncommitted(c.db) != 0 }

// Writable reports whether the main database was opened for writing. With ReadWrite,
// SQLite opens a file that it must not write for reading only.
func (c *Conn) Writable() bool { return C.gs_readonly(c.db) == 0 }

// TotalChanges returns how many rows the statements of the connection that have ended have
// inserted, changed and deleted. The number may wrap around.
func (c *Conn) TotalChanges() int { return int(C.gs_total_changes(c.db)) }

// Named reports whether the text of a running statement contains a name, ignoring case.
func (c *Conn) Named(name string) bool {
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	return C.gs_named(c.db, text) != 0
}

// Version returns a number that is another one once other connections have committed changes of the main database. Until then, and
// while this connection writes nothing, statements find what they found before: SQLite answers them from the pages that it keeps.
func (c *Conn) Version() (version int64, err error) {
	err = c.Lift(func() error {
		return c.Each("PRAGMA main.data_version", func(v []Value) error {
			version = v[0].Int()
			return nil
		})
	})
	return version, err
}

// An Unchanged knows the version of a main database when something was read from it.
type Unchanged struct {
	read    bool
	version int64
}

// Since calls read, unless read has succeeded before and the main database has not changed since. A connection that may write
// reads each time, since its own changes leave the version.
func (u *Unchanged) Since(c *Conn, read func() error) error {
	if c.Writable() {
		return read()
	}
	version, err := c.Version() // before it is read: a change meanwhile makes it read again
	if err != nil || u.read && version == u.version {
		return err
	}
	u.read = false
	if err := read(); err != nil {
		return err
	}
	u.read, u.version = true, version
	return nil
}

// Interrupt stops the running statements. It may be called from any goroutine while the
// connection is open.
func (c *Conn) Interrupt() { C.gs_interrupt(c.db) }

// InterruptAfter interrupts the connection after d, unless stop is called before. stop reports whether it was called in time.
func (c *Conn) InterruptAfter(d time.Duration) (stop func() bool) {
	stopped, end := context.WithCancel(context.Background())
	done := make(chan struct{})
	timer := time.AfterFunc(d, func() {
		defer close(done)
		for stopped.Err() == nil {
			c.Interrupt() // and again: it is lost on a statement that has not begun
			select {
			case <-stopped.Done():
			case <-time.After(time.Millisecond):
			}
		}
	})
	return func() bool {
		end()
		inTime := timer.Stop()
		if !inTime {
			<-done // a late interrupt would hit another statement
		}
		return inTime
	}
}

// File returns the file of the main database as SQLite names it, or false for a
// database that is in memory or temporary.
func (c *Conn) File() (path string, onDisk bool) {
	var vfs [32]C.char
	name := C.GoString(C.gs_filename(c.db, &vfs[0], C.int(len(vfs))))
	// The name of the file system in memory is followed by an address in some versions.
	return name, name != "" && !strings.HasPrefix(C.GoString(&vfs[0]), "memdb")
}

// lastError returns the last error of SQLite. Its message, which quotes SQL and names, is
// made printable.
func (c *Conn) lastError() *Error {
	return &Error{Code: int(C.gs_errcode(c.db)), Message: printable.Text(C.GoString(C.gs_errmsg(c.db)))}
}

// errorOf returns the error of a result code.
func errorOf(rc C.int) *Error { return &Error{Code: int(rc), Message: C.GoString(C.gs_errstr(rc))} }

// cBool returns a truth value of C.
func cBool(b bool) C.int {
	if b {
		return 1
	}
	return 0
}

// QuoteName returns a name as an SQL identifier in quotes.
func QuoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Name returns a name as SQL takes it, with quotes only if it needs them.
func Name(name string) string {
	quoted := QuoteName(name)
	if !plainName.MatchString(name) || strings.HasPrefix(strings.ToLower(name), "current_") {
		return quoted
	}
	conn, err := Open(":memory:", ReadWrite)
	if err != nil {
		return quoted
	}
	defer conn.Close()
	stmt, _, err := conn.Prepare("CREATE TABLE t(" + name + ")")
	if err != nil {
		return quoted
	}
	stmt.Close()
	return name
}

// Exec runs every statement of sql and discards their rows.
func (c *Conn) Exec(sql string) error {
	for sql != "" {
		s, tail, err := c.Prepare(sql)
		if err != nil {
			return err
		}
		if s != nil {
			err = s.Run()
			s.Close()
		}
		if err != nil {
			return err
		}
		sql = tail
	}
	return nil
}

// Each calls row for every row of a query, until that returns an error. The values are those of the
// row until row returns. Parameters are int64, float64, string or []byte.
func (c *Conn) Each(sql string, row func([]Value) error, params ...any) error {
	s, _, err := c.Prepare(sql)
	if err != nil {
		return err
	}
	defer s.Close()
	for i, p := range params {
		if err := s.Bind(i+1, p); err != nil {
			return err
		}
	}
	values := make([]Value, s.Columns())
	for {
		more, err := s.Step()
		if err != nil || !more {
			return err
		}
		s.Row(0, values)
		if err := row(values); err != nil {
			return err
		}
	}
}

// Prepare compiles the first statement of sql and returns the text behind it. The
// statement is nil if sql has only white space and comments.
func (c *Conn) Prepare(sql string) (s *Stmt, tail string, err error) {
	if int(C.int(len(sql))) != len(sql) {
		return nil, "", &Error{Code: CodeError, Message: fmt.Sprintf("statement of %d bytes is too long", len(sql))}
	}
	if strings.IndexByte(sql, 0) >= 0 { // SQLite would stop reading there
		return nil, "", &Error{Code: CodeError, Message: "statement contains a NUL character"}
	}
	s = &Stmt{conn: c}
	var end C.int
	text := C.CString(sql) // SQLite needs a terminating NUL
	defer C.free(unsafe.Pointer(text))
	if rc := C.gs_prepare(c.db, text, C.int(len(sql)), &s.p, &end); rc != 0 {
		err := c.lastError()
		if at := int(C.gs_error_offset(c.db)); at >= 0 && at <= len(sql) {
			err.SQL, err.Offset = sql, at
		}
		return nil, "", err
	}
	tail = sql[end:]
	if s.p == nil {
		return nil, tail, nil
	}
	s.columns = int(C.gs_column_count(s.p))
	return s, tail, nil
}

// A Stmt is a compiled statement.
type Stmt struct {
	conn    *Conn
	p       unsafe.Pointer // *sqlite3_stmt
	columns int
}

// Close finalises the statement.
func (s *Stmt) Close() { C.gs_finalize(s.p); s.p = nil }

// Reset prepares the statement for another run. Parameters stay bound.
func (s *Stmt) Reset() { C.gs_reset(s.p) }

// Step runs the statement up to its next row. It reports false after the last row.
// After that or an error the statement is reset.
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

// Bind binds an int64, float64, string or []byte to parameter i, counted from 1.
func (s *Stmt) Bind(i int, v any) error {
	switch v := v.(type) {
	case int64:
		s.BindInts(i, v)
	case float64:
		s.BindFloat(i, v)
	case string:
		s.BindText(i, v)
	case []byte:
		s.BindBlob(i, v)
	default:
		return fmt.Errorf("sqlite: parameter %d has the type %T", i, v)
	}
	return nil
}

// BindInts binds integers to the parameters from i on, counted from 1.
func (s *Stmt) BindInts(i int, v ...int64) {
	s.bound(C.gs_bind_int64(s.p, C.int(i), (*C.int64_t)(unsafe.SliceData(v)), C.int(len(v))))
}

// BindFloat binds a float to parameter i, counted from 1.
func (s *Stmt) BindFloat(i int, v float64) { s.bound(C.gs_bind_double(s.p, C.int(i), C.double(v))) }

// BindNull binds NULL to parameter i, counted from 1.
func (s *Stmt) BindNull(i int) { s.bound(C.gs_bind_null(s.p, C.int(i))) }

// BindText binds a copy of the text to parameter i, counted from 1.
func (s *Stmt) BindText(i int, v string) {
	p := (*C.char)(unsafe.Pointer(unsafe.StringData(v)))
	s.bound(C.gs_bind_text(s.p, C.int(i), p, C.int(len(v))))
}

// BindBlob binds a copy of the bytes to parameter i, counted from 1.
func (s *Stmt) BindBlob(i int, v []byte) {
	p := (*C.char)(unsafe.Pointer(unsafe.SliceData(v)))
	s.bound(C.gs_bind_blob(s.p, C.int(i), p, C.int(len(v))))
}

// Columns returns the number of columns, which is 0 if the statement returns no rows.
func (s *Stmt) Columns() int { return s.columns }

// CountColumns returns the number of columns now: SQLite compiles a statement again when the tables
// have changed.
func (s *Stmt) CountColumns() int { return int(C.gs_column_count(s.p)) }

// ColumnName returns the name of column i, counted from 0.
func (s *Stmt) ColumnName(i int) string { return C.GoString(C.gs_column_name(s.p, C.int(i))) }

// DeclaredType returns the type that the column of a table was declared with which column i, counted
// from 0, is. It is empty for an expression.
func (s *Stmt) DeclaredType(i int) string {
	if t := C.gs_column_decltype(s.p, C.int(i)); t != nil {
		return C.GoString(t)
	}
	return ""
}

// Parameters returns the largest number of a parameter.
func (s *Stmt) Parameters() int { return int(C.gs_parameter_count(s.p)) }

// ClearBindings sets all parameters to NULL.
func (s *Stmt) ClearBindings() { C.gs_clear_bindings(s.p) }

// Column returns the value of column i, counted from 0, in the current row. Text and
// blobs are valid until the next call of Step, Reset or Close.
func (s *Stmt) Column(i int) Value {
	var v [1]Value
	s.Row(i, v[:])
	return v[0]
}

// Row sets values to the columns from i on, in one call to C. See Column.
func (s *Stmt) Row(i int, values []Value) {
	C.gs_columns(s.p, C.int(i), (*C.gs_value)(unsafe.Pointer(unsafe.SliceData(values))), C.int(len(values)))
}

// A Type is the type of a value.
type Type int

// The types of values.
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

// A Value is a value in SQLite's memory.
type Value struct{ c C.gs_value }

// Type returns the type of the value.
func (v *Value) Type() Type { return Type(v.c._type) }

// Int returns the value of an Integer.
func (v *Value) Int() int64 { return *(*int64)(unsafe.Pointer(&v.c.u)) }

// Float returns the value of a Float.
func (v *Value) Float() float64 { return *(*float64)(unsafe.Pointer(&v.c.u)) }

// Bytes returns the value of a Text or Blob. It is in SQLite's memory and valid for as
// long as the source of the value says.
func (v *Value) Bytes() []byte {
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&v.c.u)), int(v.c.n))
}

// Text returns a copy of the value of a Text or Blob.
func (v *Value) Text() string { return string(v.Bytes()) }

// Copy returns a copy of the value that stays valid: nil, an int64, a float64, a string or a []byte.
func (v *Value) Copy() any {
	switch v.Type() {
	case Integer:
		return v.Int()
	case Float:
		return v.Float()
	case Text:
		return v.Text()
	case Blob:
		return append([]byte{}, v.Bytes()...)
	}
	return nil
}
