//go:build geosql_loadable

// Command extension is geosql.so, the functions of geosql as a loadable extension of
// SQLite:
//
//	go build -tags geosql_loadable -buildmode=c-shared -o geosql.so ./cmd/geosql-extension
//
// It contains no SQLite and uses that of the program that loads it, also for the
// ledger. A Go program imports package sqlitefn instead, since one process cannot hold
// two Go runtimes. With the tag geosql_test besides it is geosql_test.so, for tests of programs.
package main

import (
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sqlitefn"
)

func init() {
	sqlite.OnLoad(func(c *sqlite.Conn) error { return sqlitefn.Attach(c.Handle(), options()...) })
}

func main() {} // never called, but a shared library must have one
