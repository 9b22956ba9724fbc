//go:build geosql_loadable

// Command extension is geosql.so, the functions of geosql for every program that
// can load an extension of SQLite:
//
//	go build -tags geosql_loadable -buildmode=c-shared -o geosql.so ./extension
//
// It holds no SQLite: it works, and keeps the ledger, through that of the program
// which loads it. A Go program imports package sqlitefn instead, since one process
// cannot hold two runtimes of Go.
package main

import (
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sqlitefn"
)

func init() {
	sqlite.OnLoad(func(c *sqlite.Conn) error { return sqlitefn.Attach(c) })
}

func main() {} // never called: a shared library has to have one
