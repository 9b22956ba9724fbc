//go:build !geosql_loadable

package sqlite

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Extended result codes that the tests expect.
const (
	codeReadOnly         = 8
	codeInterrupt        = 9
	codeCannotOpen       = 14
	codeMisuse           = 21
	codeNotADatabase     = 26
	codeConstraintUnique = 19 | 8<<8
	codeConstraintKey    = 19 | 6<<8
)

func TestOpenFlags(t *testing.T) {
	path := filepath.Join(t.TempDir(), "main.db")
	for name, flags := range map[string]OpenFlags{"read only": ReadOnly, "read and write": ReadWrite} {
		_, err := Open(path, flags)
		checkError(t, name+", no such file", err, codeCannotOpen, "unable to open database file")
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a file was created without Create")
	}
	_, err := Open(path, Create)
	checkError(t, "neither to read nor to write", err, codeMisuse, "bad parameter or other API misuse")

	run(t, openAt(t, path, ReadWrite|Create), `CREATE TABLE t(a UNIQUE, b PRIMARY KEY)`, `INSERT INTO t VALUES (1, 2)`)
	ro := openAt(t, path, ReadOnly)
	answers(t, ro, `SELECT * FROM t`, `[[1 2]]`)
	fails(t, ro, `INSERT INTO t VALUES (3, 4)`, codeReadOnly, "attempt to write a readonly database")
}

func TestErrorsCarryExtendedCodes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "main.db")
	c := openAt(t, path, ReadWrite|Create)
	run(t, c, `CREATE TABLE t(a UNIQUE, b TEXT PRIMARY KEY)`, `INSERT INTO t VALUES (1, 2)`)
	fails(t, c, `INSERT INTO t VALUES (1, 3)`, codeConstraintUnique, "UNIQUE constraint failed: t.a")
	fails(t, c, `INSERT INTO t VALUES (2, 2)`, codeConstraintKey, "UNIQUE constraint failed: t.b")
	fails(t, c, `SELEC 1`, CodeError, `near "SELEC": syntax error`)
	checkError(t, "Exec", c.Exec(`SELECT 1; INSERT INTO t VALUES (1, 3); CREATE TABLE u(a)`), codeConstraintUnique, "UNIQUE")
	fails(t, c, `SELECT * FROM u`, CodeError, "no such table: u")

	other := openAt(t, path, ReadWrite)
	other.BusyTimeout(0)
	run(t, c, `BEGIN IMMEDIATE`)
	err := other.Exec(`INSERT INTO t VALUES (7, 7)`)
	checkError(t, "a locked database", err, CodeBusy, "database is locked")
	if !err.(*Error).Busy() || (&Error{Code: CodeError}).Busy() || !(&Error{Code: CodeBusy | 2<<8}).Busy() {
		t.Error("Busy is not told apart")
	}
	run(t, c, `COMMIT`)
	run(t, other, `INSERT INTO t VALUES (7, 7)`)

	garbage := filepath.Join(t.TempDir(), "garbage")
	if err := os.WriteFile(garbage, []byte(strings.Repeat("garbage ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = query(openAt(t, garbage, ReadOnly), `SELECT * FROM sqlite_schema`)
	checkError(t, "garbage", err, codeNotADatabase, "file is not a database")
}

// A name is taken literally: it is no URI.
func TestOpenIsLiteral(t *testing.T) {
	t.Chdir(t.TempDir())
	const name = "file:main.db?mode=memory"
	if runtime.GOOS == "windows" { // where no file can have it
		_, err := Open(name, ReadWrite|Create)
		checkError(t, name, err, codeCannotOpen, "unable to open database file")
		return
	}
	c := openAt(t, name, ReadWrite|Create)
	run(t, c, `CREATE TABLE t(a)`)
	if _, err := os.Stat(name); err != nil {
		t.Error(err)
	}
}

func TestAutoCommit(t *testing.T) {
	c := memory(t)
	for _, step := range []struct {
		sql  string
		want bool
	}{{`SELECT 1`, true}, {`BEGIN`, false}, {`COMMIT`, true}, {`SAVEPOINT a`, false}, {`ROLLBACK TO a`, false}, {`RELEASE a`, true}} {
		run(t, c, step.sql)
		if got := c.AutoCommit(); got != step.want {
			t.Errorf("after %s: %t", step.sql, got)
		}
	}
}

func TestHandles(t *testing.T) {
	a, b := memory(t), memory(t)
	if a.Handle() == b.Handle() || a.Handle() == nil {
		t.Errorf("handles %x and %x", a.Handle(), b.Handle())
	}
}

func TestVersion(t *testing.T) {
	answers(t, memory(t), `SELECT sqlite_version()`, `[[`+Version()+`]]`)
}

func TestComplete(t *testing.T) {
	for text, want := range map[string]bool{
		``: false, ` `: false, `;`: true, `SELECT 1`: false, `SELECT 1;`: true, "SELECT 1;\n-- done\n": true,
		`SELECT ';`: false, `SELECT 1; SELECT`: false, `/* ;`: false,
		`CREATE TRIGGER a AFTER INSERT ON t BEGIN SELECT 1;`:      false,
		`CREATE TRIGGER a AFTER INSERT ON t BEGIN SELECT 1; END;`: true,
	} {
		if got := Complete(text); got != want {
			t.Errorf("Complete(%q) = %t", text, got)
		}
	}
}

// A statement keeps a closed connection alive; closing either again is harmless.
func TestCloseWithOpenStatement(t *testing.T) {
	c, err := Open(":memory:", ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	closed := 0
	register(t, c, Library{
		Scalars: []Scalar{{Name: "seven", Args: []int{0}, Call: func(c *Call) error { c.ResultInt(0, 7); return nil }}},
		Close:   func() { closed++ },
	})
	s, _, err := c.Prepare(`SELECT seven()`)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if more, err := s.Step(); err != nil || !more || row(s)[0] != int64(7) {
		t.Errorf("%t, %v", more, err)
	}
	if closed != 0 {
		t.Error("the library was closed under a statement")
	}
	s.Close()
	s.Close()
	if closed != 1 {
		t.Errorf("the library was closed %d times", closed)
	}
}
