// Package pgcatalog is the bridge between clients of PostgreSQL and a database of SQLite. It
// imports pgfunc, internal/sqltext and internal/sqlite. Start at Install and Rewrite.
//
// [Install] gives a connection the relations and functions with which psql, drivers and tools
// inspect a database. [Rewrite] turns their PostgreSQL statements into
// SQLite's. [Parse] finds the statements that the server itself has to answer, such as
// SET and FETCH. The dialect stays SQLite's: a feature of PostgreSQL that SQLite lacks is an [Error]
// that says so.
//
// Nothing here protects anything. A session sees everything that its connection may read, and the functions
// open nothing.
package pgcatalog

import "github.com/geosql/geosql/serve/internal/pgfunc"

// An Error is an error for a client, with its SQLSTATE.
type Error = pgfunc.Error
