//go:build !geosql_loadable

package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	sqlite3 "github.com/mattn/go-sqlite3"
)

// driverConn opens a connection of the driver's.
func driverConn(t *testing.T, dsn string) *sqlite3.SQLiteConn {
	t.Helper()
	conn, err := (&sqlite3.SQLiteDriver{}).Open(dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn.(*sqlite3.SQLiteConn)
}

func fromDriver(t *testing.T, conn *sqlite3.SQLiteConn) *Conn {
	t.Helper()
	c, err := FromDriver(conn)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The handle that FromDriver finds is the driver's: each sees the work of the other.
// A version of the driver that keeps it elsewhere fails here.
func TestFromDriver(t *testing.T) {
	conn := driverConn(t, ":memory:")
	c := fromDriver(t, conn)
	if _, err := conn.Exec(`CREATE TEMP TABLE t(a)`, nil); err != nil {
		t.Fatal(err)
	}
	run(t, c, `INSERT INTO temp.t VALUES (7)`)
	answers(t, c, `SELECT a FROM t`, `[[7]]`)
	run(t, c, `BEGIN`)
	if conn.AutoCommit() || c.AutoCommit() {
		t.Error("not one connection")
	}
	run(t, c, `COMMIT`)
	if c.Handle() != fromDriver(t, conn).Handle() {
		t.Error("two handles")
	}
	function(t, c, "echo", 1, echo)
	rows, err := conn.Query(`SELECT echo('x')`, nil)
	if err != nil {
		t.Fatal(err)
	}
	rows.Close()
}

// A wrapped connection stays the driver's: closing the wrapper does nothing.
func TestFromDriverIsNotTheOwner(t *testing.T) {
	conn := driverConn(t, ":memory:")
	c := fromDriver(t, conn)
	closed := 0
	register(t, c, Library{Scalars: []Scalar{{Name: "echo", Args: []int{1}, Call: echo}}, Close: func() { closed++ }})
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	answers(t, c, `SELECT echo(1)`, `[[1]]`)
	if _, err := conn.Exec(`SELECT echo(1)`, nil); err != nil {
		t.Error(err)
	}
	if closed != 0 {
		t.Error("the library is closed")
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	if closed != 1 {
		t.Errorf("the library was closed %d times", closed)
	}
}

func TestFromDriverErrors(t *testing.T) {
	if _, err := FromDriver(nil); err == nil || err.Error() != "geosql: nil connection" {
		t.Error(err)
	}
	if _, err := FromDriver(new(sqlite3.SQLiteConn)); err == nil || err.Error() != "geosql: connection is closed" {
		t.Error(err)
	}
	conn := driverConn(t, ":memory:")
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := FromDriver(conn); err == nil || err.Error() != "geosql: connection is closed" {
		t.Error(err)
	}
}

// Errors reach the driver's users with their codes.
func TestDriverSeesCodes(t *testing.T) {
	conn := driverConn(t, ":memory:")
	function(t, fromDriver(t, conn), "refuse", 0, func(*Call) error { return codedError(CodeDenied) })
	_, err := conn.Exec(`SELECT refuse()`, nil)
	var e sqlite3.Error
	if !errors.As(err, &e) || e.Code != sqlite3.ErrAuth || e.ExtendedCode != CodeDenied || e.Error() != "coded 279" {
		t.Errorf("%#v", err)
	}
}

func TestFile(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "main.db")
	anotherVFS := "unix-dotfile"
	if runtime.GOOS == "windows" {
		anotherVFS = "win32-longpath"
	}
	t.Chdir(dir)
	run(t, openAt(t, path, ReadWrite|Create), `CREATE TABLE t(a)`)
	for dsn, want := range map[string]string{
		path:                                     path,
		"main.db":                                path,
		"./main.db":                              path,
		"file:main.db":                           path,
		"file:" + path + "?mode=ro&cache=shared": path,
		"file:main.db?vfs=" + anotherVFS:         path,
		"with space.db":                          filepath.Join(dir, "with space.db"),
		"Zürich 駅.db":                            filepath.Join(dir, "Zürich 駅.db"),
		":memory:":                               "",
		"":                                       "",
		"file::memory:":                          "",
		"file::memory:?cache=shared":             "",
		"file:shared?mode=memory&cache=shared":   "",
		"file:private?mode=memory":               "",
		"file:/shared?vfs=memdb":                 "",
		"file:private?vfs=memdb":                 "",
	} {
		c := fromDriver(t, driverConn(t, dsn))
		run(t, c, `PRAGMA schema_version`)
		got, onDisk := c.File()
		if onDisk != (want != "") || onDisk && got != want {
			t.Errorf("%q: file %q, on disk %t; want %q", dsn, got, onDisk, want)
		}
	}
	for _, name := range []string{":memory:", ""} {
		c := openAt(t, name, ReadWrite|Create)
		if got, onDisk := c.File(); onDisk {
			t.Errorf("Open(%q): file %q", name, got)
		}
	}
	c := openAt(t, path, ReadOnly)
	if got, onDisk := c.File(); !onDisk || got != path {
		t.Errorf("Open: file %q, %t", got, onDisk)
	}
	run(t, c, `ATTACH ':memory:' AS other`, `BEGIN`)
	if got, onDisk := c.File(); !onDisk || got != path {
		t.Errorf("with another attached: file %q, %t", got, onDisk)
	}
}

// driverCall opens a connection with database/sql and asks it one thing.
func driverCall(t *testing.T, query string) (answer string, err error) {
	t.Helper()
	pool, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	err = pool.QueryRowContext(context.Background(), query).Scan(&answer)
	return answer, err
}

func TestAuto(t *testing.T) {
	t.Cleanup(CancelAuto)
	earlier := fromDriver(t, driverConn(t, ":memory:"))
	opened, closed := 0, 0
	attach := func(c *Conn) error {
		opened++
		return c.Register(Library{Scalars: []Scalar{{Name: "echo", Args: []int{1}, Call: echo}}, Close: func() { closed++ }})
	}
	for range 2 { // twice is once
		if err := Auto(attach); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := driverCall(t, `SELECT echo('x')`); got != "x" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if opened != 1 || closed != 1 {
		t.Errorf("opened %d, closed %d", opened, closed)
	}
	fails(t, earlier, `SELECT echo('x')`, CodeError, "no such function: echo")
	fails(t, memory(t), `SELECT echo('x')`, CodeError, "no such function: echo")
	later := fromDriver(t, driverConn(t, ":memory:"))
	CancelAuto()
	answers(t, later, `SELECT echo('x')`, `[[x]]`)
	if _, err := driverCall(t, `SELECT echo('x')`); err == nil || !strings.Contains(err.Error(), "no such function: echo") {
		t.Error(err)
	}
	if opened != 2 {
		t.Errorf("opened %d", opened)
	}
}

// A connection that attach opens for itself, as the ledger's, is not attached to.
func TestAutoLeavesOwnConnectionsAlone(t *testing.T) {
	t.Cleanup(CancelAuto)
	opened := 0
	err := Auto(func(*Conn) error {
		opened++
		c, err := Open(":memory:", ReadWrite)
		if err != nil {
			return err
		}
		return c.Close()
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := driverCall(t, `SELECT 'x'`); got != "x" || err != nil || opened != 1 {
		t.Errorf("%q, %v, opened %d", got, err, opened)
	}
}

// A connection that cannot be attached to is not opened.
func TestAutoErrors(t *testing.T) {
	t.Cleanup(CancelAuto)
	for want, attach := range map[string]func(*Conn) error{
		"cannot attach":                 func(*Conn) error { return errors.New("cannot attach") },
		"geosql internal error: oh no":  func(*Conn) error { panic("oh no") },
		strings.Repeat("long ", inline): func(*Conn) error { return errors.New(strings.Repeat("long ", inline)) },
	} {
		if err := Auto(attach); err != nil {
			t.Fatal(err)
		}
		if _, err := driverCall(t, `SELECT 'x'`); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %q, want %q", err, want)
		}
	}
	before, _ := bindings()
	if err := Auto(func(c *Conn) error {
		if err := c.Register(everything(nil)); err != nil {
			return err
		}
		return errors.New("changed its mind")
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := driverCall(t, `SELECT 'x'`); err == nil || !strings.Contains(err.Error(), "changed its mind") {
		t.Error(err)
	}
	if after, _ := bindings(); len(after) != len(before) {
		t.Errorf("%d bindings are left", len(after)-len(before))
	}
}
