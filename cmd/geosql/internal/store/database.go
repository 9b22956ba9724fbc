package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger/engines"
)

// Reject returns "" if a database has the name, or may be created under it. A name
// with neither dot nor separator may be a mistyped command, so under it none is created, and
// Reject returns the path to write instead.
func Reject(path string) (instead string) {
	if strings.ContainsAny(path, "./:"+string(filepath.Separator)) { // such as :memory:
		return ""
	}
	if _, err := os.Lstat(path); err == nil {
		return ""
	}
	if strings.ContainsAny(path, " \t\r\n;") {
		return "SQL stands after the name of a database"
	}
	return "write ./" + path + " to create a database of that name"
}

// CheckName refuses an empty name of a database, and the URL of a ledger.
func CheckName(path string) error {
	switch {
	case path == "":
		return cli.UsageError("the database has an empty name")
	case engines.IsURL(path):
		return cli.UsageError("a database is a file, and not on a server: a URL names a ledger, as in --ledger URL or 'geosql budget URL'")
	}
	return nil
}

// SameFile reports whether both names belong to one existing file. A database that is read
// and written on two connections would wait for itself.
func SameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

// busyTimeout bounds the wait for a locked database, in milliseconds.
const busyTimeout = 5000

// Missing returns the error of a database that is not there. The path may be meant as the URL of a ledger:
// then the error does not show it.
func Missing(path string) error {
	if err := engines.Check(path); err != nil {
		return cli.UsageError(err.Error())
	}
	return fmt.Errorf("%s: no such database", path)
}

// Open opens a database file and makes sure that it is one.
func Open(path string, flags sqlite.OpenFlags) (*sqlite.Conn, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a directory, not a database", path)
	}
	conn, err := sqlite.Open(path, flags)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	conn.BusyTimeout(busyTimeout)
	if err := conn.Exec("PRAGMA schema_version"); err != nil { // the first to read the file
		conn.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return conn, nil
}

// Each calls row for every row of a query with text parameters. The values are those of the row
// until row returns.
func Each(conn *sqlite.Conn, row func(values []sqlite.Value), sql string, params ...any) error {
	return conn.Each(sql, func(v []sqlite.Value) error {
		row(v)
		return nil
	}, params...)
}

// First runs a query that returns one row, and calls read with its first value.
func First(conn *sqlite.Conn, sql string, read func(sqlite.Value)) error {
	return Each(conn, func(v []sqlite.Value) { read(v[0]) }, sql)
}
